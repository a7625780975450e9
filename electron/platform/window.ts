import type { BrowserWindow, Session, RenderProcessGoneDetails } from 'electron';
import type { ElectronParts } from './electron-platform.ts';
import { electronOrigin } from './protocol.ts';

/** The only place a window is made. The preferences are spelt out, the defaults among them, so that each can be read. */
export function createWindow(
  { BrowserWindow: Window }: Pick<ElectronParts, 'BrowserWindow'>,
  { preload, session }: { readonly preload: string; readonly session: Session },
): BrowserWindow {
  const window = new Window({
    title: 'Tokendesk',
    width: 1280,
    height: 800,
    minWidth: 900,
    minHeight: 600,
    show: false,
    webPreferences: {
      preload,
      session,
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
    },
  });
  window.once('ready-to-show', () => {
    window.show();
  });
  return window;
}

export async function loadWindow(window: BrowserWindow): Promise<void> {
  await window.loadURL(`${electronOrigin}/index.html`);
}

/**
 * Electron's own menu has Reload, Toggle Developer Tools and links to the web. macOS needs one for the keys of
 * copying and quitting; elsewhere the window has none.
 */
export function setMenu({ Menu }: Pick<ElectronParts, 'Menu'>, platform: NodeJS.Platform): void {
  Menu.setApplicationMenu(
    platform === 'darwin'
      ? Menu.buildFromTemplate([{ role: 'appMenu' }, { role: 'editMenu' }, { role: 'windowMenu' }])
      : null,
  );
}

/** A page that ends its process so often, within this time, would do it again. */
const mostTimes = 3;
const withinMs = 60_000;

export interface Revival {
  /** Loads the window's page again. */
  readonly load: () => Promise<void>;
  /** The page is gone, and with it whatever it showed. */
  readonly onGone: () => void;
  readonly giveUp: () => void;
  readonly now: () => number;
}

/** Loads the page again when its process ended by itself. Jobs run in main: nothing of them is lost meanwhile. */
export function reviveWindow(window: BrowserWindow, { load, onGone, giveUp, now }: Revival): void {
  let times: number[] = [];
  window.webContents.on('render-process-gone', (_event, { reason }: RenderProcessGoneDetails) => {
    if (reason === 'clean-exit') return;
    onGone();
    times = [...times.filter((at) => now() - at < withinMs), now()];
    if (times.length > mostTimes) giveUp();
    // Not within the event: the process it tells of is still being taken down.
    else setImmediate(() => void load().catch(giveUp));
  });
}
