import type * as Electron from 'electron';
import type { IpcMain } from './ipc-main.ts';
import type { Schemes } from './sessions.ts';
import type { State } from './state.ts';
import { notModelled, preventable, strict, StrictEmitter } from './strict.ts';
import { createContents, type Contents } from './web-contents.ts';

/*
 * `BrowserWindow`: the browser's one window.
 */

/** What this program gives a window, and so all that may be asked for. */
const given: Readonly<Record<string, unknown>> = {
  sandbox: true,
  contextIsolation: true,
  nodeIntegration: false,
  nodeIntegrationInWorker: false,
  nodeIntegrationInSubFrames: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  experimentalFeatures: false,
  plugins: false,
  webviewTag: false,
  navigateOnDragDrop: false,
  safeDialogs: true,
  spellcheck: false,
  devTools: false,
};
const options = [
  'title',
  'x',
  'y',
  'width',
  'height',
  'minWidth',
  'minHeight',
  'show',
  'autoHideMenuBar',
  'backgroundColor',
];
const events = [
  'ready-to-show',
  'show',
  'hide',
  'focus',
  'blur',
  'minimize',
  'maximize',
  'restore',
  'resize',
  'move',
  'close',
  'closed',
  'unresponsive',
  'responsive',
  'query-session-end',
  'session-end',
];

export interface WindowsOptions {
  readonly schemes: Schemes;
  readonly ipcMain: IpcMain;
  /** Called with the number of windows that are left. */
  readonly onClosed: (left: number) => void;
}

