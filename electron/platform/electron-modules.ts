import type * as Electron from 'electron';

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
