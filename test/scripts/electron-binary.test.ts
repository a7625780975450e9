import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { electronBinary, electronOnChromium, realElectron } from '../../scripts/electron-binary.ts';
import { tempFolder } from '../support/temp-folder.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A folder that Electron's own package takes for its distribution. */
function distribution(program: string): string {
  const folder = tempFolder();
  fs.writeFileSync(path.join(folder, 'electron'), program, { mode: 0o755 });
  return folder;
}

test('the app is started by Electron where it is, and else by the program that stands for it', () => {
  const folder = distribution('');
  vi.stubEnv('ELECTRON_OVERRIDE_DIST_PATH', folder);
  expect([realElectron(), electronBinary()]).toEqual(Array(2).fill(path.join(folder, 'electron')));
  vi.stubEnv('ELECTRON_OVERRIDE_DIST_PATH', path.join(folder, 'none'));
  expect([realElectron(), electronBinary()]).toEqual([null, electronOnChromium]);
  // The stand-in is not Electron, wherever it is named.
  vi.stubEnv('ELECTRON_OVERRIDE_DIST_PATH', path.dirname(electronOnChromium));
  expect([realElectron(), electronBinary()]).toEqual([null, electronOnChromium]);
});

test.skipIf(process.platform === 'win32')(
  'a test opens Electron where it is, and not another program where that does not start',
  () => {
    const given = path.join(tempFolder(), 'given');
    const folder = distribution(`#!/bin/sh\necho "$@" > '${given}'\nexit 1\n`);
    const home = path.join(tempFolder(), 'home');
    const support = new URL('../support/launch-app.ts', import.meta.url).href;
    const script = `import { launchApp } from ${JSON.stringify(support)};
      await launchApp({ home: '${home}', downloads: '${home}' });`;
    // In a process of its own: the test tool rejects more than once.
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, ELECTRON_OVERRIDE_DIST_PATH: folder },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('Process failed to launch')]);
    const line = fs.readFileSync(given, 'utf8');
    expect(line).toContain(`--user-data-dir=${home}`);
    expect(line).toMatch(/-r \S*tap\.cjs/);
  },
);
