import fs from 'node:fs';
import path from 'node:path';
import type { BrowserWindow, IpcMainInvokeEvent } from 'electron';
import { callChannel, eventChannel } from '../contract/bridge.ts';
import { calls, type CallName } from '../contract/calls.ts';
import type { Sender } from '../ipc/handle.ts';
import { awaySignals } from './away.ts';
import { electronClipboard } from './electron-clipboard.ts';
import type { ElectronParts } from './electron-parts.ts';
import { setMenu } from './menu.ts';
import { serveBundle } from './protocol.ts';
import { proxyAddress } from './proxy-answer.ts';
import { reviveWindow } from './revive-window.ts';
import type { Shell } from './shell.ts';
import { systemCertificates } from './system-certificates.ts';
import { createWindow, loadWindow } from './window.ts';

export interface ElectronShellOptions {
  /** Folder of the built window. */
  readonly renderer: string;
  /** Absolute path of the preload. */
  readonly preload: string;
  readonly platform: NodeJS.Platform;
}

const all = { name: 'All files', extensions: ['*'] };
const tables = [{ name: 'Tables', extensions: ['csv', 'tsv', 'txt', 'xlsx', 'xlsm'] }, all];
const certificates = [{ name: 'Certificates with a key', extensions: ['p12', 'pfx'] }, all];

/** The desk's host in the product. After Electron is ready, once. */
export async function createElectronShell(
  electron: ElectronParts,
  { renderer, preload, platform }: ElectronShellOptions,
): Promise<Shell> {
  const { app, dialog, ipcMain, powerMonitor } = electron;
  // Without `persist:` it lives in memory: no cache, cookies or storage of the window on the disk.
  const session = electron.session.fromPartition('desk', { cache: false });
  await serveBundle(session, renderer);
  setMenu(electron, platform);

  const home = app.getPath('userData');
  fs.mkdirSync(home, { recursive: true, mode: 0o700 });
  fs.chmodSync(home, 0o700);

  const away = awaySignals();
  powerMonitor.on('lock-screen', () => away.emit('screen-locked'));
  powerMonitor.on('suspend', () => away.emit('suspend'));
  powerMonitor.on('resume', () => away.emit('resume'));
  // macOS: another user's session came to the front.
  powerMonitor.on('user-did-resign-active', () => away.emit('screen-locked'));
  app.on('before-quit', () => away.emit('quit'));

  let window: BrowserWindow | null = null;
  app.on('second-instance', () => {
    if (window === null) return;
    if (window.isMinimized()) window.restore();
    window.focus();
  });

  function senderOf(event: IpcMainInvokeEvent): Sender | null {
    const frame = event.senderFrame;
    if (frame === null || window === null || event.sender !== window.webContents) return null;
    return { origin: frame.origin, isMainFrame: frame.parent === null };
  }

  return {
    host: 'electron',
    version: app.getVersion(),
    home,
    resources: path.join(app.getAppPath(), 'resources'),
    // Outside of the archive, whose integrity is checked, and writable by whoever may install.
    site: path.join(path.dirname(app.getPath('exe')), 'site'),
    clipboard: electronClipboard(electron, platform),
    serve(door) {
      for (const name of Object.keys(calls) as CallName[])
        ipcMain.handle(callChannel(name), (event, payload: unknown) => door(senderOf(event), name, payload));
    },
    async openWindow() {
      const made = createWindow(electron, { preload, session });
      window = made;
      reviveWindow(made, {
        load: () => loadWindow(made),
        onGone: () => away.emit('blur'),
        giveUp() {
          dialog.showErrorBox('Tokendesk has to close', 'Its window failed again and again. Jobs are kept.');
          app.quit();
        },
        now: () => performance.now(),
      });
      window.on('blur', () => away.emit('blur'));
      window.on('hide', () => away.emit('blur'));
      window.on('minimize', () => away.emit('blur'));
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
        filters: kind === 'table' ? tables : certificates,
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
        filters: tables,
        properties: ['createDirectory', 'showOverwriteConfirmation', 'dontAddToRecent'] as (
          'createDirectory' | 'showOverwriteConfirmation' | 'dontAddToRecent'
        )[],
      };
      const { canceled, filePath } = await (window === null
        ? dialog.showSaveDialog(options)
        : dialog.showSaveDialog(window, options));
      return canceled || filePath === '' ? null : filePath;
    },
    droppedFile: (reference) => Promise.resolve(path.isAbsolute(reference) ? reference : null),
    protectContent(on) {
      window?.setContentProtection(on);
    },
    onAway: away.on,
    proxyFor: async (url) => proxyAddress(await session.resolveProxy(url)),
    trustedCertificates: () => Promise.resolve(systemCertificates()),
  };
}
