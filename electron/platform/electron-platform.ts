import fs from 'node:fs';
import path from 'node:path';
import type * as Electron from 'electron';
import type { BrowserWindow, IpcMainInvokeEvent } from 'electron';
import { callChannel, eventChannel } from '../contract/bridge.ts';
import { calls, type CallName } from '../contract/calls.ts';
import type { AppCommand } from '../contract/models/app.ts';
import type { Sender } from '../ipc/router.ts';
import { createEmitter } from '../util/emitter.ts';
import type { Openings } from './openings.ts';
import type { AwaySignal, FileKind, Platform, PlatformClipboard } from './platform.ts';
import { serveBundle } from './protocol.ts';
import { setMenu, showContextMenus } from './menu.ts';
import { reloadCrashedWindow, createWindow, loadWindow } from './window.ts';
import { readWindowPlace, rememberWindow } from './window-state.ts';

/** The modules of Electron that are used. Handed in, so that each use can be tested on a fake of the same types. */
export type ElectronModules = Pick<
  typeof Electron,
  | 'app'
  | 'BrowserWindow'
  | 'clipboard'
  | 'ClipboardItem'
  | 'dialog'
  | 'ipcMain'
  | 'Menu'
  | 'nativeTheme'
  | 'Notification'
  | 'powerMonitor'
  | 'powerSaveBlocker'
  | 'screen'
  | 'session'
  | 'shell'
>;

export interface ElectronPlatformOptions {
  /** Folder of the built window. */
  readonly renderer: string;
  /** Absolute path of the preload. */
  readonly preload: string;
  readonly os: NodeJS.Platform;
  readonly openings?: Openings;
  /** Whether the window may be closed now; where not, it is closed later or not at all. */
  readonly mayClose?: () => boolean;
  /** Used on Linux, where Electron does not tell that the screen is locked. */
  readonly watchScreenLock?: (onLocked: () => void) => unknown;
}

const allFiles = { name: 'All files', extensions: ['*'] };
const tableExtensions = ['csv', 'tsv', 'txt', 'xlsx', 'xlsm'];
const tableFilters = [{ name: 'Tables', extensions: tableExtensions }, allFiles];
const openFilters: Record<FileKind, Electron.FileFilter[]> = {
  table: tableFilters,
  certificate: [{ name: 'Certificates with a key', extensions: ['p12', 'pfx'] }, allFiles],
  profile: [{ name: 'Service profiles', extensions: ['json'] }, allFiles],
  connections: [{ name: 'Connections', extensions: ['json'] }, allFiles],
};

/**
 * The window's session connects to nothing: `connect-src` does not bind WebRTC, whose TCP goes through a proxy where
 * there is one, and nobody answers here (port 9 is the discard port). The bundle's own scheme needs no proxy.
 */
export const deadProxy: Electron.ProxyConfig = {
  mode: 'fixed_servers',
  proxyRules: 'http://127.0.0.1:9',
  // Else the loopback's addresses would be reached directly.
  proxyBypassRules: '<-loopback>',
};

