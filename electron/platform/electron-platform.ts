import fs from 'node:fs';
import path from 'node:path';
import type * as Electron from 'electron';
import type { BrowserWindow, IpcMainInvokeEvent } from 'electron';
import { callChannel, eventChannel } from '../contract/bridge.ts';
import { calls, type CallName } from '../contract/calls.ts';
import type { AppCommand } from '../contract/models/app.ts';
import type { Sender } from '../ipc/router.ts';
import { hasSettings } from '../settings/file-names.ts';
import { administratorFolder } from '../settings/read-managed-settings.ts';
import { makePrivate } from '../storage/durable.ts';
import { createEmitter } from '../util/emitter.ts';
import type { ElectronModules } from './electron-modules.ts';
import { isGiven } from './command-line.ts';
import { tableExtensions, type Openings } from './openings.ts';
import type { AwaySignal, FileKind, Opening, Platform, PlatformClipboard, WindowFocus } from './platform.ts';
import { electronOrigin, openBundle, serveBundle } from './protocol.ts';
import { setMenu, showContextMenus } from './menu.ts';
import { reloadCrashedWindow, createWindow, loadWindow } from './window.ts';
import { readWindowPlace, rememberWindow } from './window-state.ts';

export interface ElectronPlatformOptions {
  /** Folder of the built window. */
  readonly renderer: string;
  /** Absolute path of the preload. */
  readonly preload: string;
  readonly os: NodeJS.Platform;
  readonly openings?: Openings;
  /** Whether the window may be closed now; where not, it is closed later or not at all. */
  readonly mayClose?: () => boolean;
  /** Ends the app and starts it again. */
  readonly restart?: (options: Electron.RelaunchOptions) => void;
  /** Windows ends the person's session and waits for no answer. */
  readonly onSessionEnd?: () => void;
  /** Used on Linux, where Electron does not tell that the screen is locked. */
  readonly watchScreenLock?: (onLocked: () => void) => unknown;
}

const allFiles = { name: 'All files', extensions: ['*'] };
/**
 * Files that are exchanged, besides: what they hold is found out when they are opened, and said. Nothing of which programs
 * keep settings, keys or logs in.
 */
