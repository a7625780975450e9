import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls } from '../../../electron/contract/calls.ts';
import { appState } from '../../../electron/contract/models/app.ts';
import { writeVerifiers } from '../../../scripts/write-verifiers.ts';
import { logFolder, testKey } from '../../support/audit-folder.ts';
import { buildMain, buildPreload } from '../../support/build-for-test.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
// Inside the project, so that the native keychain module is found as it is from `dist`.
let folder = '';
let seen: Record<string, unknown> = {};
let modules: string[] = [];

beforeAll(async () => {
  fs.mkdirSync(path.join(root, 'out'), { recursive: true });
  folder = fs.mkdtempSync(path.join(root, 'out', 'built-main-'));
  fs.mkdirSync(path.join(folder, 'dist', 'renderer'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'dist', 'renderer', 'index.html'), '<title>Built</title>');
  const main = path.join(folder, 'dist', 'main');
  [modules] = await Promise.all([buildMain('electron', main), buildPreload('electron', main)]);

  const script = fileURLToPath(new URL('../../support/run-built-main.ts', import.meta.url));
  const env = { ...process.env, FAKE_USER_DATA: path.join(folder, 'data'), FAKE_APP_PATH: root };
  const child = promisify(execFile)(process.execPath, [script, path.join(main, 'main.js')], {
    env,
    timeout: 60_000,
  });
  const { stdout } = await child;
  seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
}, 120_000);

afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Modules of the Chromium platform, of tests and of Playwright. */
const foreign = (names: readonly string[]): string[] =>
  names.filter((name) => /[\\/](dev|test|scripts)[\\/]|playwright/.test(name.replace(root, '/')));

/** It may be loaded by its name alone, which no list of modules shows. */
const asksForPlaywright = (built: string): boolean =>
  fs
    .readdirSync(built)
    .filter((file) => /\.c?js$/.test(file))
    .some((file) => fs.readFileSync(path.join(built, file), 'utf8').includes('playwright'));

test('the product holds no module of the Chromium platform, which is a development tool', async () => {
  expect(modules.length).toBeGreaterThan(100);
  expect(foreign(modules)).toEqual([]);
  expect(asksForPlaywright(path.join(folder, 'dist', 'main'))).toBe(false);
  // The control: the other bundle has them.
  const chromium = await buildMain('chromium', path.join(folder, 'chromium'));
  expect(foreign(chromium).some((name) => name.endsWith('dev/chromium-platform/main.ts'))).toBe(true);
  expect(asksForPlaywright(path.join(folder, 'chromium'))).toBe(true);
});

test('all that must come before Electron is ready has, and nothing more', () => {
  expect(seen['beforeReady']).toEqual({ sandboxed: true, schemes: ['app'], windows: 0, handlers: 0 });
});

test('the window shows the built bundle', () => {
  expect(seen).toMatchObject({
    url: 'app://tokendesk/index.html',
    body: '<title>Built</title>',
    preferences: true,
    missing: 404,
  });
});

test('a call goes through preload, router and app and comes back', () => {
  const state = seen['state'] as { ok: boolean; value: unknown };
  expect(state.ok).toBe(true);
  expect(appState.parse(state.value)).toMatchObject({ platform: 'electron', version: '1.2.3' });
});

test('a call that does not fit, and a stranger, are refused', () => {
  expect(seen['invalid']).toEqual({ ok: false, failure: { code: 'call.invalid', operation: 'lookup.hide' } });
  expect(seen['stranger']).toEqual({ ok: false, failure: { code: 'call.refused' } });
});

test('a crash of main writes neither its memory nor a report', () => {
  expect(seen['coreLimits']).toEqual(['1', '1']);
  expect(seen['reports']).toEqual([false, false, false]);
});

test('the window can reach the contract and no other channel', () => {
  expect(seen['handlers']).toBe(Object.keys(calls).length);
  expect(seen['storeChannel']).toBe(0);
});

test('closing the window closes the app and quits', () => {
  expect(seen).toMatchObject({ exit: 0, dialogs: [] });
});

