import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { electronOnChromium } from '../../scripts/electron-binary.ts';
import { ProbeApp } from '../support/probe-app.ts';

/*
 * The program that stands for Electron is strict: what it does not model fails by its name, and is never `undefined`. A test
 * that is green on it then says something of Electron.
 */

const main = `
import electron, { app, BrowserWindow, clipboard, dialog, ipcMain, Menu, nativeTheme, Notification, powerMonitor, powerSaveBlocker,
  protocol, screen, session, shell } from 'electron';
import { note, caught, registerScheme, openSession, createWindow, pageUrl } from './tools.mjs';

registerScheme();
note('name', process.versions.electron);
note('import', (await caught(() => import('./tray.mjs'))).split('\\n')[0]);
note('scheme', [await caught(() => protocol.registerSchemesAsPrivileged([{ scheme: 'x', privileges: { secure: true } }])),
  await caught(() => protocol.registerSchemesAsPrivileged([{ scheme: 'x', privileges: { standard: true, secure: true,
    bypassCSP: true } }]))]);
const modules = { app, clipboard, dialog, ipcMain, nativeTheme, powerMonitor, powerSaveBlocker, protocol, screen, session, shell, electron,
  Menu, BrowserWindow, Notification };
await 0;
app.whenReady().then(async () => {
  for (const [name, module] of Object.entries(modules)) {
    note('reads: ' + name, await caught(() => module.notThere));
    note('calls: ' + name, await caught(() => module.notThere()));
  }
  note('commandLine', await caught(() => app.commandLine.removeSwitch('x')));
  for (const [name, module] of Object.entries({ app, ipcMain, powerMonitor }))
    note('event: ' + name, await caught(() => { module.on('notThere', () => undefined); }));
  const own = await openSession();
  note('session', [await caught(() => own.cookies), await caught(() => own.on('notThere', () => undefined)),
    await caught(() => session.fromPartition('persist:x', { cache: false })), await caught(() => session.fromPartition('x')),
    await caught(() => own.webRequest.onBeforeSendHeaders(() => undefined)), await caught(() => own.protocol.registerFileProtocol()),
    await caught(() => own.protocol.handle('other', () => new Response('')))]);
  note('notification', [await caught(() => new Notification({ title: 'x', silent: true })),
    await caught(() => new Notification({ title: 'x' }).close()), await caught(() => Menu.buildFromTemplate([]).closePopup())]);
  const preferences = { preload: '/x', session: own, sandbox: true, contextIsolation: true, nodeIntegration: false,
    nodeIntegrationInWorker: false, nodeIntegrationInSubFrames: false, webSecurity: true, allowRunningInsecureContent: false,
    experimentalFeatures: false, plugins: false, webviewTag: false, navigateOnDragDrop: false, safeDialogs: true,
    spellcheck: false, devTools: false };
  const { sandbox, ...withoutSandbox } = preferences;
  const { preload, ...withoutPreload } = preferences;
  note('windows', [await caught(() => new BrowserWindow({ webPreferences: { ...preferences, sandbox: false } })),
    await caught(() => new BrowserWindow({ webPreferences: { ...preferences, zoomFactor: 2 } })),
    await caught(() => new BrowserWindow({ webPreferences: withoutSandbox })),
    await caught(() => new BrowserWindow({ webPreferences: withoutPreload })),
    await caught(() => new BrowserWindow({ frame: false, webPreferences: preferences }))]);
  const window = createWindow(own);
  const { webContents } = window;
  note('window', [await caught(() => window.setMenu(null)), await caught(() => window.on('notThere', () => undefined)),
    await caught(() => webContents.openDevTools()), await caught(() => webContents.on('notThere', () => undefined)),
    await caught(() => webContents.setWebRTCIPHandlingPolicy('default')), await caught(() => createWindow(own))]);
  ipcMain.handle('note', (event, name, value) => note(name, value));
  let answer;
  const answered = new Promise((resolve) => (answer = resolve));
  ipcMain.handle('done', async (event) => {
    note('events', [await caught(() => event.processId), await caught(() => event.senderFrame.routingId)]);
    answer();
  });
  await own.setProxy({ mode: 'direct' });
  note('no proxy', await caught(() => window.loadURL(pageUrl)));
  await own.setProxy({ mode: 'fixed_servers', proxyRules: 'http://127.0.0.1:9', proxyBypassRules: '<-loopback>' });
  await window.loadURL(pageUrl);
  await answered;
  app.exit(0);
}).catch((error) => { note('failed', error.stack); app.exit(9); });
app.on('window-all-closed', () => undefined);
`;

const preload = `
const { contextBridge, ipcRenderer, webUtils } = require('electron');
const electron = require('electron');
const failure = (call) => { try { call(); return 'no error'; } catch (error) { return error.message; } };
contextBridge.exposeInMainWorld('bridge', {
  start: async () => {
    await ipcRenderer.invoke('note', 'preload', [failure(() => electron.webFrame), failure(() => ipcRenderer.sendSync('x')),
      failure(() => contextBridge.executeInMainWorld({})), failure(() => webUtils.other()), failure(() => require('node:fs')),
      failure(() => contextBridge.exposeInMainWorld('symbols', { s: Symbol('s') })),
      failure(() => { const own = {}; own.own = own; contextBridge.exposeInMainWorld('itself', own); }),
      failure(() => contextBridge.exposeInMainWorld('prototype', { ['__proto__']: 1 })),
      failure(() => { const f = () => 1; contextBridge.exposeInMainWorld('twice', { f, g: f }); }),
      await ipcRenderer.invoke('note', 'x', new Error('x', { cause: 1 })).catch(({ message }) => message)]);
    await ipcRenderer.invoke('done');
  },
});
`;

