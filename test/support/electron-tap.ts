import type * as Electron from 'electron';
import type { AwaySignal } from '../../electron/platform/platform.ts';

/** What a person's machine can do to the app. Quitting is `close`. */
export type Interruption = Exclude<AwaySignal, 'quit' | 'renderer-gone'>;

/** What a spec can see and do in Electron's main process, where it stands as `globalThis.appTap`. */
export interface Tap {
  /** Every answer and event that went to the window, as JSON. */
  readonly outward: string[];
  /** The person will choose these files, or this folder, when next asked. */
  choose(files: string[]): void;
  /** Plays a signal of the system. */
  interrupt(signal: Interruption): void;
}

export interface TapOptions {
  readonly home: string;
  readonly downloads: string;
  /** Is read in the place of the administrator's folder; null where the system's is. */
  readonly administrator: string | null;
  /** Gets what the app says in a box before it ends. */
  readonly said: string;
}

export type TappedModules = Pick<
  typeof Electron,
  'app' | 'BrowserWindow' | 'dialog' | 'ipcMain' | 'powerMonitor'
>;

/**
 * Listens in Electron's main process before the app is loaded, and answers its dialogs: they would be the system's own,
 * which no test tool reaches. Its text is written to a file that Electron loads first, so it can use nothing from
 * outside of itself.
 */
export function tapMain(electron: TappedModules, { home, downloads, administrator, said }: TapOptions): Tap {
  const { app, BrowserWindow, dialog, ipcMain, powerMonitor } = electron;
  const fs = process.getBuiltinModule('node:fs');
  const path = process.getBuiltinModule('node:path');
  const outward: string[] = [];
  const chosen: string[][] = [];
  const tell = (message: unknown): void => void outward.push(JSON.stringify(message));

  // The switch moves what Chromium itself keeps; this is the documented way for everything else.
  // It refuses one that is not there.
  fs.mkdirSync(home, { recursive: true, mode: 0o700 });
  app.setPath('userData', home);

  // The administrator's folder belongs to the system and to root, which a test need not be.
  if (administrator !== null) {
    const system =
      process.platform === 'darwin' ? '/Library/Application Support/Tokendesk' : '/etc/tokendesk';
    const asRoots = <T>(stats: T): T => Object.assign(stats as object, { uid: 0 }) as T;
    const isRedirected = (file: unknown): file is string =>
      typeof file === 'string' && `${file}/`.startsWith(`${system}/`);
    const { lstatSync } = fs;
    const replaced = (file: unknown, ...rest: unknown[]): unknown => {
      const real = lstatSync as (file: unknown, ...rest: unknown[]) => unknown;
      return isRedirected(file)
        ? asRoots(real(administrator + file.slice(system.length), ...rest))
        : real(file, ...rest);
    };
    Object.assign(fs, { lstatSync: Object.assign(replaced, lstatSync) });
    const { open } = fs.promises;
    fs.promises.open = async (file, ...rest) => {
      if (!isRedirected(file)) return open(file, ...rest);
      const handle = await open(administrator + file.slice(system.length), ...rest);
      const stat = handle.stat.bind(handle) as () => Promise<unknown>;
      return Object.assign(handle, { stat: async () => asRoots(await stat()) });
    };
    process.getBuiltinModule('node:module').syncBuiltinESMExports();
  }

  const handle = ipcMain.handle.bind(ipcMain);
  ipcMain.handle = (channel, listener) => {
    handle(channel, async (event, ...args: unknown[]) => {
      const answer: unknown = await listener(event, ...args);
      tell(answer);
      return answer;
    });
  };
  app.on('web-contents-created', (_event, contents) => {
    const send = contents.send.bind(contents);
    contents.send = (channel, ...args: unknown[]) => {
      tell([{ channel, payload: args[0] }]);
      send(channel, ...args);
    };
  });

  dialog.showOpenDialog = () => {
    const filePaths = chosen.shift() ?? [];
    return Promise.resolve({ canceled: filePaths.length === 0, filePaths });
  };
  // It would wait for somebody to read it.
  dialog.showErrorBox = (title, content) => {
    fs.appendFileSync(said, `${title}\n${content}\n`);
  };
  // All in one folder, and nothing is ever written over.
  dialog.showSaveDialog = (...args: unknown[]) => {
    const { defaultPath = '' } = args.at(-1) as Electron.SaveDialogOptions;
    const { name, ext } = path.parse(defaultPath);
    fs.mkdirSync(downloads, { recursive: true });
    let filePath = path.join(downloads, `${name}${ext}`);
    for (let n = 2; fs.existsSync(filePath); n++) filePath = path.join(downloads, `${name} (${n})${ext}`);
    return Promise.resolve({ canceled: false, filePath });
  };

  return {
    outward,
    choose: (files) => void chosen.push(files),
    interrupt(signal) {
      if (signal === 'blur') for (const window of BrowserWindow.getAllWindows()) window.emit('blur');
      else powerMonitor.emit(signal === 'screen-locked' ? 'lock-screen' : signal);
    },
  };
}
