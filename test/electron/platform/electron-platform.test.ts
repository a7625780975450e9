import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type * as Electron from 'electron';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createElectronPlatform,
  deadProxy,
  exclusions,
  homeFolder,
  useHome,
  isWayland,
  proxyAddress,
} from '../../../electron/platform/electron-platform.ts';
import type { ElectronModules } from '../../../electron/platform/electron-modules.ts';
import type { AwaySignal } from '../../../electron/platform/platform.ts';
import { tempFolder, tinyBundle } from '../../support/temp-folder.ts';

/* What the platform makes of Electron's answers, on any system. What it makes of Electron itself: in-electron.test.ts. */

class FakeWindow extends EventEmitter {
  readonly webContents = new EventEmitter();
  isFront = false;
  isSmall = false;
  progress = -1;
  setProgressBar = (progress: number) => (this.progress = progress);
  isFocused = () => this.isFront;
  isMinimized = () => this.isSmall;
  focus = () => (this.isFront = true);
  restore = () => (this.isSmall = false);
  loadURL = () => Promise.resolve();
}

/** As much of Electron as answers: what it was asked is in `asked`. */
function platformOn(os: NodeJS.Platform) {
  const home = tempFolder();
  const asked = {
    open: { canceled: true, filePaths: [] } as Electron.OpenDialogReturnValue,
    save: { canceled: true, filePath: '' } as Electron.SaveDialogReturnValue,
    question: { response: 1, checkboxChecked: false },
    questions: [] as Electron.MessageBoxOptions[],
    dialogs: [] as (Electron.OpenDialogOptions | Electron.SaveDialogOptions)[],
    opened: [] as string[],
    openError: '',
    proxy: 'DIRECT',
    restarts: [] as Electron.RelaunchOptions[],
    sessionEnds: 0,
    partitions: [] as string[],
    windowProxy: null as Electron.ProxyConfig | null,
    awake: new Set<number>(),
    notifications: [] as FakeNotification[],
    written: [] as object[],
  };
  const windows: FakeWindow[] = [];
  class BrowserWindow extends FakeWindow {
    constructor() {
      super();
      windows.push(this);
    }
  }
  class FakeNotification extends EventEmitter {
    readonly options: Electron.NotificationConstructorOptions;
    static isSupported = () => true;
    constructor(options: Electron.NotificationConstructorOptions) {
      super();
      this.options = options;
    }
    show = () => asked.notifications.push(this);
  }
  const app = Object.assign(new EventEmitter(), {
    isPackaged: false,
    getVersion: () => '1.2.3',
    getLocale: () => 'de-DE',
    getAppPath: () => '/the/app',
    getPath: (name: string) => (name === 'userData' ? home : `/the/${name}`),
    commandLine: { getSwitchValue: () => '' },
    whenReady: () => Promise.resolve(),
  });
  const powerMonitor = new EventEmitter();
  const electron = {
    app,
    BrowserWindow,
    Notification: FakeNotification,
    powerMonitor,
    Menu: { buildFromTemplate: () => null, setApplicationMenu: () => undefined },
    powerSaveBlocker: {
      start: () => asked.awake.add(asked.awake.size + 1).size,
      stop: (id: number) => asked.awake.delete(id),
    },
    screen: { getAllDisplays: () => [] },
    session: {
      // The window's own is not asked for a proxy: it has one that nobody answers.
      fromPartition(name: string) {
        asked.partitions.push(name);
        return name === 'system-proxy'
          ? { resolveProxy: () => Promise.resolve(asked.proxy) }
          : {
              setProxy: (given: Electron.ProxyConfig) => Promise.resolve((asked.windowProxy = given)),
              protocol: { handle: () => undefined },
            };
      },
      // It would be made, with files on the disk.
      get defaultSession(): never {
        throw new Error('default session');
      },
    },
    nativeTheme: { shouldUseDarkColors: false },
    clipboard: { write: (items: object[]) => Promise.resolve(void asked.written.push(...items)) },
    ClipboardItem: function (this: object, parts: object) {
      Object.assign(this, parts);
    },
    dialog: {
      showOpenDialog: (...args: unknown[]) => (asked.dialogs.push(args.at(-1) as object), asked.open),
      showMessageBox: (...args: unknown[]) => (asked.questions.push(args.at(-1) as never), asked.question),
      showSaveDialog: (...args: unknown[]) => (asked.dialogs.push(args.at(-1) as object), asked.save),
    },
    shell: {
      openPath: (folder: string) => (asked.opened.push(folder), Promise.resolve(asked.openError)),
      showItemInFolder: (file: string) => asked.opened.push(file),
    },
  } as unknown as ElectronModules;
  let lockScreen = () => {};
  const platform = createElectronPlatform(electron, {
    renderer: tinyBundle(),
    preload: '/preload.cjs',
    os,
    watchScreenLock: (onLocked) => (lockScreen = onLocked),
    restart: (options) => asked.restarts.push(options),
    onSessionEnd: () => (asked.sessionEnds += 1),
  });
  async function openWindow(): Promise<FakeWindow> {
    await platform.openWindow();
    const [window] = windows;
    if (window === undefined) throw new Error('no window');
    return window;
  }
  const away: AwaySignal[] = [];
  const stop = platform.onAway((signal) => away.push(signal));
  return { platform, asked, app, powerMonitor, home, openWindow, away, stop, lockScreen: () => lockScreen() };
}

