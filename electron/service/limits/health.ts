import type { Clock } from '../../util/clock.ts';
import type { ExchangeResult } from '../http/failures.ts';
import type { Exchange, Headers } from '../http/exchange.ts';
import { pauses, rate, timeOfDay } from './limits.ts';
import type { Pacer } from './pacing.ts';
import { jittered, waitByHeader } from './retries.ts';
import type { Transfers } from './transfers.ts';

/**
 * Circuit breaker: counts failures with no success in between. From the fifth on it says how long the service is to be
 * left alone, longer each time, until something succeeds.
 */
class Breaker {
  #failures = 0;
  #opened = 0;

  succeeded(): void {
    this.#failures = 0;
    this.#opened = 0;
  }

  /** Milliseconds to send nothing; 0 while there were few failures. Requests that fail together open it once. */
  failed(random: () => number, alreadyOpen: boolean): number {
    this.#failures++;
    if (this.#failures < pauses.failuresToOpen || alreadyOpen) return 0;
    const bound = Math.min(pauses.maxOpenMs, pauses.firstOpenMs * 2 ** this.#opened);
    this.#opened++;
    return jittered(bound, random);
  }
}

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
    const serverTime = Date.parse(date);
    if (Number.isNaN(serverTime)) return;
    const offset = serverTime - monotonic;
    if (this.#offset === null || offset > this.#offset || offset < this.#offset - timeOfDay.stepMs) {
      this.#offset = offset;
    }
  }

  /** The service's time at `monotonic`; `fallback` before the first Date header. */
  at(monotonic: number, fallback: number): number {
    return this.#offset === null ? fallback : this.#offset + monotonic;
  }

  /** How far this machine's time of day is ahead; null before the first Date header. */
  skew(now: number, monotonic: number): number | null {
    return this.#offset === null ? null : now - (this.#offset + monotonic);
  }
}

export interface HealthOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly pacer: Pacer;
  readonly transfers: Transfers;
  readonly changed: () => void;
}

/** What the answers say about the service as a whole, and the pauses that follow from it. */
export interface Health {
  note(exchange: Exchange, result: ExchangeResult, sentAt: number): void;
  /** Whether the service answered and is able to work. */
  isAlive(exchange: Exchange): boolean;
  /** When trying again makes sense, after all retries failed. */
  retryAfterMs(): number;
  /** Of the last answer's headers (spec §8). */
  readonly remaining: number | null;
  readonly limit: number | null;
  /** Of a rule that tells its period and not its number: `1s`, `15m`, `12h`, `7d`. */
  readonly periodSeconds: number | null;
  /** When `remaining` was read, by the time of day. */
  readonly remainingSince: number | null;
  /** When the first request got no answer, by the time of day; null since the last answer. */
  readonly offlineSince: number | null;
  /** How far this machine's clock is ahead of the service's; null while that is less than a minute, or unknown. */
  readonly clockSkewMs: number | null;
}