const exchangedExtensions = [
  ...['tab', 'psv', 'dat', 'asc', 'prn', 'out', 'lst', 'ach', 'sta', 'mt940', 'edi', 'dbf'],
  ...['xls', 'xlsb', 'xltx', 'xltm', 'ods', 'pdf', 'parquet'],
  ...['7z', 'bz2', 'xz', 'zst', 'tar', 'rar', 'pgp', 'gpg'],
];
const tableFilters = [{ name: 'Tables', extensions: [...tableExtensions] }, allFiles];
/** What is saved, by its extension: on macOS and Windows the filter decides which one a typed name gets. */
const savedKinds: Readonly<Record<string, string>> = {
  csv: 'CSV',
  tsv: 'Tab-separated text',
  txt: 'Text',
  xlsx: 'Excel workbook',
  age: 'Encrypted file',
  gz: 'gzip archive',
  zip: 'ZIP archive',
  json: 'JSON',
  html: 'Web page',
  png: 'Picture',
};
const openFilters: Record<FileKind, Electron.FileFilter[]> = {
  table: tableFilters,
  certificate: [{ name: 'Certificates with a key', extensions: ['p12', 'pfx'] }, allFiles],
  profile: [{ name: 'Service profiles', extensions: ['json'] }, allFiles],
  approval: [{ name: 'Requests and answers', extensions: ['json'] }, allFiles],
  connections: [{ name: 'Connections', extensions: ['json'] }, allFiles],
  examples: [
    { name: 'Documents and collections', extensions: ['json', 'yaml', 'yml', 'txt', 'http', 'sh'] },
    allFiles,
  ],
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

/**
 * The platform of the product. Called once, before Electron is ready or after: what Electron gives only then is asked for
 * when the window is opened.
 */
export function createElectronPlatform(
  electron: ElectronModules,
  options: ElectronPlatformOptions,
): Platform {
  const { app, dialog, ipcMain, powerMonitor, shell } = electron;
  const { renderer, preload, os, openings, mayClose, restart, onSessionEnd, watchScreenLock } = options;
  const home = app.getPath('userData');
  // Listed while Electron starts. Where that fails, the window says so that is opened with it.
  const bundle = openBundle(renderer, electronOrigin);
  bundle.catch(() => undefined);
  const away = createEmitter<AwaySignal>();
  if (os === 'linux') watchScreenLock?.(() => away.emit('screen-locked'));
  app.on('before-quit', () => away.emit('quit'));

  const onWayland = isWayland(app, process.env, os);
  let window: BrowserWindow | null = null;
  const focused = createEmitter();
  const focus: WindowFocus = {
    isFocused: () => window?.isFocused() ?? false,
    onFocus: (listener) => focused.on(listener),
  };
  const commands = createEmitter<AppCommand>();
  function bringToFront(): void {
    if (window === null) return;
    if (window.isMinimized()) window.restore();
    window.focus();
  }
  app.on('second-instance', (_event, argv) => {
    if (isGiven('lock', argv, os)) commands.emit('lock');
    else bringToFront();
  });
  let sleepBlocker: number | null = null;
  /** Where the last file of each kind was. Without it a dialog starts in Downloads each time. */
  const lastFolders = new Map<FileKind | 'saved', string>();
  const clicked = createEmitter<Opening>();

  function senderOf(event: IpcMainInvokeEvent): Sender | null {
    const frame = event.senderFrame;
    if (frame === null || window === null || event.sender !== window.webContents) return null;
    return { origin: frame.origin, isMainFrame: frame.parent === null };
  }

  async function openDialog(kind: FileKind, several: boolean): Promise<string[] | null> {
    const defaultPath = lastFolders.get(kind);
    const options = {
      filters: openFilters[kind],
      ...(defaultPath !== undefined && { defaultPath }),
      properties: ['openFile', ...(several ? ['multiSelections'] : []), 'dontAddToRecent'] as (
        'openFile' | 'multiSelections' | 'dontAddToRecent'
      )[],
    };
    const { canceled, filePaths } = await (window === null
      ? dialog.showOpenDialog(options)
      : dialog.showOpenDialog(window, options));
    const [file] = filePaths;
    if (canceled || file === undefined) return null;
    lastFolders.set(kind, path.dirname(file));
    return filePaths;
  }

  return {
    version: app.getVersion(),
    home,
    resources: path.join(app.getAppPath(), 'resources'),
    site: siteFolder(app.getPath('exe'), os),
    clipboard: createClipboard(electron, os, onWayland ? focus : undefined),
    serve(router) {
      for (const name of Object.keys(calls) as CallName[])
        ipcMain.handle(callChannel(name), (event, payload: unknown) =>
          router(senderOf(event), name, payload),
        );
    },
    async openWindow() {
      await app.whenReady();
      // Without `persist:` it lives in memory: no cache, cookies or storage of the window on the disk.
      const session = electron.session.fromPartition('tokendesk', { cache: false });
      await session.setProxy(deadProxy);
      serveBundle(session, await bundle);
      // macOS and Windows only.
      powerMonitor.on('lock-screen', () => away.emit('screen-locked'));
      powerMonitor.on('suspend', () => away.emit('suspend'));
      powerMonitor.on('resume', () => away.emit('resume'));
      // macOS: another user's session came to the front.
      powerMonitor.on('user-did-resign-active', () => away.emit('screen-locked'));
      setMenu(electron, os, (command) => commands.emit(command));
      const place = readWindowPlace(home, electron);
      const made = createWindow(electron, { preload, session, place });
      window = made;
      rememberWindow(made, { home, place, hasPosition: !onWayland });
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
      window.on('focus', () => focused.emit());
      window.on('hide', () => away.emit('blur'));
      window.on('minimize', () => away.emit('blur'));
      // Windows only. Before the answer of the other programs: there is hardly time after it, and `before-quit` does not
      // come at all. What can wait for nothing is done before these return.
      window.on('query-session-end', () => {
        away.emit('session-end');
        onSessionEnd?.();
      });
      window.on('session-end', () => away.emit('session-end'));
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
      const [file = null] = (await openDialog(kind, false)) ?? [];
      return file;
    },
    chooseFiles: (kind) => openDialog(kind, true),
    async chooseFolder(near) {
      const options = {
        defaultPath: near ?? lastFolders.get('saved') ?? app.getPath('downloads'),
        properties: ['openDirectory', 'createDirectory', 'dontAddToRecent'] as (
          'openDirectory' | 'createDirectory' | 'dontAddToRecent'
        )[],
      };
      const { canceled, filePaths } = await (window === null
        ? dialog.showOpenDialog(options)
        : dialog.showOpenDialog(window, options));
      const [folder] = filePaths;
      if (canceled || folder === undefined) return null;
      lastFolders.set('saved', folder);
      return folder;
    },
    async chooseTarget({ name, beside }) {
      const folder =
        beside === null ? (lastFolders.get('saved') ?? app.getPath('downloads')) : path.dirname(beside);
      const extension = path.extname(name).slice(1);
      const kind = savedKinds[extension];
      const options = {
        defaultPath: path.join(folder, path.basename(name)),
        filters: kind === undefined ? [allFiles] : [{ name: kind, extensions: [extension] }, allFiles],
        properties: ['createDirectory', 'showOverwriteConfirmation', 'dontAddToRecent'] as (
          'createDirectory' | 'showOverwriteConfirmation' | 'dontAddToRecent'
        )[],
      };
      const { canceled, filePath } = await (window === null
        ? dialog.showSaveDialog(options)
        : dialog.showSaveDialog(window, options));
      if (canceled || filePath === '') return null;
      lastFolders.set('saved', path.dirname(filePath));
      return filePath;
    },
    async confirm({ message, detail, action }) {
      const question = {
        type: 'warning' as const,
        message,
        detail,
        buttons: [action, 'Cancel'],
        defaultId: 1,
        cancelId: 1,
        noLink: true,
      };
      const { response } = await (window === null
        ? dialog.showMessageBox(question)
        : dialog.showMessageBox(window, question));
      return response === 0 ? true : null;
    },
    droppedFile: (reference) => Promise.resolve(isDroppable(reference, os) ? reference : null),
    async droppedFolder(reference) {
      if (!isPlainPath(reference, os)) return null;
      const stat = await fs.promises.stat(reference).catch(() => null);
      return stat?.isDirectory() === true ? reference : null;
    },
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
      if (restart === undefined) return false;
      // An AppImage is unpacked at another place in each run.
      const { APPIMAGE: execPath } = process.env;
      const entry = app.isPackaged ? [] : [app.getAppPath()];
      restart({
        args: [...entry, '--wipe=window', `--user-data-dir=${home}`],
        ...(execPath !== undefined && { execPath }),
      });
      return true;
    },
    setTheme(theme) {
      void app.whenReady().then(() => {
        electron.nativeTheme.themeSource = theme;
      });
    },
    onCommand: (listener) => commands.on(listener),
    onOpen(listener) {
      const stops = [openings?.on(listener), clicked.on(listener)];
      return () => {
        for (const stop of stops) stop?.();
      };
    },
    locale: () => app.getLocale(),
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
    notify({ title, body, jobId }) {
      if (window?.isFocused() === true || !electron.Notification.isSupported()) return;
      const notification = new electron.Notification({ title, body });
      notification.on('click', () => {
        bringToFront();
        clicked.emit({ kind: 'batch', jobId });
      });
      notification.show();
    },
    protectContent(on) {
      window?.setContentProtection(on);
    },
    endRenderer() {
      window?.webContents.forcefullyCrashRenderer();
    },
    onAway: (listener) => away.on(listener),
    // A session of its own, which has the system's settings and no window. In memory: the default session would be made
    // for the question, and writes its files to the disk.
    async proxyFor(url) {
      const systemProxy = electron.session.fromPartition('system-proxy', { cache: false });
      return proxyAddress(await systemProxy.resolveProxy(url));
    },
  };
}

