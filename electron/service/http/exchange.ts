import type { Failure } from '../../contract/errors.ts';

/** What kept an exchange from happening. `subject` is a host name or the platform's name for a certificate's flaw. */
export interface TransportFault {
  readonly kind:
    | 'unreachable' // DNS, refused, reset, cut off
    | 'interrupted' // by `reset`
    | 'timeout'
    | 'tls'
    | 'proxy'
    | 'redirect'
    | 'too-large'
    | 'encoding'
    | 'cancelled';
  readonly subject?: string;
  /** Of `unreachable`, where the service itself is meant: its port refused, or its name is not known. */
  readonly cause?: Failure['cause'];
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  /** Unpacked; not yet known to be JSON or even text. */
  readonly body: Buffer;
}

/** No usable answer came. */
export type Failed = { readonly ok: false; readonly fault: TransportFault };
export type Exchange = { readonly ok: true; readonly reply: Reply } | Failed;
