import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type * as Electron from 'electron';
import { removeUnpacked } from './archive.ts';
import { acquireLock, type InstanceLock } from './single-instance.ts';
import { notModelled, preventable, strict, StrictEmitter } from './strict.ts';

/*
 * `app`: life cycle, paths, switches, the single instance.
 */

const events = [
  'ready',
  'will-finish-launching',
  'window-all-closed',
  'before-quit',
  'will-quit',
  'quit',
  'second-instance',
  'open-file',
  'open-url',
  'activate',
  'session-created',
  'web-contents-created',
  'select-client-certificate',
  'login',
  'render-process-gone',
  'child-process-gone',
];

export interface AppOptions {
  /** The program as it was started. */
  readonly executable: string;
  readonly isPackaged: boolean;
  readonly appPath: string;
  /** Members of the app's package.json. */
  readonly name: string;
  readonly version: string;
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Closes what is open, before the process ends. */
  readonly shutDown: () => Promise<void>;
  /** A switch was appended. */
  readonly onSwitch: () => void;
  readonly windows: () => readonly { close(): void; destroy(): void }[];
}

/** What the program itself does with the app. */
export interface AppControl {
  readonly module: StrictEmitter & Partial<Electron.App>;
  /** Main's module has run to its end. */
  becomeReady(): void;
  /** Quits as a signal makes it. */
  quit(): void;
  /** A window was closed, and so many are left. */
  readonly windowClosed: (left: number) => void;
  readonly isReady: () => boolean;
  readonly switches: Map<string, string>;
  /** Whether it was told to end before it was ready. */
  readonly isEnding: () => boolean;
}

