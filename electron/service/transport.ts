import { X509Certificate, createHash } from 'node:crypto';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../privacy/clock.ts';
import { decodeBody } from './decode-body.ts';
import { faultOf } from './transport-faults.ts';
import type { TransportFault } from './transport-faults.ts';

export interface TransportOptions {
  /** HTTPS origin with an optional path prefix (spec §4, {base_url}). */
  readonly baseUrl: string;
  /** PEM: the whole list of those trusted, see trusted-certificates.ts. */
  readonly ca: readonly string[];
  readonly clientCertificate?: { readonly pfx: Uint8Array; readonly passphrase: string };
  /** SHA-256 of accepted public keys (SPKI), base64; give a spare one, for the day the first changes. */
  readonly pins?: readonly string[];
  readonly proxy?: { readonly url: string; readonly username?: string; readonly password?: string };
  readonly clock: Clock;
  readonly limits?: Partial<TransportLimits>;
}

export interface TransportLimits {
  readonly connections: number;
  readonly connectMs: number;
  /** From the request's last byte to the answer's headers. */
  readonly headersMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
  /** All together, however lively it is. */
  readonly totalMs: number;
  /** Of the body, as it came and unpacked. */
  readonly bodyBytes: number;
}

const defaultLimits: TransportLimits = {
  connections: 32,
  connectMs: 10_000,
  headersMs: 30_000,
  idleMs: 15_000,
  totalMs: 60_000,
  bodyBytes: 32 * 1024 * 1024,
};

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  /** Unpacked; not yet known to be JSON or even text. */
  readonly body: Buffer;
}

export type Exchange =
  { readonly ok: true; readonly reply: Reply } | { readonly ok: false; readonly fault: TransportFault };

/** One way to the service. Knows HTTP and TLS, and nothing of operations. */
export interface Transport {
  /** POSTs JSON text to a path under {base_url}. Never throws for what the network does. */
  post(path: string, json: string, signal: AbortSignal): Promise<Exchange>;
  /** Ends all sockets, for instance after the machine slept: what is under way ends as interrupted. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export interface SharedTransport extends Transport {
  /** The sockets underneath, with their certificates, proxy and limits, for what else lives at the same address. */
  dispatcher(): Dispatcher;
}

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'gzip, br',
};

/** Why a request was ended by us, when nobody cancelled it. */
const LATE = 'late';

/** Verification has no off switch here: not by option, and not by NODE_TLS_REJECT_UNAUTHORIZED either. */
function tlsOptions({ ca, clientCertificate, pins }: TransportOptions) {
  return {
    // Made once: building it for each connection costs 10 ms with a system's list of certificates.
    secureContext: createSecureContext({
      ca: [...ca],
      minVersion: 'TLSv1.2',
      ...(clientCertificate && {
        pfx: Buffer.from(clientCertificate.pfx),
        passphrase: clientCertificate.passphrase,
      }),
    }),
    rejectUnauthorized: true,
    allowH2: false,
    checkServerIdentity: (host: string, certificate: PeerCertificate): Error | undefined => {
      const wrongName = checkServerIdentity(host, certificate);
      if (wrongName || pins === undefined || pins.length === 0) return wrongName;
      const key = new X509Certificate(certificate.raw).publicKey.export({ type: 'spki', format: 'der' });
      if (pins.includes(createHash('sha256').update(key).digest('base64'))) return undefined;
      return Object.assign(new Error('public key not pinned'), { code: 'CERT_NOT_PINNED' });
    },
  };
}

function createDispatcher(options: TransportOptions, limits: TransportLimits, origin: string): Dispatcher {
  const tls = tlsOptions(options);
  const common = {
    connections: limits.connections,
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.idleMs,
    maxResponseSize: limits.bodyBytes,
    keepAliveTimeout: 10_000,
    pipelining: 1,
    allowH2: false,
  };
  const { proxy } = options;
  if (!proxy) return new Pool(origin, { ...common, connect: { ...tls, timeout: limits.connectMs } });
  const { username, password = '' } = proxy;
  return new ProxyAgent({
    ...common,
    uri: proxy.url,
    connectTimeout: limits.connectMs,
    requestTls: { ...tls, timeout: limits.connectMs },
    proxyTls: { ca: [...options.ca], rejectUnauthorized: true, timeout: limits.connectMs },
    // Goes into the CONNECT only: the origin never sees it.
    ...(username !== undefined && {
      token: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    }),
  });
}

/** Throws where the address is not HTTPS or a certificate can't be read: those are checked before. */
export function createTransport(options: TransportOptions): SharedTransport {
  const base = new URL(options.baseUrl);
  if (base.protocol !== 'https:') throw new Error('the service is reached by HTTPS only');
  const prefix = base.pathname.replace(/\/+$/, '');
  const limits = { ...defaultLimits, ...options.limits };
  let dispatcher = createDispatcher(options, limits, base.origin);

  const exchange = async (path: string, json: string, signal: AbortSignal): Promise<Exchange> => {
    // `request` follows no redirects; an answer that is one is refused, its body unread.
    const { statusCode, headers, body } = await dispatcher.request({
      origin: base.origin,
      path: prefix + path,
      method: 'POST',
      headers: HEADERS,
      body: Buffer.from(json),
      signal,
    });
    if (statusCode >= 300 && statusCode < 400) {
      body.on('error', () => undefined).destroy();
      return { ok: false, fault: { kind: 'redirect', subject: hostOf(headers.location, base) } };
    }
    const bytes = Buffer.from(await body.arrayBuffer());
    const plain = await decodeBody(bytes, headers['content-encoding'], limits.bodyBytes);
    if (plain === null) return { ok: false, fault: { kind: 'encoding' } };
    return { ok: true, reply: { status: statusCode, headers, body: plain } };
  };

  return {
    async post(path, json, signal) {
      const cancelled: Exchange = { ok: false, fault: { kind: 'cancelled' } };
      if (signal.aborted) return cancelled;
      const limit = new AbortController();
      const stop = (): void => limit.abort();
      signal.addEventListener('abort', stop, { once: true });
      const forget = options.clock.after(limits.totalMs, () => {
        limit.abort(LATE);
      });
      try {
        return await exchange(path, json, limit.signal);
      } catch (error) {
        if (!limit.signal.aborted) return { ok: false, fault: faultOf(error, base.hostname) };
        return limit.signal.reason === LATE ? { ok: false, fault: { kind: 'timeout' } } : cancelled;
      } finally {
        forget();
        signal.removeEventListener('abort', stop);
      }
    },
    dispatcher: () => dispatcher,
    async reset() {
      const old = dispatcher;
      dispatcher = createDispatcher(options, limits, base.origin);
      await old.destroy();
    },
    async close() {
      await dispatcher.destroy();
    },
  };
}

function hostOf(location: string | string[] | undefined, base: URL): string {
  try {
    return new URL(String(location), base).host.slice(0, 300);
  } catch {
    return '';
  }
}
