import path from 'node:path';
import { _electron } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { electronOnChromium, realElectron } from '../../scripts/electron-binary.ts';
import { ProbeApp } from '../support/probe-app.ts';

/*
 * What the product takes for granted of a window, its page and the bridge between them: each claim names the file of
 * Electron's repository that it rests on. Run on what `electronBinary` answers.
 */

const preload = `
const { contextBridge, ipcRenderer, webUtils } = require('electron');
globalThis.ofThePreload = true;
class Class { constructor() { this.own = 1; } method() { return 2; } }
const nested = (levels, wrap) => { let value = 1; for (let n = 0; n < levels; n++) value = wrap(value); return value; };
const failure = (call) => { try { call(); return 'no error'; } catch (error) { return error.name + ': ' + error.message; } };
const refused = (value) => failure(() => contextBridge.exposeInMainWorld('never' + Math.random(), value));
const heard = [];
ipcRenderer.on('early', (event, ...args) => heard.push(args));
const unusual = [];
ipcRenderer.on('unusual', (event, value) => unusual.push(Object.keys(value), value.inner ?? null, String(value.date)));
contextBridge.exposeInMainWorld('bridge', {
  note: (name, value) => ipcRenderer.invoke('note', name, value),
  onRun: (run) => { ipcRenderer.on('run', async (event, id, name, args) => {
    let answer;
    try { answer = await run(name, args); } catch (error) { answer = error.name + ': ' + error.message; }
    ipcRenderer.invoke('ran', id, answer);
  }); },
  values: {
    undefinedMember: undefined, nan: NaN, minusZero: -0, big: 12n, date: new Date(5), map: new Map([['a', 1]]),
    bytes: new Uint8Array([1, 2]), list: [1, [2]], instance: new Class(), error: Object.assign(new TypeError('inside'), { extra: 1 }),
  },
  echo: (value) => value,
  call: (f, value) => f(value),
  later: () => Promise.resolve({ a: 1 }),
  never: () => Promise.reject(Object.assign(new RangeError('rejected'), { extra: 1 })),
  fail: () => { throw Object.assign(new RangeError('thrown'), { extra: 1 }); },
  failOddly: () => { throw 'a string'; },
  isFile: (file) => [file instanceof File, file.name, file.size],
  describe: (value) => [Object.keys(value), typeof value.f, 'u' in value],
  refusals: () => [
    refused(new Proxy({ a: 1 }, {})), refused({ inner: new Proxy([1], {}) }), refused(new Proxy({ f: () => 1 }, {})),
    refused(nested(1000, (value) => [value])), refused(nested(600, (inner) => ({ inner }))),
    refused(nested(400, (inner) => ({ inner }))), refused(new WeakMap()),
    failure(() => contextBridge.exposeInMainWorld('bridge', {})),
    failure(() => contextBridge.exposeInMainWorld('document', {})),
  ],
  invoke: (channel, ...args) => ipcRenderer.invoke(channel, ...args),
  invokeOdd: async () => {
    const answer = await ipcRenderer.invoke('echo', { u: undefined, nan: NaN, zero: -0, date: new Date(7), map: new Map([[1, 2]]),
      big: 3n, bytes: new Uint8Array([9]), nil: null });
    return [Object.keys(answer), Object.is(answer.nan, NaN), Object.is(answer.zero, -0), answer.date.getTime(),
      answer.map.get(1), answer.big === 3n, answer.bytes instanceof Uint8Array, answer.nil];
  },
  invokeRefused: async () => Promise.all([() => 1, new Proxy({}, {}), Symbol('s'), { f() {} }].map((value) =>
    ipcRenderer.invoke('echo', value).then(() => 'taken', ({ message }) => message))),
  invokeShared: async () => {
    const shared = { a: 1 };
    const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
    const given = { list: [shared, shared], views: [new Uint8Array(buffer, 1, 2), new DataView(buffer)],
      key: new Map([[shared, new Set([shared])]]) };
    given.self = given;
    const { list, views, key, self } = await ipcRenderer.invoke('echo', given);
    return [list[0] === list[1], views[0].buffer === views[1].buffer, [...views[0]], key.get(list[0]).has(list[0]),
      self.self.list === list];
  },
  invokeUnusual: async () => {
    const given = { date: new Date(NaN), ['__proto__']: { inner: 1 } };
    const [here, inMain] = await ipcRenderer.invoke('look', given);
    return [String(here.date), Object.keys(here), here.inner ?? null, inMain];
  },
  sendPath: (file) => ipcRenderer.invoke('path', webUtils.getPathForFile(file)),
  pathOfOther: () => failure(() => webUtils.getPathForFile({ name: 'x', path: '/etc/passwd' })),
  heard: () => heard,
  unusual: () => unusual,
  world: () => [typeof window.ofThePage, typeof require, typeof document.title],
});
`;