/**
 * Beside the program, where whoever may install may write. On macOS the administrator's folder: within the bundle a file
 * more breaks its signature, and beside it, in /Applications or where it was unpacked, others may write.
 */
export function siteFolder(executable: string, os: NodeJS.Platform): string {
  return os === 'darwin' ? administratorFolder(os) : path.resolve(executable, '../site');
}

/**
 * Folder of a person's files: the one that `--user-data-dir` names, else the system's. That is on Windows in the local
 * part of the profile, since the roaming part travels: batches have gigabytes, their keys stay on this computer, and an
 * audit log is written by one computer alone. A folder of before stays in use where it is. `isOwn`: nothing of others is in it.
 * `usual`: the folder where none is named.
 */
export function homeFolder(
  app: Pick<Electron.App, 'commandLine' | 'getPath'>,
  env: NodeJS.ProcessEnv,
  os: NodeJS.Platform,
): { readonly folder: string; readonly isOwn: boolean; readonly usual: string } {
  // `userData` is the folder that is named, where one is.
  const roaming = path.join(app.getPath('appData'), 'Tokendesk');
  const local = path.win32.join(env['LOCALAPPDATA'] ?? '', 'Tokendesk');
  const isLocal = os === 'win32' && 'LOCALAPPDATA' in env && !hasSettings(roaming);
  const usual = isLocal ? local : roaming;
  const given = app.commandLine.getSwitchValue('user-data-dir');
  const folder = given !== '' ? path.resolve(given) : usual;
  const own = [roaming, ...(os === 'win32' ? [local] : [])];
  return { folder, isOwn: own.includes(folder), usual };
}

/**
 * Makes the person's folder and has Electron and Chromium keep in it all that they write: Chromium in one folder, which
 * `--wipe` knows, since it writes some files although all sessions are in memory. Called before Electron is ready. Throws
 * where the folder can't be made or used.
 *
 * A folder that was there and that a person named keeps its mode, since others may use it too: what the app makes in it
 * is for this user alone. Answers false, and changes nothing, where anybody may write to it: settings could be put there
 * by others.
 */
