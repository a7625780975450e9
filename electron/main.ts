import { once } from 'node:events';
import fs from 'node:fs';
import inspector from 'node:inspector';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline/promises';
import { pathToFileURL } from 'node:url';
import {
  app,
  BrowserWindow,
  clipboard,
  ClipboardItem,
  dialog,
  ipcMain,
  Menu,
  nativeTheme,
  Notification,
  powerMonitor,
  powerSaveBlocker,
  protocol,
  screen,
  session,
  shell,
} from 'electron';
import ElectronStore from 'electron-store';
import { loadKeytar } from './credentials/keytar.ts';
import { openApp } from './app.ts';
import { auditKeyAccount } from './audit/checkpoint.ts';
import { createLog, type Log } from './log/log.ts';
import { watchProcess } from './log/watch-process.ts';
import { report, selfCheck } from './self-check.ts';
import { systemClock } from './privacy/clock.ts';
import { limitCoreDumps } from './platform/core-dumps.ts';
import { watchOpenings, type Openings } from './platform/openings.ts';
import { closeBeforeQuitting, type Quitting } from './platform/quit.ts';
import { denyEverything, refusedSwitch } from './platform/denials.ts';
import { createElectronPlatform, homeFolder, siteFolder } from './platform/electron-platform.ts';
import { electronOrigin, registerScheme } from './platform/protocol.ts';
import { watchScreenLock } from './platform/screen-lock.ts';
import { readManagedSettings, systemOptions, type ManagedOptions } from './settings/managed-settings.ts';
import { wipe } from './wipe.ts';

/** Quitting waits this long for jobs to reach a chunk's edge; what is committed is safe either way. */
const closingMs = 10_000;

// Electron is ready once this module has run, so nothing here awaits: all of it must come before.
app.enableSandbox();
registerScheme(protocol);
denyEverything(app);
app.on('window-all-closed', () => {
  app.quit();
});
// `on`, not `once`: the settings library has a handler that raises the signal again, which would then end the process.
let quitting: Quitting | null = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (quitting === null) app.quit();
    else quitting.force();
  });
const home = homeFolder(app, process.env, process.platform);
const refused = refusedSwitch(app, process.argv, process.platform);
const verifier = (['verify-audit', 'verify-evidence'] as const).find((name) =>
  app.commandLine.hasSwitch(name),
);
if (refused !== null) {
  console.error(`Tokendesk does not start with --${refused}.`);
  app.exit(1);
} else if (app.commandLine.hasSwitch('self-check')) {
  void runSelfCheck();
} else if (verifier !== undefined) {
  void runVerifier(verifier);
} else if (app.commandLine.hasSwitch('wipe')) {
  void runWipe();
} else {
  fs.mkdirSync(home, { recursive: true, mode: 0o700 });
  // It is where Electron looks for another instance.
  app.setPath('userData', home);
  if (app.requestSingleInstanceLock()) start();
  else app.quit();
}

/** `--self-check`, for administrators: reports whether this installation is complete and unchanged, then ends. */
async function runSelfCheck(): Promise<void> {
  useScratchFolder();
  const results = await selfCheck({
    executable: app.getPath('exe'),
    archive: app.getAppPath(),
    root: app.getAppPath(),
    list: path.join(import.meta.dirname, 'files.json'),
    preload: path.join(import.meta.dirname, 'preload.cjs'),
    site: siteFolder(app.getPath('exe'), process.platform),
    os: process.platform,
    managed: managedOptions(),
    loadKeytar,
    clock: systemClock,
    node: { options: process.execArgv, inspector: inspector.url() },
  });
  const { text, code } = report(results);
  process.stdout.write(text, () => {
    app.exit(code);
  });
}

/**
 * `--verify-audit` and `--verify-evidence`: runs the verifier that is shipped for auditors, in this process, then ends.
 * A log is this person's own unless another is named.
 */