const page = `
window.ofThePage = true;
const failure = async (call) => { try { return await call(); } catch (error) { return error.name + ': ' + error.message; } };
const actions = {
  worlds: () => [typeof require, typeof process, typeof module, typeof ipcRenderer, typeof ofThePreload,
    typeof electronMain, bridge.world()],
  frozen: () => { 'use strict';
    return [Object.isFrozen(bridge), Object.isFrozen(bridge.values), Object.getOwnPropertyDescriptor(window, 'bridge').writable,
      Object.getOwnPropertyDescriptor(window, 'bridge').configurable]; },
  values: () => { const { values } = bridge;
    return ['undefinedMember' in values, Number.isNaN(values.nan), Object.is(values.minusZero, -0), values.big === 12n,
      values.date instanceof Date && values.date.getTime(), values.map instanceof Map && values.map.get('a'),
      values.bytes instanceof Uint8Array && [...values.bytes], values.list instanceof Array && values.list,
      Object.keys(values.instance), typeof values.instance.method,
      [values.error instanceof Error, values.error.name, values.error.message, 'extra' in values.error]]; },
  functions: async () => [bridge.call((value) => value + 1, 1), bridge.echo((x) => x * 2)(4), await bridge.later(),
    await bridge.call(async () => 'from a promise', 0)],
  errors: () => Promise.all([bridge.never, bridge.fail, bridge.failOddly].map((call) =>
    (async () => call())().catch((error) => [error instanceof Error, error.name, error.message, 'extra' in error]))),
  members: () => bridge.describe({ f() {}, u: undefined }),
  proxies: () => failure(() => bridge.echo(new Proxy({ a: 1 }, {}))),
  refusals: () => bridge.refusals(),
  file: () => bridge.isFile(new File(['four'], 'name.csv')),
  madeFile: () => bridge.sendPath(new File(['four'], 'name.csv')),
  pathOfOther: () => bridge.pathOfOther(),
  invokeOdd: () => bridge.invokeOdd(),
  invokeRefused: () => bridge.invokeRefused(),
  invokeErrors: () => Promise.all(['throws', 'absent', 'function'].map((channel) =>
    bridge.invoke(channel).then(() => 'no error', ({ name, message }) => name + ': ' + message))),
  invokeShared: () => bridge.invokeShared(),
  invokeUnusual: () => bridge.invokeUnusual(),
  pathLike: () => bridge.invoke('echo', 'electron-on-chromium:path-of-file:0'),
  prototypes: async () => {
    const reached = [];
    const { dispatchEvent, addEventListener } = EventTarget.prototype;
    const { get } = Object.getOwnPropertyDescriptor(CustomEvent.prototype, 'detail');
    const replace = (holder, name, descriptor) => Object.defineProperty(holder, name, { ...descriptor, configurable: true });
    const spy = (call) => function (...args) { reached.push(String(this)); return Reflect.apply(call, this, args); };
    replace(EventTarget.prototype, 'dispatchEvent', { value: spy(dispatchEvent) });
    replace(EventTarget.prototype, 'addEventListener', { value: spy(addEventListener) });
    replace(CustomEvent.prototype, 'detail', { get: spy(get) });
    await bridge.later();
    bridge.call((value) => value, 1);
    replace(EventTarget.prototype, 'dispatchEvent', { value: dispatchEvent });
    replace(EventTarget.prototype, 'addEventListener', { value: addEventListener });
    replace(CustomEvent.prototype, 'detail', { get });
    return reached;
  },
  unusual: () => bridge.unusual(),
  openEmpty: () => [window.open(''), window.open(undefined), window.open()],
  openBad: () => failure(() => window.open('http://[')),
  heard: () => bridge.heard(),
  origin: () => [location.origin, isSecureContext],
  inline: () => { const script = document.createElement('script');
    try { script.textContent = 'window.inlineRan = true'; } catch (error) { return [error.name, typeof window.inlineRan]; }
    document.head.append(script); return ['taken', typeof window.inlineRan]; },
  markup: () => failure(() => { document.body.innerHTML = '<b>x</b>'; return 'taken'; }).then((text) => text.split(':')[0]),
  eval: () => failure(() => (0, eval)('1')).then((text) => String(text).split(':')[0]),
  missing: () => fetch('absent.txt').then(async (answer) => [answer.status, await answer.text()]),
  fetchOther: () => fetch('https://a.example/').then(() => 'taken', ({ name }) => name),
  fetchCancelled: () => fetch('page.html?cancelled').then(() => 'taken', ({ name }) => name),
  open: () => window.open('https://a.example/') === null,
  leave: () => { location.href = 'other.html'; },
  frame: () => { const frame = document.createElement('iframe'); frame.src = 'other.html?frame'; document.body.append(frame); },
  download: () => { location.href = 'file.bin'; },
  permission: () => Promise.all([navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => state),
    Notification.requestPermission()]),
  theme: () => matchMedia('(prefers-color-scheme: dark)').matches,
  loop: () => { for (;;); },
};
bridge.onRun((name, args) => actions[name](...args));
bridge.note('page');
`;

