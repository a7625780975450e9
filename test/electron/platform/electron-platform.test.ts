import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { calls } from '../../../electron/contract/calls.ts';
import { createElectronPlatform, homeFolder } from '../../../electron/platform/electron-platform.ts';
import type { AwaySignal, Router } from '../../../electron/platform/platform.ts';
import { createFakeElectron } from '../../support/fake-electron.ts';
import { tempFolder, tinyBundle } from '../../support/temp-folder.ts';

async function createPlatform(os: NodeJS.Platform = 'linux') {
  const userData = path.join(tempFolder(), 'data');
  const fake = createFakeElectron({ userData, appPath: '/the/app' });
  const preload = path.join(tempFolder(), 'preload.cjs');
  fs.writeFileSync(preload, '');
  const platform = await createElectronPlatform(fake.modules, {
    renderer: tinyBundle(),
    preload,
    os,
  });
  return { fake, platform, preload, userData };
}

async function opened(os?: NodeJS.Platform) {
  const created = await createPlatform(os);
  const router = vi.fn<Router>(() => Promise.resolve({ ok: true, value: {} }));
  created.platform.serve(router);
  await created.platform.openWindow();
  const window = created.fake.windows[0];
  if (window === undefined) throw new Error('no window');
  return { ...created, router, window };
}

describe('the window', () => {
  test('is made with these preferences and no others', async () => {
    const { window, preload, fake } = await opened();
    const session = fake.sessions.get('tokendesk');
    expect(window.options.webPreferences).toEqual({
      preload,
      session,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      plugins: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      safeDialogs: true,
      spellcheck: false,
      devTools: false,
    });
    expect(window.options.show).toBe(false);
  });

  test('shows the bundle, from a session that is not on the disk', async () => {
    const { window, fake } = await opened();
    expect(window.url).toBe('app://tokendesk/index.html');
    expect(window.isShown).toBe(true);
    const [[partition, session] = []] = [...fake.sessions];
    expect(partition).not.toMatch(/^persist:/);
    expect(session).toMatchObject({ settings: { cache: false } });
  });

  test('is the only one: a second start brings it to the front', async () => {
    const { window, fake } = await opened();
    window.isSmall = true;
    fake.app.emit('second-instance');
    expect([window.isFront, window.isSmall]).toEqual([true, false]);
  });

  test('is kept out of screenshots on demand', async () => {
    const { window, platform } = await opened();
    platform.protectContent(true);
    expect(window.isProtected).toBe(true);
    platform.protectContent(false);
    expect(window.isProtected).toBe(false);
  });
});

describe('a call', () => {
  const frame = { origin: 'app://tokendesk', parent: null };

  test('has a handler for each of the contract, and no other', async () => {
    const { fake } = await opened();
    expect([...fake.handlers.keys()]).toEqual(Object.keys(calls).map((name) => `call:${name}`));
  });

  test('comes to the router with who asked', async () => {
    const { window, router } = await opened();
    await window.webContents.invoke('call:app.state', { a: 1 }, frame);
    expect(router).toHaveBeenLastCalledWith({ origin: 'app://tokendesk', isMainFrame: true }, 'app.state', {
      a: 1,
    });
  });

  test('from a frame inside the window says so', async () => {
    const { window, router } = await opened();
    await window.webContents.invoke('call:app.state', {}, { ...frame, parent: {} });
    expect(router.mock.lastCall?.[0]).toEqual({ origin: 'app://tokendesk', isMainFrame: false });
  });

  test('from another origin says so', async () => {
    const { window, router } = await opened();
    await window.webContents.invoke('call:app.state', {}, { ...frame, origin: 'https://evil.example' });
    expect(router.mock.lastCall?.[0]).toEqual({ origin: 'https://evil.example', isMainFrame: true });
  });

  test('from a frame that is gone has no sender', async () => {
    const { window, router } = await opened();
    await window.webContents.invoke('call:app.state', {}, null);
    expect(router.mock.lastCall?.[0]).toBeNull();
  });

  test("from contents that are not the window's has no sender", async () => {
    const { fake, router } = await opened();
    const other = new (fake.modules.BrowserWindow as unknown as new () => (typeof fake.windows)[number])();
    await other.webContents.invoke('call:app.state', {}, frame);
    expect(router.mock.lastCall?.[0]).toBeNull();
  });
});

