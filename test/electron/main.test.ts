import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createPackage } from '@electron/asar';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findChromium } from '../../dev/electron-on-chromium/browser.ts';
import { calls } from '../../electron/contract/calls.ts';
import { acquireProcessLock } from '../../electron/storage/process-lock.ts';
import { appState } from '../../electron/contract/models/app.ts';
import type { Seed } from '../../electron/built-in-service/seed.ts';
import pkg from '../../package.json' with { type: 'json' };
import { electronBinary, electronOnChromium } from '../../scripts/electron-binary.ts';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import { startBuiltInTarget } from '../support/built-in-target.ts';
import { logFolder, testKey } from '../support/audit-folder.ts';
import { documentedCommands } from '../support/documented-commands.ts';
import { documentedNames } from '../support/documented-names.ts';
import { launchApp, type LaunchedApp } from '../support/launch-app.ts';
import { runApp, runUntilExit } from '../support/run-app.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* The built app as a person starts it, in Electron or the program that stands for it. */

/** Writes down what is asked of Electron, in order, and keeps what answers the window. */
const recorder = `
  const { app, ipcMain, protocol } = require('electron');
  const recorded = (globalThis.recorded = []);
  const handlers = (globalThis.handlers = new Map());
  const record = (object, name, describe) => {
    const real = object[name].bind(object);
    object[name] = (...args) => (recorded.push(describe(...args)), real(...args));
  };
  record(app, 'enableSandbox', () => 'sandbox');
  record(protocol, 'registerSchemesAsPrivileged', (schemes) => schemes.map(({ scheme }) => scheme).join());
  record(ipcMain, 'handle', (channel, handler) => (handlers.set(channel, handler), channel));
  app.on('ready', () => recorded.push('ready'));
  app.on('web-contents-created', () => recorded.push('contents'));
`;

type Recorded = typeof globalThis & {
  readonly recorded: string[];
  readonly handlers: Map<string, (event: object, payload: unknown) => Promise<unknown>>;
};
type Bridge = Record<string, (input: unknown) => Promise<unknown>>;
type WithBridge = typeof globalThis & { readonly tokendesk: Bridge };