const unmodelled = (what: string): string => `Error: electron-on-chromium does not model ${what}.`;

describe('the program that stands for Electron', () => {
  const app = new ProbeApp({ main, preload, page: 'bridge.start();' }, electronOnChromium);
  const of = (name: string): unknown => app.notes().find(([noted]) => noted === name)?.[1];
  beforeAll(async () => {
    app.write('tray.mjs', "import { Tray } from 'electron'; new Tray();");
    const run = app.start();
    expect(await run.ended, `${run.printed()} ${String(of('failed'))}`).toBe(0);
  });
  afterAll(() => app.remove());

  test('is named for what it is', () => {
    expect(of('name')).toMatch(/^\d+\.\d+\.\d+-on-chromium$/);
  });

  test('a module that is not exported fails by its name', () => {
    expect(of('import')).toMatch(/^SyntaxError: .*does not provide an export named 'Tray'$/);
  });

  test.for([
    'app',
    'clipboard',
    'dialog',
    'ipcMain',
    'nativeTheme',
    'powerMonitor',
    'powerSaveBlocker',
    'protocol',
    'screen',
    'session',
    'shell',
    'electron',
    'Menu',
    'BrowserWindow',
    'Notification',
  ])('a member of %s that is not modelled throws by its name, read or called', (name) => {
    expect(of(`reads: ${name}`)).toBe(unmodelled(`${name}.notThere`));
    expect(of(`calls: ${name}`)).toBe(unmodelled(`${name}.notThere`));
  });

  test('so does a switch of the command line', () => {
    expect(of('commandLine')).toBe(unmodelled('app.commandLine.removeSwitch'));
  });

  test.for(['app', 'ipcMain', 'powerMonitor'])('an event of %s that never comes has no listener', (name) => {
    expect(of(`event: ${name}`)).toBe(unmodelled(`the event notThere of ${name}`));
  });

  test('a scheme has the rights that Chromium can give it, or none', () => {
    expect(of('scheme')).toEqual([
      unmodelled('a scheme that is not both standard and secure'),
      unmodelled('a scheme with bypassCSP or allowServiceWorkers'),
    ]);
  });

  test('a session has no more than is modelled', () => {
    expect(of('session')).toEqual([
      unmodelled('session probe.cookies'),
      unmodelled('the event notThere of session'),
      unmodelled('a partition on the disk'),
      unmodelled('a session with a cache'),
      unmodelled('session.webRequest.onBeforeSendHeaders'),
      unmodelled('session.protocol.registerFileProtocol'),
      unmodelled('the scheme other, which was not registered before app is ready'),
    ]);
  });

  test('a notification has a title and a body, a menu its items', () => {
    expect(of('notification')).toEqual([
      unmodelled("a notification's silent"),
      unmodelled('a notification.close'),
      unmodelled('a menu.closePopup'),
    ]);
  });

  test('a window has the preferences of a sandboxed page, each of them said', () => {
    expect(of('windows')).toEqual([
      unmodelled('webPreferences.sandbox: false'),
      unmodelled('webPreferences.zoomFactor: 2'),
      unmodelled('a window that leaves webPreferences.sandbox open'),
      unmodelled('a window without a session or a preload'),
      unmodelled("the window's option frame"),
    ]);
  });

  test('a window whose session could reach the network loads nothing', () => {
    expect(of('no proxy')).toBe(unmodelled('a window whose session may reach the network'));
  });

  test('a window, its contents and its calls have no more than is modelled', () => {
    expect(of('window')).toEqual([
      unmodelled('a window.setMenu'),
      unmodelled('the event notThere of BrowserWindow'),
      unmodelled('webContents.openDevTools'),
      unmodelled('the event notThere of webContents'),
      unmodelled('the WebRTC policy default'),
      unmodelled('a second window'),
    ]);
    expect(of('events')).toEqual([
      unmodelled('the event of an invoke.processId'),
      unmodelled('senderFrame.routingId'),
    ]);
  });

  test('a preload has three modules, and nothing of Node', () => {
    expect((of('preload') as string[]).map((text) => `Error: ${text}`)).toEqual([
      unmodelled('electron in a sandboxed preload.webFrame'),
      unmodelled('ipcRenderer.sendSync'),
      unmodelled('contextBridge.executeInMainWorld'),
      unmodelled('webUtils.other'),
      'Error: module not found: node:fs',
      unmodelled('a symbol over the bridge'),
      unmodelled('a value that holds itself'),
      unmodelled('a member __proto__ over the bridge'),
      unmodelled('one function in two places over the bridge'),
      unmodelled('the cause of an error between processes'),
    ]);
  });
});