export function useHome(
  app: Pick<Electron.App, 'setPath'>,
  { folder, isOwn }: { readonly folder: string; readonly isOwn: boolean },
  os: NodeJS.Platform,
): boolean {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Windows has no such modes.
  if (isOwn) makePrivate(folder, 0o700);
  else if (os !== 'win32' && (fs.statSync(folder).mode & 0o002) !== 0) return false;
  // On a disk that is read only Electron would end without a word: it takes its lock for that of another instance.
  fs.accessSync(folder, fs.constants.W_OK);
  const chromium = path.join(folder, 'chromium');
  fs.mkdirSync(chromium, { recursive: true, mode: 0o700 });
  // It is where Electron looks for another instance.
  app.setPath('userData', folder);
  app.setPath('sessionData', chromium);
  return true;
}

/** Names that Windows takes for devices, in any folder and with any extension. */
const windowsDevice = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)/i;

/**
 * Whether a path may be that of a dropped file: one that is named as what people exchange. Whoever needs another one chooses it
 * in the dialog.
 */
export function isDroppable(reference: string, os: NodeJS.Platform): boolean {
  const paths = os === 'win32' ? path.win32 : path.posix;
  const extension = paths.extname(reference).slice(1).toLowerCase();
  return isPlainPath(reference, os) && [...tableExtensions, ...exchangedExtensions].includes(extension);
}

/**
 * Whether a path may be that of what was dropped. The preload makes it from a File, but a compromised window could send
 * one of its own: not a host's (opening `\\\\host` sends the person's hash), a device's, a hidden file's or folder's.
 */
function isPlainPath(reference: string, os: NodeJS.Platform): boolean {
  const isWindows = os === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  if (!paths.isAbsolute(reference) || /\p{Cc}/u.test(reference)) return false;
  if (isWindows ? !/^[a-z]:[\\/](?![\\/])/i.test(reference) : reference.startsWith('//')) return false;
  const names = reference.split(isWindows ? /[\\/]/ : '/').slice(1);
  if (names.some((name) => name.startsWith('.'))) return false;
  // Behind a colon is another stream of the file, with a name of its own.
  if (isWindows && names.some((name) => name.includes(':') || windowsDevice.test(name))) return false;
  return isWindows || !['dev', 'proc', 'sys'].includes(names[0] ?? '');
}

const rawFormat = (format: string): string => `electron application/osclipboard;format="${format}"`;
/** A DWORD of zero. */
const falseFlag = (): Blob => new Blob([new Uint8Array(4)]);

/**
 * Formats that tell the system not to keep a copied value. Windows: out of the clipboard history and the cloud
 * clipboard, and a hint to monitors (learn.microsoft.com, "Clipboard Formats"). macOS: concealed (nspasteboard.org).
 * KDE: Klipper does not record it; other Linux desktops ignore it.
 */
export function exclusions(os: NodeJS.Platform): Record<string, Blob> {
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

/** Whether Chromium draws on Wayland, and uses its clipboard: as the switch says, else as the session is. */
export function isWayland(
  { commandLine }: Pick<Electron.App, 'commandLine'>,
  env: NodeJS.ProcessEnv,
  os: NodeJS.Platform,
): boolean {
  if (os !== 'linux') return false;
  const given = commandLine.getSwitchValue('ozone-platform');
  return (given === '' ? env['XDG_SESSION_TYPE'] : given) === 'wayland';
}

/** Never `clipboard.selection`. Text and hints are written at once, so that no monitor sees one without the other. */
function createClipboard(
  { clipboard, ClipboardItem }: Pick<ElectronModules, 'clipboard' | 'ClipboardItem'>,
  os: NodeJS.Platform,
  focus: WindowFocus | undefined,
): PlatformClipboard {
  return {
    focus,
    write: (text, html) =>
      clipboard.write([
        new ClipboardItem({
          'text/plain': text,
          ...(html !== undefined && { 'text/html': html }),
          ...exclusions(os),
        }),
      ]),
    read: () => clipboard.readText(),
    // Within the call, not after it: a session that ends waits for nothing. Where it throws, it rejects.
    clear: () =>
      new Promise((resolve) => {
        clipboard.clear();
        resolve();
      }),
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
export function proxyAddress(answer: string): string | null {
  const [kind = '', address = ''] = (answer.split(';')[0] ?? '').trim().split(/\s+/);
  const scheme = schemes[kind.toUpperCase()];
  return scheme === undefined || address === '' ? null : `${scheme}://${address}`;
}