describe('an open app', () => {
  let folder = '';
  let home = '';
  let app: LaunchedApp;
  let recorded: readonly string[] = [];

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-main-'));
    home = path.join(folder, 'home');
    const file = path.join(folder, 'recorder.cjs');
    fs.writeFileSync(file, recorder);
    app = await launchApp({ home, downloads: path.join(folder, 'downloads'), modules: [file] });
    recorded = await app.application.evaluate(() => (globalThis as Recorded).recorded);
  });
  afterAll(async () => {
    await app.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const ask = (call: string, input: unknown): Promise<unknown> =>
    app.page.evaluate(({ call, input }) => (globalThis as unknown as WithBridge).tokendesk[call]?.(input), {
      call,
      input,
    });

  test('did all that must come before Electron is ready, and nothing more', () => {
    // The app itself may be open by then, and its calls answered.
    const before = recorded.slice(0, recorded.indexOf('ready')).filter((name) => !name.includes(':'));
    expect(before.sort()).toEqual(['app', 'sandbox']);
    expect(recorded.indexOf('contents')).toBeGreaterThan(recorded.indexOf('ready'));
  });

  test('answers the calls of the contract, and no other channel', async () => {
    const channels = recorded.filter((name) => name.includes(':'));
    expect(channels).toEqual(Object.keys(calls).map((name) => `call:${name}`));
    // electron-store listens on this one, and would tell any window its folder.
    const listeners = await app.application.evaluate(({ ipcMain }) =>
      ipcMain.listenerCount('electron-store-get-data'),
    );
    expect(listeners).toBe(0);
  });

  test('a call goes through preload, router and app and comes back', async () => {
    const state = (await ask('app.state', {})) as { value: unknown };
    expect(appState.parse(state.value)).toMatchObject({ version: pkg.version });
  });

  test('a call that does not fit is refused', async () => {
    expect(await ask('lookup.hide', { revealId: 'r1', more: true })).toEqual({
      ok: false,
      failure: { code: 'call.invalid', operation: 'lookup.hide' },
    });
  });

  test.each([
    ['the window itself', { origin: 'app://tokendesk', parent: null }, true, true],
    ['a frame inside of it', { origin: 'app://tokendesk', parent: {} }, true, false],
    ['another origin', { origin: 'https://evil.example', parent: null }, true, false],
    ['a frame that is gone', null, true, false],
    ['contents that are not the window’s', { origin: 'app://tokendesk', parent: null }, false, false],
  ])('a call by %s is answered by who it is', async (_who, frame, isOwn, isAnswered) => {
    const answer = await app.application.evaluate(
      ({ BrowserWindow }, { frame, isOwn }) => {
        const own = BrowserWindow.getAllWindows()[0]?.webContents;
        const event = { sender: isOwn ? own : {}, senderFrame: frame };
        return (globalThis as Recorded).handlers.get('call:app.state')?.(event, {});
      },
      { frame, isOwn },
    );
    if (isAnswered) expect(answer).toMatchObject({ ok: true });
    else expect(answer).toEqual({ ok: false, failure: { code: 'call.refused' } });
  });

  test('a crash of main writes neither its memory nor a report', async () => {
    const reports = await app.application.evaluate(() => {
      const { reportOnFatalError, reportOnSignal, reportOnUncaughtException } = process.report;
      return [reportOnFatalError, reportOnSignal, reportOnUncaughtException];
    });
    expect(reports).toEqual([false, false, false]);
    if (process.platform !== 'linux') return;
    const pid = await app.application.evaluate(() => process.pid);
    expect(fs.readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +1 +1 /m);
  });

  test('a second start ends; the first one comes to the front and opens what the second was given', async () => {
    await app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.minimize());
    const before = (await app.outward()).length;
    const second = await runApp([`--user-data-dir=${home}`, '/home/ada/cards.csv']);
    expect(second).toMatchObject({ code: 0, stderr: '', left: [] });
    const front = (): Promise<unknown> =>
      app.application.evaluate(({ BrowserWindow }) => {
        const [window] = BrowserWindow.getAllWindows();
        return [window?.isFocused(), window?.isMinimized()];
      });
    await expect.poll(front).toEqual([true, false]);
    expect((await app.outward()).slice(before).join()).toContain('event:app.opened');
  });

  test('what the launcher offers beside the window is done in the one that is open', async () => {
    const page = app.page;
    expect(await runApp([`--user-data-dir=${home}`, '--new-batch'])).toMatchObject({ code: 0, left: [] });
    await expect.poll(() => page.title()).toContain('Batch');
    await app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.minimize());
    expect(await runApp([`--user-data-dir=${home}`, '--lock'])).toMatchObject({ code: 0, left: [] });
    await expect.poll(() => ask('app.state', {})).toMatchObject({ value: { lock: { locked: true } } });
    // Whoever locks does not want to see it.
    const isMinimized = () =>
      app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isMinimized());
    expect(await isMinimized()).toBe(true);
    await app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.restore());
    // Where none is open there is nothing to lock.
    const other = tempFolder();
    expect(await runApp([`--user-data-dir=${path.join(other, 'home')}`, '--lock'])).toMatchObject({
      code: 0,
      left: [],
    });
  });

  test('closing its window ends it, and what it left is for this user only', async () => {
    const ended = once(app.application.process(), 'exit');
    await app.application.evaluate(({ BrowserWindow }) => {
      const [window] = BrowserWindow.getAllWindows();
      window?.setBounds({ width: 1000, height: 700 });
      window?.webContents.emit('zoom-changed', {}, 'in');
      setImmediate(() => window?.close());
    });
    expect(await ended).toEqual([0, null]);
    const entries = fs.readdirSync(home, { recursive: true, withFileTypes: true });
    // What is Chromium's own holds nothing of the person's.
    const own = entries.filter(({ name }) => !['Local State', 'Preferences'].includes(name));
    for (const entry of own) {
      const mode = fs.statSync(path.join(entry.parentPath, entry.name)).mode & 0o077;
      expect([entry.name, mode]).toEqual([entry.name, 0]);
    }
    expect(fs.statSync(home).mode & 0o077).toBe(0);
    expect(fs.readdirSync(home)).toEqual(expect.arrayContaining(['audit', 'logs', 'jobs', 'window.json']));
    expect(JSON.parse(fs.readFileSync(path.join(home, 'window.json'), 'utf8'))).toMatchObject({
      width: 1000,
      height: 700,
      zoom: 0.5,
    });
  });

  test('the names it left are those of the administrator’s guide, with Chromium’s own files in one folder', () => {
    const documented = documentedNames();
    expect(documented.length).toBeGreaterThan(8);
    const names = fs.readdirSync(home);
    expect(names.filter((name) => !documented.some((pattern) => pattern.test(name)))).toEqual([]);
    expect(fs.readdirSync(path.join(home, 'chromium'))).toContain('Local State');
  });
});

