import fs from 'node:fs';
import path from 'node:path';
import type * as Electron from 'electron';
import { notModelled, strict, StrictEmitter } from './strict.ts';
import type { State } from './state.ts';

/** What of a session the window asks: who may have what, and who answers a request. */
export interface SessionParts {
  readonly schemes: Map<string, (request: Request) => Response | Promise<Response>>;
  beforeRequest: ((details: object, answer: (response: Electron.CallbackResponse) => void) => void) | null;
  permissionCheck: Parameters<Electron.Session['setPermissionCheckHandler']>[0];
  permissionRequest: Parameters<Electron.Session['setPermissionRequestHandler']>[0];
  proxy: Electron.ProxyConfig | null;
}

const parts = new WeakMap<object, SessionParts>();

/** The parts behind a session that was made here. */
export function partsOf(session: object): SessionParts {
  return parts.get(session) ?? notModelled('a session from elsewhere');
}

/** Schemes that were registered as standard and secure, and how Chromium sees their addresses. */
export function createSchemes(state: State) {
  const registered = new Set<string>();
  const suffix = '.invalid';
  return {
    protocol: strict('protocol', {
      registerSchemesAsPrivileged(schemes) {
        if (state.isReady)
          throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
        for (const { scheme, privileges = {} } of schemes) {
          if (privileges.standard !== true || privileges.secure !== true)
            notModelled('a scheme that is not both standard and secure');
          if (privileges.bypassCSP === true || privileges.allowServiceWorkers === true)
            notModelled('a scheme with bypassCSP or allowServiceWorkers');
          registered.add(scheme);
        }
      },
    } satisfies Partial<Electron.Protocol>),
    has: (scheme: string): boolean => registered.has(scheme),
    /**
     * Chromium lends its standard origins to known schemes only: `app://host/x` is `https://host.app.invalid/x` there.
     * The suffix is one that no resolver answers.
     */
    toPage(url: string): string {
      const [, scheme = '', host = '', rest = ''] = /^([a-z]+):\/\/([^/]*)(.*)$/.exec(url) ?? [];
      return registered.has(scheme) ? `https://${host}.${scheme}${suffix}${rest}` : url;
    },
    toApp(url: string): string {
      const [, host = '', scheme = '', rest = ''] =
        /^https:\/\/([^/]*)\.([a-z]+)\.invalid(.*)$/.exec(url) ?? [];
      return registered.has(scheme) ? `${scheme}://${host}${rest}` : url;
    },
  };
}

export type Schemes = ReturnType<typeof createSchemes>;

/** `session`: partitions in memory, and the default one, which leaves files where the real one does. */
export function createSessions(state: State, schemes: Schemes) {
  const afterReady = (): void => {
    if (!state.isReady) throw new TypeError('Session can only be received when app is ready');
  };
  const partitions = new Map<string, Electron.Session>();
  let byDefault: Electron.Session | null = null;

  function create(name: string): Electron.Session {
    const own: SessionParts = {
      schemes: new Map(),
      beforeRequest: null,
      permissionCheck: null,
      permissionRequest: null,
      proxy: null,
    };
    const protocol = {
      handle(scheme, handler) {
        if (!schemes.has(scheme))
          notModelled(`the scheme ${scheme}, which was not registered before app is ready`);
        if (own.schemes.has(scheme)) throw new Error(`Protocol handler '${scheme}' already registered`);
        own.schemes.set(scheme, handler);
      },
      isProtocolHandled: (scheme) => own.schemes.has(scheme),
    } satisfies Partial<Electron.Protocol>;
    const webRequest = {
      onBeforeRequest(listener: unknown) {
        if (typeof listener !== 'function')
          notModelled('webRequest.onBeforeRequest with a filter or without a listener');
        own.beforeRequest = listener as SessionParts['beforeRequest'];
      },
    } satisfies Partial<Electron.WebRequest>;
    const members = {
      protocol: strict('session.protocol', protocol) as unknown as Electron.Protocol,
      webRequest: strict('session.webRequest', webRequest) as unknown as Electron.WebRequest,
      setPermissionCheckHandler(handler) {
        own.permissionCheck = handler;
      },
      setPermissionRequestHandler(handler) {
        own.permissionRequest = handler;
      },
      // Neither is ever asked: Chromium shows no chooser without a window of its own.
      setDevicePermissionHandler: () => undefined,
      setDisplayMediaRequestHandler: () => undefined,
      setSpellCheckerEnabled: () => undefined,
      setProxy(config) {
        own.proxy = config;
        return Promise.resolve();
      },
      // Without a proxy of its own it has the system's, and here the system's is the environment's.
      resolveProxy: (url) =>
        Promise.resolve(own.proxy === null ? systemProxy(url, state.env) : fixedProxy(own.proxy)),
      isPersistent: () => name === '' || name.startsWith('persist:'),
    } satisfies Partial<Electron.Session>;
    const made = strict(
      `session ${name}`,
      Object.assign(new StrictEmitter('session', ['will-download']), members),
    );
    parts.set(made, own);
    const session = made as unknown as Electron.Session;
    // Chromium's files of a session that is not in memory only.
    if (members.isPersistent())
      for (const file of ['Preferences', 'Cookies', 'Network Persistent State'])
        fs.writeFileSync(path.join(state.sessionData(), file), '', { mode: 0o600 });
    state.app.emit('session-created', session);
    return session;
  }

  return strict('session', {
    fromPartition(partition, options) {
      afterReady();
      if (partition.startsWith('persist:')) notModelled('a partition on the disk');
      if (options?.cache !== false) notModelled('a session with a cache');
      const known = partitions.get(partition);
      if (known !== undefined) return known;
      const made = create(partition);
      partitions.set(partition, made);
      return made;
    },
    get defaultSession() {
      afterReady();
      byDefault ??= create('');
      return byDefault;
    },
  } satisfies Partial<typeof Electron.session>);
}

function fixedProxy({ mode, proxyRules, proxyBypassRules }: Electron.ProxyConfig): string {
  if (mode === 'direct') return 'DIRECT';
  if (mode !== 'fixed_servers' || proxyRules === undefined || proxyBypassRules !== '<-loopback>')
    return notModelled('a proxy that is not one fixed server for every address');
  return `PROXY ${new URL(proxyRules).host}`;
}

/** `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case; the loopback never goes through a proxy. */
export function systemProxy(address: string, env: NodeJS.ProcessEnv): string {
  const read = (name: string): string => env[name.toLowerCase()] ?? env[name] ?? '';
  const { hostname, port, protocol } = new URL(address);
  if (['localhost', '127.0.0.1', '[::1]'].includes(hostname)) return 'DIRECT';
  const proxy = (protocol === 'https:' ? read('HTTPS_PROXY') : read('HTTP_PROXY')) || read('ALL_PROXY');
  if (proxy === '') return 'DIRECT';
  const isExempt = read('NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/)
    .some((rule) => {
      const [, name = rule, of] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(rule) ?? [];
      if (rule === '' || (of !== undefined && of !== (port || '443'))) return false;
      return rule === '*' || hostname === name || hostname.endsWith(`.${name}`);
    });
  if (isExempt) return 'DIRECT';
  const url = new URL(proxy.includes('://') ? proxy : `http://${proxy}`);
  const kinds: Record<string, string> = {
    'http:': 'PROXY',
    'https:': 'HTTPS',
    'socks4:': 'SOCKS',
    'socks5:': 'SOCKS5',
  };
  return `${kinds[url.protocol] ?? notModelled(`a proxy by ${url.protocol}`)} ${url.host}`;
}
