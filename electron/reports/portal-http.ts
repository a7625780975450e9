import type { Outcome } from '../contract/errors.ts';

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