/** A folder of the system's for files of programs, and the one of the person's that the app takes there. */
function emptyAppData() {
  const folder = tempFolder();
  return { home: path.join(folder, 'Tokendesk'), env: { XDG_CONFIG_HOME: folder, LOCALAPPDATA: undefined } };
}

/** Says what would be seen of the app: windows, dialogs, calls that it answers. The person presses this button. */
const watcher = (answer = 0): string => `
  const { app, dialog, ipcMain } = require('electron');
  const say = (what) => console.error(what);
  app.on('web-contents-created', () => say('a window'));
  ipcMain.handle = () => say('a handler');
  dialog.showErrorBox = (title) => say('error: ' + title);
  dialog.showMessageBox = (...args) => {
    say('question: ' + args.at(-1).message);
    // Whoever reads it takes a moment.
    return new Promise((resolve) => setImmediate(resolve, { response: ${answer}, checkboxChecked: false }));
  };
  app.removeAsDefaultProtocolClient = (scheme) => (say('links of ' + scheme + ' are nobody’s'), true);
`;
/** Whoever starts this browser is told of it. Electron itself has its own. */
function watchedBrowser(): string {
  const browser = path.join(tempFolder(), 'chromium');
  fs.writeFileSync(browser, '#!/bin/sh\necho started > "$0.started"\n', { mode: 0o755 });
  return browser;
}
const onWindows = `Object.defineProperty(process, 'platform', { value: 'win32' });`;
/** Else the program that stands for Electron would look where Windows has it. */
const chromium = { TOKENDESK_CHROMIUM: findChromium(process.env) ?? undefined };

test('an error that nobody caught ends it with a sentence, and is in the log without its message', async () => {
  const { home, env } = emptyAppData();
  const fails = `require('electron').app.on('web-contents-created', (_event, contents) => {
    contents.once('did-finish-load', () => void Promise.reject(new RangeError('canary')));
  });`;
  const { code, stdout, stderr, left } = await runApp([], { env, modules: [watcher(), fails] });
  expect([code, stdout, left]).toEqual([1, '', []]);
  expect(stderr).toContain('error: Tokendesk has to close');
  const log = fs.readFileSync(path.join(home, 'logs', 'tokendesk.log'), 'utf8');
  expect(log).toMatch(/"place":"unhandledRejection".*"class":"RangeError"/);
  expect(log + stderr).not.toContain('canary');
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s closes it as its menu does, and nothing is left',
  async (signal) => {
    const { home, env } = emptyAppData();
    const loaded = `require('electron').app.on('web-contents-created', (_event, contents) => {
      contents.once('did-finish-load', () => process.kill(process.pid, '${signal}'));
    });`;
    const ended = await runApp([], { env, modules: [loaded] });
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '', left: [] });
    expect(fs.readFileSync(path.join(home, 'logs', 'tokendesk.log'), 'utf8')).toContain('app closed');
  },
);

