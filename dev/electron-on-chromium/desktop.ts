import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type * as Electron from 'electron';
import type { State } from './state.ts';
import { notModelled, strict, StrictEmitter } from './strict.ts';
import type { Contents } from './web-contents.ts';

/*
 * What the desktop gives. Of most of it only the asking can be seen here: what was asked is kept and can be read by
 * Electron's own getters.
 */

/** What of the windows is used here. */
interface Windows {
  readonly contentsOf: (window: object) => Pick<Contents, 'chooseFiles'> | undefined;
  /** In every page, `prefers-color-scheme` follows. */
  readonly setTheme: (theme: Theme) => void;
}
type Theme = Electron.NativeTheme['themeSource'];

export function createDesktop(state: State, windows: Windows) {
  return {
    clipboard: createClipboard(state),
    ClipboardItem: Item,
    dialog: createDialog(state, windows),
    Menu: strict('Menu', Menu),
    nativeTheme: createNativeTheme(windows),
    Notification: createNotification(state),
    powerMonitor: createPowerMonitor(),
    powerSaveBlocker: createPowerSaveBlocker(),
    screen: strict('screen', {
      getAllDisplays() {
        state.afterReady("The 'screen' module can't be used before the app 'ready' event");
        const area = { x: 0, y: 0, width: 1920, height: 1080 };
        return [
          { id: 1, bounds: area, workArea: { ...area, height: 1040 }, scaleFactor: 1 },
        ] as Electron.Display[];
      },
    } satisfies Partial<Electron.Screen>),
    shell: strict('shell', {
      openPath(target) {
        if (state.isHeadless) return Promise.resolve('There is no display.');
        return run(['xdg-open', target], null, state.env).then(
          () => '',
          () => 'It could not be opened.',
        );
      },
      showItemInFolder(file) {
        if (!state.isHeadless)
          void run(['xdg-open', path.dirname(file)], null, state.env).catch(() => undefined);
      },
    } satisfies Partial<Electron.Shell>),
  };
}

function createNativeTheme({ setTheme }: Windows) {
  let source: Theme = 'system';
  return strict('nativeTheme', {
    get themeSource() {
      return source;
    },
    set themeSource(theme) {
      if (!['system', 'light', 'dark'].includes(theme))
        throw new TypeError('Error processing argument at index 0, conversion failure');
      source = theme;
      setTheme(theme);
    },
    // The system's theme is light here.
    get shouldUseDarkColors() {
      return source === 'dark';
    },
  } satisfies Partial<Electron.NativeTheme>);
}

class Item {
  readonly parts: Record<string, unknown>;
  constructor(parts: Record<string, unknown>) {
    if (Object.keys(parts).length === 0)
      throw new TypeError("Failed to construct 'ClipboardItem': at least one MIME type is required.");
    this.parts = parts;
  }
  get types(): string[] {
    return Object.keys(this.parts);
  }
  async getType(type: string): Promise<Blob> {
    if (!(type in this.parts)) throw new Error(`The type ${type} was not found`);
    const part = await this.parts[type];
    return part instanceof Blob ? part : new Blob([String(part)], { type });
  }
}

type Command = readonly [string, ...string[]];
interface Commands {
  readonly write: Command;
  readonly read: Command;
}
/** `wl-copy` and `xclip` stay behind to serve the selection; only their start is waited for. */
const wayland: Commands = { write: ['wl-copy', '--type', 'text/plain'], read: ['wl-paste', '--no-newline'] };
const x11: Commands = {
  write: ['xclip', '-selection', 'clipboard', '-in'],
  read: ['xclip', '-selection', 'clipboard', '-out'],
};
const macOs: Commands = { write: ['pbcopy'], read: ['pbpaste'] };