const main = `
import { app, BrowserWindow, ipcMain, nativeTheme } from 'electron';
import { note, caught, watch, registerScheme, openSession, createWindow, pageUrl } from './tools.mjs';

registerScheme();
app.on('session-created', (session) => note('session-created', session.isPersistent()));
app.on('web-contents-created', (event, contents) => note('web-contents-created', typeof contents.loadURL));
app.on('window-all-closed', () => undefined);
const running = new Map();
let last = 0;
await 0;
app.whenReady().then(async () => {
  const session = await openSession();
  let asked = [];
  session.webRequest.onBeforeRequest(({ url }, answer) => answer({ cancel: url.includes('cancelled') }));
  session.setPermissionCheckHandler((contents, permission) => { asked.push(permission); return false; });
  session.setPermissionRequestHandler((contents, permission, answer) => { asked.push(permission); answer(false); });
  session.on('will-download', (event, item) => {
    event.preventDefault();
    note('will-download', [item.getFilename(), item.getURL()]);
  });
  const window = createWindow(session, { title: 'Probe', x: 30, y: 40, width: 950, height: 700 });
  const { webContents } = window;
  note('made', [window.isVisible(), window.isMinimized(), window.isDestroyed(), window.getNormalBounds(),
    BrowserWindow.getAllWindows().length, BrowserWindow.fromWebContents(webContents) === window]);
  watch(window, 'ready-to-show', 'show');
  watch(webContents, 'did-finish-load');
  let sender = null;
  ipcMain.handle('note', (event, name, value) => {
    sender = [event.sender === webContents, event.senderFrame.origin, event.senderFrame.parent];
    note(name, value);
  });
  ipcMain.handle('ran', (event, id, answer) => running.get(id)(answer));
  ipcMain.handle('echo', (event, value) => value);
  ipcMain.handle('look', (event, value) => [value, [String(value.date), Object.keys(value)]]);
  ipcMain.handle('path', (event, path) => path);
  ipcMain.handle('throws', () => { throw new RangeError('in main'); });
  ipcMain.handle('function', () => () => 1);
  const run = (name, ...args) => new Promise((resolve) => {
    running.set(++last, resolve);
    webContents.send('run', last, name, args);
  });
  webContents.setWindowOpenHandler(({ url }) => { note('window.open', url); return { action: 'deny' }; });
  webContents.on('will-frame-navigate', (event) => {
    note('will-frame-navigate', [event.url, event.isMainFrame]);
    if (!event.url.endsWith('.bin')) event.preventDefault();
  });
  webContents.on('will-navigate', (event, url) => note('will-navigate', url));

  webContents.send('early', 'before the page');
  await window.loadURL(pageUrl);
  note('loaded', webContents.getURL());
  webContents.send('early', 'after', { u: undefined }, new Map([[1, 2]]));
  webContents.send('unusual', { ['__proto__']: { inner: 1 }, date: new Date(NaN) });
  for (const name of ['heard', 'worlds', 'frozen', 'values', 'functions', 'errors', 'members', 'proxies', 'refusals', 'file',
    'madeFile', 'pathOfOther', 'invokeOdd', 'invokeRefused', 'invokeErrors', 'origin', 'inline', 'markup', 'eval', 'missing',
    'fetchOther', 'fetchCancelled', 'open', 'unusual', 'invokeShared', 'invokeUnusual', 'pathLike', 'prototypes', 'openEmpty',
    'openBad']) note('page: ' + name, await run(name));
  const soon = () => new Promise((resolve) => setTimeout(resolve, 150));
  for (const name of ['leave', 'frame', 'download']) { await run(name); await soon(); }
  note('stayed', webContents.getURL());
  note('sender', sender);
  note('page: permission', await run('permission'));
  note('asked', asked.length > 0);
  nativeTheme.themeSource = 'dark';
  await soon();
  const dark = await run('theme');
  nativeTheme.themeSource = 'light';
  await soon();
  note('theme', [dark, await run('theme')]);

  window.show();
  note('shown', [window.isVisible(), BrowserWindow.getAllWindows()[0] === window]);
  window.setContentProtection(true);
  window.setProgressBar(0.5);
  note('zoom', (webContents.setZoomLevel(1), webContents.getZoomLevel()));

  for (const isLooping of [false, true]) {
    if (isLooping) void run('loop');
    const gone = new Promise((resolve) => webContents.once('render-process-gone', (event, { reason }) => resolve(reason)));
    if (isLooping) await soon();
    webContents.forcefullyCrashRenderer();
    const reason = await gone;
    await new Promise(setImmediate);
    await window.loadURL(pageUrl);
    note('crashed', [reason, await run('heard')]);
  }
  note('bad address', await caught(() => window.loadURL('probe-absent://host/')));
  const ended = new Promise((resolve) => window.once('closed', resolve));
  window.destroy();
  await ended;
  note('destroyed', [window.isDestroyed(), BrowserWindow.getAllWindows().length]);
  app.exit(0);
}).catch((error) => { note('failed', error.stack); app.exit(9); });
`;