export function createWindows(state: State, { schemes, ipcMain, onClosed }: WindowsOptions) {
  const open: Window[] = [];
  let hadOne = false;
  let theme = 'system';
  /** By the window that the app has. */
  const contentsOf = new Map<object, Contents>();

  class Window extends StrictEmitter {
    readonly webContents: Contents['module'];
    private readonly contents: Contents;
    private place: Electron.Rectangle;
    private shown = false;
    private focused = false;
    private minimized = false;
    private maximized = false;
    private contentProtected = false;
    private destroyed = false;
    /** Height of what Chromium counts as the window's frame without a display, where nobody sees one. */
    private frame = 0;

    constructor(asked: Electron.BrowserWindowConstructorOptions = {}) {
      super('BrowserWindow', events);
      state.afterReady('Cannot create BrowserWindow before app is ready');
      if (open.length > 0) notModelled('a second window');
      const { webPreferences = {}, ...own } = asked;
      for (const name of Object.keys(own))
        if (!options.includes(name)) notModelled(`the window's option ${name}`);
      const { preload, session, ...preferences } = webPreferences;
      for (const [name, value] of Object.entries({ ...given, ...preferences }))
        if (given[name] !== value) notModelled(`webPreferences.${name}: ${JSON.stringify(value)}`);
      for (const name of Object.keys(given))
        if (!(name in preferences)) notModelled(`a window that leaves webPreferences.${name} open`);
      if (session === undefined || preload === undefined)
        notModelled('a window without a session or a preload');
      const { x = 0, y = 0, width = 800, height = 600 } = own;
      this.place = { x, y, width, height };
      const isPlaced = own.x !== undefined;
      const window = strict('a window', this);
      this.contents = createContents(state, {
        preload,
        session,
        schemes,
        ipcMain,
        isDestroyed: () => this.destroyed,
        close: () => window.close(),
        onOpened: () => {
          void this.measureFrame().then(() => {
            const { x: left, y: top, ...size } = this.place;
            this.setWindow({ ...size, ...(isPlaced && { left, top }) });
          });
          if (theme !== 'system') this.applyTheme();
        },
        onReadyToShow: () => window.emit('ready-to-show'),
        onChange: (kind) => this.changed(kind),
      });
      this.webContents = this.contents.module;
      open.push(window);
      hadOne = true;
      contentsOf.set(window, this.contents);
      this.shown = own.show !== false;
      state.app.emit('web-contents-created', {}, this.webContents);
      this.contents.open();
      return window;
    }

    static getAllWindows(): Window[] {
      return [...open];
    }
    static fromWebContents(contents: unknown): Window | null {
      return open.find(({ webContents }) => webContents === contents) ?? null;
    }

    async loadURL(url: string): Promise<void> {
      await this.webContents.loadURL(url);
    }
    show(): void {
      this.shown = true;
      this.emit('show');
      this.focus();
    }
    isVisible(): boolean {
      return this.shown && !this.minimized;
    }
    focus(): void {
      this.focused = true;
      if (!state.isHeadless) void this.contents.command('Page.bringToFront');
    }
    isFocused(): boolean {
      return this.focused;
    }
    minimize(): void {
      this.minimized = true;
      this.setState('minimized');
      this.emit('minimize');
    }
    isMinimized(): boolean {
      return this.minimized;
    }
    restore(): void {
      this.minimized = false;
      this.setState('normal');
      this.emit('restore');
    }
    /** As documented it shows the window, and at once. */
    maximize(): void {
      this.maximized = true;
      this.shown = true;
      this.setState('maximized');
      this.emit('maximize');
    }
    isMaximized(): boolean {
      return this.maximized;
    }
    getNormalBounds(): Electron.Rectangle {
      return { ...this.place };
    }
    setBounds(bounds: Partial<Electron.Rectangle>): void {
      this.place = { ...this.place, ...bounds };
      const { width, height } = this.place;
      this.setWindow({ width, height });
      this.emit('resize');
    }
    // On most systems nothing of it can be read back.
    setProgressBar(): void {
      this.refuseDestroyed();
    }
    setContentProtection(enable: boolean): void {
      this.contentProtected = enable;
    }
    isContentProtected(): boolean {
      return this.contentProtected;
    }
    isDestroyed(): boolean {
      return this.destroyed;
    }
    /** Asks its listeners, then closes. */
    close(): void {
      if (this.destroyed) return;
      const event = preventable({});
      this.emit('close', event);
      if (!event.defaultPrevented) this.destroy();
    }
    destroy(): void {
      if (this.destroyed) return;
      this.destroyed = true;
      void this.contents.command('Page.close');
      const at = open.findIndex(({ webContents }) => webContents === this.webContents);
      for (const window of open.splice(at, 1)) contentsOf.delete(window);
      this.webContents.emit('destroyed');
      this.emit('closed');
      onClosed(open.length);
    }

    applyTheme(): void {
      const value = theme === 'system' ? '' : theme;
      void this.contents.command('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value }],
      });
    }
    private refuseDestroyed(): void {
      if (this.destroyed) throw new TypeError('Object has been destroyed');
    }
    private changed(kind: 'focus' | 'blur' | 'hidden' | 'resize'): void {
      if (kind === 'hidden') this.emit('hide');
      else if (kind === 'resize') this.measure();
      else {
        this.focused = kind === 'focus';
        this.emit(kind);
      }
    }
    /** Closed by the person, in the browser itself: where that is prevented, the page is opened again. */
    gone(): void {
      if (this.destroyed) return;
      const event = preventable({});
      this.emit('close', event);
      if (event.defaultPrevented) this.contents.reopen();
      else this.destroy();
    }
    private async measureFrame(): Promise<void> {
      if (!state.isHeadless) return;
      const { contents } = this;
      const [found, metrics] = await Promise.all([
        contents.command<{ bounds: Bounds }>('Browser.getWindowForTarget'),
        contents.command<{ cssLayoutViewport: { clientHeight: number } }>('Page.getLayoutMetrics'),
      ]);
      this.frame = (found?.bounds.height ?? 0) - (metrics?.cssLayoutViewport.clientHeight ?? 0);
    }
    private measure(): void {
      void this.contents.command<{ bounds: Bounds }>('Browser.getWindowForTarget').then((found) => {
        const { left = 0, top = 0, width = 0, height = 0, windowState } = found?.bounds ?? {};
        if (windowState !== 'normal') return;
        this.place = { x: left, y: top, width, height: height - this.frame };
        this.emit('resize');
      });
    }
    private setState(windowState: string): void {
      if (!state.isHeadless) this.setWindow({ windowState });
    }
    private setWindow(bounds: Bounds): void {
      const { contents } = this;
      void contents.command<{ windowId: number }>('Browser.getWindowForTarget').then(async (found) =>
        contents.command('Browser.setWindowBounds', {
          windowId: found?.windowId,
          bounds: bounds.height === undefined ? bounds : { ...bounds, height: bounds.height + this.frame },
        }),
      );
    }
  }

  const webContents = strict('webContents module', {
    fromDevToolsTargetId: (id: string) =>
      open.find((window) => contentsOf.get(window)?.targetId() === id)?.webContents ?? null,
    getAllWebContents: () => open.map((window) => window.webContents),
  });
  return {
    BrowserWindow: strict('BrowserWindow', Window),
    webContents,
    open,
    contentsOf: (window: object): Contents | undefined => contentsOf.get(window),
    setTheme(chosen: string) {
      theme = chosen;
      for (const window of open) window.applyTheme();
    },
    /** The browser has ended: the person closed its window. False where there never was one. */
    allGone(): boolean {
      for (const window of [...open]) window.gone();
      return hadOne;
    },
  };
}

interface Bounds {
  readonly left?: number;
  readonly top?: number;
  readonly width?: number;
  readonly height?: number;
  readonly windowState?: string;
}
