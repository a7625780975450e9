import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProbeApp } from '../support/probe-app.ts';

/*
 * What the product takes for granted of Electron's modules in main: each claim names the file of Electron's repository that it
 * rests on. Run on what `electronBinary` answers.
 */

const store = new URL('../../node_modules/electron-store/index.js', import.meta.url).href;

/** One app notes everything; the tests read its notes. */
const main = `
import electron, { app, BrowserWindow, clipboard, ClipboardItem, dialog, ipcMain, Menu, nativeTheme, Notification,
  powerMonitor, powerSaveBlocker, protocol, screen, session } from 'electron';
import path from 'node:path';
import { note, caught, registerScheme, openSession } from './tools.mjs';

for (const [name, call] of Object.entries({
  fromPartition: () => session.fromPartition('probe', { cache: false }),
  defaultSession: () => session.defaultSession,
  screen: () => screen.getAllDisplays(),
  showOpenDialog: () => dialog.showOpenDialog({}),
  showSaveDialog: () => dialog.showSaveDialog({}),
  showMessageBox: () => dialog.showMessageBox({ message: 'x' }),
  BrowserWindow: () => new BrowserWindow({}),
  Notification: () => new Notification({ title: 'x' }),
  powerMonitor: () => { powerMonitor.on('suspend', () => undefined); return 'ok'; },
  enableSandbox: () => { app.enableSandbox(); return 'ok'; },
  registerScheme: () => { registerScheme(); return 'ok'; },
})) note('before ready: ' + name, await caught(call));

note('argv', process.argv);
note('process', [process.type, typeof process.versions.electron, typeof process.resourcesPath, process.defaultApp ?? null]);
note('app', [app.isPackaged, app.getName(), app.name, app.getVersion(), app.getAppPath()]);
note('paths', [app.getPath('userData'), app.getPath('sessionData'), app.getPath('exe') === process.execPath,
  (await caught(() => app.getPath('nonsense'))).startsWith('Error: ')]);
const { commandLine } = app;
note('switches', [commandLine.hasSwitch('marked'), commandLine.getSwitchValue('marked'), commandLine.hasSwitch('absent'),
  commandLine.getSwitchValue('absent')]);
note('setPath', [await caught(() => app.setPath('userData', 'relative')),
  await caught(() => app.setPath('userData', path.join(import.meta.dirname, 'missing')))]);
const { default: Store } = await import(${JSON.stringify(store)});
const settings = new Store({ configName: 'ignored' });
settings.set('a', 1);
note('electron-store', [settings.path, new Store({ name: 'named' }).path]);
ipcMain.handle('once', () => undefined);
note('handle', [await caught(() => ipcMain.handle('once', () => undefined)), await caught(() => ipcMain.handle('bad', 5))]);
ipcMain.removeHandler('once');
note('handle again', await caught(() => { ipcMain.handle('once', () => undefined); return 'ok'; }));

await 0;
app.whenReady().then(async () => {
  note('after ready', [await caught(() => app.enableSandbox()), await caught(() => registerScheme())]);
  const own = await openSession();
  note('sessions', [session.fromPartition('probe', { cache: false }) === own, session.defaultSession === own,
    session.defaultSession === session.defaultSession, own.isPersistent(), session.defaultSession.isPersistent(),
    await own.resolveProxy('https://a.example/')]);
  note('protocol', [own.protocol.isProtocolHandled('probe'), own.protocol.isProtocolHandled('absent'),
    (await caught(() => own.protocol.handle('probe', () => new Response('')))).startsWith('Error: ')]);
  const click = [];
  const menu = Menu.buildFromTemplate([
    { label: 'One', click: () => click.push('one') },
    { type: 'separator' },
    { role: 'copy' },
    { label: 'More', submenu: [{ label: 'Inner', accelerator: 'CmdOrCtrl+K' }] },
  ]);
  menu.items[0].click();
  Menu.setApplicationMenu(menu);
  note('menu', [menu.items.map((item) => item.label ?? ''), menu.items[3].submenu.items[0].label, click,
    Menu.getApplicationMenu() === menu]);
  Menu.setApplicationMenu(null);
  note('menu nonsense', [await caught(() => Menu.buildFromTemplate([{}])), await caught(() => Menu.buildFromTemplate('x')),
    await caught(() => Menu.buildFromTemplate([{ label: 'x', type: 'nonsense' }])), Menu.getApplicationMenu()]);
  nativeTheme.themeSource = 'dark';
  note('theme', [nativeTheme.themeSource, (await caught(() => { nativeTheme.themeSource = 'pink'; return 'ok'; })) === 'ok',
    nativeTheme.themeSource]);
  const [first, second] = [powerSaveBlocker.start('prevent-app-suspension'), powerSaveBlocker.start('prevent-app-suspension')];
  note('sleep', [second - first, powerSaveBlocker.isStarted(first), powerSaveBlocker.stop(first), powerSaveBlocker.stop(first),
    powerSaveBlocker.isStarted(first), powerSaveBlocker.isStarted(second), typeof first]);
  note('clipboard refuses', [await caught(() => new ClipboardItem({})), await caught(() => clipboard.write('text'))]);
  await clipboard.write([new ClipboardItem({ 'text/plain': '4111' })]);
  const text = await clipboard.readText();
  clipboard.clear();
  note('clipboard', [text, await clipboard.readText()]);
  const notification = new Notification({ title: 'A title', body: 'a body' });
  notification.on('click', () => undefined);
  note('notification', [typeof Notification.isSupported(), notification.title, notification.body]);
  note('screen', screen.getAllDisplays().every(({ bounds, workArea }) => bounds.width >= workArea.width));
  note('windows', BrowserWindow.getAllWindows().length);
  note('default', electron.app === app);
  setImmediate(() => app.exit(0));
});
`;