type OnSystem = ReturnType<typeof platformOn>;

test('the app’s home, resources and version are Electron’s', () => {
  const { platform, home } = platformOn('linux');
  expect(platform).toMatchObject({ home, resources: '/the/app/resources', version: '1.2.3' });
});

describe('a person’s folder', () => {
  const env = { LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local' };
  const local = 'C:\\Users\\ada\\AppData\\Local\\Tokendesk';
  const appOf = (usual: string, given = '') => ({
    // `userData` is what is named, as in Electron.
    getPath: (name: string) => (name === 'appData' ? path.dirname(usual) : given || usual),
    commandLine: { getSwitchValue: () => given } as unknown as Electron.CommandLine,
  });

  test('does not travel with a roaming profile on Windows, unless it did before', () => {
    for (const name of ['desk.json', 'config.json']) {
      const roaming = path.join(tempFolder(), 'Tokendesk');
      const home = () => homeFolder(appOf(roaming), env, 'win32');
      expect(home()).toEqual({ folder: local, isOwn: true, usual: local });
      fs.mkdirSync(roaming);
      fs.writeFileSync(path.join(roaming, name), '{}');
      expect(home()).toEqual({ folder: roaming, isOwn: true, usual: roaming });
    }
  });

  test('is the system’s elsewhere', () => {
    const folder = '/home/ada/.config/Tokendesk';
    const usual = { folder, isOwn: true, usual: folder };
    for (const os of ['linux', 'darwin'] as const) expect(homeFolder(appOf(folder), env, os)).toEqual(usual);
    expect(homeFolder(appOf(folder), {}, 'win32')).toEqual(usual);
  });

  test('is the one that is named, which others may use too unless it is the usual one', () => {
    const usual = '/home/ada/.config/Tokendesk';
    const named = (folder: string) => homeFolder(appOf(usual, folder), env, 'linux');
    expect(named('/srv/ada')).toEqual({ folder: '/srv/ada', isOwn: false, usual });
    expect(named('/home/ada')).toEqual({ folder: '/home/ada', isOwn: false, usual });
    expect(named(usual)).toEqual({ folder: usual, isOwn: true, usual });
  });

  /** Uses a folder that is there with a mode; what Electron was told, and the mode afterwards. */
  function used(mode: number, isOwn: boolean, os: NodeJS.Platform = 'linux') {
    const folder = path.join(tempFolder(), 'home');
    fs.mkdirSync(folder);
    fs.chmodSync(folder, mode);
    const paths: Record<string, string> = {};
    const isUsed = useHome({ setPath: (name, to) => void (paths[name] = to) }, { folder, isOwn }, os);
    return { folder, isUsed, paths, mode: fs.statSync(folder).mode & 0o7777, names: fs.readdirSync(folder) };
  }

  test('is made for this user only, with one folder in it for Chromium', () => {
    const folder = path.join(tempFolder(), 'not/there/yet');
    const paths: Record<string, string> = {};
    const setPath = (name: string, to: string): void => void (paths[name] = to);
    expect(useHome({ setPath }, { folder, isOwn: false }, 'linux')).toBe(true);
    expect(paths).toEqual({ userData: folder, sessionData: path.join(folder, 'chromium') });
    for (const made of [folder, path.join(folder, 'chromium')])
      expect(fs.statSync(made).mode & 0o777).toBe(0o700);
  });

  test('is taken from all others where it is the usual one', () => {
    for (const mode of [0o755, 0o777]) expect(used(mode, true)).toMatchObject({ isUsed: true, mode: 0o700 });
  });

  test('keeps its mode where it was there and was named; the app does not use one that anybody may write to', () => {
    expect(used(0o750, false)).toMatchObject({ isUsed: true, mode: 0o750, names: ['chromium'] });
    expect(used(0o1777, false)).toMatchObject({ isUsed: false, mode: 0o1777, names: [], paths: {} });
    // Where modes say nothing.
    expect(used(0o777, false, 'win32')).toMatchObject({ isUsed: true });
  });

  test('is not used where nothing can be written', () => {
    const folder = tempFolder();
    fs.mkdirSync(path.join(folder, 'chromium'));
    // As a disk answers that is read only; a mode refuses root nothing.
    const spy = vi.spyOn(fs, 'accessSync').mockImplementation(() => {
      throw Object.assign(new Error('EROFS'), { code: 'EROFS' });
    });
    onTestFinished(() => spy.mockRestore());
    const setPath = vi.fn();
    expect(() => useHome({ setPath }, { folder, isOwn: false }, 'linux')).toThrow('EROFS');
    expect(setPath).not.toHaveBeenCalled();
  });

  test('of another user is used as it is', () => {
    // Root, who may run this, is refused nothing.
    const spy = vi.spyOn(fs, 'chmodSync').mockImplementation(() => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    });
    onTestFinished(() => spy.mockRestore());
    const folder = tempFolder();
    expect(useHome({ setPath: () => undefined }, { folder, isOwn: true }, 'linux')).toBe(true);
    expect(spy).toHaveBeenCalledOnce();
  });
});