test('--self-check prints a line each and ends before ready, with no browser, no call to answer and no home', async () => {
  const { home, env } = emptyAppData();
  const browser = watchedBrowser();
  const watchesReady = `require('electron').app.once('ready', () => console.error('ready'));`;
  const { code, stdout, stderr, left } = await runApp(['--self-check'], {
    env: { ...env, TOKENDESK_CHROMIUM: browser },
    modules: [watcher(), watchesReady],
  });
  // Not packaged: neither fuses nor an archive, nor a list of what is in one.
  const lines = stdout.trim().split('\n');
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
    'ok      service profile',
    'ok      managed settings',
    'ok      provided connections',
  ]);
  expect([code, stderr, left, fs.existsSync(home)]).toEqual([1, '', [], false]);
  expect(fs.existsSync(`${browser}.started`)).toBe(false);
});

test.each([
  ['--self-check', 'selfCheck', 2],
  ['--conformance', 'checkConformance', 2],
  ['jobs', 'startCommand', 6],
] as const)('%s says so and ends where the script that it loads is missing', async (asked, part, code) => {
  const { env } = emptyAppData();
  const built = fs.readFileSync(path.join(import.meta.dirname, '../../dist/main/main.js'), 'utf8');
  const [, script] =
    new RegExp(`\\b${part}\\b[^}]*\\} = await partOf\\(import\\("\\./([^"]+)"`).exec(built) ?? [];
  const lacks = `require('node:module').registerHooks({
    resolve(specifier, context, next) {
      if (specifier === './${script}' && context.parentURL.endsWith('/main.js')) throw new Error('not found');
      return next(specifier, context);
    },
  });`;
  const ended = await runApp([asked], { env, modules: [lacks] });
  expect(ended).toMatchObject({
    ...{ code, signal: null, stdout: '', left: [] },
    stderr: 'A part of this installation is missing or damaged.\n',
  });
});

test.each([
  [
    'verify-audit',
    ['FOLDER', '--checkpoint=FILE', '--key=KEY'],
    0,
    'VALID: 1 entries verified, 0 under keys that are gone',
  ],
  ['verify-audit', ['FOLDER', '--key=OTHER'], 2, 'This log is under another key'],
  ['verify-audit', ['FOLDER', '--chekpoint=FILE', '--key=KEY'], 2, "Unknown option '--chekpoint'"],
  // This person's own log, in a home that is not there.
  ['verify-audit', [], 2, 'COULD NOT BE CHECKED: There is no folder'],
  ['verify-evidence', ['NONE'], 2, 'There is no file'],
] as const)(
  '--%s %j runs the verifier that is shipped, and ends with %i',
  async (name, given, code, said) => {
    const { home, env } = emptyAppData();
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
    const ended = await runApp([`--${name}`, ...args], { env });
    expect(ended.stdout + ended.stderr).toContain(said);
    expect([ended.code, ended.left, fs.existsSync(home)]).toEqual([code, [], false]);
  },
);

test.each([
  [['--help'], 0, 'Usage: tokendesk [SWITCH…] [FILE]'],
  // The help wins, whatever else is given.
  [['-v', '-h'], 0, '--check-policy[=FILE]'],
  [['--version'], 0, pkg.version],
  [['--check-policy=GOOD'], 0, 'nothing is wrong'],
  [['--check-policy', 'BAD'], 2, 'can’t be used:'],
  [['--check-policy=NONE'], 2, 'can’t be used:'],
  [['--check-policy=GOOD', '--check-policy=BAD'], 2, 'Name one file'],
  [['--check-policy'], 0, 'No settings of an administrator: nothing is wrong.'],
] as const)('%j prints and ends with %i, with no browser and no home', async (given, code, said) => {
  const { home, env } = emptyAppData();
  const browser = watchedBrowser();
  const policies = tempFolder();
  const [good, bad] = [path.join(policies, 'good.json'), path.join(policies, 'bad.json')];
  fs.writeFileSync(good, JSON.stringify({ revealSeconds: 10 }));
  fs.writeFileSync(bad, JSON.stringify({ revealSecond: 10 }));
  const args = given.map((argument) =>
    argument.replace('GOOD', good).replace('BAD', bad).replace('NONE', path.join(policies, 'none.json')),
  );
  const ended = await runApp(args, { env: { ...env, TOKENDESK_CHROMIUM: browser } });
  expect(ended.stdout + ended.stderr).toContain(said);
  expect([ended.code, ended.left]).toEqual([code, []]);
  expect([fs.existsSync(home), fs.existsSync(`${browser}.started`)]).toEqual([false, false]);
});

