import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import vm from 'node:vm';
import type * as Electron from 'electron';
import type { ElectronModules } from '../../electron/platform/electron-platform.ts';

/*
 * Enough of Electron to open a window without one. Each module is checked against electron.d.ts where it is written
 * (`satisfies Partial<…>`): a method that Electron does not have, or has differently, does not compile.
 */

export interface FakeOptions {
  readonly userData: string;
  readonly appPath: string;
  readonly isPackaged?: boolean;
  readonly switches?: readonly string[];
  readonly isFirstInstance?: boolean;
}

type Handler = (event: Electron.IpcMainInvokeEvent, ...args: unknown[]) => unknown;

export type FakeElectron = ReturnType<typeof createFakeElectron>;
export type FakeSession = ReturnType<typeof createFakeSession>;
export type FakeContents = ReturnType<typeof createFakeContents>;

export function createFakeSession(proxy = 'DIRECT') {
  const asked = {
    permissionRequest: null as Parameters<Electron.Session['setPermissionRequestHandler']>[0],
    permissionCheck: null as Parameters<Electron.Session['setPermissionCheckHandler']>[0],
    device: null as Parameters<Electron.Session['setDevicePermissionHandler']>[0],
    displayMedia: null as Parameters<Electron.Session['setDisplayMediaRequestHandler']>[0],
    spellcheck: true,
    beforeRequest: null as
      | ((
          details: Electron.OnBeforeRequestListenerDetails,
          answer: (response: Electron.CallbackResponse) => void,
        ) => void)
      | null,
    schemes: new Map<string, (request: Request) => Response | Promise<Response>>(),
    proxy,
    proxyConfig: null as Electron.ProxyConfig | null,
  };
  const webRequest = {
    onBeforeRequest(listener: unknown) {
      asked.beforeRequest = listener as typeof asked.beforeRequest;
    },
  } satisfies Partial<Electron.WebRequest>;
  const protocol = {
    handle(scheme: string, handler: (request: Request) => Response | Promise<Response>) {
      asked.schemes.set(scheme, handler);
    },
  } satisfies Partial<Electron.Protocol>;
  const methods = {
    setPermissionRequestHandler(handler) {
      asked.permissionRequest = handler;
    },
    setPermissionCheckHandler(handler) {
      asked.permissionCheck = handler;
    },
    setDevicePermissionHandler(handler) {
      asked.device = handler;
    },
    setDisplayMediaRequestHandler(handler) {
      asked.displayMedia = handler;
    },
    setSpellCheckerEnabled(enable) {
      asked.spellcheck = enable;
    },
    setProxy(config) {
      asked.proxyConfig = config;
      return Promise.resolve();
    },
    resolveProxy: () => Promise.resolve(asked.proxy),
  } satisfies Partial<Electron.Session>;
  return Object.assign(new EventEmitter(), methods, { webRequest, protocol, asked });
}

export function createFakeContents(handlers: Map<string, Handler>) {
  const page = new EventEmitter();
  const asked = {
    windowOpen: null as Parameters<Electron.WebContents['setWindowOpenHandler']>[0] | null,
    webRtc: '',
    zoom: 0,
  };
  const methods = {
    setWindowOpenHandler(handler) {
      asked.windowOpen = handler;
    },
    getZoomLevel: () => asked.zoom,
    setZoomLevel(level) {
      asked.zoom = level;
    },
    setWebRTCIPHandlingPolicy(policy) {
      asked.webRtc = policy;
    },
    /** The event follows, as in Electron: the process has to be taken down first. */
    forcefullyCrashRenderer() {
      setImmediate(() => contents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 }));
    },
    send(channel: string, ...args: unknown[]) {
      page.emit(channel, { sender: 'the sender', ports: [] }, ...structuredClone(args));
    },
  } satisfies Partial<Electron.WebContents>;
  const contents = Object.assign(new EventEmitter(), methods, { asked });

  /** As the window's page would: everything is cloned on its way, as between processes. */
  async function invoke(
    channel: string,
    payload: unknown,
    frame: { origin: string; parent: object | null } | null,
  ): Promise<unknown> {
    const handler = handlers.get(channel);
    if (handler === undefined) throw new Error(`No handler registered for '${channel}'`);
    const event = { sender: contents, senderFrame: frame } as unknown as Electron.IpcMainInvokeEvent;
    return structuredClone(await handler(event, structuredClone(payload)));
  }

  return Object.assign(contents, { page, invoke });
}