describe('a window whose process ended', () => {
  const gone = (window: Awaited<ReturnType<typeof opened>>['window'], reason: string) =>
    window.webContents.emit('render-process-gone', {}, { reason, exitCode: 1 });

  test('is loaded again, and what it showed is hidden', async () => {
    const { window, platform } = await opened();
    const heard: AwaySignal[] = [];
    platform.onAway((away) => heard.push(away));
    window.url = '';
    gone(window, 'crashed');
    expect(heard).toEqual(['renderer-gone']);
    await expect.poll(() => window.url).toBe('app://tokendesk/index.html');
  });

  test('is not loaded again when it ended as intended', async () => {
    const { window } = await opened();
    window.url = '';
    gone(window, 'clean-exit');
    await new Promise(setImmediate);
    expect(window.url).toBe('');
  });

  test('ends the app with a sentence when it fails again and again', async () => {
    const { window, fake } = await opened();
    for (let time = 0; time < 3; time++) {
      window.url = '';
      gone(window, 'oom');
      await expect.poll(() => window.url).not.toBe('');
    }
    expect(fake.said.exit).toBeNull();
    gone(window, 'oom');
    expect(fake.said.exit).toBe(0);
    expect(fake.said.dialogs).toEqual([expect.stringMatching(/^Tokendesk has to close/)]);
  });
});

test('events reach the page, and nobody once the window is closed', async () => {
  const { window, platform } = await opened();
  const heard: unknown[] = [];
  window.webContents.page.on('event:reveal.ended', (_event, payload) => heard.push(payload));
  platform.send('reveal.ended', { revealId: 'r1', cause: 'time' });
  window.close();
  platform.send('reveal.ended', { revealId: 'r2', cause: 'time' });
  expect(heard).toEqual([{ revealId: 'r1', cause: 'time' }]);
});

test.each<[string, AwaySignal, (app: Awaited<ReturnType<typeof opened>>) => void]>([
  ['the window loses the focus', 'blur', ({ window }) => window.emit('blur')],
  ['the window is hidden', 'blur', ({ window }) => window.emit('hide')],
  ['the window is minimised', 'blur', ({ window }) => window.emit('minimize')],
  ['the screen is locked', 'screen-locked', ({ fake }) => fake.powerMonitor.emit('lock-screen')],
  [
    'another user takes over',
    'screen-locked',
    ({ fake }) => fake.powerMonitor.emit('user-did-resign-active'),
  ],
  ['the machine goes to sleep', 'suspend', ({ fake }) => fake.powerMonitor.emit('suspend')],
  ['the machine wakes up', 'resume', ({ fake }) => fake.powerMonitor.emit('resume')],
  ['the app is about to quit', 'quit', ({ fake }) => fake.app.emit('before-quit')],
])('when %s, that is heard as %s', async (_what, signal, happen) => {
  const app = await opened();
  const heard: AwaySignal[] = [];
  const stop = app.platform.onAway((away) => heard.push(away));
  happen(app);
  expect(heard).toEqual([signal]);
  stop();
  happen(app);
  expect(heard).toEqual([signal]);
});

describe('dialogs', () => {
  test('answer the chosen path, or null', async () => {
    const { platform, fake } = await opened();
    expect(await platform.chooseFile('table')).toBeNull();
    fake.said.openAnswer = { canceled: false, filePaths: ['/files/cards.csv'] };
    expect(await platform.chooseFile('table')).toBe('/files/cards.csv');
    expect(await platform.chooseTarget({ name: 'out.csv', beside: null })).toBeNull();
    fake.said.saveAnswer = { canceled: false, filePath: '/files/out.csv' };
    expect(await platform.chooseTarget({ name: 'out.csv', beside: null })).toBe('/files/out.csv');
  });

  test('suggest the folder of the source, else Downloads, and never one out of a name', async () => {
    const { platform, fake, userData } = await opened();
    await platform.chooseTarget({ name: 'out.csv', beside: '/files/cards.csv' });
    await platform.chooseTarget({ name: '../../etc/out.csv', beside: null });
    expect(fake.said.dialogs).toMatchObject([
      { defaultPath: '/files/out.csv' },
      { defaultPath: `${userData}/downloads/out.csv` },
    ]);
  });

  test('ask for the kind of file that is wanted', async () => {
    const { platform, fake } = await opened();
    await platform.chooseFile('table');
    await platform.chooseFile('certificate');
    expect(fake.said.dialogs).toMatchObject([
      { filters: [{ extensions: ['csv', 'tsv', 'txt', 'xlsx', 'xlsm'] }, { extensions: ['*'] }] },
      { filters: [{ extensions: ['p12', 'pfx'] }, { extensions: ['*'] }] },
    ]);
  });

  test('leave no trace among the recent files', async () => {
    const { platform, fake } = await opened();
    await platform.chooseFile('table');
    await platform.chooseTarget({ name: 'out.csv', beside: null });
    for (const options of fake.said.dialogs)
      expect((options as { properties: string[] }).properties).toContain('dontAddToRecent');
  });
});

