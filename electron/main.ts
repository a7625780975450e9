import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
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
import { keychainEntry } from './settings/home-id.ts';
import { UnusableFile } from './storage/file-failures.ts';
import { acquireProcessLock } from './storage/process-lock.ts';
import { loadKeytar } from './storage/keytar.ts';
import { type App, openApp } from './app/compose.ts';
import type { AppOptions } from './app/options.ts';
import { auditKeyAccount } from './audit/checkpoint.ts';
import { exitCodes } from './commands/ends.ts';
import type { TakenHome } from './commands/start.ts';
import { createLog, type Log } from './log/log.ts';
import { watchProcess } from './log/watch-process.ts';
import type { SelfCheckOptions } from './support/self-check.ts';
import { systemClock } from './util/clock.ts';
import { beginStart, untilStarted } from './util/turns.ts';
import { limitCoreDumps } from './platform/core-dumps.ts';
import { watchOpenings, type Openings } from './platform/openings.ts';
import { closeBeforeQuitting, type Quitting } from './platform/quit.ts';
import { handleSignals } from './platform/signals.ts';
import {
  commandOf,
  compareArguments,
  helpText,
  conformanceArguments,
  policyArgument,
  printedAtStart,
  refusalOf,
  refusalOfWord,
  refusedSwitch,
  unknownCommand,
  verifierArguments,
} from './platform/command-line.ts';
import { denyEverything } from './platform/denials.ts';
import { createElectronPlatform, homeFolder, siteFolder, useHome } from './platform/electron-platform.ts';
import type { Platform } from './platform/platform.ts';
import { electronOrigin, registerScheme } from './platform/protocol.ts';
import { watchScreenLock } from './platform/screen-lock.ts';
import { nameForWindows, removeRegistrations } from './platform/windows-registrations.ts';
import { readManagedSettings, systemOptions, type ManagedOptions } from './settings/read-managed-settings.ts';
import { isAllowedHost } from './settings/managed-settings.ts';
import { sentenceFor } from '../src/messages/messages.ts';
import { formatNotice } from '../src/messages/notices.ts';

/** Quitting waits this long for jobs to reach a chunk's edge; what is committed is safe either way. */
const closingMs = 10_000;

// What is asked for on the command line is loaded when it is: a start of the window has no use for it.
// Electron becomes ready once this module has run, and waits for what it awaits. So what needs neither window nor display
// is awaited here and ends before `ready`: Chromium starts none of its processes for it and writes nothing.
app.enableSandbox();
// Whoever reads what is printed may be gone. What a command was asked for is done all the same.
for (const printed of [process.stdout, process.stderr]) printed.on('error', () => undefined);
registerScheme(protocol);
denyEverything(app);
app.on('window-all-closed', () => {
  app.quit();
});
if (process.platform === 'win32' && app.isPackaged) nameForWindows(app);
let quitting: Quitting | null = null;
const { folder: home, isOwn: isOwnHome, usual: usualHome } = homeFolder(app, process.env, process.platform);
/** Of a command while it runs, and of a start until it has Electron's own. */
const homeLock = path.join(home, 'desk.lock');
const refused = refusedSwitch(app, process.argv, process.platform);
const printed = printedAtStart(process.argv, process.platform);
const command = commandOf(app, process.argv);
const unknown = unknownCommand(process.argv, fs.existsSync);
const verifier = (['verify-audit', 'verify-evidence'] as const).find((name) =>
  app.commandLine.hasSwitch(name),
);
if (refused !== null) {
  console.error(refusalOf(refused));
  // An AppImage's own launcher gives that switch where the system allows no user namespaces: the person gave none, and
  // whoever started it from a menu reads no terminal.
  if (refused === 'no-sandbox' && process.env['APPIMAGE'] !== undefined)
    void app.whenReady().then(() => {
      fail(
        'Tokendesk does not start here',
        'This system gives an AppImage no sandbox. Ask your administrator for the .deb or .rpm package, which brings one.',
      );
    });
  else await endWith(2);
} else if (printed !== null) {
  await endWith(0, printed === 'help' ? helpText() : `Tokendesk ${app.getVersion()}\n`);
} else if (app.commandLine.hasSwitch('self-check')) {
  await runSelfCheck();
} else if (app.commandLine.hasSwitch('check-policy')) {
  const file = policyArgument(app, process.argv, process.platform);
  if (file === undefined) {
    console.error('Name one file, as tokendesk --check-policy=FILE.');
    await endWith(2);
  } else {
    const { checkPolicy } = await partOf(import('./settings/check-policy.ts'));
    const { text, code } = await checkPolicy({
      file,
      managed: managedOptions(),
      clock: systemClock,
      words: sentenceFor,
    });
    await endWith(code, text);
  }
} else if (app.commandLine.hasSwitch('compare')) {
  const { compareStatements } = await partOf(import('./support/compare-statements.ts'));
  const { text, code } = await compareStatements(compareArguments(process.argv, process.platform));
  await endWith(code, text);
} else if (app.commandLine.hasSwitch('conformance')) {
  await runConformance();
} else if (verifier !== undefined) {
  await runVerifier(verifier);
} else if (command !== null) {
  await runCommand(command);
} else if (app.commandLine.hasSwitch('wipe')) {
  // Its dialogs need what comes with `ready`; on the terminal it ends before.
  const inDialogs = process.platform === 'win32' || app.commandLine.getSwitchValue('wipe') === 'window';
  if (inDialogs) void runWipe(inDialogs);
  else await runWipe(inDialogs);
} else if (unknown !== null) {
  console.error(refusalOfWord(unknown));
  await endWith(2);
} else {
  startInHome();
}

