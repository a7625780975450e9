import fs from 'node:fs';
import path from 'node:path';
import type * as Electron from 'electron';
import { emptyPage, type Params, type Session } from './browser.ts';
import { decode, encode } from './codec.ts';
import type { IpcMain } from './ipc-main.ts';
import { answerRequests, type RequestsOptions } from './requests.ts';
import { partsOf, type Schemes } from './sessions.ts';
import type { State } from './state.ts';
import { notModelled, preventable, strict, StrictEmitter } from './strict.ts';
import { bindingName, entries, worldName, worldScripts, type ToMain } from './worlds.ts';

/*
 * `webContents`: the one page of the browser.
 */

const events = [
  'did-finish-load',
  'did-fail-load',
  'will-navigate',
  'will-frame-navigate',
  'will-redirect',
  'will-attach-webview',
  'render-process-gone',
  'zoom-changed',
  'context-menu',
  'destroyed',
  'login',
  'select-client-certificate',
];

/** Permissions of Electron, as Chromium's protocol calls them. */
const permissions: readonly (readonly [string, string])[] = [
  ['geolocation', 'geolocation'],
  ['notifications', 'notifications'],
  ['midiSysex', 'midi'],
  ['clipboard-read', 'clipboard-read'],
  ['clipboard-sanitized-write', 'clipboard-write'],
  ['display-capture', 'display-capture'],
  ['idle-detection', 'idle-detection'],
  ['window-management', 'window-management'],
  ['fileSystem', 'local-fonts'],
  ['media', 'camera'],
  ['media', 'microphone'],
];

/** What the window shows of its page, and is told by it. */
export interface ContentsOptions {
  readonly preload: string;
  readonly session: Electron.Session;
  readonly schemes: Schemes;
  readonly ipcMain: IpcMain;
  readonly isDestroyed: () => boolean;
  readonly close: () => void;
  /** The page is there for the first time, or again. */
  readonly onOpened: () => void;
  readonly onReadyToShow: () => void;
  /** Told by the page itself. */
  readonly onChange: (kind: 'focus' | 'blur' | 'hidden' | 'resize') => void;
}

export type Contents = ReturnType<typeof createContents>;