test('an error that nobody caught ends the app with a sentence, and is in the log without its message', async () => {
  const script = fileURLToPath(new URL('../../support/run-until-exit.ts', import.meta.url));
  const home = path.join(folder, 'failing');
  const ended = await promisify(execFile)(
    process.execPath,
    [script, path.join(folder, 'dist/main/main.js')],
    {
      env: { ...process.env, FAKE_USER_DATA: home, FAKE_APP_PATH: root, FAKE_REJECTS: 'canary' },
      timeout: 60_000,
    },
  ).then(
    () => null,
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
  expect(ended?.code).toBe(1);
  expect(JSON.parse(ended?.stdout ?? '')).toMatchObject({
    dialogs: [expect.stringMatching(/^Tokendesk has to close: /)],
  });
  const log = fs.readFileSync(path.join(home, 'logs', 'tokendesk.log'), 'utf8');
  expect(JSON.parse(log)).toMatchObject({ place: 'unhandledRejection', error: { class: 'RangeError' } });
  expect(`${log} ${ended?.stdout} ${ended?.stderr}`).not.toContain('canary');
}, 60_000);

test('--self-check prints a line each and ends, with no window, no call to answer and no home', async () => {
  const script = fileURLToPath(new URL('../../support/run-until-exit.ts', import.meta.url));
  const home = path.join(folder, 'untouched');
  const env = { ...process.env, FAKE_USER_DATA: home, FAKE_APP_PATH: folder, FAKE_SWITCHES: 'self-check' };
  const ended = await promisify(execFile)(
    process.execPath,
    [script, path.join(folder, 'dist/main/main.js')],
    {
      env,
      timeout: 60_000,
    },
  ).then(
    () => null,
    (error: unknown) => error as { code: number; stdout: string },
  );
  const lines = ended?.stdout.trim().split('\n') ?? [];
  const last = JSON.parse(lines.pop() ?? '') as { home: string };
  // Not packaged: neither fuses nor an archive.
  expect(ended?.code).toBe(1);
  expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
    'not ok  fuses',
    'not ok  archive',
    'not ok  files',
    'ok      preload',
    'ok      node options',
    'ok      keychain module',
    'ok      keyring',
    'ok      system certificates',
    'ok      client certificates',
    'not ok  service profile',
    'ok      managed settings',
  ]);
  expect(last).toMatchObject({ windows: 0, handlers: 0, dialogs: [] });
  expect(last.home).not.toBe(home);
  expect([fs.existsSync(home), fs.existsSync(last.home)]).toEqual([false, false]);
}, 60_000);

test.each([
  [
    'verify-audit',
    ['FOLDER', '--checkpoint=FILE', '--key=KEY'],
    0,
    '1 entries verified, 0 under keys that are gone',
  ],
  ['verify-audit', ['FOLDER', '--key=OTHER'], 1, 'NOT what was written'],
  ['verify-audit', [], 2, 'does not give audit:key'],
  ['verify-evidence', ['NONE'], 1, 'The file is not JSON'],
] as const)(
  '--%s %j runs the verifier that is shipped, and ends with %i',
  async (name, given, code, said) => {
    const script = fileURLToPath(new URL('../../support/run-until-exit.ts', import.meta.url));
    writeVerifiers(path.join(folder, 'dist/verify'));
    const log = logFolder();
    const audit = await log.open({});
    const begun = await audit.begin({ action: 'Reveal', reason: 'Refund', caseReference: 'D-1' });
    expect(begun.ok).toBe(true);
    await audit.close();
    const keys = tempFolder();
    const [key, other] = [path.join(keys, 'key'), path.join(keys, 'other')];
    fs.writeFileSync(key, Buffer.from(testKey).toString('hex'));
    fs.writeFileSync(other, 'ab'.repeat(32));
    const args = given.map((argument) =>
      argument
        .replace('FOLDER', log.folder)
        .replace('FILE', log.checkpoint)
        .replace('KEY', key)
        .replace('OTHER', other)
        .replace('NONE', path.join(keys, 'none')),
    );
    const ended = await promisify(execFile)(
      process.execPath,
      [script, path.join(folder, 'dist/main/main.js'), `--${name}`, ...args],
      {
        env: {
          ...process.env,
          FAKE_USER_DATA: path.join(folder, 'untouched'),
          FAKE_APP_PATH: folder,
          FAKE_SWITCHES: name,
          // No keyring: the key of this machine's own log is asked for where no log is named.
          DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
        },
        timeout: 60_000,
      },
    ).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );
    expect(ended.stdout + ended.stderr).toContain(said);
    expect(ended.code).toBe(code);
    expect(fs.existsSync(path.join(folder, 'untouched'))).toBe(false);
  },
  60_000,
);

