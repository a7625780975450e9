import type { Clock } from '../../privacy/clock.ts';
import type { Reading } from '../http/failures.ts';
import type { Exchange, Headers } from '../http/transport.ts';
import type { Pacer } from './pacing.ts';
import { waitByHeader } from './retries.ts';
import type { Transfers } from './transfers.ts';

const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** A wait between half of `ms` and all of it: spread, but never so short that it is none. */
export const jittered = (ms: number, random: () => number): number => ms / 2 + (ms / 2) * random();

/** Full jitter over an exponential bound, with a floor. */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.max(50, random() * Math.min(10_000, 250 * 2 ** attempt));
}

/**
 * Counts failures with no success in between. From the fifth on it says how long the service is to be left alone,
 * longer each time, until something succeeds.
 */
export class Breaker {
  #failures = 0;
  #opened = 0;

  succeeded(): void {
    this.#failures = 0;
    this.#opened = 0;
  }

  /** Milliseconds to stay away; 0 while it still looks like bad luck. Many that fail together count once when open. */
  failed(random: () => number, alreadyOpen: boolean): number {
    this.#failures++;
    if (this.#failures < FAILURES_TO_OPEN || alreadyOpen) return 0;
    const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#opened);
    this.#opened++;
    return jittered(bound, random);
  }
}

/** A step back of the service's clock beyond a second's rounding: what was learned is void. */
const STEP_MS = 2_000;

/**
 * The service's time of day, learned from the Date header of its answers against our monotonic clock, so that a wrong
 * clock on this machine does not matter. Date is cut to the second: the furthest ahead of several is closest to the
 * truth and never beyond it.
 */
export class ServerClock {
  #offset: number | null = null;

  /** Takes the Date header of an answer that arrived at `monotonic`. */
  observe(date: string | string[] | undefined, monotonic: number): void {
    if (typeof date !== 'string') return;
    const told = Date.parse(date);
    if (Number.isNaN(told)) return;
    const offset = told - monotonic;
    if (this.#offset === null || offset > this.#offset || offset < this.#offset - STEP_MS) {
      this.#offset = offset;
    }
  }

  /** The service's time at `monotonic`; `fallback` while it never told. */
  at(monotonic: number, fallback: number): number {
    return this.#offset === null ? fallback : this.#offset + monotonic;
  }

  /** How far this machine's time of day is off; null while the service never told. */
  skew(now: number, monotonic: number): number | null {
    return this.#offset === null ? null : now - (this.#offset + monotonic);
  }
}

/** A 429 that lasts longer than this is about the day's transfers, not about the second. */
const QUOTA_FROM_MS = 60_000;
const FIRST_BUSY_MS = 250;
const LONGEST_BUSY_MS = 30_000;
/** When all that was admitted before a refusal has left the service's second, wherever that starts. */
const SECOND_OVER_MS = 1_010;
/** A reset this near means that the limit told is one of the second. */
const SECOND_MS = 2_500;
const MOST_SKEW_MS = 60_000;

export interface HealthParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly pacer: Pacer;
  readonly transfers: Transfers;
  /** This machine's clock and the service's are further apart than a minute; told once, until it changes. */
  readonly onSkew: (skewMs: number) => void;
  readonly changed: () => void;
}

/** What the answers tell about the service as a whole, and the pauses that follow from it. */
export interface Health {
  note(exchange: Exchange, reading: Reading, sentAt: number): void;
  /** Whether something answered that is able to work. */
  isAlive(exchange: Exchange): boolean;
  /** When trying again makes sense, after all retries failed. */
  retryAfterMs(): number;
  /** As the headers told last (spec §8). */
  readonly remaining: number | null;
  readonly limit: number | null;
}

export function createHealth({ clock, random, pacer, transfers, onSkew, changed }: HealthParts): Health {
  const breaker = new Breaker();
  const serverClock = new ServerClock();
  let remaining: number | null = null;
  let limit: number | null = null;
  let busyInARow = 0;
  /** When the first of those in a row left. */
  let busySince = -Infinity;
  let skewTold = false;

  const serverNow = (): number => serverClock.at(clock.monotonic(), clock.now());
  const waitIn = (headers: Headers): number | null =>
    waitByHeader(headers['retry-after'], serverNow()) ??
    waitByHeader(headers['x-rate-limit-reset'], serverNow());

  const readHeaders = (headers: Headers): void => {
    serverClock.observe(headers.date, clock.monotonic());
    const skew = serverClock.skew(clock.now(), clock.monotonic());
    const skewed = skew !== null && Math.abs(skew) > MOST_SKEW_MS;
    if (skewed && !skewTold) onSkew(Math.round(skew));
    skewTold = skewed;

    const told = [
      countIn(headers['x-rate-limit-limit']),
      countIn(headers['x-rate-limit-remaining']),
    ] as const;
    if (told[0] !== limit || told[1] !== remaining) changed();
    [limit, remaining] = told;
    const reset = waitByHeader(headers['x-rate-limit-reset'], serverNow());
    if (limit !== null && limit > 0 && reset !== null && reset <= SECOND_MS) pacer.learn(limit);
  };

  const busy = (headers: Headers, reading: Reading & { kind: 'busy' }, sentAt: number): void => {
    const wait = waitIn(headers);
    if (reading.meaning === 'quota' || (wait !== null && wait > QUOTA_FROM_MS)) {
      const ms = wait ?? QUOTA_FROM_MS;
      transfers.spent(ms);
      pacer.pause(ms, 'quota');
      return;
    }
    // Those that were on the way when the congestion began add nothing new.
    const again = pacer.congested(sentAt) || sentAt >= pausedAt;
    if (!again) return;
    if (busyInARow === 0) busySince = sentAt;
    const bound = Math.min(LONGEST_BUSY_MS, FIRST_BUSY_MS * 2 ** busyInARow++);
    pausedAt = clock.monotonic();
    pacer.pause(wait === null ? untold(bound) : wait + random() * Math.min(250, wait / 10), 'busy');
  };
  let pausedAt = -Infinity;

  /** Longer each time, but not past the end of the second in which there was too much: then there is room. */
  const untold = (bound: number): number => {
    const over = busySince + SECOND_OVER_MS - clock.monotonic();
    return over > 0 ? Math.min(jittered(bound, random), over) : jittered(bound, random);
  };

  const failed = (exchange: Exchange): void => {
    const why = exchange.ok ? 'failing' : 'offline';
    const asked = exchange.ok ? waitByHeader(exchange.reply.headers['retry-after'], serverNow()) : null;
    const open = breaker.failed(random, pacer.pausedFor > 0);
    const ms = Math.max(open, asked === null ? 0 : asked + random() * Math.min(1000, asked / 10));
    if (ms > 0) pacer.pause(ms, why);
  };

  return {
    note(exchange, reading, sentAt) {
      if (exchange.ok) readHeaders(exchange.reply.headers);
      if (reading.kind === 'busy' && exchange.ok) {
        busy(exchange.reply.headers, reading, sentAt);
      } else if (reading.kind === 'failing') {
        failed(exchange);
      } else if (exchange.ok) {
        // What was admitted before the refusal and is answered after it tells nothing of now.
        if (sentAt > pausedAt) busyInARow = 0;
        breaker.succeeded();
      }
    },
    isAlive: (exchange) => exchange.ok && exchange.reply.status < 500 && exchange.reply.status !== 408,
    retryAfterMs: () => Math.ceil(pacer.pausedFor) || Math.ceil(jittered(2_000, random)),
    get remaining() {
      return remaining;
    },
    get limit() {
      return limit;
    },
  };
}

function countIn(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header.trim()) ? Number(header) : null;
}