/** Text through the system's own commands where there is a display, in a variable where there is none. */
function createClipboard({ env, isHeadless }: State) {
  const folders = (env['PATH'] ?? '').split(path.delimiter);
  const has = (command: string): boolean =>
    folders.some((folder) => fs.existsSync(path.join(folder, command)));
  const commands =
    process.platform === 'darwin'
      ? macOs
      : env['WAYLAND_DISPLAY'] && has('wl-copy')
        ? wayland
        : env['DISPLAY'] && has('xclip')
          ? x11
          : null;
  let items: readonly Item[] = [];
  const isShared = !isHeadless && commands !== null;
  return strict('clipboard', {
    async write(given) {
      if (!Array.isArray(given) || !given.every((item) => item instanceof Item))
        throw new TypeError('clipboard.write expects an array of ClipboardItem');
      items = given;
      const text = await items[0]?.getType('text/plain').then(async (blob) => blob.text());
      if (isShared) await run(commands.write, text ?? '', env);
    },
    read: () => Promise.resolve(items as unknown as Electron.ClipboardItem[]),
    async readText() {
      if (isShared) return run(commands.read, null, env);
      return items.length === 0
        ? ''
        : ((await items[0]?.getType('text/plain').then(async (blob) => blob.text())) ?? '');
    },
    clear() {
      items = [];
      if (isShared) void run(commands.write, '', env).catch(() => undefined);
    },
  } satisfies Partial<Electron.Clipboard>);
}