export function createFakeElectron(options: FakeOptions) {
  const handlers = new Map<string, Handler>();
  const sessions = new Map<string, FakeSession>();
  const windows: FakeWindow[] = [];
  const paths = new Map([['userData', options.userData]]);
  const files = new WeakMap<File, string>();
  const said = {
    sandboxed: false,
    schemes: [] as Electron.CustomScheme[],
    menu: undefined as object | null | undefined,
    template: null as readonly Electron.MenuItemConstructorOptions[] | null,
    exit: null as number | null,
    clipboard: null as Record<string, string | Blob> | null,
    dialogs: [] as unknown[],
    /** Menus that were shown at the pointer. */
    popups: [] as Electron.MenuItemConstructorOptions[][],
    displays: [{ workArea: { x: 0, y: 0, width: 1920, height: 1040 } }] as Pick<
      Electron.Display,
      'workArea'
    >[],
    openAnswer: { canceled: true, filePaths: [] } as Electron.OpenDialogReturnValue,
    openPathError: '',
    /** Which button the person will press. */
    messageAnswer: 0,
    messages: [] as Electron.MessageBoxOptions[],
    notifications: [] as (Electron.NotificationConstructorOptions & { click: () => void })[],
    blockers: new Set<number>(),
    protocols: [] as string[],
    relaunches: [] as Electron.RelaunchOptions[],
    saveAnswer: { canceled: true, filePath: '' } as Electron.SaveDialogReturnValue,
  };
  let becomeReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });

  const appMethods = {
    isPackaged: options.isPackaged ?? false,
    commandLine: {
      // A switch with a value is `name=value`.
      hasSwitch: (name: string) =>
        (options.switches ?? []).some((given) => given === name || given.startsWith(`${name}=`)),
      getSwitchValue: (name: string) =>
        (options.switches ?? []).find((given) => given.startsWith(`${name}=`))?.slice(name.length + 1) ?? '',
      appendSwitch: () => undefined,
    } satisfies Partial<Electron.CommandLine> as unknown as Electron.CommandLine,
    enableSandbox() {
      said.sandboxed = true;
    },
    requestSingleInstanceLock: () => options.isFirstInstance ?? true,
    whenReady: () => ready,
    getPath: (name) => paths.get(name) ?? `${options.userData}/${name}`,
    setPath(name, path) {
      if (!fs.existsSync(path)) throw new Error('Failed to set path');
      paths.set(name, path);
    },
    getAppPath: () => options.appPath,
    getVersion: () => '1.2.3',
    setAsDefaultProtocolClient(protocol) {
      said.protocols.push(protocol);
      return true;
    },
    relaunch(given) {
      said.relaunches.push(given ?? {});
    },
    quit() {
      const event = { prevented: false, preventDefault: () => (event.prevented = true) };
      app.emit('before-quit', event);
      if (!event.prevented) app.exit(0);
    },
    exit(code = 0) {
      said.exit = code;
      app.emit('exited');
    },
  } satisfies Partial<Electron.App>;
  const app = Object.assign(new EventEmitter(), appMethods);

  const ipcMainMethods = {
    handle(channel: string, handler: Handler) {
      if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
      handlers.set(channel, handler);
    },
  } satisfies Partial<Electron.IpcMain>;
  const ipcMain = Object.assign(new EventEmitter(), ipcMainMethods);

  const clipboard = {
    write(items: Electron.ClipboardItem[]) {
      said.clipboard = Object.assign(
        {},
        ...items.map((item) => (item as unknown as FakeItem).parts),
      ) as Record<string, string | Blob>;
      return Promise.resolve();
    },
    readText: () => Promise.resolve((said.clipboard?.['text/plain'] as string | undefined) ?? ''),
    clear() {
      said.clipboard = null;
    },
  } satisfies Partial<Electron.Clipboard>;

  const dialog = {
    showOpenDialog(...args: unknown[]) {
      said.dialogs.push(args.at(-1));
      return Promise.resolve(said.openAnswer);
    },
    showSaveDialog(...args: unknown[]) {
      said.dialogs.push(args.at(-1));
      return Promise.resolve(said.saveAnswer);
    },
    showMessageBox(...args: unknown[]) {
      said.messages.push(args.at(-1) as Electron.MessageBoxOptions);
      return Promise.resolve({ response: said.messageAnswer, checkboxChecked: false });
    },
    showErrorBox(title, content) {
      said.dialogs.push(`${title}: ${content}`);
    },
  } satisfies Partial<Electron.Dialog>;

  const defaultSession = createFakeSession();
  const session = {
    defaultSession: defaultSession as unknown as Electron.Session,
    fromPartition(partition: string, settings?: Electron.FromPartitionOptions) {
      const known = sessions.get(partition);
      if (known !== undefined) return known as unknown as Electron.Session;
      const made = Object.assign(createFakeSession(), { partition, settings });
      sessions.set(partition, made);
      app.emit('session-created', made);
      return made as unknown as Electron.Session;
    },
  } satisfies Partial<typeof Electron.session>;

  const shell = {
    openPath(folder) {
      said.dialogs.push(`folder ${folder}`);
      return Promise.resolve(said.openPathError);
    },
    showItemInFolder(file) {
      said.dialogs.push(`file ${file}`);
    },
  } satisfies Partial<Electron.Shell>;

  const protocol = {
    registerSchemesAsPrivileged(schemes) {
      said.schemes.push(...schemes);
    },
  } satisfies Partial<Electron.Protocol>;

  class FakeItem {
    readonly parts: Record<string, string | Blob>;
    constructor(parts: Record<string, string | Blob>) {
      this.parts = parts;
    }
  }

  const Menu = {
    setApplicationMenu(menu: Electron.Menu | null) {
      said.menu = menu;
    },
    buildFromTemplate(template: Electron.MenuItemConstructorOptions[]) {
      said.template = template;
      return {
        items: template,
        popup: () => void said.popups.push(template),
      } as unknown as Electron.Menu;
    },
  } satisfies Partial<typeof Electron.Menu>;

  type Used =
    | 'loadURL'
    | 'show'
    | 'focus'
    | 'isMinimized'
    | 'restore'
    | 'setContentProtection'
    | 'close'
    | 'maximize'
    | 'isFocused'
    | 'setProgressBar'
    | 'isMaximized'
    | 'isDestroyed'
    | 'getNormalBounds';
  class FakeWindow extends EventEmitter implements Pick<Electron.BrowserWindow, Used> {
    readonly options: Electron.BrowserWindowConstructorOptions;
    readonly webContents: FakeContents;
    /** What the preload gave the page; the page itself is not run. */
    readonly world: Record<string, unknown> = {};
    url = '';
    body = '';
    isShown = false;
    isProtected = false;
    isFront = false;
    isSmall = false;
    isLarge = false;
    progress = -1;
    bounds: Electron.Rectangle;

    static getAllWindows(): FakeWindow[] {
      return windows;
    }
    constructor(given: Electron.BrowserWindowConstructorOptions = {}) {
      super();
      this.options = given;
      const { x = 0, y = 0, width = 800, height = 600 } = given;
      this.bounds = { x, y, width, height };
      this.webContents = createFakeContents(handlers);
      app.emit('web-contents-created', {}, this.webContents);
      windows.push(this);
    }
    async loadURL(url: string): Promise<void> {
      const { preload, session: of } = this.options.webPreferences ?? {};
      const { asked } = of as unknown as FakeSession;
      const handler = asked.schemes.get(new URL(url).protocol.replace(':', ''));
      const answer = await handler?.(new Request(url));
      if (answer?.status !== 200) throw new Error('ERR_FAILED');
      this.url = url;
      this.body = await answer.text();
      if (preload !== undefined) this.runPreload(preload);
      this.webContents.emit('did-finish-load');
      this.emit('ready-to-show');
    }
    show(): void {
      this.isShown = true;
    }
    focus(): void {
      this.isFront = true;
    }
    isMinimized(): boolean {
      return this.isSmall;
    }
    isFocused(): boolean {
      return this.isFront;
    }
    setProgressBar(progress: number): void {
      this.progress = progress;
    }
    maximize(): void {
      this.isLarge = true;
    }
    isMaximized(): boolean {
      return this.isLarge;
    }
    isDestroyed(): boolean {
      return !windows.includes(this);
    }
    getNormalBounds(): Electron.Rectangle {
      return this.bounds;
    }
    restore(): void {
      this.isSmall = false;
    }
    setContentProtection(on: boolean): void {
      this.isProtected = on;
    }
    close(): void {
      const event = { prevented: false, preventDefault: () => (event.prevented = true) };
      this.emit('close', event);
      if (event.prevented) return;
      this.emit('closed');
      windows.splice(windows.indexOf(this), 1);
      if (windows.length === 0) app.emit('window-all-closed');
    }
    private runPreload(file: string): void {
      const module = preloadModule(this.world, this.webContents, files);
      const run = vm.compileFunction(fs.readFileSync(file, 'utf8'), ['require', 'module', 'exports']) as (
        ...args: unknown[]
      ) => void;
      const require = (name: string): unknown => {
        if (name !== 'electron') throw new Error(`A sandboxed preload can't load ${name}.`);
        return module;
      };
      run(require, { exports: {} }, {});
    }
  }

  let lastBlocker = 0;
  const powerSaveBlocker = {
    start() {
      said.blockers.add(++lastBlocker);
      return lastBlocker;
    },
    stop: (id) => said.blockers.delete(id),
  } satisfies Partial<Electron.PowerSaveBlocker>;
  class FakeNotification extends EventEmitter implements Pick<Electron.Notification, 'show'> {
    readonly options: Electron.NotificationConstructorOptions;
    static isSupported(): boolean {
      return true;
    }
    constructor(given: Electron.NotificationConstructorOptions = {}) {
      super();
      this.options = given;
    }
    show(): void {
      said.notifications.push({ ...this.options, click: () => this.emit('click') });
    }
  }
  const nativeTheme = { themeSource: 'system' } satisfies Partial<Electron.NativeTheme>;
  const screen = {
    getAllDisplays: () => said.displays as Electron.Display[],
  } satisfies Partial<Electron.Screen>;
  const powerMonitor = new EventEmitter();
  const modules = {
    app,
    BrowserWindow: FakeWindow,
    clipboard,
    ClipboardItem: FakeItem,
    dialog,
    ipcMain,
    Menu,
    nativeTheme,
    Notification: FakeNotification,
    powerMonitor,
    powerSaveBlocker,
    screen,
    session,
    shell,
  } as unknown as ElectronModules;
  return {
    modules,
    app,
    ipcMain,
    powerMonitor,
    protocol,
    sessions,
    defaultSession,
    windows,
    handlers,
    files,
    said,
    becomeReady,
  };
}

/** What a sandboxed preload gets from `require('electron')`. */
export function preloadModule(
  world: Record<string, unknown>,
  contents: FakeContents,
  files: WeakMap<File, string>,
) {
  const frame = { origin: 'app://tokendesk', parent: null };
  const contextBridge = {
    exposeInMainWorld(key, api) {
      world[key] = api;
    },
  } satisfies Partial<Electron.ContextBridge>;
  const ipcRenderer = {
    invoke: (channel: string, payload: unknown) => contents.invoke(channel, payload, frame),
    on(channel, listener): Electron.IpcRenderer {
      contents.page.on(channel, listener);
      return this as unknown as Electron.IpcRenderer;
    },
    removeListener(channel: string, listener: Parameters<EventEmitter['on']>[1]): Electron.IpcRenderer {
      contents.page.removeListener(channel, listener);
      return this as unknown as Electron.IpcRenderer;
    },
  } satisfies Partial<Electron.IpcRenderer>;
  const webUtils = {
    getPathForFile(file: File) {
      if (!(file instanceof File)) throw new TypeError('getPathForFile expected to receive a File object');
      return files.get(file) ?? '';
    },
  } satisfies Partial<Electron.WebUtils>;
  return { contextBridge, ipcRenderer, webUtils };
}