function startInHome(): void {
  const doesNotStart = 'Tokendesk does not start';
  try {
    if (!useHome(app, { folder: home, isOwn: isOwnHome }, process.platform))
      fail(
        doesNotStart,
        `Anybody may write to the folder ${home}. Name one of your own with --user-data-dir.`,
      );
    else {
      // Another start has it for a moment. Nothing else is to be done before.
      let taken = takeHome();
      for (let times = 0; times < 20 && taken === 'command'; times++) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
        taken = takeHome();
      }
      // The one that is open has been told; where none is, there is nothing to lock.
      if (app.commandLine.hasSwitch('lock')) app.quit();
      else if (taken === 'command')
        fail(
          doesNotStart,
          'A command of Tokendesk runs with this folder. Open the window once that has ended.',
        );
      else if ('release' in taken) {
        // From here on Electron's own says that the window is open, and hands over what another start was given.
        taken.release();
        start();
      } else app.quit();
    }
  } catch {
    // The person named it, or it is the usual one: the path says nothing new.
    fail(doesNotStart, `It can't use the folder ${home}. Look whether it is a folder that you may write to.`);
  }
}

/** `tokendesk run MAPPING FILE…` and the like: the app without its window, then the end. */
async function runCommand({ name, args }: NonNullable<ReturnType<typeof commandOf>>): Promise<void> {
  const log = createOwnLog();
  const { startCommand } = await partOf(import('./commands/start.ts'), exitCodes.broken);
  const code = await startCommand(name, args, {
    origin: electronOrigin,
    words: { failure: sentenceFor, notice: formatNotice },
    process,
    version: app.getVersion(),
    home,
    resources: path.join(app.getAppPath(), 'resources'),
    site: siteFolder(app.getPath('exe'), process.platform),
    takeHome() {
      try {
        if (useHome(app, { folder: home, isOwn: isOwnHome }, process.platform)) return takeHome();
      } catch {
        // Said below.
      }
      return { refused: `Tokendesk can’t use the folder ${home}.` };
    },
    async open(platform) {
      await limitCoreDumps({ log, os: process.platform });
      const managed = await readManagedSettings(managedOptions());
      return managed.ok ? openOrSay(platform, appOptions(log, managed)) : managed.sentence;
    },
    async facts() {
      const { workstationFacts } = await import('./support/workstation-facts.ts');
      return workstationFacts(await selfCheckOptions(), app.getVersion());
    },
  }).catch((error: unknown) => {
    // Whoever waits for the command must not take its end for a success.
    log.bug('command', error);
    console.error('Tokendesk could not go on. The log says what kind of failure it was.');
    return exitCodes.broken;
  });
  await endWith(code);
}

/**
 * The folder for this process. Electron's own lock is asked for behind one of ours: a process that has Electron's answers
 * nobody before `ready`, which a command never is, and whoever asks it then waits for twenty seconds and kills it
 * (chrome/browser/process_singleton_posix.cc).
 */
function takeHome(): TakenHome {
  const lock = acquireProcessLock(homeLock);
  if (lock === null) return 'command';
  if (app.requestSingleInstanceLock()) return lock;
  lock.release();
  return {
    refused: 'Tokendesk is open with this folder. Close it first, or name another one with --user-data-dir.',
  };
}

/** `--self-check`, for administrators: reports whether this installation is complete and unchanged, then ends. */
async function runSelfCheck(): Promise<void> {
  const { report, selfCheck } = await partOf(import('./support/self-check.ts'));
  const { text, code } = report(await selfCheck(await selfCheckOptions()));
  await endWith(code, text);
}

