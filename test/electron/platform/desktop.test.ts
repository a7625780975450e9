import fs from 'node:fs';
import path from 'node:path';
import type * as Electron from 'electron';
import { describe, expect, test, vi } from 'vitest';
import { appCommand, type AppCommand } from '../../../electron/contract/models/app.ts';
import {
  createElectronPlatform,
  type ElectronPlatformOptions,
} from '../../../electron/platform/electron-platform.ts';
import { watchOpenings } from '../../../electron/platform/openings.ts';
import type { Opening } from '../../../electron/platform/platform.ts';
import { closeBeforeQuitting } from '../../../electron/platform/quit.ts';
import { createFakeElectron } from '../../support/fake-electron.ts';
import { tempFolder, tinyBundle } from '../../support/temp-folder.ts';

/** What every good desktop application does: on the typed fake, as no test has a screen. */
async function opened(
  os: NodeJS.Platform = 'linux',
  stored?: object | string,
  more: Partial<ElectronPlatformOptions> = {},
) {
  const userData = path.join(tempFolder(), 'data');
  const fake = createFakeElectron({ userData, appPath: '/the/app' });
  const preload = path.join(tempFolder(), 'preload.cjs');
  fs.writeFileSync(preload, '');
  const file = path.join(userData, 'window.json');
  if (stored !== undefined) {
    fs.mkdirSync(userData);
    fs.writeFileSync(file, typeof stored === 'string' ? stored : JSON.stringify(stored));
  }
  const platform = await createElectronPlatform(fake.modules, {
    renderer: tinyBundle(),
    preload,
    os,
    ...more,
  });
  const open = async () => {
    await platform.openWindow();
    const window = fake.windows.at(-1);
    if (window === undefined) throw new Error('no window');
    return window;
  };
  return { fake, platform, file, open };
}

const place = { x: 100, y: 50, width: 1400, height: 900, maximized: false, zoom: 1 };

describe('size, place and zoom of the window', () => {
  test('are stored when it is closed, for the person alone, and used again', async () => {
    const { open, file } = await opened();
    const window = await open();
    window.bounds = { x: 10, y: 20, width: 1000, height: 700 };
    window.webContents.asked.zoom = 2;
    window.isLarge = true;
    window.close();
    await vi.waitFor(() => {
      expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual({
        x: 10,
        y: 20,
        width: 1000,
        height: 700,
        maximized: true,
        zoom: 2,
      });
    });
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const again = await open();
    expect(again.options).toMatchObject({ x: 10, y: 20, width: 1000, height: 700 });
    expect(again.isLarge).toBe(true);
    expect(again.webContents.asked.zoom).toBe(2);
  });

  test.each([
    ['nothing', undefined],
    ['no JSON', '{"x":'],
    ['another shape', { ...place, width: '1400' }],
    ['a member too many', { ...place, theme: 'dark' }],
    ['a zoom nobody could read', { ...place, zoom: 40 }],
  ])('with %s stored it is as at the first start', async (_, stored) => {
    const { open } = await opened('linux', stored);
    const { options, isLarge, webContents } = await open();
    expect([options.x, options.y, options.width, options.height]).toEqual([undefined, undefined, 1280, 800]);
    expect([isLarge, webContents.asked.zoom]).toEqual([false, 0]);
  });

  test('a place on a screen that is gone is left, and a size that no screen has is made to fit', async () => {
    const { open, fake } = await opened('linux', { ...place, x: 2500, width: 3000, height: 2000 });
    const { options } = await open();
    expect([options.x, options.y, options.width, options.height]).toEqual([undefined, undefined, 1920, 1040]);
    // With the second screen back, so is the place.
    fake.said.displays.push({ workArea: { x: 1920, y: 0, width: 2560, height: 1440 } });
    const second = await open();
    expect([second.options.x, second.options.y, second.options.width]).toEqual([2500, 50, 2560]);
  });

  test.each([
    ['only a corner shows', { x: 1900 }],
    ['its title bar is above the screen', { y: -300 }],
    ['its title bar is below the screen', { y: 1030 }],
  ])('a window of which %s is put back', async (_, over) => {
    const { open } = await opened('linux', { ...place, ...over });
    expect((await open()).options.x).toBeUndefined();
  });

  test('Ctrl and the wheel change the zoom, within what can be read', async () => {
    const { open } = await opened();
    const { webContents } = await open();
    webContents.emit('zoom-changed', {}, 'in');
    expect(webContents.asked.zoom).toBe(0.5);
    for (let n = 0; n < 30; n++) webContents.emit('zoom-changed', {}, 'in');
    expect(webContents.asked.zoom).toBe(5);
    for (let n = 0; n < 60; n++) webContents.emit('zoom-changed', {}, 'out');
    expect(webContents.asked.zoom).toBe(-3);
  });
});