/** `module` is the app's; the rest is for the other modules of this program. */
export function createContents(state: State, options: ContentsOptions) {
  const { preload, session, schemes, ipcMain } = options;
  if (!path.isAbsolute(preload)) throw new TypeError('The preload script must be an absolute path.');
  const parts = partsOf(session);
  const scripts = worldScripts(fs.readFileSync(preload, 'utf8'));
  let windowOpenHandler: Parameters<Electron.WebContents['setWindowOpenHandler']>[0] | null = null;
  let zoom = 0;
  let targetId = '';
  let mainFrame = '';
  let address = '';
  /** The page that `loadURL` is loading; other navigations are the page's own. */
  let loading: { readonly url: string; settle: (error?: Error) => void } | null = null;
  let isFirst = true;
  /** Contexts of the preload's world, by Chromium's number. */
  const contexts = new Map<number, Context>();
  let page: Promise<Session> | null = null;

  const members = {
    loadURL: load,
    getURL: () => address,
    isDestroyed: options.isDestroyed,
    close: options.close,
    /** Dropped where no preload listens yet, or any more. */
    send(channel, ...args: unknown[]) {
      const encoded = encode(args);
      const to = mainContext();
      if (to !== undefined) void call('deliver', [channel, encoded], to);
    },
    setWindowOpenHandler(handler) {
      windowOpenHandler = handler;
    },
    setWebRTCIPHandlingPolicy(policy) {
      if (policy !== 'disable_non_proxied_udp') notModelled(`the WebRTC policy ${policy}`);
    },
    getWebRTCIPHandlingPolicy: () => 'disable_non_proxied_udp',
    setZoomLevel(level) {
      zoom = level;
    },
    getZoomLevel: () => zoom,
    /** A page in a loop does not stop it: Chromium takes the command outside of the page's own turn. */
    forcefullyCrashRenderer() {
      void command('Page.crash');
    },
  } satisfies Partial<Electron.WebContents>;
  const module = strict('webContents', Object.assign(new StrictEmitter('webContents', events), members));

  const requests: RequestsOptions = {
    schemes,
    parts,
    isMainFrame: (frameId) => frameId === mainFrame,
    isLoading: (url) => loading?.url === url,
    mayNavigate(url, isMainFrame) {
      const event = preventable({ url, isMainFrame, isSameDocument: false, frame: null });
      module.emit('will-frame-navigate', event);
      if (isMainFrame) module.emit('will-navigate', event, url);
      return !event.defaultPrevented;
    },
  };

  function connect(): Promise<Session> {
    page ??= attach();
    // Whoever needs it hears of it from the promise; nobody need.
    page.catch(() => undefined);
    return page;
  }

  /** A command of Chromium's protocol; null where page or browser are gone. */
  async function command<T = unknown>(method: string, params: Params = {}): Promise<T | null> {
    try {
      return await (await connect()).send<T>(method, params);
    } catch {
      return null;
    }
  }

  const mainContext = (): Context | undefined =>
    [...contexts.values()].find(({ frameId }) => frameId === mainFrame);

  /** Of what `worlds.ts` defines. The arguments are read as JSON: in a script `__proto__:` would set a prototype. */
  const call = (
    entry: keyof typeof entries,
    args: readonly unknown[],
    to: Context,
  ): Promise<RemoteObject | null> =>
    evaluate(`${entries[entry]}(...JSON.parse(${JSON.stringify(JSON.stringify(args))}))`, to);

  /** In the preload's world; null where that page was left meanwhile. */
  async function evaluate(expression: string, { uniqueId }: Context): Promise<RemoteObject | null> {
    const answer = await command<{ result: RemoteObject }>('Runtime.evaluate', {
      expression,
      uniqueContextId: uniqueId,
      awaitPromise: true,
      userGesture: true,
    });
    return answer?.result ?? null;
  }

  /** Where the File lies; '' for one that is not on the disk. */
  async function pathOf(file: RemoteObject | null): Promise<string> {
    const { objectId } = file ?? {};
    if (objectId === undefined) return '';
    return (await command<{ path: string }>('DOM.getFileInfo', { objectId }))?.path ?? '';
  }

  async function attach(): Promise<Session> {
    const browser = state.browser();
    targetId = await firstPage(browser);
    const { sessionId } = await browser.send<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    });
    const made = browser.session(sessionId);
    listen(made);
    await Promise.all([
      made.send('Page.enable'),
      made.send('Runtime.enable'),
      made.send('Inspector.enable'),
      answerRequests(made, requests),
      made.send('Runtime.addBinding', { name: bindingName, executionContextName: worldName }),
      made.send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.page }),
      made.send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.isolated, worldName }),
      made.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
      made
        .send<{ frameTree: { frame: { id: string } } }>('Page.getFrameTree')
        .then(({ frameTree }) => (mainFrame = frameTree.frame.id)),
      browser.send('Browser.setDownloadBehavior', { behavior: 'deny', eventsEnabled: true }),
      ...permissions.map(async ([name, chromium]) =>
        browser
          .send('Browser.setPermission', {
            permission: { name: chromium },
            setting: (await isGranted(name)) ? 'granted' : 'denied',
          })
          .catch(() => null),
      ),
    ]);
    options.onOpened();
    return made;
  }

  /** The page that the browser opens with, which comes a moment after it answers. */
  async function firstPage(browser: Session): Promise<string> {
    const found = new Promise<string>((resolve) => {
      browser.on('Target.targetCreated', ({ targetInfo }: Created) => {
        resolve(targetInfo.targetId);
      });
    });
    await browser.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] });
    return found;
  }

  /** Asked when the page is made, not when the page asks: Chromium itself answers it then. */
  async function isGranted(name: string): Promise<boolean> {
    const { permissionCheck, permissionRequest } = parts;
    if (permissionCheck !== null && !permissionCheck(null, name as never, address, {} as never)) return false;
    if (permissionRequest === null) return true;
    return new Promise((resolve) => {
      permissionRequest(module as unknown as Electron.WebContents, name as never, resolve, {} as never);
    });
  }

  function listen(made: Session): void {
    made.on('Runtime.executionContextCreated', ({ context }: { context: CreatedContext }) => {
      const { id, uniqueId, name, origin, auxData } = context;
      if (name === worldName) contexts.set(id, { uniqueId, origin, frameId: auxData.frameId });
    });
    made.on('Runtime.executionContextDestroyed', ({ executionContextId }: { executionContextId: number }) => {
      contexts.delete(executionContextId);
    });
    made.on('Runtime.executionContextsCleared', () => {
      contexts.clear();
    });
    made.on('Runtime.bindingCalled', ({ name, payload, executionContextId }: BindingCalled) => {
      const from = contexts.get(executionContextId);
      if (name === bindingName && from !== undefined) receive(JSON.parse(payload) as ToMain, from);
    });
    made.on('Page.frameNavigated', ({ frame }: { frame: { url: string; parentId?: string } }) => {
      if (frame.parentId === undefined) address = schemes.toApp(frame.url);
    });
    made.on('Page.loadEventFired', () => {
      if (address === '' || address === emptyPage) return;
      module.emit('did-finish-load', {});
      if (isFirst) options.onReadyToShow();
      isFirst = false;
      loading?.settle();
    });
    made.on('Inspector.targetCrashed', () => {
      contexts.clear();
      loading?.settle(new Error(`ERR_FAILED (-2) loading '${loading.url}'`));
      module.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 5 });
    });
    made.on('Target.attachedToTarget', ({ sessionId }: { sessionId: string }) => {
      void attached(sessionId).catch(() => undefined);
    });
    made.on('Page.windowOpen', ({ url }: { url: string }) => {
      windowOpened(url);
    });
    state.browser().on('Target.targetCreated', ({ targetInfo }: Created) => {
      if (targetInfo.openerId === targetId)
        void state
          .browser()
          .send('Target.closeTarget', { targetId: targetInfo.targetId })
          .catch(() => null);
    });
    made.on('Inspector.detached', ({ reason }: { reason: string }) => {
      // The person closed it. Of a browser without a window nothing is left.
      if (reason === 'target_closed') void state.browser().kill();
    });
    state.browser().on('Browser.downloadWillBegin', ({ url, suggestedFilename }: Download) => {
      const event = preventable({});
      const item = {
        getURL: () => schemes.toApp(url),
        getFilename: () => suggestedFilename,
      } satisfies Partial<Electron.DownloadItem>;
      (session as unknown as StrictEmitter).emit(
        'will-download',
        event,
        strict('DownloadItem', item),
        module,
      );
      if (!event.defaultPrevented) notModelled('a download');
    });
  }

  /**
   * Only that none is opened is modelled. For a link or a frame Chromium has made the window already: it is closed again,
   * and reaches nothing.
   */
  function windowOpened(url: string): void {
    const answer = windowOpenHandler?.({
      url: schemes.toApp(url),
      frameName: '',
      features: '',
      disposition: 'new-window',
      referrer: { url: '', policy: 'default' },
    });
    if (answer?.action !== 'deny') notModelled('a window that a page opens');
  }

  /** A frame of another process or a worker, before its first request. */
  async function attached(sessionId: string): Promise<void> {
    const own = state.browser().session(sessionId);
    await answerRequests(own, requests).catch(() => undefined);
    await own.send('Runtime.runIfWaitingForDebugger');
  }

  function receive(message: ToMain, from: Context): void {
    if (message.kind === 'open') {
      windowOpened(message.url);
      return;
    }
    if (message.kind !== 'invoke') {
      options.onChange(message.kind);
      return;
    }
    const origin = schemes.toApp(`${from.origin}/`).slice(0, -1);
    const senderFrame = strict('senderFrame', {
      origin,
      url: address,
      parent: null,
      frameTreeNodeId: 1,
    } satisfies Partial<Electron.WebFrameMain>);
    const { id, channel } = message;
    const settle = (isOk: boolean, value: unknown): void => {
      void call('settle', [id, isOk, value], from);
    };
    const event = strict('the event of an invoke', { sender: module, senderFrame });
    void withPaths(message.args, from)
      .then((args) => ipcMain.invoke(channel, event, decode(args) as unknown[]))
      .then(encode)
      .then(
        (value) => settle(true, value),
        (error: unknown) => {
          ipcMain.report(channel, error);
          settle(false, `Error invoking remote method '${channel}': ${String(error)}`);
        },
      );
  }

  /** What `webUtils.getPathForFile` would have answered, in the place of its marks. */
  async function withPaths(args: unknown, from: Context): Promise<unknown> {
    const text = JSON.stringify(args);
    const paths = new Map<string, string>();
    for (const [mark] of text.matchAll(new RegExp(`${scripts.pathMark}\\d+`, 'g')))
      paths.set(mark, await pathOf(await call('takeFile', [mark], from)));
    if (paths.size === 0) return args;
    return JSON.parse(text, (_key, value: unknown) =>
      typeof value === 'string' ? (paths.get(value) ?? value) : value,
    ) as unknown;
  }

  async function load(url: string): Promise<void> {
    fixedOnly(parts.proxy);
    loading?.settle(new Error(`ERR_ABORTED (-3) loading '${loading.url}'`));
    const { promise: done, resolve, reject } = Promise.withResolvers<undefined>();
    const current = {
      url,
      settle(error?: Error) {
        if (loading === current) loading = null;
        if (error === undefined) resolve(undefined);
        else reject(error);
      },
    };
    loading = current;
    // It can fail before anybody waits for it.
    done.catch(() => undefined);
    const made = await connect();
    const { errorText } = await made.send<{ errorText?: string }>('Page.navigate', {
      url: schemes.toPage(url),
    });
    // One that another call has replaced has its error already.
    if (errorText !== undefined && loading === current) {
      const name = errorText.replace('net::', '');
      const code = errorCodes[name] ?? -2;
      module.emit('did-fail-load', {}, code, name, url, true);
      current.settle(new Error(`${name} (${code}) loading '${url}'`));
    }
    await done;
  }

  return {
    module,
    open() {
      void connect();
    },
    /** Opens it again where it was closed in the browser. */
    reopen() {
      page = null;
      contexts.clear();
      void load(address).catch(() => undefined);
    },
    command,
    targetId: () => targetId,
    /** Chooses files as Chromium's own dialog does; none where the person changed their mind. */
    async chooseFiles(accept: string, several: boolean): Promise<string[]> {
      await connect();
      const to = mainContext();
      const { objectId } = (to === undefined ? null : await evaluate(fileChooser(accept, several), to)) ?? {};
      if (objectId === undefined) return [];
      const found = await command<{ result: { name: string; value?: RemoteObject }[] }>(
        'Runtime.getProperties',
        { objectId, ownProperties: true },
      );
      const files = (found?.result ?? []).filter(({ name }) => /^\d+$/.test(name));
      const paths = await Promise.all(files.map(({ value = null }) => pathOf(value)));
      return paths.filter((path) => path !== '');
    },
  };
}