test('--conformance checks a service from the built app, with the account on standard input', async () => {
  const { home, env } = emptyAppData();
  const service = await startBuiltInTarget(new Uint8Array(32).fill(8), defaultSeed as Seed);
  onTestFinished(() => service.stop());
  const { baseUrl, ca = '', account } = service.options;
  const authority = path.join(tempFolder(), 'ca.pem');
  fs.writeFileSync(authority, ca);
  const args = ['--conformance', `--base-url=${baseUrl}`, `--ca=${authority}`];
  const ended = await runApp(args, { env, input: JSON.stringify(account) });
  expect(ended.stdout + ended.stderr).toMatch(/\n\d+ pass, 0 fail/);
  expect([ended.code, ended.left, fs.existsSync(home)]).toEqual([0, [], false]);
});

test('--attest and --sign-connections sign with one key, and --compare reads what the first wrote', async () => {
  const folder = tempFolder();
  const home = path.join(folder, 'home');
  const statements = path.join(folder, 'statements');
  fs.mkdirSync(statements);
  const connections = path.join(folder, 'connections.json');
  const given = { format: 'tokendesk-connections', version: 1, connections: [], mappings: [] };
  fs.writeFileSync(connections, JSON.stringify(given));
  const signed = await runApp([`--user-data-dir=${home}`, `--sign-connections=${connections}`]);
  expect([signed.code, signed.stdout, signed.left]).toEqual([
    0,
    expect.stringMatching(/^Signed: \S+\.signed\.json\nIssued: \S+Z\nconnectionsSigners: [0-9a-f]{64}\n$/),
    [],
  ]);
  const out = path.join(statements, 'ws.json');
  const attested = await runApp([`--user-data-dir=${home}`, '--attest', `--out=${out}`]);
  expect([attested.code, attested.stdout, attested.left]).toEqual([0, '', []]);
  const [, signer = ''] = /^Signed by ([0-9a-f]{64})\.$/m.exec(attested.stderr) ?? [];
  const compared = await runApp([`--compare=${statements}`]);
  // What runs here is not packed, and its self-check says so.
  expect([compared.code, compared.stdout]).toEqual([1, expect.stringMatching(/self-check, archive: not ok/)]);
  expect(compared.stdout).toContain(`Z, ${signer}\n`);
  expect(await runApp([`--compare=${path.join(folder, 'none')}`])).toMatchObject({ code: 2, left: [] });
});

test('--verify-audit asks the keychain for the key of this folder, by its identity', async () => {
  const { home, env } = usedHome();
  const id = 'ab'.repeat(16);
  fs.writeFileSync(path.join(home, 'home-id'), `${id}\n`, { mode: 0o600 });
  fs.mkdirSync(path.join(home, 'checkpoints'));
  const log = logFolder();
  const audit = await log.open({});
  expect(await audit.begin({ action: 'Tokenize' })).toMatchObject({ ok: true });
  await audit.close();
  fs.cpSync(log.folder, path.join(home, 'audit'), { recursive: true });
  fs.copyFileSync(log.checkpoint, path.join(home, 'checkpoints', 'audit'));
  const ended = await runApp(['--verify-audit'], { env });
  expect(ended.stderr).toContain(`This user's keychain does not give ${id}:audit:key.`);
  expect([ended.code, ended.left, fs.readdirSync(home).sort()]).toEqual([
    2,
    [],
    ['audit', 'checkpoints', 'home-id'],
  ]);
});