test.each<[NodeJS.Platform, string, AwaySignal, (system: OnSystem) => void]>([
  ['linux', 'the screen is locked', 'screen-locked', ({ powerMonitor }) => powerMonitor.emit('lock-screen')],
  ['linux', 'the desktop locks the screen', 'screen-locked', ({ lockScreen }) => lockScreen()],
  [
    'darwin',
    'another user takes over',
    'screen-locked',
    ({ powerMonitor }) => powerMonitor.emit('user-did-resign-active'),
  ],
  ['win32', 'the machine goes to sleep', 'suspend', ({ powerMonitor }) => powerMonitor.emit('suspend')],
  ['win32', 'the machine wakes up', 'resume', ({ powerMonitor }) => powerMonitor.emit('resume')],
  ['linux', 'the app is about to quit', 'quit', ({ app }) => app.emit('before-quit')],
])('on %s, when %s, that is heard as %s until nobody listens', async (os, _what, signal, happen) => {
  const system = platformOn(os);
  await system.openWindow();
  happen(system);
  expect(system.away).toEqual([signal]);
  system.stop();
  happen(system);
  expect(system.away).toEqual([signal]);
});

test.each(['win32', 'darwin'] as const)('on %s the desktop is not asked: Electron tells', (os) => {
  const { away, lockScreen } = platformOn(os);
  lockScreen();
  expect(away).toEqual([]);
});

test.each(['blur', 'hide', 'minimize', 'unresponsive'])(
  'a window’s %s hides what it shows',
  async (event) => {
    const { away, openWindow } = platformOn('linux');
    (await openWindow()).emit(event);
    expect(away).toEqual(['blur']);
  },
);

test('Windows ends the session: the app hears it twice, and ends before the other programs have answered', async () => {
  const { asked, away, openWindow } = platformOn('win32');
  const window = await openWindow();
  window.emit('query-session-end', {});
  expect([away, asked.sessionEnds]).toEqual([['session-end'], 1]);
  window.emit('session-end', {});
  expect([away, asked.sessionEnds]).toEqual([['session-end', 'session-end'], 1]);
});

