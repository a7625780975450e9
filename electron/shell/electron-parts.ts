import type * as Electron from 'electron';

/** What of Electron the host uses. Handed in, so that each use can be tried on a fake of the same types. */
export type ElectronParts = Pick<
  typeof Electron,
  | 'app'
  | 'BrowserWindow'
  | 'clipboard'
  | 'ClipboardItem'
  | 'dialog'
  | 'ipcMain'
  | 'Menu'
  | 'powerMonitor'
  | 'session'
>;
