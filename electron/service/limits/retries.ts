import type { Clock } from '../../privacy/clock.ts';

/** What may be spent before anything was earned: a lone lookup deserves a second try. */
const LOAN = 5;
const SHARE = 0.1;
/** Savings of a good hour are not for making a bad minute worse. */
const MOST = 100;
/** Loans come back slowly, for people, who send little. */
const TRICKLE_MS = 60_000;

/**
 * Bounds what retries add to what was asked for: one for each ten requests, once the loan is paid back. So the requests
 * that arrive stay within 1.1 times those meant, whatever fails.
 */
export class RetryBudget {
  #balance = LOAN;
  #debt = LOAN;
  #paidAt: number;

  constructor(now: number) {
    this.#paidAt = now;
  }

  /** A request that is no retry. */
  earn(): void {
    if (this.#debt > 0) this.#debt -= SHARE;
    else this.#balance = Math.min(MOST, this.#balance + SHARE);
  }

  /** Whether one more retry may be sent; takes it from the budget if so. */
  spend(now: number): boolean {
    const minutes = Math.floor((now - this.#paidAt) / TRICKLE_MS);
    if (minutes > 0) {
      this.#paidAt += minutes * TRICKLE_MS;
      if (this.#balance < LOAN) this.#balance = Math.min(LOAN, this.#balance + minutes);
    }
    if (this.#balance < 1) return false;
    this.#balance -= 1;
    return true;
  }
}

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

/** True when the time has passed, false when the signal ended the wait. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const stop = (): void => {
      forget();
      resolve(false);
    };
    const forget = clock.after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve(true);
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}
