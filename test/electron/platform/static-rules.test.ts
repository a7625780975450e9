import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint, Linter } from 'eslint';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Where a pattern occurs in what ships. */
function places(pattern: RegExp): string[] {
  return ['electron', 'src'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(folder, name))
      .filter((name) => /\.(ts|svelte|html)$/.test(name))
      .filter((name) => pattern.test(fs.readFileSync(path.join(root, name), 'utf8'))),
  );
}

test.each([
  ['crash reports', /crashReporter/],
  // A report has the environment and the command line in it, a snapshot the heap. Of one that is not written the names of
  // loaded libraries are read, in one place.
  [
    'diagnostic reports and heap snapshots',
    /process\s*(\?\.|\.|\[\s*['"`])\s*report\b(?!\.getReport\(\) as \{ readonly sharedObjects\?)|\b(reportOn[A-Z]\w+|writeReport|(?<!\{ sharedObjects \} = process\.report\.)getReport)\b|--report-|[hH]eap-?[sS]napshot|--heap-prof/,
  ],
  ['updates', /autoUpdater/],
  ['links opened outside of the app', /openExternal/],
  ['file addresses', /loadFile\(|['"`]file:\/\/[^'"`]/],
  ['developer tools', /openDevTools|toggleDevTools/],
  [
    'certificate errors waved through',
    /certificate-error|setCertificateVerifyProc|rejectUnauthorized:\s*false/,
  ],
  ['remote modules', /enableRemoteModule|@electron\/remote/],
  ['uses of the primary selection', /clipboard\.selection\./],
])('there are no %s', (_what, pattern) => {
  expect(places(pattern)).toEqual([]);
});

test('windows are made in one place', () => {
  expect(places(/new (Browser)?Window\(/)).toEqual(['electron/platform/window.ts']);
});

test('only the preload and the Electron entry load electron', () => {
  expect(
    places(/from 'electron'/).filter((name) => !/import type [^;]*from 'electron'/.test(read(name))),
  ).toEqual(['electron/main.ts', 'electron/preload.ts']);
});

test('lint refuses a program that is started without windowsHide: Windows would open a console window for it', async () => {
  const found = (await new ESLint({ cwd: root }).calculateConfigForFile('electron/main.ts')) as Linter.Config;
  const rule = 'no-restricted-syntax';
  const rules = { [rule]: found.rules?.[rule] ?? 'off' };
  const complaints = (code: string): number => new Linter().verify(code, { rules }).length;
  for (const call of ['execFile', 'spawn', 'execFileSync', 'promisify(execFile)']) {
    expect([call, complaints(`${call}('reg.exe', [], {});`)]).toEqual([call, 1]);
    expect([call, complaints(`${call}('reg.exe', [], { windowsHide: true });`)]).toEqual([call, 0]);
  }
});

function read(name: string): string {
  return fs.readFileSync(path.join(root, name), 'utf8');
}
