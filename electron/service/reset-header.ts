const LONGEST_WAIT_MS = 86_400_000;
/** Numbers from here on are milliseconds since 1970 (2001 in milliseconds); from the next on, seconds. */
const EPOCH_MS = 1e12;
const EPOCH_S = 1e9;

/** ISO 8601 with a zone; without one, UTC is meant: no service tells its local time. */
const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;
/** RFC 9110's HTTP-date. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds to wait by `x-rate-limit-reset` or `Retry-After` (spec §8 says "date and time"): an HTTP-date, an ISO
 * date, epoch seconds, epoch milliseconds or seconds to wait. Instants are read against `serverNow`, the service's own
 * clock. At most 24 hours. Null for what is in the past or can't be read: back off instead.
 */
export function waitByHeader(header: string | string[] | undefined, serverNow: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const wait = waitOf(text, serverNow);
  return wait !== null && wait > 0 ? Math.min(Math.ceil(wait), LONGEST_WAIT_MS) : null;
}

function waitOf(text: string, serverNow: number): number | null {
  if (/^\d{1,16}(\.\d{1,9})?$/.test(text)) {
    const number = Number(text);
    if (number >= EPOCH_MS) return number - serverNow;
    if (number >= EPOCH_S) return number * 1000 - serverNow;
    return number * 1000;
  }
  const instant = ISO.test(text)
    ? Date.parse(/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`)
    : HTTP_DATE.test(text)
      ? Date.parse(text)
      : NaN;
  return Number.isNaN(instant) ? null : instant - serverNow;
}