describe('a window', () => {
  const app = new ProbeApp({ main, preload, page });
  const of = (name: string): unknown => app.notes().find(([noted]) => noted === name)?.[1];
  let names: readonly string[] = [];
  let printed = '';
  beforeAll(async () => {
    const run = app.start();
    const code = await run.ended;
    expect(code, `${run.printed()} ${String(of('failed'))}`).toBe(0);
    names = app.notes().map(([name]) => name);
    printed = run.printed();
  });
  afterAll(() => app.remove());

  // docs/api/browser-window.md, base-window.md
  test('is hidden where it is to be, has the bounds it was given, and is found', () => {
    expect(of('made')).toEqual([false, false, false, { x: 30, y: 40, width: 950, height: 700 }, 1, true]);
  });

  // docs/api/app.md (session-created, web-contents-created)
  test('sessions and contents are told of as they are made', () => {
    expect(of('session-created')).toBe(false);
    expect(of('web-contents-created')).toBe('function');
    expect(names.indexOf('web-contents-created')).toBeLessThan(names.indexOf('made'));
  });

  // lib/browser/api/web-contents.ts (ready-to-show, _awaitNextLoad)
  test('ready-to-show comes once for the first page, and loadURL ends with did-finish-load', () => {
    expect(names.slice(0, names.indexOf('shown')).filter((name) => name === 'ready-to-show')).toHaveLength(1);
    expect(names.indexOf('did-finish-load')).toBeLessThan(names.indexOf('loaded'));
    expect(of('loaded')).toBe('probe://host/page.html');
  });

  // docs/api/structures/ipc-main-invoke-event.md, web-frame-main.md
  test('a call names its contents, its frame’s origin and that it is the main frame', () => {
    expect(of('sender')).toEqual([true, 'probe://host', null]);
  });

  // docs/api/web-contents.md (send): an arbitrary message to a page that does not listen is lost
  test('a message from before the page is lost; a later one is a structured clone', () => {
    expect(of('page: heard')).toEqual([['after', {}, {}]]);
  });

  // docs/api/web-contents.md (send: structured clone)
  test('a message keeps a member __proto__ and a date that is none', () => {
    expect(of('page: unusual')).toEqual([['__proto__', 'date'], null, 'Invalid Date']);
  });

  // docs/tutorial/context-isolation.md, sandbox.md
  test('page and preload have worlds of their own', () => {
    expect(of('page: worlds')).toEqual([
      ...Array.from({ length: 6 }, () => 'undefined'),
      ['undefined', 'function', 'string'],
    ]);
  });

  // shell/renderer/api/electron_api_context_bridge.cc (DeepFreeze, SetReadOnlyNonConfigurable)
  test('what the bridge gives is frozen and can’t be replaced', () => {
    expect(of('page: frozen')).toEqual([true, true, false, false]);
  });

  // electron_api_context_bridge.cc (PassValueToOtherContextInner)
  test('the bridge copies: undefined, NaN, -0, BigInt, dates, maps and bytes stay, prototypes go', () => {
    expect(of('page: values')).toEqual([
      true,
      true,
      true,
      true,
      5,
      1,
      [1, 2],
      [1, [2]],
      ['own'],
      'undefined',
      [true, 'Error', 'inside', false],
    ]);
  });

  test('functions and promises cross in both directions', () => {
    expect(of('page: functions')).toEqual([2, 8, { a: 1 }, 'from a promise']);
  });

  test('of an error its message crosses, and of what is no error nothing', () => {
    expect(of('page: errors')).toEqual([
      [true, 'Error', 'rejected', false],
      [true, 'Error', 'thrown', false],
      [
        true,
        'Error',
        'An unknown exception occurred in the isolated context, an error occurred but a valid exception was not thrown.',
        false,
      ],
    ]);
  });

  test('an argument keeps its functions and its undefined members', () => {
    expect(of('page: members')).toEqual([['f', 'u'], 'function', true]);
  });

  // electron_api_context_bridge.cc (IsPlainObject), shell/common/v8_util.cc
  test('a Proxy is not copied', () => {
    expect(of('page: proxies')).toBe('Error: An object could not be cloned.');
    expect((of('page: refusals') as unknown[]).slice(0, 3)).toEqual(
      Array.from({ length: 3 }, () => 'Error: An object could not be cloned.'),
    );
  });

  // electron_api_context_bridge.cc (kMaxRecursion; an object counts for itself and for its members)
  test('lists may be nested below 1,000 levels, objects below 500', () => {
    const tooDeep =
      'TypeError: Electron contextBridge recursion depth exceeded.  Nested objects deeper than 1000 are not supported.';
    expect((of('page: refusals') as unknown[]).slice(3, 6)).toEqual([tooDeep, tooDeep, 'no error']);
  });

  // electron_api_context_bridge.cc (ExposeAPI)
  test('what can’t be cloned is refused, and so is a name that the page has', () => {
    const taken = 'Error: Cannot bind an API on top of an existing property on the window object';
    expect((of('page: refusals') as unknown[]).slice(6)).toEqual([
      'Error: An object could not be cloned.',
      taken,
      taken,
    ]);
  });

  // electron_api_context_bridge.cc (WebBlob), shell/renderer/api/electron_api_web_utils.cc
  test('a File crosses; one made by a script has no path, and what is no File is refused', () => {
    expect(of('page: file')).toEqual([true, 'name.csv', 4]);
    expect(of('page: madeFile')).toBe('');
    expect(of('page: pathOfOther')).toBe(
      'TypeError: getPathForFile expected to receive a File object but one was not provided',
    );
  });

  // docs/api/ipc-renderer.md (invoke: structured clone)
  test('invoke is a structured clone there and back', () => {
    expect(of('page: invokeOdd')).toEqual([
      ['u', 'nan', 'zero', 'date', 'map', 'big', 'bytes', 'nil'],
      true,
      true,
      7,
      2,
      true,
      true,
      null,
    ]);
  });

  // docs/api/ipc-renderer.md (invoke: structured clone)
  test('one object in several places is one there too, also a buffer below two views and what holds itself', () => {
    expect(of('page: invokeShared')).toEqual([true, true, [2, 3], true, true]);
  });

  test('a member __proto__ and a date that is none arrive, there and back', () => {
    const members = ['date', '__proto__'];
    expect(of('page: invokeUnusual')).toEqual(['Invalid Date', members, null, ['Invalid Date', members]]);
  });

  test('a text that looks like the mark of a path stays what it is', () => {
    expect(of('page: pathLike')).toBe('electron-on-chromium:path-of-file:0');
  });

  // docs/tutorial/context-isolation.md
  test('a page that replaces what events are sent with reaches nothing of the bridge', () => {
    expect(of('page: prototypes')).toEqual([]);
  });

  // shell/common/v8_util.cc
  test('invoke refuses functions, symbols and Proxies', () => {
    expect(of('page: invokeRefused')).toEqual(
      Array.from({ length: 4 }, () => 'An object could not be cloned.'),
    );
  });

  // lib/renderer/api/ipc-renderer.ts, lib/browser/ipc-dispatch.ts
  test('of a handler’s error its text arrives, and main prints it', () => {
    expect(of('page: invokeErrors')).toEqual([
      "Error: Error invoking remote method 'throws': RangeError: in main",
      "Error: Error invoking remote method 'absent': Error: No handler registered for 'absent'",
      "Error: Error invoking remote method 'function': Error: An object could not be cloned.",
    ]);
    expect(printed).toContain("Error occurred in handler for 'throws': RangeError: in main");
  });

  // docs/api/protocol.md (standard, secure). Plain Chromium has no such scheme: there it is https://host.probe.invalid.
  test('a custom scheme has an origin of its own and is a secure context', () => {
    const origin = realElectron() === null ? 'https://host.probe.invalid' : 'probe://host';
    expect(of('page: origin')).toEqual([origin, true]);
  });

  // docs/tutorial/security.md (Content-Security-Policy by header)
  test('the policy of the scheme’s header is obeyed: no inline script, no markup from text, no eval', () => {
    expect(of('page: inline')).toEqual(['TypeError', 'undefined']);
    expect(of('page: markup')).toBe('TypeError');
    expect(of('page: eval')).toBe('EvalError');
  });

  // docs/api/protocol.md (handle)
  test('a handler’s status reaches the page', () => {
    expect(of('page: missing')).toEqual([404, 'not here']);
  });

  // docs/api/web-request.md (onBeforeRequest)
  test('no request leaves: by the policy, and by cancelling it', () => {
    expect([of('page: fetchOther'), of('page: fetchCancelled')]).toEqual(['TypeError', 'TypeError']);
  });

  // docs/api/web-contents.md (setWindowOpenHandler)
  test('window.open is asked for and denied', () => {
    expect(of('page: open')).toBe(true);
    const asked = app.notes().filter(([name]) => name === 'window.open');
    expect(asked.map(([, value]) => value)).toEqual([
      'https://a.example/',
      'about:blank',
      'about:blank',
      'about:blank',
    ]);
    expect(of('page: openEmpty')).toEqual([null, null, null]);
  });

  test('window.open of a bad address throws, and nobody is asked', () => {
    expect(of('page: openBad')).toMatch(/^SyntaxError: /);
  });

  // docs/api/web-contents.md (will-frame-navigate, will-navigate: not by loadURL)
  test('a page’s own navigation can be prevented, in frames too, and loadURL is none', () => {
    const navigations = app.notes().filter(([name]) => name === 'will-frame-navigate');
    expect(navigations.map(([, value]) => value)).toEqual([
      ['probe://host/other.html', true],
      ['probe://host/other.html?frame', false],
      ['probe://host/file.bin', true],
    ]);
    expect(of('will-navigate')).toBe('probe://host/other.html');
    expect(of('stayed')).toBe('probe://host/page.html');
  });

  // docs/api/session.md (will-download)
  test('a download is told of and can be prevented', () => {
    expect(of('will-download')).toEqual(['file.bin', 'probe://host/file.bin']);
  });

  // docs/api/session.md (setPermissionCheckHandler, setPermissionRequestHandler)
  test('permissions are asked for and denied', () => {
    expect(of('page: permission')).toEqual(['denied', 'denied']);
    expect(of('asked')).toBe(true);
  });

  // docs/api/native-theme.md (themeSource: prefers-color-scheme)
  test('the page sees the theme', () => {
    expect(of('theme')).toEqual([true, false]);
  });

  // docs/api/base-window.md (show)
  test('show shows it, at once', () => {
    expect(of('shown')).toEqual([true, true]);
    expect(names.indexOf('show')).toBeLessThan(names.indexOf('shown'));
  });

  test('the zoom level is kept', () => {
    expect(of('zoom')).toBe(1);
  });

  // docs/api/web-contents.md (forcefullyCrashRenderer)
  test('a page can be ended, also in an endless loop, and is loaded again', () => {
    const crashes = app.notes().filter(([name]) => name === 'crashed');
    expect(crashes.map(([, value]) => value)).toEqual(
      Array.from({ length: 2 }, (): unknown[] => [expect.stringMatching(/^(crashed|killed)$/), []]),
    );
  });

  // lib/browser/api/web-contents.ts (_awaitNextLoad)
  test('an address that can’t be loaded rejects', () => {
    expect(of('bad address')).toMatch(/^Error: ERR_[A-Z_]+ \(-\d+\) loading 'probe-absent:/);
  });

  // docs/api/base-window.md (destroy)
  test('a destroyed window is gone', () => {
    expect(of('destroyed')).toEqual([true, 0]);
  });
});

// docs/api/web-utils.md
test('main gets the path of a File that a person chose', async () => {
  const app = new ProbeApp({
    main: `
      import { app, ipcMain } from 'electron';
      import { note, registerScheme, openSession, createWindow, pageUrl } from './tools.mjs';
      registerScheme();
      app.whenReady().then(async () => {
        ipcMain.handle('path', (event, path) => note('path', path));
        await createWindow(await openSession()).loadURL(pageUrl);
      });`,
    preload: `
      const { contextBridge, ipcRenderer, webUtils } = require('electron');
      contextBridge.exposeInMainWorld('send', (file) => ipcRenderer.invoke('path', webUtils.getPathForFile(file)));`,
    page: `
      const input = document.createElement('input');
      input.type = 'file';
      input.onchange = async () => { await send(input.files[0]); document.title = 'Sent'; };
      document.body.append(input);`,
  });
  try {
    // Playwright asks Electron's package for the executable.
    if (realElectron() === null)
      process.env['ELECTRON_OVERRIDE_DIST_PATH'] = path.dirname(electronOnChromium);
    const launched = await _electron.launch({
      args: [...app.args],
      cwd: app.folder,
      chromiumSandbox: process.getuid?.() !== 0,
    });
    const window = await launched.firstWindow();
    const file = path.join(app.folder, 'file.bin');
    await window.setInputFiles('input', file);
    await expect.poll(() => window.title()).toBe('Sent');
    await launched.close();
    expect(app.notes()).toEqual([['path', file]]);
  } finally {
    app.remove();
  }
});