describe('dialogs', () => {
  test('answer the chosen path, or null', async () => {
    const { platform, asked } = platformOn('linux');
    expect(await platform.chooseFile('table')).toBeNull();
    asked.open = { canceled: false, filePaths: ['/files/cards.csv'] };
    expect(await platform.chooseFile('table')).toBe('/files/cards.csv');
    expect(await platform.chooseTarget({ name: 'out.csv', beside: null })).toBeNull();
    asked.save = { canceled: false, filePath: '/files/out.csv' };
    expect(await platform.chooseTarget({ name: 'out.csv', beside: null })).toBe('/files/out.csv');
  });

  test('suggest the folder of the source, else Downloads, and never one out of a name', async () => {
    const { platform, asked } = platformOn('linux');
    await platform.chooseTarget({ name: 'out.csv', beside: '/files/cards.csv' });
    await platform.chooseTarget({ name: '../../etc/out.csv', beside: null });
    expect(asked.dialogs).toMatchObject([
      { defaultPath: '/files/out.csv' },
      { defaultPath: '/the/downloads/out.csv' },
    ]);
  });

  test('ask for the kind of file that is expected', async () => {
    const { platform, asked } = platformOn('linux');
    await platform.chooseFile('table');
    await platform.chooseFile('certificate');
    expect(asked.dialogs).toMatchObject([
      {
        filters: [
          { extensions: ['csv', 'tsv', 'txt', 'xlsx', 'xlsm', 'gz', 'zip', 'age'] },
          { extensions: ['*'] },
        ],
      },
      { filters: [{ extensions: ['p12', 'pfx'] }, { extensions: ['*'] }] },
    ]);
  });

  test('begin where the last file of the kind was, once one was chosen', async () => {
    const { platform, asked } = platformOn('linux');
    asked.open = { canceled: false, filePaths: ['/files/cards.csv'] };
    await platform.chooseFile('table');
    asked.open = { canceled: true, filePaths: [] };
    await platform.chooseFile('certificate');
    await platform.chooseFile('table');
    expect(asked.dialogs.map(({ defaultPath }) => defaultPath)).toEqual([undefined, undefined, '/files']);
  });

  test('that save name the kind of file, and begin where the last one was saved', async () => {
    const { platform, asked } = platformOn('linux');
    asked.save = { canceled: false, filePath: '/reports/chart.png' };
    await platform.chooseTarget({ name: 'chart.png', beside: null });
    await platform.chooseTarget({ name: 'evidence.json', beside: null });
    await platform.chooseTarget({ name: 'out.csv', beside: '/files/cards.csv' });
    expect(asked.dialogs).toMatchObject([
      { defaultPath: '/the/downloads/chart.png', filters: [{ extensions: ['png'] }, { extensions: ['*'] }] },
      { defaultPath: '/reports/evidence.json', filters: [{ extensions: ['json'] }, { extensions: ['*'] }] },
      { defaultPath: '/files/out.csv', filters: [{ extensions: ['csv'] }, { extensions: ['*'] }] },
    ]);
  });

  test('ask whether to go on, and take nothing but the button that says so for yes', async () => {
    const { platform, asked } = platformOn('linux');
    const question = { message: 'Use it?', detail: 'SHA-256', action: 'Use' };
    expect(await platform.confirm(question)).toBeNull();
    asked.question = { ...asked.question, response: 0 };
    expect(await platform.confirm(question)).toBe(true);
    expect(asked.questions[0]).toMatchObject({ buttons: ['Use', 'Cancel'], defaultId: 1, cancelId: 1 });
  });

  test('leave no trace among the recent files', async () => {
    const { platform, asked } = platformOn('linux');
    await platform.chooseFile('table');
    await platform.chooseTarget({ name: 'out.csv', beside: null });
    expect(asked.dialogs).toHaveLength(2);
    for (const { properties } of asked.dialogs) expect(properties).toContain('dontAddToRecent');
  });
});

test('a folder of the app is opened in the file manager, or that it was not is answered', async () => {
  const { platform, asked } = platformOn('linux');
  expect(await platform.openFolder('/data/logs')).toBe(true);
  asked.openError = 'No application for /data/logs';
  expect(await platform.openFolder('/data/logs')).toBe(false);
  expect(platform.showInFolder('/files/out.csv')).toBe(true);
  expect(asked.opened).toEqual(['/data/logs', '/data/logs', '/files/out.csv']);
});

describe('to remove everything', () => {
  test('it ends, and starts again to ask, of the same folder', () => {
    const { platform, asked, home } = platformOn('linux');
    vi.stubEnv('APPIMAGE', undefined);
    expect(platform.restartToWipe()).toBe(true);
    vi.unstubAllEnvs();
    expect(asked.restarts).toEqual([{ args: ['/the/app', '--wipe=window', `--user-data-dir=${home}`] }]);
  });

  test('an AppImage is started again from its file: where it was unpacked is gone by then', () => {
    const { platform, asked } = platformOn('linux');
    vi.stubEnv('APPIMAGE', '/home/ada/Tokendesk.AppImage');
    platform.restartToWipe();
    vi.unstubAllEnvs();
    expect(asked.restarts).toMatchObject([{ execPath: '/home/ada/Tokendesk.AppImage' }]);
  });
});

test('the progress of batches is in the taskbar, and the computer stays awake meanwhile', async () => {
  const { platform, asked, openWindow } = platformOn('linux');
  const window = await openWindow();
  for (const [share, bar, awake] of [
    ['unknown', 2, 1],
    [0.25, 0.25, 1],
    [null, -1, 0],
    [0, 0, 1],
  ] as const) {
    platform.showProgress(share);
    expect([share, window.progress, asked.awake.size]).toEqual([share, bar, awake]);
  }
});