async function selfCheckOptions(): Promise<SelfCheckOptions> {
  const { default: inspector } = await import('node:inspector');
  return {
    executable: app.getPath('exe'),
    archive: app.getAppPath(),
    root: app.getAppPath(),
    resources: process.resourcesPath,
    preload: path.join(import.meta.dirname, 'preload.cjs'),
    site: siteFolder(app.getPath('exe'), process.platform),
    os: process.platform,
    managed: managedOptions(),
    loadKeytar,
    clock: systemClock,
    node: { options: process.execArgv, inspector: inspector.url() },
    words: sentenceFor,
  };
}

/** `--conformance`: checks a service against the specification, then ends. The account comes on standard input. */
async function runConformance(): Promise<void> {
  const read = await readManagedSettings(managedOptions());
  if (!read.ok) {
    await endWith(2, `COULD NOT BE CHECKED: ${read.sentence}\n`);
    return;
  }
  const { checkConformance } = await partOf(import('./conformance/command.ts'));
  const { text, code } = await checkConformance({
    args: conformanceArguments(process.argv, process.platform),
    readInput: () => textOf(process.stdin),
    isAllowedHost: (baseUrl) => isAllowedHost(baseUrl, read.managed),
  });
  await endWith(code, text);
}

/**
 * `--verify-audit` and `--verify-evidence`: runs the verifier that is shipped for auditors, in this process, then ends.
 * A log is this person's own unless another is named.
 */
async function runVerifier(name: 'verify-audit' | 'verify-evidence'): Promise<void> {
  const given = verifierArguments(process.argv, process.platform);
  const ownLog = (): string[] => [
    path.join(home, 'audit'),
    `--checkpoint=${path.join(home, 'checkpoints', 'audit')}`,
    `--keychain=${keychainEntry(home, auditKeyAccount)}`,
  ];
  const file = path.join(import.meta.dirname, '../verify', `${name}.mjs`);
  try {
    const args = name === 'verify-audit' && given.length === 0 ? ownLog() : given;
    process.argv = [process.execPath, file, ...args];
    await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (error) {
    // It says itself what an administrator named wrongly: otherwise this is an installation without it.
    const reason =
      error instanceof UnusableFile ? `${error.file} can’t be read.` : 'the verifier is missing or damaged.';
    console.error(`COULD NOT BE CHECKED: ${reason}`);
    process.exitCode = 2;
  }
  await endWith(Number(process.exitCode ?? 2));
}

/**
 * `--wipe`: asks, then removes all that is kept of this person, and ends. On the terminal; in dialogs where the window
 * asked for it (`--wipe=window`), and on Windows, where a program with a window has no terminal.
 */
async function runWipe(inDialogs: boolean): Promise<void> {
  const print = async (sentence: string): Promise<void> => {
    if (inDialogs) await dialog.showMessageBox({ message: sentence, buttons: ['Close'], noLink: true });
    else console.log(sentence);
  };
  let code: 0 | 1 = 1;
  let taken: TakenHome | null = null;
  try {
    if (fs.existsSync(home)) {
      app.setPath('userData', home);
      taken = takeHome();
    }
    const isAlone = taken === null || (taken !== 'command' && 'release' in taken);
    if (isAlone && inDialogs) useScratchFolder();
    if (inDialogs) await app.whenReady();
    if (isAlone) {
      const { wipe } = await import('./support/wipe.ts');
      code = await wipe({
        home,
        isOwnFolder: isOwnHome,
        usualHome,
        loadKeytar,
        clock: systemClock,
        confirm: inDialogs ? confirmInDialog : confirmOnTerminal,
        releaseLock: () => app.releaseSingleInstanceLock(),
        print,
      });
    } else if (taken === 'command')
      await print('A command of Tokendesk runs with this folder. Nothing was removed.');
    else await print('Close Tokendesk first. Nothing was removed.');
  } catch (error) {
    await print(
      error instanceof UnusableFile
        ? `It could not be removed: ${error.file} can’t be read.`
        : `It could not be removed (${error instanceof Error ? error.name : 'unknown'}).`,
    );
  }
  if (taken !== null && taken !== 'command' && 'release' in taken) taken.release();
  if (code === 0 && process.platform === 'win32') await removeRegistrations({ app, env: process.env });
  await endWith(code);
}

/** What only the command line asks for. Where the installation lacks it, the app says so and ends. */
async function partOf<T>(loading: Promise<T>, code = 2): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    console.error('A part of this installation is missing or damaged.');
    await endWith(code);
    throw error;
  }
}

/** Ends the app once all that was printed has left: before `ready` Electron ends at once. */
async function endWith(code: number, text = ''): Promise<void> {
  await new Promise((resolve) => process.stderr.write('', resolve));
  await new Promise((resolve) => process.stdout.write(text, resolve));
  app.exit(code);
}