type Item = Electron.MenuItemConstructorOptions;
const allItems = (items: readonly Item[]): Item[] =>
  items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? allItems(item.submenu) : [])]);

describe('the application’s menu', () => {
  test.each(['win32', 'darwin', 'linux'] as const)(
    'on %s has the shortcuts, and asks the window',
    async (os) => {
      const { fake, platform } = await opened(os);
      const commands: AppCommand[] = [];
      platform.onCommand((command) => commands.push(command));
      const items = allItems(fake.said.template ?? []);
      for (const { click } of items) (click as (() => void) | undefined)?.();
      expect(commands).toEqual(['palette', 'lock', ...appCommand.options.slice(0, 6), 'help']);
      const keys = items.flatMap(({ click, accelerator }) => (click === undefined ? [] : [accelerator]));
      expect(keys).toEqual(
        ['K', 'L', '1', '2', '3', '4', '5', '6', '/'].map((key) => `CommandOrControl+${key}`),
      );
      // The page handles them, where the system lets it.
      expect(
        items.every(({ click, registerAccelerator }) => click === undefined || registerAccelerator === false),
      ).toBe(true);
      const roles = items.map(({ role }) => role);
      for (const role of ['editMenu', 'resetZoom', 'zoomIn', 'zoomOut'] as const)
        expect(roles).toContain(role);
      expect(roles.includes('appMenu')).toBe(os === 'darwin');
      expect(roles.includes('quit')).toBe(os !== 'darwin');
    },
  );

  test('is out of the way until it is asked for', async () => {
    const { open } = await opened('win32');
    expect((await open()).options.autoHideMenuBar).toBe(true);
  });
});

describe('the menu at the pointer', () => {
  const flags = { canCut: true, canCopy: true, canPaste: false, canSelectAll: true };

  async function shown(params: object): Promise<unknown> {
    const { open, fake } = await opened();
    const { webContents } = await open();
    webContents.emit(
      'context-menu',
      {},
      { isEditable: false, selectionText: '', editFlags: flags, ...params },
    );
    return fake.said.popups[0]?.map(({ role, enabled }) => [role, enabled]);
  }

  test('in a field has what can be done there', async () => {
    expect(await shown({ isEditable: true })).toEqual([
      ['cut', true],
      ['copy', true],
      ['paste', false],
      [undefined, undefined],
      ['selectAll', true],
    ]);
  });

  test('elsewhere copies the chosen text, and is none without any', async () => {
    expect(await shown({ selectionText: 'req-1' })).toEqual([['copy', true]]);
    expect(await shown({ selectionText: ' ' })).toBeUndefined();
  });
});

test('the title bar and dialogs follow the theme', async () => {
  const { platform, fake } = await opened();
  for (const theme of ['dark', 'light', 'system'] as const) {
    platform.setTheme(theme);
    expect(fake.modules.nativeTheme.themeSource).toBe(theme);
  }
});

describe('while batches run', () => {
  test('their progress is in the taskbar, and the computer does not sleep by itself', async () => {
    const { platform, open, fake } = await opened();
    const window = await open();
    platform.showProgress('unknown');
    expect([window.progress, fake.said.blockers.size]).toEqual([2, 1]);
    platform.showProgress(0.25);
    expect([window.progress, fake.said.blockers.size]).toEqual([0.25, 1]);
    platform.showProgress(null);
    expect([window.progress, fake.said.blockers.size]).toEqual([-1, 0]);
    platform.showProgress(0);
    expect([window.progress, fake.said.blockers.size]).toEqual([0, 1]);
  });

  test('a notification is shown unless the window is in front, and brings it there', async () => {
    const { platform, open, fake } = await opened();
    const window = await open();
    window.isFront = true;
    platform.notify({ title: 'A batch is finished', body: '12 rows' });
    expect(fake.said.notifications).toEqual([]);
    window.isFront = false;
    window.isSmall = true;
    platform.notify({ title: 'A batch is finished', body: '12 rows' });
    expect(fake.said.notifications).toMatchObject([{ title: 'A batch is finished', body: '12 rows' }]);
    fake.said.notifications[0]?.click();
    expect([window.isFront, window.isSmall]).toEqual([true, false]);
  });
});