test.each([
  ['remove everything\n', 0, 'Everything was removed.'],
  ['yes\n', 1, 'Nothing was removed.'],
  ['', 1, 'Nothing was removed.'],
])(
  '--wipe, answered with %j, ends with %i',
  (answer, code, said) => {
    const home = path.join(tempFolder(), 'Tokendesk');
    fs.mkdirSync(path.join(home, 'audit'), { recursive: true });
    const script = fileURLToPath(new URL('../../support/run-until-exit.ts', import.meta.url));
    const { status, stdout } = spawnSync(
      process.execPath,
      [script, path.join(folder, 'dist/main/main.js'), '--wipe'],
      {
        input: answer,
        encoding: 'utf8',
        env: {
          ...process.env,
          FAKE_USER_DATA: home,
          FAKE_APP_PATH: folder,
          FAKE_SWITCHES: 'wipe',
          DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
        },
      },
    );
    expect(stdout).toContain(said);
    expect(status).toBe(code);
    expect(fs.existsSync(home)).toBe(code === 1);
  },
  60_000,
);

test.each([
  { given: '--wipe=window', system: 'linux', answer: 0, links: ['tokendesk'] },
  { given: '--wipe=window', system: 'linux', answer: 1, links: ['tokendesk'] },
  // A program with a window has no terminal there; what it registered for this person goes too.
  { given: '--wipe', system: 'win32', answer: 0, links: [] },
  { given: '--wipe', system: 'win32', answer: 1, links: ['tokendesk'] },
])(
  '$given on $system asks in a dialog, and ends with the number of the button: $answer',
  ({ given, system, answer, links }) => {
    const home = path.join(tempFolder(), 'Tokendesk');
    fs.mkdirSync(path.join(home, 'audit'), { recursive: true });
    const script = fileURLToPath(new URL('../../support/run-until-exit.ts', import.meta.url));
    const { LOCALAPPDATA: _, ...env } = process.env;
    const { status, stdout } = spawnSync(
      process.execPath,
      [script, path.join(folder, 'dist/main/main.js'), given],
      {
        // On a terminal that would have agreed: it is not asked.
        input: 'remove everything\n',
        encoding: 'utf8',
        env: {
          ...env,
          FAKE_USER_DATA: home,
          FAKE_APP_PATH: folder,
          FAKE_OS: system,
          // Where Windows says that the temporary folder is.
          TEMP: os.tmpdir(),
          FAKE_SWITCHES: given.slice(2),
          FAKE_ANSWER: String(answer),
          DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
        },
      },
    );
    const ended = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(ended).toMatchObject({
      messages: [
        'Remove everything of yours from this computer?',
        answer === 0 ? 'Everything was removed.' : 'Nothing was removed.',
      ],
      protocols: links,
    });
    expect([status, fs.existsSync(home)]).toEqual([answer, answer === 1]);
  },
  60_000,
);

test('--user-data-dir names the folder of all that is written', () => {
  const home = path.join(tempFolder(), 'elsewhere');
  const untouched = path.join(folder, 'untouched');
  const script = fileURLToPath(new URL('../../support/run-built-main.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, [script, path.join(folder, 'dist/main/main.js')], {
    env: {
      ...process.env,
      FAKE_USER_DATA: untouched,
      FAKE_APP_PATH: root,
      FAKE_SWITCHES: `user-data-dir=${home}`,
    },
    timeout: 60_000,
  });
  expect(status).toBe(0);
  expect(fs.readdirSync(home)).toEqual(expect.arrayContaining(['audit', 'logs']));
  expect(fs.existsSync(untouched)).toBe(false);
}, 60_000);

test('what it left on the disk is for this user only', () => {
  const data = path.join(folder, 'data');
  const entries = fs.readdirSync(data, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const mode = fs.statSync(path.join(entry.parentPath, entry.name)).mode & 0o077;
    expect([entry.name, mode]).toEqual([entry.name, 0]);
  }
});
