import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { shippedPackages } from '../../../scripts/sbom.ts';
import pkg from '../../../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
  /** Where the folder has another name than the package. */
  readonly name?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}
const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Locked>>;
};
const locked = Object.entries(lock.packages).filter(([place]) => place !== '');
const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 13);

describe('the lock file', () => {
  test('is there, of the present kind, and agrees with package.json', () => {
    expect(lock.lockfileVersion).toBe(3);
    const own = lock.packages[''] as unknown as typeof pkg;
    expect(own.dependencies).toEqual(pkg.dependencies);
    expect(own.devDependencies).toEqual(pkg.devDependencies);
    expect(own.optionalDependencies).toEqual(pkg.optionalDependencies);
  });

  test('takes everything by its hash, and from the registry alone', () => {
    expect(locked.length).toBeGreaterThan(100);
    const odd = locked.filter(
      ([, { resolved, integrity = '', link = false }]) =>
        link ||
        !integrity.startsWith('sha512-') ||
        // Without an address it is whatever registry the machine uses; the hash decides.
        (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')),
    );
    expect(odd.map(([place]) => place)).toEqual([]);
  });

  test('holds the hashes of what is installed', () => {
    // npm writes this list when it installs, having compared each package with its hash. An installed package whose hash
    // was changed in the lock file later shows here; one that was changed earlier is refused (test/attacks/a21-install-scripts.test.ts).
    const installed = JSON.parse(
      fs.readFileSync(path.join(root, 'node_modules/.package-lock.json'), 'utf8'),
    ) as typeof lock;
    const hashes = ({ packages }: typeof lock): Record<string, string | undefined> =>
      Object.fromEntries(Object.entries(packages).map(([place, { integrity }]) => [place, integrity]));
    expect(Object.keys(installed.packages).length).toBeGreaterThan(100);
    expect(hashes(lock)).toMatchObject(hashes(installed));
  });
});

describe('what is for one platform alone', () => {
  const names = Object.keys(pkg.optionalDependencies);

  test('is the Node of the tools, and a runtime on BoringSSL for tests', () => {
    const isNode = (name: string): boolean => /^node-(bin-)?(linux|darwin|win)-(x64|arm64)$/.test(name);
    expect(names.filter((name) => !isNode(name))).toEqual(['@oven/bun-linux-x64-baseline']);
  });

  test('is locked, with nothing to run', () => {
    for (const name of names)
      expect([name, lock.packages[`node_modules/${name}`]]).toEqual([
        name,
        expect.not.objectContaining({ hasInstallScript: true }),
      ]);
  });
});

describe('what is shipped', () => {
  const shipped = shippedPackages(root);
  const versions = new Map(
    locked.map(([place, entry]) => [`${entry.name ?? nameOf(place)}@${entry.version ?? ''}`, entry]),
  );
  const nameInRegistry = (name: string): string =>
    lock.packages[`node_modules/${name}`]?.name ?? nameOf(`node_modules/${name}`);

  test('comes from `dependencies` alone, so that npm audit --omit=dev sees it', () => {
    expect(shipped.length).toBeGreaterThan(100);
    // npm marks what only tools and optional packages need.
    const seen = shipped.filter((one) => {
      const entry = versions.get(one);
      return entry !== undefined && !entry.dev && !entry.devOptional && !entry.optional;
    });
    expect(seen).toEqual(shipped);
  });

  test('is all that is in `dependencies`', () => {
    const names = shipped.map((one) => one.slice(0, one.lastIndexOf('@')));
    expect(Object.keys(pkg.dependencies).filter((name) => !names.includes(nameInRegistry(name)))).toEqual([]);
  });
});

describe('licences', () => {
  /** Permissive ones; anything else wants a person to look. */
  const known =
    /^\(?(MIT|MIT-0|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|BlueOak-1\.0\.0|CC0-1\.0|CC-BY-4\.0|CC-BY-3\.0|Python-2\.0|Unlicense|WTFPL|OFL-1\.1|MPL-2\.0|Zlib)( (AND|OR) \(?[\w.-]+\)?)*\)?$/;

  test('are named by every package', () => {
    // MIT in its LICENSE file, and not in its package.json.
    const inItsFile = ['svelte-toolbelt'];
    const odd = locked.filter(
      ([place, { license = '' }]) => !known.test(license) && !inItsFile.includes(nameOf(place)),
    );
    expect(odd.map(([place, { license }]) => `${nameOf(place)}: ${license ?? 'none'}`)).toEqual([]);
  });
});

test('Electron is of a line that gets fixes', () => {
  const version = lock.packages['node_modules/electron']?.version ?? '';
  // Three majors are supported at a time; 45 is the newest this was built with.
  expect(Number(version.split('.')[0])).toBeGreaterThanOrEqual(45);
});
