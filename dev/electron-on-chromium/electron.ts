import fs from 'node:fs';
import path from 'node:path';
import { createApp } from './app.ts';
import { createWindows } from './browser-window.ts';
import { startBrowser, type Browser } from './browser.ts';
import { createDesktop } from './desktop.ts';
import { createIpcMain } from './ipc-main.ts';
import { createSchemes, createSessions } from './sessions.ts';
import { modelSignals } from './signals.ts';
import { start } from './start.ts';
import type { State } from './state.ts';
import { strict } from './strict.ts';

/*
 * What `electron` resolves to in the process that runs the app. Importing a name that is not exported here fails by that
 * name, as the language does.
 */

const { env, isHeadless } = start;
let browser: Browser | null = null;
const control = createApp({
  ...start,
  windows: () => windows.open,
  async shutDown() {
    await browser?.kill();
  },
  onSwitch() {
    if (control.isReady()) return;
    // It was started without it.
    void browser?.kill();
    browser = null;
  },
});
const state: State = {
  app: control.module,
  env,
  isHeadless,
  get isReady() {
    return control.isReady();
  },
  afterReady(message) {
    if (!control.isReady()) throw new Error(message);
  },
  sessionData: () => control.module.getPath?.('sessionData') ?? '',
  browser: () => (browser ??= open()),
};

function open(): Browser {
  const own = new Set(['user-data-dir', 'inspect', 'require', 'r']);
  const switches = [...control.switches].filter(([name]) => !own.has(name));
  // A packaged app starts with no switch that opens a port, so a test asks this program for one, and the app sees none.
  const port = env['ELECTRON_ON_CHROMIUM_PORT'];
  if (port !== undefined) switches.push(['remote-debugging-port', port]);
  const started = startBrowser({
    headless: isHeadless,
    env,
    switches: switches.map(([name, value]) => `--${name}${value === '' ? '' : `=${value}`}`),
  });
  let hasAnswered = false;
  started.send('Browser.getVersion').then(
    () => (hasAnswered = true),
    () => undefined,
  );
  void started.ended.then(() => {
    if (started !== browser) return;
    browser = null;
    if (control.isEnding() || (hasAnswered && windows.allGone())) return;
    console.error('Chromium has ended before it could show the app.');
    control.module.exit?.(1);
  });
  return started;
}

const schemes = createSchemes(state);
const ipc = createIpcMain();
const windows = createWindows(state, { schemes, ipcMain: ipc, onClosed: control.windowClosed });
const desktop = createDesktop(state, windows);

export const app = control.module;
export const ipcMain = ipc.module;
export const { protocol } = schemes;
export const session = createSessions(state, schemes);
export const { BrowserWindow, webContents } = windows;
export const {
  clipboard,
  ClipboardItem,
  dialog,
  Menu,
  nativeTheme,
  Notification,
  powerMonitor,
  powerSaveBlocker,
  screen,
  shell,
} = desktop;

/** Used by `main.ts` alone. */
export const program = {
  ...control,
  signals: modelSignals(() => {
    control.quit();
  }),
  startBrowser(): void {
    state.browser();
  },
  /** Chromium's own files of every start. It goes on without them, on a full disk for one. */
  writeSessionData(): void {
    const folder = state.sessionData();
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      fs.writeFileSync(path.join(folder, 'Local State'), '{}', { mode: 0o600 });
    } catch {
      // Nothing reads them.
    }
  },
};

export default strict('electron', {
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
  webContents,
});