test.each([
  [['jobs'], 'home-id', 5, /^It can’t use .*home-id\. Look whether/],
  [['jobs'], 'desk.version-4.json', 5, /^It can’t use .*desk\.version-4\.json\. Look whether/],
  [['--verify-audit'], 'home-id', 2, /^COULD NOT BE CHECKED: .*home-id can’t be read\./],
  [['--wipe'], 'home-id', 1, /^It could not be removed: .*home-id can’t be read\./],
])(
  '%j with a folder in place of %s ends with %i and a sentence that names it',
  async (args, name, code, said) => {
    const { home, env } = emptyAppData();
    fs.mkdirSync(path.join(home, name), { recursive: true, mode: 0o700 });
    // Of a later version: this one has a file of its own.
    if (name !== 'home-id') fs.writeFileSync(path.join(home, 'desk.json'), '{"version":99}');
    const ended = await runApp(args, { env });
    expect(ended.stdout + ended.stderr).toMatch(said);
    expect([ended.code, ended.left]).toEqual([code, []]);
  },
);

function usedHome() {
  const { home, env } = emptyAppData();
  fs.mkdirSync(path.join(home, 'audit'), { recursive: true });
  return { home, env };
}

test.each([
  ['remove everything\n', 0, 'Everything was removed.'],
  ['yes\n', 1, 'Nothing was removed.'],
  ['', 1, 'Nothing was removed.'],
])('--wipe, answered with %j, ends with %i', async (input, code, said) => {
  const { home, env } = usedHome();
  const ended = await runApp(['--wipe'], { env, input, modules: [watcher()] });
  expect(ended.stdout).toContain(said);
  expect(ended).toMatchObject({ code, stderr: '', left: [] });
  expect(fs.existsSync(home)).toBe(code === 1);
});

test.each([
  { given: '--wipe=window', system: 'this system', answer: 0 },
  { given: '--wipe=window', system: 'this system', answer: 1 },
  // A program with a window has no terminal there; what it registered for this person goes too.
  { given: '--wipe', system: 'Windows', answer: 0 },
  { given: '--wipe', system: 'Windows', answer: 1 },
])('$given on $system asks in a dialog, and ends with the number of the button: $answer', async (row) => {
  const { given, system, answer } = row;
  const { home, env } = usedHome();
  // On a terminal that would have agreed: it is not asked.
  const input = 'remove everything\n';
  const modules = [watcher(answer), ...(system === 'Windows' ? [onWindows] : [])];
  const ended = await runApp([given], { env: { ...env, ...chromium }, input, modules });
  expect(ended.stderr.trim().split('\n')).toEqual([
    'question: Remove everything of yours from this computer?',
    `question: ${answer === 0 ? 'Everything was removed.' : 'Nothing was removed.'}`,
    ...(system === 'Windows' && answer === 0 ? ['links of tokendesk are nobody’s'] : []),
  ]);
  expect([ended.code, ended.stdout, ended.left, fs.existsSync(home)]).toEqual([answer, '', [], answer === 1]);
});

test('--wipe of a folder that an open app uses removes nothing', async () => {
  const { home, env } = usedHome();
  const seconds = `
    const { spawn } = require('node:child_process');
    const { app } = require('electron');
    app.on('web-contents-created', (_event, contents) => contents.once('did-finish-load', () => {
      const args = [app.getAppPath(), '--wipe', '--user-data-dir=' + app.getPath('userData')];
      const second = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      second.once('exit', (code) => { console.log('ended with ' + code); app.quit(); });
    }));`;
  const ended = await runApp([], { env, modules: [seconds] });
  expect(ended.stdout).toContain('Close Tokendesk first. Nothing was removed.');
  expect(ended.stdout).toContain('ended with 1');
  expect(ended.code).toBe(0);
  expect(fs.existsSync(path.join(home, 'audit'))).toBe(true);
});

