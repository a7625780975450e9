import type * as Electron from 'electron';
import { describe, expect, test } from 'vitest';
import type { ElectronModules } from '../../../electron/platform/electron-platform.ts';
import { denyEverything } from '../../../electron/platform/denials.ts';
import { setMenu } from '../../../electron/platform/menu.ts';
import { createFakeContents, createFakeElectron, createFakeSession } from '../../support/fake-electron.ts';

const options = { userData: '/nowhere', appPath: '/nowhere' };

function denied() {
  const fake = createFakeElectron(options);
  denyEverything(fake.modules.app);
  const session = createFakeSession();
  fake.app.emit('session-created', session);
  const contents = createFakeContents(new Map());
  fake.app.emit('web-contents-created', {}, contents);
  return { app: fake.app, session, contents };
}

/** Whether the event's default was prevented. */
function prevented(emitter: NodeJS.EventEmitter, name: string, ...rest: unknown[]): boolean {
  let prevented = false;
  emitter.emit(
    name,
    { preventDefault: () => (prevented = true), url: 'app://tokendesk/index.html' },
    ...rest,
  );
  return prevented;
}

describe('what a page may not do', () => {
  test.each([
    ['media'],
    ['clipboard-read'],
    ['clipboard-sanitized-write'],
    ['notifications'],
    ['geolocation'],
    ['openExternal'],
    ['fullscreen'],
    ['fileSystem'],
    ['local-fonts'],
    ['unknown'],
  ] as const)('ask for %s', (permission) => {
    const { asked } = denied().session;
    const answers: boolean[] = [];
    asked.permissionRequest?.(null as never, permission, (granted) => answers.push(granted), {
      requestingUrl: 'app://tokendesk/index.html',
      isMainFrame: true,
    });
    expect(answers).toEqual([false]);
    expect(asked.permissionCheck?.(null, permission as never, 'app://tokendesk', {} as never)).toBe(false);
  });

  test('use a device, or capture the screen', () => {
    const { asked } = denied().session;
    expect(
      asked.device?.({ deviceType: 'usb', origin: 'app://tokendesk', device: {} as never } as never),
    ).toBe(false);
    const streams: unknown[] = [];
    asked.displayMedia?.({} as never, (given) => streams.push(given));
    expect(streams).toEqual([null]);
    expect(asked.spellcheck).toBe(false);
  });

  test.each([
    ['https://example.com/', true],
    ['http://127.0.0.1/', true],
    ['file:///etc/passwd', true],
    ['data:text/html,hello', true],
    ['ws://localhost/', true],
    ['devtools://devtools/bundled/inspector.html', true],
    ['app://tokendesk.example/index.html', true],
    ['app://other/index.html', true],
    ['app://tokendesk/index.html', false],
    ['app://tokendesk/assets/index.js', false],
  ])('request %s: cancelled is %s', (url, cancel) => {
    const answers: unknown[] = [];
    denied().session.asked.beforeRequest?.({ url } as never, (answer) => answers.push(answer));
    expect(answers).toEqual([{ cancel }]);
  });

  test('download', () => {
    expect(prevented(denied().session, 'will-download', {}, {})).toBe(true);
  });

  test.each(['will-frame-navigate', 'will-redirect', 'will-attach-webview'])('%s', (event) => {
    expect(prevented(denied().contents, event)).toBe(true);
  });

  test('open a window', () => {
    const { asked } = denied().contents;
    expect(asked.windowOpen?.({ url: 'app://tokendesk/index.html' } as never)).toEqual({ action: 'deny' });
    expect(asked.webRtc).toBe('disable_non_proxied_udp');
  });

  test('sign in anywhere', () => {
    const { app } = denied();
    const answers: unknown[][] = [];
    const answer = (...given: unknown[]): unknown => answers.push(given);
    expect(prevented(app, 'select-client-certificate', {}, 'https://x', [{}], answer)).toBe(true);
    expect(prevented(app, 'login', {}, {}, {}, answer)).toBe(true);
    expect(answers).toEqual([[], []]);
  });
});

describe('the menu', () => {
  test.each(['win32', 'linux', 'darwin'] as const)(
    'has no way to reload, to open developer tools or the web on %s',
    (platform) => {
      const fake = createFakeElectron(options);
      setMenu(fake.modules satisfies Pick<ElectronModules, 'Menu'>, platform, () => undefined);
      const roles = (items: readonly Electron.MenuItemConstructorOptions[]): (string | undefined)[] =>
        items.flatMap(({ role, submenu }) => [role, ...(Array.isArray(submenu) ? roles(submenu) : [])]);
      const found = new Set(roles(fake.said.template ?? []).filter((role) => role !== undefined));
      const known = ['close', 'quit', 'editMenu', 'resetZoom', 'zoomIn', 'zoomOut', 'togglefullscreen'];
      expect(
        [...found].filter((role) => ![...known, 'appMenu', 'windowMenu', 'help'].includes(role)),
      ).toEqual([]);
      expect(found.has('appMenu')).toBe(platform === 'darwin');
    },
  );
});
