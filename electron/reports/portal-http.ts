import { fetch, type Dispatcher } from 'undici';
import { type Outcome, done, failed, type FailureCode } from '../contract/errors.ts';
import type { Clock } from '../privacy/clock.ts';
import { faultOf, type TransportFault } from '../service/http/failures.ts';

export interface PortalRequest {
  readonly method: 'GET' | 'POST';
  /** Under {base_url}, with a leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface PortalAnswer {
  readonly status: number;
  /** x-requestid (spec §4); empty where there was none. */
  readonly requestId: string;
  /** Undefined where the body was no JSON. */
  readonly json: unknown;
}

/**
 * The way to the portal and the tool server of one connection: HTTPS to {base_url} alone, no redirects, verification
 * always on, bytes and time capped. What the network does comes back as service.unreachable, timeout, tls, proxy,
 * redirect or cancelled.
 */
export interface PortalHttp {
  /** One request and its whole answer, whatever its status. */
  send(request: PortalRequest): Promise<Outcome<PortalAnswer>>;
  /** An answer that may be a stream of events. `url` must be under {base_url}; anything else is service.redirect. */
  open(url: URL, init: RequestInit): Promise<Outcome<Response>>;
}

export interface PortalHttpParts {
  /** {base_url} of the connection. */
  readonly baseUrl: string;
  /** The service transport's sockets of now: they carry certificates, proxy and limits. */
  readonly dispatcher: () => Dispatcher;
  readonly clock: Pick<Clock, 'after'>;
  readonly limits?: { readonly totalMs: number; readonly bodyBytes: number };
}

const codes: Record<TransportFault['kind'], FailureCode> = {
  unreachable: 'service.unreachable',
  interrupted: 'service.unreachable',
  timeout: 'service.timeout',
  tls: 'service.tls',
  proxy: 'service.proxy',
  redirect: 'service.redirect',
  'too-large': 'service.unexpected-answer',
  encoding: 'service.unexpected-answer',
  cancelled: 'service.cancelled',
};

export function openPortalHttp({ baseUrl, dispatcher, clock, limits }: PortalHttpParts): PortalHttp {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/+$/, '');
  const { totalMs, bodyBytes } = limits ?? { totalMs: 60_000, bodyBytes: 32 * 1024 * 1024 };

  const fault = (found: TransportFault): Outcome<never> =>
    failed(codes[found.kind], found.subject === undefined ? {} : { subject: found.subject });

  async function exchange(request: PortalRequest, signal: AbortSignal): Promise<Outcome<PortalAnswer>> {
    const { statusCode, headers, body } = await dispatcher().request({
      origin: base.origin,
      path: prefix + request.path,
      method: request.method,
      // No compression: nothing to unpack, nothing that unpacks to more than it is.
      headers: { ...request.headers, 'accept-encoding': 'identity' },
      body: request.body ?? null,
      signal,
    });
    if (statusCode >= 300 && statusCode < 400) {
      body.on('error', () => undefined).destroy();
      return fault({ kind: 'redirect', subject: base.host });
    }
    const text = await readText(body, bodyBytes);
    if (text === null) return fault({ kind: 'too-large' });
    const requestId = headers['x-requestid'];
    return done({
      status: statusCode,
      requestId: typeof requestId === 'string' && /^[\x21-\x7e]{1,200}$/.test(requestId) ? requestId : '',
      json: parse(text),
    });
  }

  return {
    async send(request) {
      const limit = new AbortController();
      const stop = (): void => limit.abort();
      const late = { so: false };
      request.signal?.addEventListener('abort', stop, { once: true });
      const forget = clock.after(totalMs, () => {
        late.so = true;
        limit.abort();
      });
      try {
        if (request.signal?.aborted === true) return fault({ kind: 'cancelled' });
        return await exchange(request, limit.signal);
      } catch (error) {
        if (request.signal?.aborted === true) return fault({ kind: 'cancelled' });
        return fault(late.so ? { kind: 'timeout', subject: base.host } : faultOf(error, base.hostname));
      } finally {
        forget();
        request.signal?.removeEventListener('abort', stop);
      }
    },

    async open(url, init) {
      const inside = url.origin === base.origin && `${url.pathname}/`.startsWith(`${prefix}/`);
      // An answer may name where to post next; a hostile one would have the JWT sent elsewhere.
      if (!inside) return fault({ kind: 'redirect', subject: url.host.slice(0, 300) });
      try {
        // The types of the package and of Node's own fetch are one shape under two names.
        const options = { ...init, redirect: 'manual', dispatcher: dispatcher() } as Parameters<
          typeof fetch
        >[1];
        const answer = await fetch(url, options);
        if (answer.status >= 300 && answer.status < 400) {
          await answer.body?.cancel();
          return fault({ kind: 'redirect', subject: base.host });
        }
        return done(answer as unknown as Response);
      } catch (error) {
        return fault(init.signal?.aborted === true ? { kind: 'cancelled' } : faultOf(error, base.hostname));
      }
    },
  };
}

/** Null when it is more than `most` bytes, or not UTF-8. */
async function readText(body: AsyncIterable<Uint8Array>, most: number): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > most) return null;
    pieces.push(piece);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return '';
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