test('a notification is shown unless the window is in front, brings it there and opens its batch', async () => {
  const { platform, asked, openWindow } = platformOn('linux');
  const window = await openWindow();
  const notification = { title: 'A batch is finished', body: '12 rows' };
  const opened: unknown[] = [];
  platform.onOpen((opening) => opened.push(opening));
  window.isFront = true;
  platform.notify({ ...notification, jobId: 'job-1' });
  expect(asked.notifications).toEqual([]);
  window.isFront = false;
  window.isSmall = true;
  platform.notify({ ...notification, jobId: 'job-1' });
  expect(asked.notifications.map(({ options }) => options)).toEqual([notification]);
  asked.notifications[0]?.emit('click');
  expect([window.isFront, window.isSmall]).toEqual([true, false]);
  expect(opened).toEqual([{ kind: 'batch', jobId: 'job-1' }]);
});

test.each<[NodeJS.Platform, Record<string, string>]>([
  [
    'win32',
    {
      'electron application/osclipboard;format="ExcludeClipboardContentFromMonitorProcessing"': '\0\0\0\0',
      'electron application/osclipboard;format="CanIncludeInClipboardHistory"': '\0\0\0\0',
      'electron application/osclipboard;format="CanUploadToCloudClipboard"': '\0\0\0\0',
    },
  ],
  ['darwin', { 'electron application/osclipboard;format="org.nspasteboard.ConcealedType"': '' }],
  ['linux', { 'electron application/osclipboard;format="x-kde-passwordManagerHint"': 'secret' }],
])('the clipboard on %s is told to keep a value to itself', async (os, hints) => {
  const texts = Object.entries(exclusions(os)).map(
    async ([type, blob]) => [type, await blob.text()] as const,
  );
  expect(Object.fromEntries(await Promise.all(texts))).toEqual(hints);
});

test.each([
  ['linux', '', 'wayland', true],
  ['linux', 'x11', 'wayland', false],
  ['linux', 'wayland', 'x11', true],
  ['linux', '', 'x11', false],
  ['linux', '', undefined, false],
  ['win32', '', 'wayland', false],
] as const)('on %s with the switch %j in a session %s, Wayland is used: %s', (os, given, session, is) => {
  const commandLine = { getSwitchValue: () => given } as unknown as Electron.CommandLine;
  expect(isWayland({ commandLine }, { XDG_SESSION_TYPE: session }, os)).toBe(is);
});

test('a table is on the clipboard as text and as HTML, in one write', async () => {
  const { platform, asked } = platformOn('linux');
  await platform.clipboard.write('a');
  await platform.clipboard.write('4242', '<table></table>');
  expect(asked.written).toEqual([
    { 'text/plain': 'a', ...exclusions('linux') },
    { 'text/plain': '4242', 'text/html': '<table></table>', ...exclusions('linux') },
  ]);
});

test('under Wayland the clipboard is told of the window’s focus', async () => {
  vi.stubEnv('XDG_SESSION_TYPE', 'wayland');
  const { platform, openWindow } = platformOn('linux');
  const elsewhere = platformOn('win32');
  vi.unstubAllEnvs();
  const window = await openWindow();
  const { focus } = platform.clipboard;
  expect(focus?.isFocused()).toBe(false);
  let focused = 0;
  focus?.onFocus(() => (focused += 1));
  window.isFront = true;
  window.emit('focus');
  expect([focused, focus?.isFocused()]).toEqual([1, true]);
  expect(elsewhere.platform.clipboard.focus).toBeUndefined();
});

test.each([
  ['DIRECT', null],
  ['PROXY proxy.example:3128', 'http://proxy.example:3128'],
  ['PROXY a.example:3128; PROXY b.example:3128; DIRECT', 'http://a.example:3128'],
  ['HTTPS proxy.example:443; DIRECT', 'https://proxy.example:443'],
  ['SOCKS5 proxy.example:1080', 'socks5://proxy.example:1080'],
  ['', null],
])('the proxy Chromium calls %j is %s', (answer, address) => {
  expect(proxyAddress(answer)).toBe(address);
});

test('the proxy of the service is asked of a session in memory that has the settings of the system', async () => {
  const { platform, asked, openWindow } = platformOn('linux');
  await openWindow();
  asked.proxy = 'PROXY proxy.example:3128';
  expect(await platform.proxyFor('https://service.example/')).toBe('http://proxy.example:3128');
  // Of the two only the window's has a proxy of its own. `persist:` before its name would put one on the disk.
  expect(asked.partitions).toEqual(['tokendesk', 'system-proxy']);
  expect(asked.windowProxy).toBe(deadProxy);
});