/** The text goes through the pipe, never the command line, where other users could read it. */
function run([command, ...rest]: Command, input: string | null, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const reads = input === null;
    const child = spawn(command, rest, { env, stdio: ['pipe', reads ? 'pipe' : 'ignore', 'ignore'] });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.once('error', () => {
      reject(new Error(`${command} did not start.`));
    });
    child.once('close', (code) => {
      // Reading an empty clipboard is an error to these commands.
      if (code === 0 || reads) resolve(code === 0 ? text : '');
      else reject(new Error(`${command} failed.`));
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

/** With a display: Chromium's own chooser and zenity. Without one there is nobody to ask. */
function createDialog(state: State, { contentsOf }: Windows) {
  const { env } = state;
  const zenity = async (args: string[]): Promise<string | null> => {
    if (state.isHeadless) return null;
    const text = await run(['zenity', ...args], null, env).catch(() => '');
    return text.trim() === '' ? null : text.trim();
  };
  return strict('dialog', {
    async showOpenDialog(...args: unknown[]) {
      state.afterReady('dialog module can only be used after app is ready');
      const { filters = [], properties = [], defaultPath = '' } = args.at(-1) as Electron.OpenDialogOptions;
      if (properties.includes('openDirectory')) {
        const folder = await zenity(['--file-selection', '--directory', `--filename=${defaultPath}/`]);
        return { canceled: folder === null, filePaths: folder === null ? [] : [folder] };
      }
      const page = args.length > 1 ? contentsOf(args[0] as object) : undefined;
      const accept = filters.flatMap(({ extensions }) =>
        extensions.filter((one) => one !== '*').map((one) => `.${one}`),
      );
      const several = properties.includes('multiSelections');
      const filePaths = state.isHeadless ? [] : ((await page?.chooseFiles(accept.join(','), several)) ?? []);
      return { canceled: filePaths.length === 0, filePaths };
    },
    async showSaveDialog(...args: unknown[]) {
      state.afterReady('dialog module can only be used after app is ready');
      const { defaultPath = '' } = args.at(-1) as Electron.SaveDialogOptions;
      const file = await zenity(['--file-selection', '--save', `--filename=${defaultPath}`]);
      return { canceled: file === null, filePath: file ?? '' };
    },
    async showMessageBox(...args: unknown[]) {
      state.afterReady('dialog module can only be used after app is ready');
      const {
        message,
        detail = '',
        buttons = ['OK'],
        cancelId = 0,
      } = args.at(-1) as Electron.MessageBoxOptions;
      process.stderr.write(`${message}\n${detail}\n`);
      const chosen = await zenity([
        '--list',
        '--hide-header',
        '--column=',
        `--title=Tokendesk`,
        `--text=${message}\n${detail}`,
        ...buttons,
      ]);
      const response = chosen === null ? -1 : buttons.indexOf(chosen);
      return { response: response === -1 ? cancelId : response, checkboxChecked: false };
    },
    /** Before `ready` and without a display Electron writes to the terminal on Linux; so does this one always. */
    showErrorBox(title, content) {
      process.stderr.write(`${title}\n${content}\n`);
    },
  } satisfies Partial<Electron.Dialog>);
}

const types = new Set(['normal', 'separator', 'submenu', 'checkbox', 'radio']);
const roles = new Set(
  (
    'undo redo cut copy paste pasteAndMatchStyle delete selectAll reload forceReload toggleDevTools resetZoom zoomIn zoomOut ' +
    'toggleSpellChecker togglefullscreen window minimize close help about services hide hideOthers unhide quit ' +
    'appMenu fileMenu editMenu viewMenu shareMenu recentDocuments windowMenu'
  ).split(' '),
);

/** An item as it was built; a click is the test's. */
interface MenuItem extends Omit<Electron.MenuItemConstructorOptions, 'submenu' | 'click'> {
  readonly submenu?: Menu;
  click(): void;
}

class Menu {
  readonly items: readonly MenuItem[];
  private static application: Menu | null = null;
  /** The one that was shown last at the pointer. */
  static shown: Menu | null = null;

  constructor(items: readonly MenuItem[] = []) {
    this.items = items;
    return strict('a menu', this);
  }
  static buildFromTemplate(template: readonly Electron.MenuItemConstructorOptions[]): Menu {
    const given: unknown = template;
    if (!Array.isArray(given))
      throw new TypeError('Invalid template for Menu: Menu template must be an array');
    return new Menu(
      template.map(({ submenu, click, ...item }) => {
        if (item.role !== undefined && !roles.has(item.role))
          throw new Error(`There is no role ${item.role}`);
        if (item.type === undefined && item.role === undefined && item.label === undefined)
          throw new TypeError('Invalid template for MenuItem: must have at least one of label, role or type');
        if (item.type !== undefined && !types.has(item.type))
          throw new Error(`Unknown menu item type: ${item.type}`);
        return {
          ...item,
          ...(Array.isArray(submenu) && { submenu: Menu.buildFromTemplate(submenu) }),
          click: () => click?.(undefined as never, undefined, {}),
        };
      }),
    );
  }
  static setApplicationMenu(menu: Menu | null): void {
    Menu.application = menu;
  }
  static getApplicationMenu(): Menu | null {
    return Menu.application;
  }
  popup(): void {
    Menu.shown = this;
  }
}

function createNotification(state: State) {
  class Notification extends StrictEmitter {
    readonly title: string;
    readonly body: string;
    static isSupported(): boolean {
      return true;
    }
    constructor({ title = '', body = '', ...others }: Electron.NotificationConstructorOptions = {}) {
      super('Notification', ['show', 'click', 'close', 'failed']);
      state.afterReady('Cannot create Notification before app is ready');
      for (const name of Object.keys(others)) notModelled(`a notification's ${name}`);
      this.title = title;
      this.body = body;
      return strict('a notification', this);
    }
    show(): void {
      this.emit('show', {});
    }
  }
  return strict('Notification', Notification);
}

/** Emits what a test plays; and `resume` where the clock went on while the process did not. */
function createPowerMonitor() {
  const emitter = new EventEmitter();
  const known = ['lock-screen', 'unlock-screen', 'suspend', 'resume', 'shutdown', 'on-ac', 'on-battery'];
  const macOnly = ['user-did-become-active', 'user-did-resign-active'];
  emitter.on('newListener', (name: string) => {
    if (![...known, ...macOnly].includes(name)) notModelled(`the event ${name} of powerMonitor`);
    if (name === 'resume' && emitter.listenerCount('resume') === 0) watchSleep(() => emitter.emit('resume'));
  });
  return strict('powerMonitor', emitter);
}

const everyMs = 5_000;
const gapMs = 15_000;

function watchSleep(onWake: () => void): void {
  let [lastWall, lastRunning] = [Date.now(), performance.now()];
  setInterval(() => {
    const [wall, running] = [Date.now(), performance.now()];
    if (wall - lastWall - (running - lastRunning) > gapMs) onWake();
    [lastWall, lastRunning] = [wall, running];
  }, everyMs).unref();
}

function createPowerSaveBlocker() {
  const started = new Set<number>();
  let last = 0;
  return strict('powerSaveBlocker', {
    start() {
      started.add(last);
      return last++;
    },
    stop: (id) => started.delete(id),
    isStarted: (id) => started.has(id),
  } satisfies Partial<Electron.PowerSaveBlocker>);
}