async function confirmOnTerminal(what: string): Promise<boolean> {
  const phrase = 'remove everything';
  console.log(what);
  const { default: readline } = await import('node:readline/promises');
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
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-wipe-'));
  app.setPath('userData', scratch);
  process.on('exit', () => {
    try {
      fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // Windows: Chromium still has a file of it open. It holds nothing of the person's.
    }
  });
}

function managedOptions(): ManagedOptions {
  const { platform } = process;
  return { ...systemOptions(platform), site: siteFolder(app.getPath('exe'), platform) };
}

function start(): void {
  // Before Electron is ready: macOS asks for files as early as that.
  const openings = watchOpenings(app, process.argv, process.platform);
  const log = createOwnLog();
  watchProcess(log, () => {
    fail(
      'Tokendesk has to close',
      'Something unexpected happened. It was written to the log. Jobs are kept.',
    );
  });
  beginStart();
  // All but the window is there before Electron is, where that takes longer. Nothing secret is read before the limit is set.
  const opening = limitCoreDumps({ log, os: process.platform }).then(() => open(log, openings));
  // Heard below.
  opening.catch(() => undefined);
  app
    .whenReady()
    .then(() => {
      handleSignals(process, () => {
        if (quitting === null) app.quit();
        else quitting.force();
      });
    })
    .then(() => opening)
    .then((opened) => {
      if (opened.ok) return opened.platform.openWindow();
      fail('Tokendesk does not start', opened.sentence);
    })
    .catch((error: unknown) => {
      log.bug('start', error);
      fail('Tokendesk could not start', 'Something it needs is missing or damaged. The log says what kind.');
    });
}

type Opened =
  { readonly ok: true; readonly platform: Platform } | { readonly ok: false; readonly sentence: string };

/** Opens the app, without its window; or says why what the administrator has fixed lets it not. */
async function open(log: Log, openings: Openings): Promise<Opened> {
  const managed = await readManagedSettings(managedOptions());
  if (!managed.ok) {
    log.info('managed settings refused');
    return managed;
  }
  const platform = createElectronPlatform(
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
      restart: (given) => quitting?.restart(given),
      onSessionEnd: () => quitting?.force(),
      // Two programs of the system: until the window is drawn there is nothing in it to lock.
      watchScreenLock(onLocked) {
        const { uid } = os.userInfo();
        void untilStarted().then(() => watchScreenLock({ env: process.env, uid, log, onLocked }));
      },
    },
  );
  const tokendesk = await openOrSay(platform, appOptions(log, managed));
  if (typeof tokendesk === 'string') return { ok: false, sentence: tokendesk };
  // electron-store offers its folder to any window that asks; the app's window must not learn it.
  ipcMain.removeAllListeners('electron-store-get-data');
  quitting = closeBeforeQuitting({ app, dialog }, { ...tokendesk, closingMs });
  // macOS and Linux: the system shuts down and waits for no answer.
  void app.whenReady().then(() => powerMonitor.on('shutdown', () => quitting?.force()));
  return { ok: true, platform };
}

/** Opens the app; or says which file of the person's folder it can't use. */
async function openOrSay(platform: Platform, options: AppOptions): Promise<App | string> {
  try {
    return await openApp(platform, options);
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    return `It can’t use ${error.file}. Look whether that is a file, and one that you may read and write.`;
  }
}

function createOwnLog(): Log {
  return createLog({
    folder: path.join(home, 'logs'),
    codeFolder: import.meta.dirname,
    version: app.getVersion(),
    now: () => new Date(),
  });
}

function appOptions(
  log: Log,
  { managed, deployment, profile }: Pick<AppOptions, 'managed' | 'deployment' | 'profile'>,
): AppOptions {
  return {
    openSettingsFile: (options) => new ElectronStore(options),
    usualHome,
    loadKeytar,
    builtInServiceWorker: new URL('./built-in-service-worker.js', import.meta.url),
    parserWorker: new URL('./parser-worker.js', import.meta.url),
    licences: [
      new URL('./licences.json', import.meta.url),
      new URL('../renderer/licences.json', import.meta.url),
    ],
    origin: electronOrigin,
    log,
    managed,
    deployment,
    async rereadDeployment() {
      const read = await readManagedSettings(managedOptions());
      return read.ok ? read.deployment : null;
    },
    profile,
  };
}

/** Says so in a plain sentence, without the error: its message could quote what was being read. */
function fail(title: string, sentence: string): void {
  dialog.showErrorBox(title, sentence);
  app.exit(1);
}