export function createApp({
  executable,
  isPackaged,
  appPath,
  name,
  version,
  argv,
  env,
  shutDown,
  onSwitch,
  windows,
}: AppOptions): AppControl {
  const switches = readSwitches(argv);
  const home = os.homedir();
  /** An empty one counts as none. */
  const variable = (name: string): string | undefined => env[name] || undefined;
  const appData = {
    linux: variable('XDG_CONFIG_HOME') ?? path.join(home, '.config'),
    darwin: path.join(home, 'Library/Application Support'),
    win32: variable('APPDATA') ?? path.join(home, 'AppData/Roaming'),
  }[process.platform as 'linux'];
  const userData = switches.get('user-data-dir') ?? '';
  const paths = new Map<string, string>([
    ['home', home],
    ['appData', appData],
    ['userData', path.isAbsolute(userData) ? userData : path.join(appData, name)],
    ['temp', os.tmpdir()],
    ['exe', executable],
    ['downloads', variable('XDG_DOWNLOAD_DIR') ?? path.join(home, 'Downloads')],
  ]);
  const protocols = new Set<string>();
  let ready = false;
  let isQuitting = false;
  let isOver = false;
  /** Electron emits `ready` before its message loop runs; until then there is nothing to take down. */
  let isLooping = false;
  let lock: InstanceLock | null = null;
  const relaunches: Electron.RelaunchOptions[] = [];
  const { promise: readyPromise, resolve: resolveReady } = Promise.withResolvers<undefined>();

  const beforeReady = (what: string): void => {
    if (ready) throw new Error(`${what} can only be called before app is ready`);
  };
  const end = (code: number): void => {
    if (isOver) return;
    isOver = true;
    for (const window of windows()) window.destroy();
    emitter.emit('quit', {}, code);
    lock?.release();
    // Without a loop to end it goes on to `ready`, and ends then.
    if (isLooping) leave(code);
  };
  const leave = (code: number): void => {
    void shutDown().finally(() => {
      exitProcess(code);
    });
  };
  /** Node's own way out, without `exit`: Electron emits that with `quit`, and where it ends before then not at all. */
  const exitProcess = (code: number): void => {
    for (const { execPath = executable, args = argv.slice(1) } of relaunches)
      spawn(execPath, [...args], { detached: true, stdio: 'ignore' }).unref();
    removeUnpacked();
    (process as unknown as { reallyExit(code: number): void }).reallyExit(code);
  };
  const finish = (): void => {
    const event = preventable({});
    emitter.emit('will-quit', event);
    if (event.defaultPrevented) isQuitting = false;
    else end(0);
  };
  const quit = (): void => {
    if (isQuitting || isOver) return;
    const event = preventable({});
    emitter.emit('before-quit', event);
    if (event.defaultPrevented) return;
    isQuitting = true;
    if (windows().length === 0) {
      finish();
      return;
    }
    for (const window of [...windows()]) window.close();
    // A window that stays has ended it.
    if (windows().length > 0) isQuitting = false;
  };

  const members = {
    name,
    isPackaged,
    commandLine: strict('app.commandLine', {
      hasSwitch: (name) => switches.has(name),
      getSwitchValue: (name) => switches.get(name) ?? '',
      appendSwitch(name, value) {
        switches.set(name, value ?? '');
        onSwitch();
      },
    } satisfies Partial<Electron.CommandLine>) as unknown as Electron.CommandLine,
    enableSandbox() {
      beforeReady('app.enableSandbox()');
    },
    isReady: () => ready,
    whenReady: async () => readyPromise,
    getPath(name) {
      if (name === 'sessionData') return paths.get('sessionData') ?? paths.get('userData') ?? '';
      return paths.get(name) ?? notModelled(`app.getPath('${name}')`);
    },
    setPath(name, folder) {
      if (!path.isAbsolute(folder)) throw new Error('Path must be absolute');
      if (!['userData', 'sessionData'].includes(name)) notModelled(`app.setPath('${name}')`);
      if (!fs.existsSync(folder)) throw new Error('Failed to set path');
      paths.set(name, folder);
    },
    getAppPath: () => appPath,
    getVersion: () => version,
    getName: () => name,
    requestSingleInstanceLock() {
      lock ??= acquireLock({
        folder: paths.get('userData') ?? '',
        argv,
        onSecond: (given, folder) => void emitter.emit('second-instance', {}, given, folder, null),
        ready: readyPromise,
      });
      return lock.isHeld();
    },
    hasSingleInstanceLock: () => lock?.isHeld() ?? false,
    releaseSingleInstanceLock() {
      lock?.release();
      lock = null;
    },
    setAsDefaultProtocolClient(scheme) {
      protocols.add(scheme);
      return true;
    },
    removeAsDefaultProtocolClient(scheme) {
      protocols.delete(scheme);
      return true;
    },
    isDefaultProtocolClient: (scheme) => protocols.has(scheme),
    relaunch(options = {}) {
      relaunches.push(options);
    },
    quit,
    exit(code = 0) {
      if (isLooping) {
        end(code);
        return;
      }
      // At once, without any event.
      lock?.release();
      exitProcess(code);
    },
    // On other systems there are none.
    ...(process.platform === 'win32' && {
      setAppUserModelId: () => undefined,
      setToastActivatorCLSID: () => undefined,
    }),
  } satisfies Partial<Electron.App>;
  const emitter = new StrictEmitter('app', events);
  // Electron's own listener, the first.
  emitter.on('quit', (_event, code: number) => process.emit('exit', code));
  const module = strict('app', Object.assign(emitter, members));
  return {
    module: module as unknown as AppControl['module'],
    becomeReady() {
      ready = true;
      resolveReady(undefined);
      // Asked anew: a test tool replaces it, to hold this event back. It comes even where the app has quit by now.
      module.emit('ready', {}, {});
      setImmediate(() => {
        isLooping = true;
        if (isOver) leave(0);
      });
    },
    quit,
    windowClosed(left) {
      if (left > 0 || isOver) return;
      if (isQuitting) finish();
      else if (emitter.listenerCount('window-all-closed') === 0) quit();
      else emitter.emit('window-all-closed');
    },
    isReady: () => ready,
    switches,
    isEnding: () => isOver || isQuitting,
  };
}

function readSwitches(argv: readonly string[]): Map<string, string> {
  const switches = new Map<string, string>();
  for (const argument of argv.slice(1)) {
    const [, name, value = ''] = /^--?([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (name !== undefined) switches.set(name, value);
  }
  return switches;
}
