import { Breaker, jittered } from './breaker.ts';
import type { Clock } from '../privacy/clock.ts';
import type { Reading } from './failures.ts';
import type { Pacer } from './pacing.ts';
import { waitByHeader } from './reset-header.ts';
import { ServerClock } from './server-clock.ts';
import type { Transfers } from './transfers.ts';
import type { Exchange, Headers } from './transport.ts';

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
