import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { extractAll, extractFile, listPackage, statFile } from '@electron/asar';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selfCheck } from '../../../electron/self-check.ts';
import { systemClock } from '../../../electron/privacy/clock.ts';
import pkg from '../../../package.json' with { type: 'json' };
import { standInDistribution } from '../../support/stand-in-distribution.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
let folder = '';
let packed = '';
let archive = '';
let files: string[] = [];

/* electron-builder, with the product's own configuration, on a stand-in for Electron's distribution: offline. */
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-package-'));
  if (!fs.existsSync(path.join(root, 'dist/main/main.js')))
    await run(process.execPath, ['scripts/build.ts'], { cwd: root });
  const distribution = path.join(folder, 'electron');
  await standInDistribution(distribution, '45.4.1');
  const builder = path.join(root, 'node_modules/electron-builder/cli.js');
  const overrides = [
    `-c.electronDist=${distribution}`,
    '-c.electronVersion=45.4.1',
    `-c.directories.output=${path.join(folder, 'out')}`,
  ];
  await run(
    process.execPath,
    [builder, '--linux', 'dir', '--x64', '--config', 'electron-builder.yml', ...overrides],
    {
      cwd: root,
      env: { ...process.env, ELECTRON_BUILDER_CACHE: path.join(folder, 'cache') },
    },
  );
  packed = path.join(folder, 'out', 'linux-unpacked');
  archive = path.join(packed, 'resources', 'app.asar');
  files = listPackage(archive, { isPack: false }).filter(
    (file) => !('files' in statFile(archive, file.slice(1))),
  );
}, 180_000);

afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

describe('the archive', () => {
  test('holds the bundle, the window and what they read', () => {
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
    expect(files).toEqual(expect.arrayContaining(expected));
  });

  test('holds nothing else', () => {
    const allowed = [
      /^\/package\.json$/,
      /^\/dist\/main\/(main|built-in-service-worker|parser-worker|shared-[\w-]+)\.js$/,
      /^\/dist\/main\/preload\.cjs$/,
      /^\/dist\/(main|renderer)\/licences\.json$/,
      /^\/dist\/main\/files\.json$/,
      /^\/dist\/renderer\/(index\.html|assets\/[\w.-]+\.(js|css|woff2|svg|png))$/,
      /^\/resources\/(?!icons\/).+\.(json|csv)$/,
      /^\/node_modules\/keytar\/(package\.json|LICENSE\.md|lib\/keytar\.js|prebuilds\/linux-x64\/keytar\.node)$/,
    ];
    expect(files.filter((file) => !allowed.some((pattern) => pattern.test(file)))).toEqual([]);
  });

  test('has no source maps, no sources and nothing of the Chromium platform', () => {
    expect(
      files.filter((file) => /\.(map|ts|svelte)$|^\/(dev|test|scripts)\/|chromium|playwright/.test(file)),
    ).toEqual([]);
    const main = extractFile(archive, 'dist/main/main.js').toString();
    expect(main).not.toContain('sourceMappingURL');
    expect(main).not.toContain('playwright');
  });

  test('lists every file that is ours with its hash, for --self-check', async () => {
    const list = JSON.parse(extractFile(archive, 'dist/main/files.json').toString()) as object;
    // electron-builder rewrites the manifest, and the module's files are others'.
    const others = /^\/(package\.json|dist\/main\/files\.json|node_modules\/.*)$/;
    const ours = files.filter((file) => !others.test(file)).map((file) => file.slice(1));
    expect(Object.keys(list)).toEqual(ours.sort());

    const root = path.join(folder, 'extracted');
    extractAll(archive, root);
    const results = await selfCheck({
      executable: path.join(packed, 'tokendesk'),
      archive,
      root,
      list: path.join(root, 'dist/main/files.json'),
      preload: path.join(root, 'dist/main/preload.cjs'),
      site: path.join(packed, 'site'),
      os: 'linux',
      loadKeytar: () => Promise.reject(new Error('not what is asked here')),
      clock: systemClock,
      node: { options: [], inspector: undefined },
    });
    const notOk = results.filter(({ ok }) => !ok).map(({ name }) => name);
    expect(notOk).toEqual(['keychain module']);
  });

  test('starts from the bundle', () => {
    const packedPackage = JSON.parse(extractFile(archive, 'package.json').toString()) as Record<
      string,
      unknown
    >;
    expect(packedPackage).toMatchObject({ main: 'dist/main/main.js', version: pkg.version });
    expect(packedPackage).not.toHaveProperty('scripts');
    expect(packedPackage).not.toHaveProperty('devDependencies');
  });

  test('leaves the native module, and only that, outside', () => {
    const outside = fs
      .readdirSync(`${archive}.unpacked`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(`${archive}.unpacked`, path.join(entry.parentPath, entry.name)));
    expect(outside).toEqual(['node_modules/keytar/prebuilds/linux-x64/keytar.node']);
  });
});

test.each([
  ['RunAsNode', FuseV1Options.RunAsNode, false],
  ['NODE_OPTIONS', FuseV1Options.EnableNodeOptionsEnvironmentVariable, false],
  ['--inspect', FuseV1Options.EnableNodeCliInspectArguments, false],
  ['extra rights of file://', FuseV1Options.GrantFileProtocolExtraPrivileges, false],
  ['cookie encryption', FuseV1Options.EnableCookieEncryption, true],
  ['integrity of the archive', FuseV1Options.EnableEmbeddedAsarIntegrityValidation, true],
  ['loading from the archive only', FuseV1Options.OnlyLoadAppFromAsar, true],
])('the fuse for %s', async (_what, fuse, on) => {
  const wire = await getCurrentFuseWire(path.join(packed, 'tokendesk'));
  expect(String.fromCharCode(Number(wire[fuse]))).toBe(on ? '1' : '0');
});