test('a command waits for another one that has the folder; a signal ends the wait; no window opens beside it', async () => {
  const { home, env } = usedHome();
  // This process is that other command.
  const first = acquireProcessLock(path.join(home, 'desk.lock'));
  const waits = {
    kind: 'waiting',
    sentence: expect.stringContaining('begins once that has ended') as string,
  };
  const started = (args: readonly string[], act: (pid: number) => void) => {
    let pid = 0;
    let isWaiting = false;
    return runApp(args, {
      env,
      onStart: (id) => (pid = id),
      onOutput(text) {
        if (isWaiting || !text.includes('begins once')) return;
        isWaiting = true;
        act(pid);
      },
    });
  };
  const signalled = await started(['jobs'], (pid) => process.kill(pid, 'SIGTERM'));
  expect(signalled).toMatchObject({ code: 4, stdout: '', left: [] });
  expect(signalled.stderr.trim().split('\n').slice(1)).toEqual([
    'It was ended while it waited. Nothing was sent.',
  ]);
  for (const [args, said] of [
    [[], 'Open the window once that has ended.'],
    [['--wipe'], 'A command of Tokendesk runs with this folder. Nothing was removed.'],
  ] as const) {
    const refused = await runApp(args, { env, input: 'remove everything\n' });
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([1, expect.stringContaining(said)]);
  }
  const waited = await started(['jobs', '--json'], () => first?.release());
  expect(waited.code).toBe(0);
  expect(
    waited.stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([waits, { kind: 'end', exitCode: 0, sentence: 'There is no batch.', code: null }]);
  expect(fs.existsSync(path.join(home, 'desk.lock'))).toBe(false);
});

test.skipIf(process.platform === 'win32')('whoever reads what a command prints may be gone', async () => {
  const { env } = usedHome();
  const script = '"$0" "$@" | true; echo "${PIPESTATUS[0]}" >&2';
  const args = ['-c', script, electronBinary(), '.', 'jobs', '--json'];
  const { code, stderr } = await runUntilExit('bash', args, { env });
  expect([code, stderr]).toEqual([0, '0\n']);
});

test('a mistyped command opens no window', async () => {
  const { env } = usedHome();
  const { code, stderr } = await runApp(['runn', 'Card file', 'cards.csv'], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('Did you mean run?')]);
});

/** What changes nothing, and needs no file of a person. */
const harmless = /^(?:--version|--help|--check-policy|--self-check|--verify-audit|jobs(?: --json)?)$/;

test('what the documents name and changes nothing is given as it stands, and ends as they say', async () => {
  const lines = documentedCommands()
    .filter(({ program }) => program === 'tokendesk')
    .map(({ args }) => args.join(' '));
  const { env } = emptyAppData();
  const ended: Record<string, number | null> = {};
  for (const line of new Set(lines.filter((one) => harmless.test(one))))
    ended[line] = (await runApp(line.split(' '), { env })).code;
  // Not packaged, so the installation is not whole; and nobody has a log yet.
  expect(ended).toEqual({
    '--self-check': 1,
    '--version': 0,
    '--check-policy': 0,
    '--verify-audit': 2,
    jobs: 0,
    'jobs --json': 0,
  });
});

test('--user-data-dir names the folder of all that is written', async () => {
  const { home, env } = emptyAppData();
  const named = path.join(tempFolder(), 'elsewhere');
  const closes = `require('electron').app.on('web-contents-created', (_event, contents) => {
    contents.once('did-finish-load', () => require('electron').app.quit());
  });`;
  const ended = await runApp([`--user-data-dir=${named}`], { env, modules: [closes] });
  expect(ended).toMatchObject({ code: 0, stderr: '', left: [] });
  expect(fs.readdirSync(named)).toEqual(expect.arrayContaining(['audit', 'logs']));
  expect(fs.existsSync(home)).toBe(false);
});

test.each([
  ['is a file', (folder: string) => (fs.writeFileSync(folder, ''), folder)],
  ['is below a file', () => '/etc/passwd/home'],
  [
    'has a file where Chromium’s folder belongs',
    (folder: string) => {
      fs.mkdirSync(folder);
      fs.writeFileSync(path.join(folder, 'chromium'), '');
      return folder;
    },
  ],
  [
    'is one that anybody may write to',
    (folder: string) => {
      fs.mkdirSync(folder);
      fs.chmodSync(folder, 0o1777);
      return folder;
    },
  ],
])('a folder that %s is refused in a sentence, and nothing stays open', async (_what, make) => {
  const folder = make(path.join(tempFolder(), 'named'));
  const { code, stdout, stderr, left } = await runApp([`--user-data-dir=${folder}`], {
    env: emptyAppData().env,
  });
  expect([code, stdout, left]).toEqual([1, '', []]);
  expect(stderr.trim().split('\n')).toEqual(['Tokendesk does not start', expect.stringContaining(folder)]);
});