describe('the modules of main', () => {
  const app = new ProbeApp({ main });
  const notes = new Map<string, unknown>();
  beforeAll(async () => {
    const run = app.start('--marked=with value', 'document.csv');
    expect(await run.ended, run.printed()).toBe(0);
    for (const [name, value] of app.notes()) notes.set(name, value);
  });
  afterAll(() => app.remove());

  test.for([
    // shell/browser/api/electron_api_session.cc
    ['fromPartition', 'TypeError: Session can only be received when app is ready'],
    // lib/browser/api/session.ts
    ['defaultSession', 'TypeError: Session can only be received when app is ready'],
    // shell/browser/api/electron_api_screen.cc
    ['screen', "Error: The 'screen' module can't be used before the app 'ready' event"],
    // lib/browser/api/dialog.ts
    ['showOpenDialog', 'Error: dialog module can only be used after app is ready'],
    ['showSaveDialog', 'Error: dialog module can only be used after app is ready'],
    ['showMessageBox', 'Error: dialog module can only be used after app is ready'],
    // shell/browser/api/electron_api_browser_window.cc
    ['BrowserWindow', 'Error: Cannot create BrowserWindow before app is ready'],
    // shell/browser/api/electron_api_notification.cc
    ['Notification', 'Error: Cannot create Notification before app is ready'],
    // lib/browser/api/power-monitor.ts: it only begins to watch
    ['powerMonitor', 'ok'],
    // shell/browser/api/electron_api_app.cc, electron_api_protocol.cc
    ['enableSandbox', 'ok'],
    ['registerScheme', 'ok'],
  ] as const)('before ready %s answers: %s', ([name, answer]) => {
    expect(notes.get(`before ready: ${name}`)).toBe(answer);
  });

  // shell/browser/api/electron_api_app.cc (EnableSandbox), electron_api_protocol.cc (RegisterSchemesAsPrivileged)
  test('after ready the sandbox and schemes are refused', () => {
    expect(notes.get('after ready')).toEqual([
      'Error: app.enableSandbox() can only be called before app is ready',
      'Error: protocol.registerSchemesAsPrivileged should be called before app is ready',
    ]);
  });

  // docs/api/process.md, default_app/main.ts
  test('the process names itself: type, version, resources, defaultApp', () => {
    expect(notes.get('process')).toEqual(['browser', 'string', 'string', true]);
  });

  // default_app/main.ts
  test('process.argv has the executable, the switches and the app, as they were given', () => {
    const argv = notes.get('argv') as string[];
    expect(argv.slice(1)).toEqual([...app.args, '--marked=with value', 'document.csv']);
    expect(path.isAbsolute(argv[0] ?? '')).toBe(true);
  });

  // docs/api/app.md
  test('the app has the name, version and folder of its package.json, and is not packaged', () => {
    expect(notes.get('app')).toEqual([false, 'Probe', 'Probe', '1.2.3', app.folder]);
  });

  // shell/app/electron_main_delegate.cc (kUserDataDir), shell/browser/api/electron_api_app.cc (GetPath)
  test('userData is what --user-data-dir names, sessionData is the same, an unknown path is refused', () => {
    const home = path.join(app.folder, 'home');
    expect(notes.get('paths')).toEqual([home, home, true, true]);
  });

  // docs/api/command-line.md
  test('switches are found by name, with their value', () => {
    expect(notes.get('switches')).toEqual([true, 'with value', false, '']);
  });

  // shell/browser/api/electron_api_app.cc (SetPath)
  test('setPath refuses a relative folder and a missing one', () => {
    expect(notes.get('setPath')).toEqual(['Error: Path must be absolute', 'Error: Failed to set path']);
  });

  // electron-store's own index.js: `name` counts, not `configName`
  test('electron-store keeps config.json in userData, or the name it is given', () => {
    const home = path.join(app.folder, 'home');
    expect(notes.get('electron-store')).toEqual([
      path.join(home, 'config.json'),
      path.join(home, 'named.json'),
    ]);
  });

  // lib/browser/ipc-main-impl.ts
  test('a second handler of a channel and one that is no function are refused; a removed one is free', () => {
    expect(notes.get('handle')).toEqual([
      "Error: Attempted to register a second handler for 'once'",
      "TypeError: Expected handler to be a function, but found type 'number'",
    ]);
    expect(notes.get('handle again')).toBe('ok');
  });

  // docs/api/session.md
  test('a partition is one session, in memory without persist:, and answers its proxy', () => {
    expect(notes.get('sessions')).toEqual([true, false, true, false, true, 'PROXY 127.0.0.1:9']);
  });

  // lib/browser/api/protocol.ts
  test('a scheme has one handler a session', () => {
    expect(notes.get('protocol')).toEqual([true, false, true]);
  });

  // lib/browser/api/menu.ts
  test('a menu is built from its template, and a click calls its function', () => {
    expect(notes.get('menu')).toEqual([
      ['One', expect.any(String), expect.any(String), 'More'],
      'Inner',
      ['one'],
      true,
    ]);
  });

  // lib/browser/api/menu.ts (buildFromTemplate), menu-item.ts
  test('a menu refuses nonsense', () => {
    expect(notes.get('menu nonsense')).toEqual([
      'TypeError: Invalid template for MenuItem: must have at least one of label, role or type',
      'TypeError: Invalid template for Menu: Menu template must be an array',
      'Error: Unknown menu item type: nonsense',
      null,
    ]);
  });

  // shell/browser/api/electron_api_native_theme.cc
  test('the theme is one of three', () => {
    expect(notes.get('theme')).toEqual(['dark', false, 'dark']);
  });

  // shell/browser/api/electron_api_power_save_blocker.cc
  test('each sleep blocker has a number of its own, and is stopped once', () => {
    expect(notes.get('sleep')).toEqual([1, true, true, false, false, true, 'number']);
  });

  // lib/browser/api/clipboard.ts, clipboard-item.ts
  test('the clipboard takes items only, an item at least one type', () => {
    expect(notes.get('clipboard refuses')).toEqual([
      "TypeError: Failed to construct 'ClipboardItem': at least one MIME type is required.",
      'TypeError: clipboard.write expects an array of ClipboardItem',
    ]);
  });

  // docs/api/clipboard.md
  test('what is written to the clipboard is read, and cleared it is empty', () => {
    expect(notes.get('clipboard')).toEqual(['4111', '']);
  });

  // docs/api/notification.md
  test('a notification has its title and body', () => {
    expect(notes.get('notification')).toEqual(['boolean', 'A title', 'a body']);
  });

  test('screens have a work area, and there is no window unasked', () => {
    expect(notes.get('screen')).toBe(true);
    expect(notes.get('windows')).toBe(0);
  });
});