/** The platform of the product. Called once, after Electron is ready. */
export async function createElectronPlatform(
  electron: ElectronModules,
  { renderer, preload, os, openings, mayClose, watchScreenLock }: ElectronPlatformOptions,
): Promise<Platform> {
  const { app, dialog, ipcMain, powerMonitor, shell } = electron;
  // Without `persist:` it lives in memory: no cache, cookies or storage of the window on the disk.
  const session = electron.session.fromPartition('tokendesk', { cache: false });
  await session.setProxy(deadProxy);
  await serveBundle(session, renderer);

  const home = app.getPath('userData');
  fs.mkdirSync(home, { recursive: true, mode: 0o700 });
  fs.chmodSync(home, 0o700);

  const away = createEmitter<AwaySignal>();
  // macOS and Windows only.
  powerMonitor.on('lock-screen', () => away.emit('screen-locked'));
  if (os === 'linux') watchScreenLock?.(() => away.emit('screen-locked'));
  powerMonitor.on('suspend', () => away.emit('suspend'));
  powerMonitor.on('resume', () => away.emit('resume'));
  // macOS: another user's session came to the front.
  powerMonitor.on('user-did-resign-active', () => away.emit('screen-locked'));
  app.on('before-quit', () => away.emit('quit'));

  let window: BrowserWindow | null = null;
  const commands = createEmitter<AppCommand>();
  setMenu(electron, os, (command) => commands.emit(command));
  function bringToFront(): void {
    if (window === null) return;
    if (window.isMinimized()) window.restore();
    window.focus();
  }
  app.on('second-instance', bringToFront);
  let sleepBlocker: number | null = null;
  let isRestarting = false;

  function senderOf(event: IpcMainInvokeEvent): Sender | null {
    const frame = event.senderFrame;
    if (frame === null || window === null || event.sender !== window.webContents) return null;
    return { origin: frame.origin, isMainFrame: frame.parent === null };
  }

  return {
    kind: 'electron',
    version: app.getVersion(),
    home,
    resources: path.join(app.getAppPath(), 'resources'),
    site: siteFolder(app.getPath('exe'), os),
    clipboard: createClipboard(electron, os),
    serve(router) {
      for (const name of Object.keys(calls) as CallName[])
        ipcMain.handle(callChannel(name), (event, payload: unknown) =>
          router(senderOf(event), name, payload),
        );
    },
    async openWindow() {
      const place = readWindowPlace(home, electron);
      const made = createWindow(electron, { preload, session, place });
      window = made;
      rememberWindow(made, home, place);
      showContextMenus(electron, made.webContents);
      reloadCrashedWindow(made, {
        load: () => loadWindow(made),
        onGone: () => away.emit('renderer-gone'),
        giveUp() {
          dialog.showErrorBox('Tokendesk has to close', 'Its window failed again and again. Jobs are kept.');
          app.quit();
        },
        now: () => performance.now(),
      });
      // It can't hide a value now: whether it did is found out.
      window.on('unresponsive', () => away.emit('blur'));
      window.on('blur', () => away.emit('blur'));
      window.on('hide', () => away.emit('blur'));
      window.on('minimize', () => away.emit('blur'));
      window.on('close', (event) => {
        if (mayClose?.() === false) event.preventDefault();
      });
      window.on('closed', () => {
        window = null;
      });
      await loadWindow(window);
    },
    send(event, payload) {
      window?.webContents.send(eventChannel(event), payload);
    },
    async chooseFile(kind) {
      const options = {
        filters: openFilters[kind],
        properties: ['openFile', 'dontAddToRecent'] as ('openFile' | 'dontAddToRecent')[],
      };
      const { canceled, filePaths } = await (window === null
        ? dialog.showOpenDialog(options)
        : dialog.showOpenDialog(window, options));
      return canceled ? null : (filePaths[0] ?? null);
    },
    async chooseTarget({ name, beside }) {
      const folder = beside === null ? app.getPath('downloads') : path.dirname(beside);
      const options = {
        defaultPath: path.join(folder, path.basename(name)),
        filters: tableFilters,
        properties: ['createDirectory', 'showOverwriteConfirmation', 'dontAddToRecent'] as (
          'createDirectory' | 'showOverwriteConfirmation' | 'dontAddToRecent'
        )[],
      };
      const { canceled, filePath } = await (window === null
        ? dialog.showSaveDialog(options)
        : dialog.showSaveDialog(window, options));
      return canceled || filePath === '' ? null : filePath;
    },
    droppedFile: (reference) => Promise.resolve(isDroppable(reference, os) ? reference : null),
    async openFolder(folder) {
      // Answers with an error message, which may hold the path.
      return (await shell.openPath(folder)) === '';
    },
    showInFolder(file) {
      // Answers nothing: whether a file manager opened can't be known.
      shell.showItemInFolder(file);
      return true;
    },
    restartToWipe() {
      // Asked twice, Electron would start it twice.
      if (isRestarting) return true;
      isRestarting = true;
      // An AppImage is unpacked at another place in each run.
      const { APPIMAGE: execPath } = process.env;
      const entry = app.isPackaged ? [] : [app.getAppPath()];
      app.relaunch({
        args: [...entry, '--wipe=window', `--user-data-dir=${home}`],
        ...(execPath !== undefined && { execPath }),
      });
      app.quit();
      return true;
    },
    setTheme(theme) {
      electron.nativeTheme.themeSource = theme;
    },
    onCommand: (listener) => commands.on(listener),
    onOpen: (listener) => openings?.on(listener) ?? (() => undefined),
    showProgress(share) {
      // Negative is none, more than 1 is of unknown length.
      window?.setProgressBar(share === null ? -1 : share === 'unknown' ? 2 : share);
      const { powerSaveBlocker } = electron;
      if (share !== null) sleepBlocker ??= powerSaveBlocker.start('prevent-app-suspension');
      else if (sleepBlocker !== null) {
        powerSaveBlocker.stop(sleepBlocker);
        sleepBlocker = null;
      }
    },
    notify({ title, body }) {
      if (window?.isFocused() === true || !electron.Notification.isSupported()) return;
      const notification = new electron.Notification({ title, body });
      notification.on('click', bringToFront);
      notification.show();
    },
    protectContent(on) {
      window?.setContentProtection(on);
    },
    endRenderer() {
      window?.webContents.forcefullyCrashRenderer();
    },
    onAway: (listener) => away.on(listener),
    // Of the default session, which has the system's settings and no window.
    proxyFor: async (url) => proxyAddress(await electron.session.defaultSession.resolveProxy(url)),
  };
}

