import { X509Certificate, createHash } from 'node:crypto';
import { checkServerIdentity, createSecureContext, type PeerCertificate, getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { Pool, ProxyAgent, type Dispatcher } from 'undici';
import { type Outcome, done, failed } from '../../contract/errors.ts';
import type { Clock } from '../../privacy/clock.ts';
import { faultOf, type TransportFault } from './failures.ts';

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

const unzip = promisify(gunzip);
const unbrotli = promisify(brotliDecompress);

/**
 * Unpacks a body packed once at most, to `limit` bytes at most. Null where it is packed in layers, in a way nobody
 * asked for, damaged, or larger: packed layers are how a small answer becomes one that fills the memory.
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string | string[] | undefined,
  limit: number,
): Promise<Buffer | null> {
  const layers = [encoding ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim().toLowerCase())
    .filter((text) => text !== '' && text !== 'identity');
  if (layers.length === 0) return bytes;
  if (layers.length > 1) return null;
  try {
    if (layers[0] === 'gzip') return await unzip(bytes, { maxOutputLength: limit });
    if (layers[0] === 'br') return await unbrotli(bytes, { maxOutputLength: limit });
    return null;
  } catch {
    return null;
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The PEM certificates in a text that a person or an administrator gave. `certificate.invalid` if one is none. */
export function readCertificates(pem: string): Outcome<readonly string[]> {
  const found = pem.match(PEM) ?? [];
  if (found.length === 0) return failed('certificate.invalid');
  for (const certificate of found) {
    try {
      new X509Certificate(certificate);
    } catch {
      return failed('certificate.invalid');
    }
  }
  return done(found);
}

/**
 * Whom a connection trusts: Node's list, the operating system's and the connection's own. The built-in service has a certificate authority of its own and is to be vouched for by nobody
 * else: `only`.
 */
export function trustedCertificates(
  extraCa: string | null,
  only = false,
): Outcome<readonly string[]> {
  const extra = extraCa === null ? done([]) : readCertificates(extraCa);
  if (!extra.ok || only) return extra;
  return done([
    ...new Set([
      ...getCACertificates('default'),
      ...getCACertificates('system'),
      ...extra.value,
    ]),
  ]);
}
