import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { extractFile } from '@electron/asar';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrongFiles } from '../../../electron/platform/package-integrity.ts';
import pkg from '../../../package.json' with { type: 'json' };
import { createIcns, createIco } from '../../../scripts/icons.ts';
import { hasWindowsProgram, packageApp, type PackagedApp } from '../../support/package-app.ts';

const systems = [
  { system: 'linux', native: 'linux-x64', skip: false },
  { system: 'mac', native: 'darwin-x64', skip: false },
  { system: 'win', native: 'win32-x64', skip: !hasWindowsProgram },
] as const;

/* electron-builder, with the product's own configuration, on a stand-in for Electron's distribution: offline. */
for (const { system, native, skip } of systems)
  describe.skipIf(skip)(`C.7 packed for ${system}`, () => {
    let app: PackagedApp;
    beforeAll(async () => {
      app = await packageApp(system, 'dir');
    }, 180_000);
    afterAll(() => {
      fs.rmSync(app.folder, { recursive: true, force: true });
    });

    test('the archive holds the bundle, the window and what they read, and nothing else', () => {
      const expected = [
        '/package.json',
        '/dist/main/main.js',
        '/dist/main/preload.cjs',
        '/dist/main/licences.json',
        '/dist/main/built-in-service-worker.js',
        '/dist/main/parser-worker.js',
        '/dist/renderer/index.html',
        '/resources/service-profile.json',
        '/node_modules/keytar/lib/keytar.js',
        '/node_modules/keytar/package.json',
      ];
      expect(app.files).toEqual(expect.arrayContaining(expected));
      const allowed = [
        /^\/package\.json$/,
        /^\/dist\/main\/(main|built-in-service-worker|parser-worker|shared-[\w-]+)\.js$/,
        /^\/dist\/main\/preload\.cjs$/,
        /^\/dist\/(main|renderer)\/licences\.json$/,
        /^\/dist\/renderer\/(index\.html|assets\/[\w.-]+\.(js|css|woff2|svg|png))$/,
        /^\/dist\/verify\/verify-(audit|evidence)\.mjs$/,
        /^\/resources\/(?!icons\/).+\.(json|csv)$/,
        /^\/node_modules\/keytar\/(package\.json|LICENSE\.md|lib\/keytar\.js)$/,
        new RegExp(`^/node_modules/keytar/prebuilds/${native}/keytar\\.node$`),
      ];
      expect(app.files.filter((file) => !allowed.some((pattern) => pattern.test(file)))).toEqual([]);
    });

    test('the native module is the one of that system, and alone outside of the archive', () => {
      const outside = fs
        .readdirSync(`${app.archive}.unpacked`, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(`${app.archive}.unpacked`, path.join(entry.parentPath, entry.name)));
      expect(outside).toEqual([`node_modules/keytar/prebuilds/${native}/keytar.node`]);
    });

    test('beside the archive are verifiers and licences, and not the program Electron brings', () => {
      const names = fs.readdirSync(app.resources).filter((name) => !name.endsWith('.icns'));
      expect(names.sort()).toEqual([
        'app.asar',
        'app.asar.unpacked',
        'files.json',
        'guides',
        'licences.txt',
        'policy',
        'sbom.json',
        'verify',
      ]);
      const bill = fs.readFileSync(path.join(app.resources, 'sbom.json'), 'utf8');
      expect(JSON.parse(bill)).toMatchObject({ bomFormat: 'CycloneDX' });
      // The same for every package of this content, so that workstations can be compared by its hash.
      expect(bill).not.toMatch(/serialNumber|timestamp/);
      expect(fs.readdirSync(path.join(app.resources, 'verify')).sort()).toEqual([
        'verify-audit.mjs',
        'verify-evidence.mjs',
      ]);
      for (const name of ['users-guide', 'administrators-guide'])
        expect(fs.readFileSync(path.join(app.resources, 'guides', `${name}.html`), 'utf8')).toMatch(
          /<h2 id="[^"]+">/,
        );
      expect(fs.readFileSync(path.join(app.resources, 'licences.txt'), 'utf8')).toMatch(
        /^undici \d.* \(MIT\)\n\nMIT License/m,
      );
      const licences = system === 'mac' ? app.resources : app.packed;
      // On a stand-in for macOS they are where electron-builder does not look.
      if (system !== 'mac')
        expect(fs.readdirSync(licences)).toEqual(
          expect.arrayContaining(['LICENSE.electron.txt', 'LICENSES.chromium.html']),
        );
    });

    test('the archive and the native module are listed with their hashes, for --self-check', () => {
      const list = JSON.parse(fs.readFileSync(path.join(app.resources, 'files.json'), 'utf8')) as object;
      const outside = `app.asar.unpacked/node_modules/keytar/prebuilds/${native}/keytar.node`;
      const hash: unknown = expect.stringMatching(/^[0-9a-f]{64}$/);
      expect(list).toEqual({ 'app.asar': hash, [outside]: system === 'mac' ? null : hash });
      expect(wrongFiles(app.resources)).toEqual({ count: 2, wrong: [] });
    });

    test.each([
      ['RunAsNode', FuseV1Options.RunAsNode, false],
      ['NODE_OPTIONS', FuseV1Options.EnableNodeOptionsEnvironmentVariable, false],
      ['--inspect', FuseV1Options.EnableNodeCliInspectArguments, false],
      ['extra rights of file://', FuseV1Options.GrantFileProtocolExtraPrivileges, false],
      ['cookie encryption', FuseV1Options.EnableCookieEncryption, false],
      ['integrity of the archive', FuseV1Options.EnableEmbeddedAsarIntegrityValidation, true],
      ['loading from the archive only', FuseV1Options.OnlyLoadAppFromAsar, true],
    ])('the fuse for %s', async (_what, fuse, on) => {
      const wire = await getCurrentFuseWire(system === 'mac' ? path.dirname(app.packed) : app.program);
      expect(String.fromCharCode(Number(wire[fuse]))).toBe(on ? '1' : '0');
    });

    // The archive is the same for all.
    if (system !== 'linux') return;

    test('there are no source maps, no sources, no Chromium platform', () => {
      expect(
        app.files.filter((file) =>
          /\.(map|ts|svelte)$|^\/(dev|test|scripts)\/|chromium|playwright/.test(file),
        ),
      ).toEqual([]);
      const main = extractFile(app.archive, 'dist/main/main.js').toString();
      expect(main).not.toContain('sourceMappingURL');
      expect(main).not.toContain('playwright');
    });

    test('it starts from the bundle, under the name of its launcher', () => {
      const manifest = JSON.parse(extractFile(app.archive, 'package.json').toString()) as Record<
        string,
        unknown
      >;
      expect(manifest).toMatchObject({
        main: 'dist/main/main.js',
        version: pkg.version,
        desktopName: 'tokendesk.desktop',
      });
      expect(manifest).not.toHaveProperty('scripts');
      expect(manifest).not.toHaveProperty('devDependencies');
    });

    test.each(['verify-audit', 'verify-evidence'])('%s is one file that Node runs', (name) => {
      const file = path.join(app.resources, 'verify', `${name}.mjs`);
      const imports = [...fs.readFileSync(file, 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from);
      expect(imports.filter((from) => from?.startsWith('node:') !== true)).toEqual([]);
      // Without its arguments it says which it wants: a script that did not notice it was started would say nothing.
      const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
      expect(status).toBe(2);
      expect(stderr).toContain(`${name} F`);
    });
  });

test('the committed icons are those of the PNG files', () => {
  const committed = (name: string): Buffer => fs.readFileSync(`resources/icons/${name}`);
  expect(committed('icon.ico').equals(createIco())).toBe(true);
  expect(committed('icon.icns').equals(createIcns())).toBe(true);
});