async function runVerifier(name: 'verify-audit' | 'verify-evidence'): Promise<void> {
  useScratchFolder();
  const given = process.argv.slice(process.argv.indexOf(`--${name}`) + 1);
  const ownLog = [
    path.join(home, 'audit'),
    `--checkpoint=${path.join(home, 'checkpoints', 'audit')}`,
    `--keychain=${auditKeyAccount}`,
  ];
  const file = path.join(import.meta.dirname, '../verify', `${name}.mjs`);
  process.argv = [
    process.execPath,
    file,
    ...(name === 'verify-audit' && given.length === 0 ? ownLog : given),
  ];
  try {
    await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (error) {
    // A file that can't be read: the error is about what the administrator named.
    console.error(error instanceof Error ? error.message : 'It could not be verified.');
    process.exitCode = 2;
  }
  process.stdout.write('', () => {
    app.exit(Number(process.exitCode ?? 0));
  });
}

/**
 * `--wipe`: asks, then removes all that is kept of this person, and ends. On the terminal; in dialogs where the window
 * asked for it (`--wipe=window`), and on Windows, where a program with a window has no terminal.
 */
async function runWipe(): Promise<void> {
  const inDialogs = process.platform === 'win32' || app.commandLine.getSwitchValue('wipe') === 'window';
  const print = async (sentence: string): Promise<void> => {
    if (inDialogs) await dialog.showMessageBox({ message: sentence, buttons: ['Close'], noLink: true });
    else console.log(sentence);
  };
  let code: 0 | 1 = 1;
  if (fs.existsSync(home)) app.setPath('userData', home);
  const isAlone = app.requestSingleInstanceLock();
  if (isAlone) useScratchFolder();
  if (inDialogs) await app.whenReady();
  try {
    if (isAlone)
      code = await wipe({
        home,
        conf: (options) => new ElectronStore(options),
        loadKeytar,
        clock: systemClock,
        confirm: inDialogs ? confirmInDialog : confirmOnTerminal,
        print,
      });
    else await print('Close Tokendesk first. Nothing was removed.');
  } catch (error) {
    await print(`It could not be removed (${error instanceof Error ? error.name : 'unknown'}).`);
  }
  process.stdout.write('', () => {
    app.exit(code);
  });
}

async function confirmOnTerminal(what: string): Promise<boolean> {
  const phrase = 'remove everything';
  console.log(what);
  const terminal = readline.createInterface({ input: process.stdin, output: process.stdout });
  // Where nobody can answer, the input has ended.
  const ended = once(terminal, 'close').then(() => '');
  const answer = await Promise.race([terminal.question(`Type "${phrase}" to go on: `), ended]);
  terminal.close();
  return answer.trim() === phrase;
}

async function confirmInDialog(what: string): Promise<boolean> {
  const { response } = await dialog.showMessageBox({
    type: 'warning',
    message: 'Remove everything of yours from this computer?',
    detail: what,
    buttons: ['Remove everything', 'Cancel'],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  });
  return response === 0;
}

/** Chromium writes into its folder once it is ready: it gets one that is removed at the end. */
function useScratchFolder(): void {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-check-'));
  app.setPath('userData', scratch);
  process.on('exit', () => {
    fs.rmSync(scratch, { recursive: true, force: true });
  });
}

function managedOptions(): ManagedOptions {
  const { platform } = process;
  return { ...systemOptions(platform), site: siteFolder(app.getPath('exe'), platform) };
}

function start(): void {
  // Before Electron is ready: macOS asks for files as early as that.
  const openings = watchOpenings(app, process.argv, process.platform);
  const log = createLog({
    folder: path.join(home, 'logs'),
    codeFolder: import.meta.dirname,
    version: app.getVersion(),
    now: () => new Date(),
  });
  watchProcess(log, () => {
    fail(
      'Tokendesk has to close',
      'Something unexpected happened. It was written to the log. Jobs are kept.',
    );
  });
  const limited = limitCoreDumps({ log, os: process.platform });
  app
    .whenReady()
    // Before anything secret is read.
    .then(() => limited)
    .then(() => open(log, openings))
    .catch((error: unknown) => {
      log.bug('start', error);
      fail('Tokendesk could not start', 'Something it needs is missing or damaged. The log says what kind.');
    });
}

async function open(log: Log, openings: Openings): Promise<void> {
  const managed = await readManagedSettings(managedOptions());
  if (!managed.ok) {
    log.info('managed settings refused');
    fail('Tokendesk does not start', managed.sentence);
    return;
  }
  const platform = await createElectronPlatform(
    {
      app,
      BrowserWindow,
      clipboard,
      ClipboardItem,
      dialog,
      ipcMain,
      Menu,
      nativeTheme,
      Notification,
      powerMonitor,
      powerSaveBlocker,
      screen,
      session,
      shell,
    },
    {
      renderer: path.join(import.meta.dirname, '../renderer'),
      preload: path.join(import.meta.dirname, 'preload.cjs'),
      os: process.platform,
      openings,
      mayClose: () => quitting?.mayClose() ?? true,
      watchScreenLock: (onLocked) =>
        watchScreenLock({ env: process.env, uid: os.userInfo().uid, log, onLocked }),
    },
  );
  const tokendesk = await openApp(platform, {
    conf: (options) => new ElectronStore(options),
    loadKeytar,
    builtInServiceWorker: new URL('./built-in-service-worker.js', import.meta.url),
    parserWorker: new URL('./parser-worker.js', import.meta.url),
    licences: [
      new URL('./licences.json', import.meta.url),
      new URL('../renderer/licences.json', import.meta.url),
    ],
    origin: electronOrigin,
    log,
    managed: managed.managed,
    deployment: managed.deployment,
    profile: managed.profile,
  });
  // electron-store offers its folder to any window that asks; the app's window must not learn it.
  ipcMain.removeAllListeners('electron-store-get-data');
  quitting = closeBeforeQuitting({ app, dialog }, { ...tokendesk, closingMs });
  // The system shuts down: it waits for no answer.
  powerMonitor.on('shutdown', () => quitting?.force());
  await platform.openWindow();
}

/** Says so in a plain sentence, without the error: its message could quote what was being read. */
function fail(title: string, sentence: string): void {
  dialog.showErrorBox(title, sentence);
  app.exit(1);
}
