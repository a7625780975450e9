import type { BrowserWindow, Session } from 'electron';
import type { ElectronParts } from './electron-parts.ts';
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
