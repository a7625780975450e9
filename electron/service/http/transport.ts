import { X509Certificate, createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { checkServerIdentity, createSecureContext, getCACertificates, type PeerCertificate } from 'node:tls';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { Pool, ProxyAgent, type Dispatcher } from 'undici';
import { done, type Outcome } from '../../contract/errors.ts';
import type { Clock } from '../../util/clock.ts';
import type { HttpMethod } from '../profile.ts';
import { readCertificates } from './certificates.ts';
import { faultOf } from './failures.ts';
import type { Exchange, Failed, Headers, TransportFault } from './exchange.ts';
import { requestWhole } from './whole-answer.ts';

export interface TransportOptions {
  /** HTTPS origin with an optional path prefix (spec §4, {base_url}). */
  readonly baseUrl: string;
  /** PEM: all certificate authorities that are trusted, see `trustedCertificates`. */
  readonly ca: readonly string[];
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
  /** SHA-256 of accepted public keys (SPKI), base64, with a spare one for the day the first changes. */
  readonly pins?: readonly string[];
  /** Sent with every request for JSON, such as a version; lower precedence than those of the request itself. */
  readonly headers?: Readonly<Record<string, string>>;
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
  /** From the request to the end of the body. */
  readonly totalMs: number;
  /** Of the body, both as received and after unpacking. */
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

export type Opened =
  | {
      readonly ok: true;
      readonly response: Response;
      /** What ended the body early; null while nothing did. */
      readonly fault: () => TransportFault | null;
    }
  | Failed;

/**
 * The one way to a connection's address, for the operations, the portal and the tool server: HTTPS only, certificates
 * verified, no redirects followed, time and size limited. Knows HTTP and TLS, and nothing of operations. Never throws
 * for what the network does.
 */
export interface Transport {
  /** Sends JSON text to a path under {base_url}, none where it is null, and reads the whole answer. */
  send(
    to: { readonly method: HttpMethod; readonly path: string },
    json: string | null,
    options?: { readonly signal?: AbortSignal; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Exchange>;
  /**
   * One request whose answer may be a stream of events; a fault ends the stream with an error. `url` must be under
   * {base_url}, anything else is a redirect: an answer may name the next address, and a hostile one would have a
   * token sent elsewhere.
   */
  open(url: URL, init: RequestInit): Promise<Opened>;
  /** Ends all sockets, for instance after the machine slept: what is under way ends as interrupted. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The certificate authorities a connection trusts: those of Node, the operating system and the connection's
 * own. `ownOnly` is for the built-in service: no other authority may vouch for it.
 */
export function trustedCertificates(extraCa: string | null, ownOnly = false): Outcome<readonly string[]> {
  const extra = extraCa === null ? done([]) : readCertificates(extraCa);
  if (!extra.ok || ownOnly) return extra;
  return done([
    ...new Set([...getCACertificates('default'), ...getCACertificates('system'), ...extra.value]),
  ]);
}

/** What ended a request before its answer was there. */
class Ended extends Error {
  readonly fault: TransportFault;

  constructor(fault: TransportFault) {
    super(fault.kind);
    this.fault = fault;
  }
}

/** Verification has no off switch here: not by option, and not by NODE_TLS_REJECT_UNAUTHORIZED either. */
function tlsOptions({ ca, clientCertificate, pins = [] }: TransportOptions) {
  return {
    // Made once: building it for each connection costs 10 ms with a system's list of certificates.
    secureContext: createSecureContext({
      ca: [...ca],
      minVersion: 'TLSv1.2',
      ...clientCertificate,
    }),
    rejectUnauthorized: true,
    allowH2: false,
    checkServerIdentity: (host: string, certificate: PeerCertificate): Error | undefined => {
      const wrongName = checkServerIdentity(host, certificate);
      if (wrongName || pins.length === 0) return wrongName;
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
    proxyTls: {
      ca: [...options.ca],
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      timeout: limits.connectMs,
    },
    // Goes into the CONNECT only: the origin never sees it.
    ...(username !== undefined && {
      token: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    }),
  });
}

/** Throws where the address is not HTTPS or a certificate can't be read: those are checked before. */
export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.baseUrl);
  if (base.protocol !== 'https:') throw new Error('the service is reached by HTTPS only');
  const prefix = base.pathname.replace(/\/+$/, '');
  const limits = { ...defaultLimits, ...options.limits };
  const fixed = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  let dispatcher = createDispatcher(options, limits, base.origin);

  const faultIn = (error: unknown): Failed => ({
    ok: false,
    fault: error instanceof Ended ? error.fault : faultOf(error, base),
  });

  /** Calls `end` where the caller or the total limit ends a request. To be released once its body was read. */
  function limitTime(signal: AbortSignal | null, end: (reason: Ended) => void): () => void {
    const stop = (): void => end(new Ended({ kind: 'cancelled' }));
    signal?.addEventListener('abort', stop, { once: true });
    const late = (): void => end(new Ended({ kind: 'timeout', subject: base.hostname }));
    const forgetTimer = options.clock.after(limits.totalMs, late);
    return () => {
      forgetTimer();
      signal?.removeEventListener('abort', stop);
    };
  }

  return {
    async send({ method, path }, json, { signal = null, headers } = {}) {
      if (signal?.aborted === true) return { ok: false, fault: { kind: 'cancelled' } };
      let release = (): void => undefined;
      try {
        const request = requestWhole(
          dispatcher,
          {
            origin: base.origin,
            path: prefix + path,
            method,
            headers: {
              ...(json !== null && { 'content-type': 'application/json' }),
              accept: 'application/json',
              ...(json === null ? withoutContentType(fixed) : fixed),
              'accept-encoding': 'gzip, br',
              ...headers,
            },
            body: json === null ? null : Buffer.from(json),
          },
          isRedirect,
        );
        release = limitTime(signal, request.end);
        const answer = await request.answer;
        if (isRedirect(answer.status)) return redirected(answer.headers, base);
        const body = await decodeBody(answer.body, answer.headers['content-encoding'], limits.bodyBytes);
        return body === null
          ? { ok: false, fault: { kind: 'encoding' } }
          : { ok: true, reply: { ...answer, body } };
      } catch (error) {
        return faultIn(error);
      } finally {
        release();
      }
    },

    async open(url, init) {
      const isInside = url.origin === base.origin && `${url.pathname}/`.startsWith(`${prefix}/`);
      if (!isInside) return { ok: false, fault: { kind: 'redirect', subject: url.host.slice(0, 300) } };
      const { signal = null } = init;
      if (signal?.aborted === true) return { ok: false, fault: { kind: 'cancelled' } };
      const limit = new AbortController();
      const release = limitTime(signal, (reason) => limit.abort(reason));
      const whyIn = (error: unknown): Failed => faultIn(limit.signal.aborted ? limit.signal.reason : error);
      try {
        // It follows no redirects.
        const { statusCode, headers, body } = await dispatcher.request({
          origin: base.origin,
          path: url.pathname + url.search,
          method: init.method ?? 'GET',
          // Nothing to unpack: an answer that is packed all the same is refused.
          headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
          body: typeof init.body === 'string' ? init.body : null,
          signal: limit.signal,
        });
        const refusal = isRedirect(statusCode)
          ? redirected(headers, base)
          : packingOf(headers['content-encoding']).length > 0
            ? ({ ok: false, fault: { kind: 'encoding' } } as const)
            : null;
        if (refusal !== null) {
          release();
          body.on('error', () => undefined).destroy();
          return refusal;
        }
        body.on('error', () => undefined).once('close', release);
        const isEmpty = [204, 205, 304].includes(statusCode);
        let broken: TransportFault | null = null;
        const stream = cappedStream(body, limits.bodyBytes, (error) => {
          broken = whyIn(error).fault;
        });
        return {
          ok: true,
          response: new Response(isEmpty ? null : stream, {
            status: statusCode,
            headers: Object.entries(headers).flatMap(([name, value = []]) =>
              [value].flat().map((text): [string, string] => [name, text]),
            ),
          }),
          fault: () => broken,
        };
      } catch (error) {
        release();
        return whyIn(error);
      }
    },

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

/**
 * The body as a web stream that fails beyond `maxBytes`; `onError` gets what it failed of. (`Readable.toWeb` throws
 * outside of any call where a reader leaves early.)
 */
function cappedStream(
  body: Readable,
  maxBytes: number,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let size = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = await chunks.next();
        if (next.done === true) {
          controller.close();
          return;
        }
        size += next.value.length;
        if (size > maxBytes) {
          throw Object.assign(new Error('too large'), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
        }
        controller.enqueue(next.value);
      } catch (error) {
        body.destroy();
        onError(error);
        throw error;
      }
    },
    cancel() {
      body.destroy();
    },
  });
}

const withoutContentType = ({ 'content-type': _, ...others }: Readonly<Record<string, string>>) => others;

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

const redirected = ({ location }: Headers, base: URL): Failed => ({
  ok: false,
  fault: { kind: 'redirect', subject: hostOf(location, base) },
});

function hostOf(location: string | string[] | undefined, base: URL): string {
  try {
    return new URL(String(location), base).host.slice(0, 300);
  } catch {
    return '';
  }
}

/** The layers in which a body is packed. */
const packingOf = (encoding: string | string[] | undefined): string[] =>
  [encoding ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim().toLowerCase())
    .filter((text) => text !== '' && text !== 'identity');

const unzip = promisify(gunzip);
const unbrotli = promisify(brotliDecompress);

/**
 * Unpacks a body packed once at most, to `maxBytes` at most. Null where it is packed in layers, in a way nobody
 * asked for, damaged, or larger: packed layers are how a small answer becomes one that fills the memory.
 */
async function decodeBody(
  bytes: Buffer,
  encoding: string | string[] | undefined,
  maxBytes: number,
): Promise<Buffer | null> {
  const layers = packingOf(encoding);
  if (layers.length === 0) return bytes;
  if (layers.length > 1) return null;
  try {
    if (layers[0] === 'gzip') return await unzip(bytes, { maxOutputLength: maxBytes });
    if (layers[0] === 'br') return await unbrotli(bytes, { maxOutputLength: maxBytes });
    return null;
  } catch {
    return null;
  }
}
