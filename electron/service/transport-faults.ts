/** What kept an exchange from happening. `subject` is a host name or the platform's name for a certificate's flaw. */
export interface TransportFault {
  readonly kind:
    | 'unreachable' // DNS, refused, reset, cut off
    | 'interrupted' // by `reset`: our own doing
    | 'timeout'
    | 'tls'
    | 'proxy'
    | 'redirect'
    | 'too-large'
    | 'encoding'
    | 'cancelled';
  readonly subject?: string;
}

/** OpenSSL's and Node's names for a certificate or handshake that does not hold. */
const TLS =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH|ERROR_IN_|SUBJECT_|AKID_|KEYUSAGE_|EE_KEY|CA_)/;
const TIMEOUT = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);
/** How undici words a CONNECT that the proxy did not grant; the status is nowhere else. */
const NO_TUNNEL = /^Proxy response \((\d{3})\)/;

interface Cause {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** Names what a rejected request means. Messages and stacks stay behind: they can quote what was sent. */
export function faultOf(error: unknown, host: string): TransportFault {
  let cause = error as Cause | null | undefined;
  for (let depth = 0; depth < 4 && typeof cause === 'object' && cause !== null; depth++) {
    const fault = faultOfOne(cause, host);
    if (fault) return fault;
    cause = (cause.cause ??
      (Array.isArray(cause.errors) ? (cause.errors as unknown[])[0] : null)) as Cause | null;
  }
  return { kind: 'unreachable', subject: host };
}

function faultOfOne({ code, message }: Cause, host: string): TransportFault | null {
  if (typeof message === 'string') {
    const refused = NO_TUNNEL.exec(message)?.[1];
    // A gateway's 5xx says that the service could not be reached; anything else is between us and the proxy.
    if (refused !== undefined) {
      return refused.startsWith('5')
        ? { kind: 'unreachable', subject: host }
        : { kind: 'proxy', subject: refused };
    }
  }
  if (typeof code !== 'string') return null;
  if (code === 'UND_ERR_DESTROYED') return { kind: 'interrupted' };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { kind: 'too-large' };
  if (code === 'UND_ERR_PRX_TLS') return { kind: 'proxy', subject: 'TLS' };
  if (TIMEOUT.has(code)) return { kind: 'timeout', subject: host };
  if (TLS.test(code)) return { kind: 'tls', subject: code.slice(0, 100) };
  return null;
}