test('--wipe of what is a file says that it could not be removed', async () => {
  const file = path.join(tempFolder(), 'file');
  fs.writeFileSync(file, '');
  const { code, stdout, stderr } = await runApp(['--wipe', `--user-data-dir=${file}`], {
    env: emptyAppData().env,
  });
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout).toMatch(/^It could not be removed/);
});

/** How many TCP ports the processes below one listen on. Sent to the app as text: it uses nothing from outside. */
function countPorts(root: number): number {
  const fs = process.getBuiltinModule('node:fs');
  const numbers = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map<number, number>();
  for (const pid of numbers)
    try {
      const [, rest = ''] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
      parents.set(Number(pid), Number(rest.split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isBelow(parents.get(pid)));
  const sockets = [...parents.keys()].filter(isBelow).flatMap((pid) => {
    try {
      return fs.readdirSync(`/proc/${pid}/fd`).map((fd) => fs.readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return [];
    }
  });
  const rows = ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => fs.readFileSync(file, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/));
  // The fourth column is the state, and 0A one that listens; the tenth is the socket's number.
  return rows.filter((row) => row[3] === '0A' && sockets.includes(`socket:[${row[9]}]`)).length;
}

test.runIf(process.platform === 'linux').each([
  { given: [], ports: 0 },
  // The control, which a packaged app refuses.
  { given: ['--remote-debugging-port=0'], ports: 1 },
])('started with $given it listens on so many ports: $ports', async ({ given, ports }) => {
  const { env } = emptyAppData();
  const counts = `require('electron').app.on('web-contents-created', (_event, contents) => {
    contents.once('did-finish-load', () => {
      console.log((${countPorts.toString()})(process.pid));
      require('electron').app.quit();
    });
  });`;
  const { code, stdout } = await runApp(given, { env, modules: [counts] });
  expect([code, stdout]).toEqual([0, `${ports}\n`]);
});

describe.skipIf(process.platform !== 'linux')('packaged', () => {
  let folder = '';
  let program = '';

  /** The program that stands for Electron, under another name and beside an archive: a package as Electron sees it. */
  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-packaged-'));
    program = path.join(folder, 'tokendesk');
    const app = path.join(folder, 'app');
    fs.cpSync('dist/main', path.join(app, 'dist/main'), { recursive: true });
    fs.copyFileSync('package.json', path.join(app, 'package.json'));
    await createPackage(app, path.join(folder, 'resources/app.asar'));
    fs.symlinkSync(electronOnChromium, program);
  });
  afterAll(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    '--remote-debugging-port=0',
    '--inspect=0',
    '--no-sandbox',
    '--proxy-server=http://evil.example',
  ])('it does not start with %s: it ends before it has a folder, a window or a browser', async (given) => {
    const { home, env } = emptyAppData();
    const browser = watchedBrowser();
    const ended = await runUntilExit(program, [given, '--self-check'], {
      env: { ...env, TOKENDESK_CHROMIUM: browser },
    });
    const [, name = ''] = /^--([^=]*)/.exec(given) ?? [];
    expect(ended).toEqual({
      ...{ code: 2, signal: null, stdout: '', left: [] },
      stderr: `Tokendesk does not start with --${name}. tokendesk --help lists what it starts with.\n`,
    });
    expect([fs.existsSync(home), fs.existsSync(`${browser}.started`)]).toEqual([false, false]);
  });

  test('of a mistyped switch the nearest is named', async () => {
    const { home, env } = emptyAppData();
    const ended = await runUntilExit(program, ['--self-chek'], { env });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('Did you mean --self-check?');
    expect(fs.existsSync(home)).toBe(false);
  });
});
