import type { ServiceStatus } from '../../contract/models/app.ts';
import type { Clock } from '../../util/clock.ts';
import { RateControl, SlidingWindow } from './rate-control.ts';

type PauseReason = NonNullable<ServiceStatus['pauseReason']>;

/** Requests of a person go before those of a batch. */
export type Priority = 'interactive' | 'batch';

/** How long a call waits in pauses, counted from the first it meets. One object a call: its requests share it. */
export interface PauseLimit {
  readonly ms: number;
  since: number | null;
}

export interface Refusal {
  readonly ok: false;
  readonly reason: PauseReason | 'cancelled';
  readonly retryAfterMs: number;
}

/** Leave to send one request. Ends exactly once, whatever happens. */
export interface Permit {
  readonly ok: true;
  /** The request leaves now. */
  sent(): void;
  end(result: 'answered' | 'busy' | 'failed' | 'unsent'): void;
}

interface Admission {
  readonly priority: Priority;
  readonly pauseLimit: PauseLimit;
  readonly signal: AbortSignal;
}

/**
 * Decides when each request may leave. Holds `limit` departures in any sliding second as a hard bound, the learned rate
 * below it, and pauses above all.
 */
export interface Pacer {
  admit(operation: string, admission: Admission): Promise<Permit | Refusal>;
  /** Nothing leaves for so long; then one request goes ahead alone, and the others when it got an answer. */
  pause(ms: number, reason: PauseReason): void;
  /** A person asks for a try: a pause because nothing answered or the service failed ends. Limits and quotas stay. */
  hurry(): void;
  /** The service's headers said how many requests a second it measures, and how many are left; null where they don't. */
  learn(limit: number, remaining: number | null): void;
  /** A 429 for a request that left at `sentAt`; true when it begins a new congestion. */
  congested(sentAt: number): boolean;
  readonly pausedFor: number;
  readonly pauseReason: PauseReason | null;
  /** Ends all waits as cancelled. */
  close(): void;
}

interface Waiter {
  readonly operation: string;
  readonly pauseLimit: PauseLimit;
  readonly settle: (result: Permit | Refusal) => void;
}

const cancelled: Refusal = { ok: false, reason: 'cancelled', retryAfterMs: 0 };

export function createPacer(limit: number, clock: Clock, changed: () => void): Pacer {
  const departures = new SlidingWindow(limit);
  const answers = new SlidingWindow(limit);
  const control = new RateControl(limit);
  const waiting: { readonly [P in Priority]: Set<Waiter> } = { interactive: new Set(), batch: new Set() };
  const queues = [waiting.interactive, waiting.batch];
  let inFlight = 0;
  let pausedUntil = -Infinity;
  let pauseReason: PauseReason | null = null;
  /** After a pause one request, the probe, goes alone: `due` before it leaves, `sent` until it is answered. */
  let probe: 'none' | 'due' | 'sent' = 'none';
  let forgetTimer: (() => void) | null = null;
  let closed = false;

  const createPermit = (operation: string): Permit => {
    const isProbe = probe === 'due';
    if (isProbe) probe = 'sent';
    inFlight++;
    departures.grant();
    let sentAt: number | null = null;
    let number = 0;
    return {
      ok: true,
      sent() {
        sentAt = clock.monotonic();
        number = departures.stamp(sentAt);
      },
      end(result) {
        const now = clock.monotonic();
        inFlight--;
        if (sentAt === null) departures.revoke();
        if (result === 'answered' && sentAt !== null) {
          answers.grant();
          answers.stamp(sentAt);
          departures.delay(number, control.answered(operation, now, now - sentAt, inFlight + 1));
        }
        if (isProbe && probe === 'sent') {
          if (result === 'answered') resume(now);
          else probe = 'due';
        }
        admitWaiting();
      },
    };
  };

  const resume = (now: number): void => {
    probe = 'none';
    if (now < pausedUntil) {
      probe = 'due';
      return;
    }
    pauseReason = null;
    control.resume(now, departures, answers);
    changed();
  };

  /** Refuses at once those whose pause limit ends before the pause does. */
  const refuseLate = (now: number): void => {
    if (pausedUntil <= now || pauseReason === null) return;
    for (const queue of queues) {
      for (const waiter of queue) {
        const { pauseLimit } = waiter;
        pauseLimit.since ??= now;
        if (pausedUntil <= pauseLimit.since + pauseLimit.ms) continue;
        queue.delete(waiter);
        waiter.settle({ ok: false, reason: pauseReason, retryAfterMs: Math.ceil(pausedUntil - now) });
      }
    }
  };

  const waitMs = (now: number): number => {
    if (now < pausedUntil) return pausedUntil - now;
    if (probe === 'sent') return Infinity;
    if (probe === 'due') return departures.waitMs(now, control.cap);
    return Math.max(departures.waitMs(now, control.cap), control.waitMs(now, inFlight));
  };

  const admitWaiting = (): void => {
    forgetTimer?.();
    forgetTimer = null;
    for (;;) {
      const now = clock.monotonic();
      refuseLate(now);
      const queue = waiting.interactive.size > 0 ? waiting.interactive : waiting.batch;
      const [waiter] = queue;
      if (!waiter) return;
      const wait = waitMs(now);
      if (wait > 0) {
        if (wait !== Infinity) forgetTimer = clock.after(Math.ceil(wait), admitWaiting);
        return;
      }
      queue.delete(waiter);
      control.take(now);
      waiter.settle(createPermit(waiter.operation));
    }
  };

  return {
    admit(operation, { priority, pauseLimit, signal }) {
      return new Promise((resolve) => {
        if (closed || signal.aborted) {
          resolve(cancelled);
          return;
        }
        const stop = (): void => {
          waiting[priority].delete(waiter);
          resolve(cancelled);
        };
        const waiter: Waiter = {
          operation,
          pauseLimit,
          settle(result) {
            signal.removeEventListener('abort', stop);
            resolve(result);
          },
        };
        signal.addEventListener('abort', stop, { once: true });
        waiting[priority].add(waiter);
        admitWaiting();
      });
    },
    pause(ms, reason) {
      const now = clock.monotonic();
      if (now + ms > pausedUntil) {
        pausedUntil = now + ms;
        pauseReason = reason;
      }
      if (probe === 'none') probe = 'due';
      changed();
      admitWaiting();
    },
    hurry() {
      const now = clock.monotonic();
      if (pauseReason === 'offline' || pauseReason === 'failing') pausedUntil = Math.min(pausedUntil, now);
    },
    learn: (measured, remaining) => control.learn(measured, remaining, clock.monotonic()),
    congested: (sentAt) => control.refused(sentAt, clock.monotonic()),
    get pausedFor() {
      return Math.max(0, pausedUntil - clock.monotonic());
    },
    get pauseReason() {
      return pausedUntil > clock.monotonic() || probe !== 'none' ? pauseReason : null;
    },
    close() {
      closed = true;
      forgetTimer?.();
      for (const queue of queues) {
        for (const waiter of queue) waiter.settle(cancelled);
        queue.clear();
      }
    },
  };
}
