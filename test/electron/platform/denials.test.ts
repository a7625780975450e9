import { EventEmitter } from 'node:events';
import type { App, OnBeforeRequestListenerDetails, Session, WebContents } from 'electron';
import { describe, expect, test } from 'vitest';
import { denyEverything } from '../../../electron/platform/denials.ts';

/** What is handed to a method of a session. */
type Handler<
  M extends
    | 'setPermissionRequestHandler'
    | 'setPermissionCheckHandler'
    | 'setDevicePermissionHandler'
    | 'setDisplayMediaRequestHandler',
> = NonNullable<Parameters<Session[M]>[0]>;

/** Electron's objects, each of which keeps the last thing it was told. */
function denied() {
  const told = new Map<string, unknown>();
  const set = (name: string) => (value: unknown) => void told.set(name, value);
  const app = new EventEmitter();
  denyEverything(app as unknown as Pick<App, 'on'>);
  const session = Object.assign(new EventEmitter(), {
    setPermissionRequestHandler: set('permissionRequest'),
    setPermissionCheckHandler: set('permissionCheck'),
    setDevicePermissionHandler: set('device'),
    setDisplayMediaRequestHandler: set('displayMedia'),
    setSpellCheckerEnabled: set('spellcheck'),
    webRequest: { onBeforeRequest: set('beforeRequest') },
  });
  const contents = Object.assign(new EventEmitter(), {
    setWindowOpenHandler: set('windowOpen'),
    setWebRTCIPHandlingPolicy: set('webRtc'),
  });
  app.emit('session-created', session);
  app.emit('web-contents-created', {}, contents);
  return {
    app,
    session,
    contents,
    permissionRequest: told.get('permissionRequest') as Handler<'setPermissionRequestHandler'>,
    permissionCheck: told.get('permissionCheck') as Handler<'setPermissionCheckHandler'>,
    device: told.get('device') as Handler<'setDevicePermissionHandler'>,
    displayMedia: told.get('displayMedia') as Handler<'setDisplayMediaRequestHandler'>,
    spellcheck: told.get('spellcheck'),
    beforeRequest: told.get('beforeRequest') as (
      details: OnBeforeRequestListenerDetails,
      answer: (response: object) => void,
    ) => void,
    windowOpen: told.get('windowOpen') as Parameters<WebContents['setWindowOpenHandler']>[0],
    webRtc: told.get('webRtc'),
  };
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
    const { permissionRequest, permissionCheck } = denied();
    const answers: boolean[] = [];
    permissionRequest(null as never, permission, (granted) => answers.push(granted), {
      requestingUrl: 'app://tokendesk/index.html',
      isMainFrame: true,
    });
    expect(answers).toEqual([false]);
    expect(permissionCheck(null, permission as never, 'app://tokendesk', {} as never)).toBe(false);
  });

  test('use a device, or capture the screen', () => {
    const { device, displayMedia, spellcheck } = denied();
    expect(device({ deviceType: 'usb', origin: 'app://tokendesk', device: {} as never } as never)).toBe(
      false,
    );
    const streams: unknown[] = [];
    displayMedia({} as never, (given) => streams.push(given));
    expect(streams).toEqual([null]);
    expect(spellcheck).toBe(false);
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
    denied().beforeRequest({ url } as never, (answer) => answers.push(answer));
    expect(answers).toEqual([{ cancel }]);
  });

  test('download', () => {
    expect(prevented(denied().session, 'will-download', {}, {})).toBe(true);
  });

  test.each(['will-frame-navigate', 'will-redirect', 'will-attach-webview'])('%s', (event) => {
    expect(prevented(denied().contents, event)).toBe(true);
  });

  test('open a window', () => {
    const { windowOpen, webRtc } = denied();
    expect(windowOpen({ url: 'app://tokendesk/index.html' } as never)).toEqual({ action: 'deny' });
    expect(webRtc).toBe('disable_non_proxied_udp');
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