test('a folder of the app is opened in the file manager, or that it was not is answered', async () => {
  const { platform, fake } = await opened();
  expect(await platform.openFolder('/data/logs')).toBe(true);
  expect(fake.said.dialogs).toEqual(['folder /data/logs']);
  fake.said.openPathError = 'No application for /data/logs';
  expect(await platform.openFolder('/data/logs')).toBe(false);
});

test('it ends, and starts again to ask whether everything shall be removed, of the same folder', async () => {
  const { platform, fake, userData } = await opened();
  vi.stubEnv('APPIMAGE', undefined);
  expect(platform.restartToWipe()).toBe(true);
  expect(fake.said.relaunches).toEqual([
    { args: ['/the/app', '--wipe=window', `--user-data-dir=${userData}`] },
  ]);
  expect(fake.said.exit).toBe(0);
  expect(platform.restartToWipe()).toBe(true);
  expect(fake.said.relaunches).toHaveLength(1);
  vi.unstubAllEnvs();
});

test('an AppImage is started again from its file: where it was unpacked is gone by then', async () => {
  const { platform, fake } = await opened();
  vi.stubEnv('APPIMAGE', '/home/ada/Tokendesk.AppImage');
  platform.restartToWipe();
  vi.unstubAllEnvs();
  expect(fake.said.relaunches[0]).toMatchObject({ execPath: '/home/ada/Tokendesk.AppImage' });
});

test('a file that was written is shown in the file manager', async () => {
  const { platform, fake } = await opened();
  expect(platform.showInFolder('/files/out.csv')).toBe(true);
  expect(fake.said.dialogs).toEqual(['file /files/out.csv']);
});

test('a dropped file is known by an absolute path only', async () => {
  const { platform } = await opened();
  expect(await platform.droppedFile('/files/cards.csv')).toBe('/files/cards.csv');
  expect(await platform.droppedFile('cards.csv')).toBeNull();
  expect(await platform.droppedFile('')).toBeNull();
});

describe('the clipboard', () => {
  const asText = async (item: string | Blob): Promise<string> =>
    typeof item === 'string' ? item : item.text();

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
  ])('on %s is told to keep a value to itself, in the same write', async (os, hints) => {
    const { platform, fake } = await createPlatform(os);
    await platform.clipboard.write('tok_1');
    const entries = Object.entries(fake.said.clipboard ?? {}).map(async ([type, item]) => [
      type,
      await asText(item),
    ]);
    expect(Object.fromEntries(await Promise.all(entries))).toEqual({ 'text/plain': 'tok_1', ...hints });
    expect(await platform.clipboard.read()).toBe('tok_1');
    await platform.clipboard.clear();
    expect(fake.said.clipboard).toBeNull();
  });
});

test.each([
  ['DIRECT', null],
  ['PROXY proxy.example:3128', 'http://proxy.example:3128'],
  ['PROXY a.example:3128; PROXY b.example:3128; DIRECT', 'http://a.example:3128'],
  ['HTTPS proxy.example:443; DIRECT', 'https://proxy.example:443'],
  ['SOCKS5 proxy.example:1080', 'socks5://proxy.example:1080'],
  ['', null],
])('the proxy Chromium calls %j is %s', async (answer, address) => {
  const { platform, fake } = await createPlatform();
  fake.defaultSession.asked.proxy = answer;
  expect(await platform.proxyFor('https://service.example/')).toBe(address);
});

test('home is there, and for this user only', async () => {
  const { platform, userData } = await createPlatform();
  expect(platform.home).toBe(userData);
  expect(fs.statSync(userData).mode & 0o777).toBe(0o700);
  expect(platform.resources).toBe(path.join('/the/app', 'resources'));
  expect(platform.version).toBe('1.2.3');
});

describe('a person’s folder', () => {
  const env = { LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local' };
  const local = 'C:\\Users\\ada\\AppData\\Local\\Tokendesk';
  const appOf = (userData: string, ...switches: string[]) =>
    createFakeElectron({ userData, appPath: '', switches }).modules.app;

  test('does not travel with a roaming profile on Windows, unless it did before', () => {
    const roaming = tempFolder();
    expect(homeFolder(appOf(roaming), env, 'win32')).toBe(local);
    fs.writeFileSync(path.join(roaming, 'desk.json'), '{}');
    expect(homeFolder(appOf(roaming), env, 'win32')).toBe(roaming);
  });

  test('is the system’s elsewhere, or the one that is named', () => {
    for (const os of ['linux', 'darwin'] as const)
      expect(homeFolder(appOf('/home/ada'), env, os)).toBe('/home/ada');
    expect(homeFolder(appOf('/home/ada'), {}, 'win32')).toBe('/home/ada');
    for (const os of ['linux', 'win32'] as const)
      expect(homeFolder(appOf('/home/ada', 'user-data-dir=/srv/ada'), env, os)).toBe('/srv/ada');
  });
});