/**
 * Beside the program, where whoever may install may write. On macOS beside the bundle: a file more in it breaks its
 * signature.
 */
export function siteFolder(executable: string, os: NodeJS.Platform): string {
  const above = os === 'darwin' ? '../../../../site' : '../site';
  return path.resolve(executable, above);
}

/**
 * Folder of a person's files: the one that `--user-data-dir` names, else the system's. On Windows in the local part of the
 * profile, since the roaming part travels: batches have gigabytes, their keys stay on this computer, and an audit log is
 * written by one computer alone. A folder of before stays in use where it is.
 */
export function homeFolder(
  app: Pick<Electron.App, 'commandLine' | 'getPath'>,
  env: NodeJS.ProcessEnv,
  os: NodeJS.Platform,
): string {
  const given = app.commandLine.getSwitchValue('user-data-dir');
  if (given !== '') return path.resolve(given);
  const roaming = app.getPath('userData');
  const local = env['LOCALAPPDATA'] ?? '';
  if (os !== 'win32' || local === '' || fs.existsSync(path.join(roaming, 'desk.json'))) return roaming;
  return path.win32.join(local, 'Tokendesk');
}

/** Names that Windows takes for devices, in any folder and with any extension. */
const windowsDevice = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)/i;

/**
 * Whether a path may be that of a dropped file. The preload makes it from a File, but a compromised window could send
 * one of its own: not a host's (opening `\\\\host` sends the person's hash), a device's, a hidden file's or folder's, or
 * one of another kind than a table. Whoever needs another one chooses it in the dialog.
 */
function isDroppable(reference: string, os: NodeJS.Platform): boolean {
  const isWindows = os === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  if (!paths.isAbsolute(reference) || /\p{Cc}/u.test(reference)) return false;
  if (isWindows ? !/^[a-z]:[\\/](?![\\/])/i.test(reference) : reference.startsWith('//')) return false;
  const names = reference.split(isWindows ? /[\\/]/ : '/').slice(1);
  if (names.some((name) => name.startsWith('.'))) return false;
  // Behind a colon is another stream of the file, with a name of its own.
  if (isWindows && names.some((name) => name.includes(':') || windowsDevice.test(name))) return false;
  if (!isWindows && ['dev', 'proc', 'sys'].includes(names[0] ?? '')) return false;
  return tableExtensions.includes(paths.extname(reference).slice(1).toLowerCase());
}

const rawFormat = (format: string): string => `electron application/osclipboard;format="${format}"`;
/** A DWORD of zero. */
const falseFlag = (): Blob => new Blob([new Uint8Array(4)]);

/**
 * Formats that tell the system not to keep a copied value. Windows: out of the clipboard history and the cloud
 * clipboard, and a hint to monitors (learn.microsoft.com, "Clipboard Formats"). macOS: concealed (nspasteboard.org).
 * KDE: Klipper does not record it; other Linux desktops ignore it.
 */
function exclusions(os: NodeJS.Platform): Record<string, Blob> {
  switch (os) {
    case 'win32':
      return {
        [rawFormat('ExcludeClipboardContentFromMonitorProcessing')]: falseFlag(),
        [rawFormat('CanIncludeInClipboardHistory')]: falseFlag(),
        [rawFormat('CanUploadToCloudClipboard')]: falseFlag(),
      };
    case 'darwin':
      return { [rawFormat('org.nspasteboard.ConcealedType')]: new Blob(['']) };
    case 'linux':
      return { [rawFormat('x-kde-passwordManagerHint')]: new Blob(['secret']) };
    default:
      return {};
  }
}

/** Never `clipboard.selection`. Text and hints are written at once, so that no monitor sees one without the other. */
function createClipboard(
  { clipboard, ClipboardItem }: Pick<ElectronModules, 'clipboard' | 'ClipboardItem'>,
  os: NodeJS.Platform,
): PlatformClipboard {
  return {
    write: (text) => clipboard.write([new ClipboardItem({ 'text/plain': text, ...exclusions(os) })]),
    read: () => clipboard.readText(),
    clear() {
      clipboard.clear();
      return Promise.resolve();
    },
  };
}

const schemes: Readonly<Record<string, string>> = {
  PROXY: 'http',
  HTTPS: 'https',
  SOCKS: 'socks4',
  SOCKS4: 'socks4',
  SOCKS5: 'socks5',
};

/**
 * The first entry of Chromium's answer, `PROXY host:port; DIRECT`, as an address; null for a direct connection. A
 * kind of proxy the client can't use is named all the same: going around it unasked would be worse than failing.
 */
function proxyAddress(answer: string): string | null {
  const [kind = '', address = ''] = (answer.split(';')[0] ?? '').trim().split(/\s+/);
  const scheme = schemes[kind.toUpperCase()];
  return scheme === undefined || address === '' ? null : `${scheme}://${address}`;
}