function fixedOnly(proxy: Electron.ProxyConfig | null): void {
  const { mode, proxyRules, proxyBypassRules } = proxy ?? {};
  if (mode !== 'fixed_servers' || proxyRules !== 'http://127.0.0.1:9' || proxyBypassRules !== '<-loopback>')
    notModelled('a window whose session may reach the network');
}

/** Of Chromium's net_error_list.h; any other is said to be a failure in general. */
const errorCodes: Readonly<Record<string, number>> = {
  ERR_FAILED: -2,
  ERR_ABORTED: -3,
  ERR_BLOCKED_BY_CLIENT: -20,
  ERR_CONNECTION_FAILED: -104,
};

interface Context {
  readonly uniqueId: string;
  readonly frameId: string;
  readonly origin: string;
}
interface CreatedContext {
  readonly id: number;
  readonly uniqueId: string;
  readonly name: string;
  readonly origin: string;
  readonly auxData: { readonly frameId: string };
}
interface BindingCalled {
  readonly name: string;
  readonly payload: string;
  readonly executionContextId: number;
}
interface Created {
  readonly targetInfo: { readonly targetId: string; readonly openerId?: string };
}
interface Download {
  readonly url: string;
  readonly suggestedFilename: string;
}
interface RemoteObject {
  readonly objectId?: string;
}

const fileChooser = (accept: string, several: boolean): string => `new Promise((resolve) => {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = ${JSON.stringify(accept)};
  input.multiple = ${several};
  input.hidden = true;
  const settle = (files) => { input.remove(); resolve(files); };
  input.addEventListener('change', () => settle([...input.files]));
  input.addEventListener('cancel', () => settle([]));
  document.body.append(input);
  input.click();
})`;
