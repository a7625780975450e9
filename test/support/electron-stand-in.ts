import { createFakeElectron } from './fake-electron.ts';

/** What `electron` resolves to in the process that runs the built main bundle. */
export const fake = createFakeElectron({
  userData: process.env['FAKE_USER_DATA'] ?? '',
  appPath: process.env['FAKE_APP_PATH'] ?? '',
  switches: process.env['FAKE_SWITCHES']?.split(' ') ?? [],
});
export const {
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
  screen,
  session,
  shell,
} = fake.modules;
export const { protocol } = fake;
export default { app, ipcMain, platform: {} };