export function createHealth({ clock, random, pacer, transfers, changed }: HealthOptions): Health {
  const breaker = new Breaker();
  const serverClock = new ServerClock();
  let remaining: number | null = null;
  let limit: number | null = null;
  let periodSeconds: number | null = null;
  let remainingSince: number | null = null;
  let offlineSince: number | null = null;
  let seenLimit = 0;
  let busyInARow = 0;
  /** When the first of those in a row left. */
  let busySince = -Infinity;
  let pausedAt = -Infinity;

  const serverNow = (): number => serverClock.at(clock.monotonic(), clock.now());

  const readHeaders = (headers: Headers): void => {
    serverClock.observe(headers.date, clock.monotonic());
    const rule = limitIn(headers['x-rate-limit-limit']);
    const newRemaining = countIn(headers['x-rate-limit-remaining']);
    const isChanged =
      rule.limit !== limit || rule.periodSeconds !== periodSeconds || newRemaining !== remaining;
    if (isChanged) changed();
    ({ limit, periodSeconds } = rule);
    remaining = newRemaining;
    remainingSince = remaining === null ? null : clock.now();
    // A rule that tells its period only: it allows at least what was left, and the request that was answered.
    if (limit === null && periodSeconds === 1 && remaining !== null) {
      seenLimit = Math.max(seenLimit, remaining + 1);
      pacer.learn(seenLimit, null);
    }
    const reset = waitByHeader(headers['x-rate-limit-reset'], serverNow());
    if (limit !== null && limit > 0 && reset !== null && reset <= pauses.maxSecondResetMs)
      pacer.learn(limit, remaining);
  };

  const busy = (headers: Headers, result: ExchangeResult & { kind: 'busy' }, sentAt: number): void => {
    const wait =
      waitByHeader(headers['retry-after'], serverNow()) ??
      waitByHeader(headers['x-rate-limit-reset'], serverNow());
    if (result.meaning === 'quota' || (wait !== null && wait > pauses.quotaFromMs)) {
      const ms = wait ?? pauses.quotaFromMs;
      transfers.spent(ms);
      pacer.pause(ms, 'quota');
      return;
    }
    // Requests that were on the way when the congestion began add nothing new.
    const isNew = pacer.congested(sentAt) || sentAt >= pausedAt;
    if (!isNew) return;
    if (busyInARow === 0) busySince = sentAt;
    const bound = Math.min(pauses.maxBusyMs, pauses.firstBusyMs * 2 ** busyInARow++);
    pausedAt = clock.monotonic();
    pacer.pause(
      wait === null ? busyPause(bound) : wait + random() * Math.min(pauses.maxBusyJitterMs, wait / 10),
      'busy',
    );
  };

  /** Without a header: longer each time, but not past the end of the second in which there was too much. */
  const busyPause = (bound: number): number => {
    // By then all that was admitted before the refusal has left the service's second, wherever that starts.
    const over = busySince + rate.secondMs - clock.monotonic();
    return over > 0 ? Math.min(jittered(bound, random), over) : jittered(bound, random);
  };

  const failed = (exchange: Exchange): void => {
    const wait = exchange.ok ? waitByHeader(exchange.reply.headers['retry-after'], serverNow()) : null;
    const open = breaker.failed(random, pacer.pausedFor > 0);
    const ms = Math.max(
      open,
      wait === null ? 0 : wait + random() * Math.min(pauses.maxFailingJitterMs, wait / 10),
    );
    if (ms > 0) pacer.pause(ms, exchange.ok ? 'failing' : 'offline');
  };

  return {
    note(exchange, result, sentAt) {
      if (exchange.ok) {
        readHeaders(exchange.reply.headers);
        if (offlineSince !== null) changed();
        offlineSince = null;
      } else if (result.kind === 'failing' && offlineSince === null) {
        offlineSince = clock.now();
        changed();
      }
      if (result.kind === 'busy' && exchange.ok) {
        busy(exchange.reply.headers, result, sentAt);
      } else if (result.kind === 'failing') {
        failed(exchange);
      } else if (exchange.ok) {
        // A request sent before the refusal was admitted under the load of that time.
        if (sentAt > pausedAt) busyInARow = 0;
        breaker.succeeded();
      }
    },
    isAlive: (exchange) => exchange.ok && exchange.reply.status < 500 && exchange.reply.status !== 408,
    retryAfterMs: () => Math.ceil(pacer.pausedFor) || Math.ceil(jittered(pauses.retryAfterMs, random)),
    get remaining() {
      return remaining;
    },
    get limit() {
      return limit;
    },
    get periodSeconds() {
      return periodSeconds;
    },
    get remainingSince() {
      return remainingSince;
    },
    get offlineSince() {
      return offlineSince;
    },
    get clockSkewMs() {
      const skew = serverClock.skew(clock.now(), clock.monotonic());
      return skew !== null && Math.abs(skew) > timeOfDay.minSkewMs ? Math.round(skew) : null;
    },
  };
}

const secondsByUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The rule of x-rate-limit-limit, "the most restrictive rule being measured" (spec §8): its number, or its period. */
export function limitIn(header: string | string[] | undefined): {
  readonly limit: number | null;
  readonly periodSeconds: number | null;
} {
  const [, number, unit = ''] =
    typeof header === 'string' ? (/^(\d{1,6})\s?([smhd])$/i.exec(header.trim()) ?? []) : [];
  const seconds = Number(number) * (secondsByUnit[unit.toLowerCase()] ?? 0);
  return { limit: countIn(header), periodSeconds: seconds > 0 ? seconds : null };
}

function countIn(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header.trim()) ? Number(header) : null;
}
