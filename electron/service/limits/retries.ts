import type { Clock } from '../../util/clock.ts';
import { pauses, retryBudget } from './limits.ts';

/**
 * Bounds retries: one for each ten requests, once the loan is paid back. So the requests that arrive stay within 1.1
 * times those meant, whatever fails.
 */
export class RetryBudget {
  #balance = retryBudget.loan;
  #debt = retryBudget.loan;
  #paidAt: number;

  constructor(now: number) {
    this.#paidAt = now;
  }

  /** A request that is no retry. */
  earn(): void {
    if (this.#debt > 0) this.#debt -= retryBudget.share;
    else this.#balance = Math.min(retryBudget.maxBalance, this.#balance + retryBudget.share);
  }

  /** Whether one more retry may be sent; takes it from the budget if so. */
  spend(now: number): boolean {
    const minutes = Math.floor((now - this.#paidAt) / retryBudget.loanRepaidMs);
    if (minutes > 0) {
      this.#paidAt += minutes * retryBudget.loanRepaidMs;
      if (this.#balance < retryBudget.loan)
        this.#balance = Math.min(retryBudget.loan, this.#balance + minutes);
    }
    if (this.#balance < 1) return false;
    this.#balance -= 1;
    return true;
  }
}

/** A random wait between half of `ms` and all of it. */
export const jittered = (ms: number, random: () => number): number => ms / 2 + (ms / 2) * random();

/** Full jitter over an exponential bound, with a floor. */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.max(
    retryBudget.minBackoffMs,
    random() * Math.min(retryBudget.maxBackoffMs, retryBudget.firstBackoffMs * 2 ** attempt),
  );
}

/** Numbers from here on are milliseconds since 1970 (2001 in milliseconds); from the next on, seconds. */
const epochMs = 1e12;
const epochSeconds = 1e9;

/** ISO 8601 with a zone; without one, UTC is meant: no service tells its local time. */
const isoDate = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;
/** RFC 9110's HTTP-date. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds to wait by `x-rate-limit-reset` or `Retry-After` (spec §8 says "date and time"): an HTTP-date, an ISO
 * date, epoch seconds, epoch milliseconds or seconds to wait. Instants are read against `serverNow`, the service's own
 * clock. At most 24 hours. Null for what is in the past or can't be read: back off instead.
 */
export function waitByHeader(header: string | string[] | undefined, serverNow: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const wait = waitOf(text, serverNow);
  return wait !== null && wait > 0 ? Math.min(Math.ceil(wait), pauses.maxByHeaderMs) : null;
}

function waitOf(text: string, serverNow: number): number | null {
  if (/^\d{1,16}(\.\d{1,9})?$/.test(text)) {
    const number = Number(text);
    if (number >= epochMs) return number - serverNow;
    if (number >= epochSeconds) return number * 1000 - serverNow;
    return number * 1000;
  }
  const instant = isoDate.test(text)
    ? Date.parse(/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`)
    : httpDate.test(text)
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
