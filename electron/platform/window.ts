import type { BrowserWindow as ElectronWindow, Session, RenderProcessGoneDetails } from 'electron';
import type { ElectronModules } from './electron-modules.ts';
import { electronOrigin } from './protocol.ts';
import type { WindowPlace } from './window-state.ts';

/** `--surface` of src/styles/tokens.css, which Electron can't read: shown until the page is. */
export const surfaces = { light: '#fbfcfd', dark: '#15171b' } as const;

/** The only place where a window is made. All preferences are listed, defaults included, so that each can be checked. */
export function createWindow(
  { BrowserWindow, nativeTheme }: Pick<ElectronModules, 'BrowserWindow' | 'nativeTheme'>,
  {
    preload,
    session,
    place,
  }: { readonly preload: string; readonly session: Session; readonly place: WindowPlace },
): ElectronWindow {
  const window = new BrowserWindow({
    title: 'Tokendesk',
    ...place.bounds,
    backgroundColor: nativeTheme.shouldUseDarkColors ? surfaces.dark : surfaces.light,
    autoHideMenuBar: true,
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
    // Shows it too, so not before there is something to show.
    if (place.maximized) window.maximize();
    window.show();
  });
  return window;
}

export async function loadWindow(window: ElectronWindow): Promise<void> {
  await window.loadURL(`${electronOrigin}/index.html`);
}

/** A page that crashed more often than that within this time would crash again. */
const maxReloads = 3;
const withinMs = 60_000;

interface ReloadOptions {
  /** Loads the window's page again. */
  readonly load: () => Promise<void>;
  /** The page is gone, and with it whatever it showed. Called before it is loaded again. */
  readonly onGone: () => void;
  readonly giveUp: () => void;
  readonly now: () => number;
}

/** Loads the page again when its process crashed. Jobs run in the main process and go on meanwhile. */
export function reloadCrashedWindow(
  window: ElectronWindow,
  { load, onGone, giveUp, now }: ReloadOptions,
): void {
  let crashes: number[] = [];
  window.webContents.on('render-process-gone', (_event, { reason }: RenderProcessGoneDetails) => {
    if (reason === 'clean-exit') return;
    onGone();
    crashes = [...crashes.filter((at) => now() - at < withinMs), now()];
    if (crashes.length > maxReloads) giveUp();
    // Not within the event: the process that crashed is still being taken down.
    else setImmediate(() => void load().catch(giveUp));
  });
}