describe('quitting', () => {
  function quitting(count: number) {
    const fake = createFakeElectron({ userData: '/nowhere', appPath: '/nowhere' });
    const state = { running: count, closed: 0 };
    const quit = closeBeforeQuitting(fake.modules, {
      running: () => state.running,
      close: () => Promise.resolve((state.closed += 1)),
      closingMs: 10_000,
    });
    return { fake, state, quit };
  }

  test('without a batch closes the app first and asks nothing', async () => {
    const { fake, state, quit } = quitting(0);
    expect(quit.mayClose()).toBe(true);
    fake.modules.app.quit();
    await vi.waitFor(() => {
      expect(fake.said.exit).toBe(0);
    });
    expect([state.closed, fake.said.messages]).toEqual([1, []]);
  });

  test('asks while a batch runs; whoever keeps it running can quit later', async () => {
    const { fake, state, quit } = quitting(2);
    fake.said.messageAnswer = 1;
    expect(quit.mayClose()).toBe(false);
    // Asking again while the question is open shows no second one.
    fake.modules.app.quit();
    expect(fake.said.messages).toHaveLength(1);
    expect(fake.said.messages[0]).toMatchObject({
      message: '2 batches are running.',
      buttons: ['Quit', 'Keep running'],
      defaultId: 1,
      cancelId: 1,
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([state.closed, fake.said.exit]).toEqual([0, null]);

    fake.said.messageAnswer = 0;
    fake.modules.app.quit();
    await vi.waitFor(() => {
      expect(fake.said.exit).toBe(0);
    });
    expect([state.closed, fake.said.messages.length]).toEqual([1, 2]);
    expect(quit.mayClose()).toBe(true);
  });

  test('that the system wants asks nothing', async () => {
    const { fake, state, quit } = quitting(1);
    quit.force();
    await vi.waitFor(() => {
      expect(fake.said.exit).toBe(0);
    });
    expect([state.closed, fake.said.messages]).toEqual([1, []]);
  });

  test('the window stays open until it may be closed', async () => {
    let mayClose = false;
    const { fake, open } = await opened('linux', undefined, { mayClose: () => mayClose });
    const window = await open();
    window.close();
    expect(fake.windows).toHaveLength(1);
    mayClose = true;
    window.close();
    expect(fake.windows).toHaveLength(0);
  });
});

describe('what the system asks to open', () => {
  function watched(argv: readonly string[] = [], os: NodeJS.Platform = 'linux', isPackaged = true) {
    const fake = createFakeElectron({ userData: '/nowhere', appPath: '/nowhere', isPackaged });
    const openings = watchOpenings(fake.modules.app, ['tokendesk', ...argv], os);
    const heard: Opening[] = [];
    openings.on((opening) => heard.push(opening));
    return { fake, heard };
  }
  const file = (reference: string): Opening => ({ kind: 'file', reference });

  test.each([
    ['linux', ['/home/ada/Disputes Q3.csv'], file('/home/ada/Disputes Q3.csv')],
    ['linux', ['--ozone-platform=x11', '/home/ada/a.XLSX'], file('/home/ada/a.XLSX')],
    ['linux', ['file:///home/ada/Disputes%20Q3.csv'], file('/home/ada/Disputes Q3.csv')],
    ['win32', ['C:\\Users\\ada\\a.csv'], file('C:\\Users\\ada\\a.csv')],
    ['win32', ['tokendesk://case/D-1'], { kind: 'link', address: 'tokendesk://case/D-1' }],
    ['linux', ['file://other.example/a.csv'], null],
    ['linux', ['/home/ada/notes.md'], null],
    ['linux', ['--user-data-dir=/tmp/a.csv'], null],
    ['linux', ['https://a.example/a.csv?x'], null],
  ] as const)('on %s started with %j', (os, argv, opening) => {
    expect(watched(argv, os).heard).toEqual(opening === null ? [] : [opening]);
  });

  test('a second instance hands over its file, relative to where it was started', () => {
    const { fake, heard } = watched();
    fake.app.emit('second-instance', {}, ['tokendesk', 'disputes.csv'], '/home/ada');
    fake.app.emit('second-instance', {}, ['tokendesk'], '/home/ada');
    expect(heard).toEqual([file('/home/ada/disputes.csv')]);
  });

  test('macOS may ask before anybody listens; the latest is kept', () => {
    const fake = createFakeElectron({ userData: '/nowhere', appPath: '/nowhere' });
    const openings = watchOpenings(fake.modules.app, ['tokendesk'], 'darwin');
    const event = { prevented: 0, preventDefault: () => (event.prevented += 1) };
    fake.app.emit('open-file', event, '/Users/ada/a.csv');
    fake.app.emit('open-url', event, 'tokendesk://case/D-1');
    const heard: Opening[] = [];
    openings.on((opening) => heard.push(opening));
    fake.app.emit('open-file', event, '/Users/ada/b.csv');
    expect(heard).toEqual([{ kind: 'link', address: 'tokendesk://case/D-1' }, file('/Users/ada/b.csv')]);
    expect(event.prevented).toBe(3);
  });

  test('links are registered on Windows by the installed app alone', () => {
    expect(watched([], 'win32').fake.said.protocols).toEqual(['tokendesk']);
    expect(watched([], 'win32', false).fake.said.protocols).toEqual([]);
    expect(watched([], 'linux').fake.said.protocols).toEqual([]);
  });
});
