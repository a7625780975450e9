import type { ServiceStatus } from '../../contract/models/app.ts';
import type { Clock } from '../../privacy/clock.ts';
import { RateControl } from './rate-control.ts';

export type PauseReason = NonNullable<ServiceStatus['pauseReason']>;

/** A person waits in front; a batch waits behind. */
export type Lane = 'front' | 'back';

/** How long a call puts up with pauses, counted from the first it meets. */
export interface Patience {
  readonly ms: number;
  since: number | null;
}

export interface Refusal {
  readonly ok: false;
  readonly why: PauseReason | 'cancelled';
  readonly retryAfterMs: number;
}

/** Leave to send one request. Ends exactly once, whatever happens. */
export interface Permit {
  readonly ok: true;
  /** The request leaves now. */
  sent(): void;
  end(how: 'answered' | 'busy' | 'failed' | 'unsent'): void;
}

export interface Pacer {
  admit(operation: string, lane: Lane, patience: Patience, signal: AbortSignal): Promise<Permit | Refusal>;
  /** Nothing leaves for so long; then one request goes ahead alone, and the others when it got an answer. */
  pause(ms: number, why: PauseReason): void;
  /** The service said how many requests a second it measures. */
  learn(limit: number): void;
  /** A 429 for a request that left at `sentAt`; true when it begins a new congestion. */
  congested(sentAt: number): boolean;
  readonly pausedFor: number;
  readonly pauseReason: PauseReason | null;
  readonly inFlight: number;
  /** Ends all waits as cancelled. */
  close(): void;
}

interface Waiter {
  readonly operation: string;
  readonly patience: Patience;
  readonly settle: (result: Permit | Refusal) => void;
}

/**
 * Decides when each request may leave. Holds `limit` departures in any sliding second as a hard bound, the learned rate
 * below it, and pauses above all.
 */
export function createPacer(limit: number, clock: Clock, changed: () => void): Pacer {
  const departures = new SlidingWindow(limit);
  const answers = new SlidingWindow(limit);
  const control = new RateControl(limit);
  const lanes: { readonly [L in Lane]: Set<Waiter> } = { front: new Set(), back: new Set() };
  let inFlight = 0;
  let pausedUntil = -Infinity;
  let pauseReason: PauseReason | null = null;
  /** `wanted`: the next request goes alone; `out`: it is on its way. */
  let probe: 'none' | 'wanted' | 'out' = 'none';
  let forgetTimer: (() => void) | null = null;
  let closed = false;

  const permit = (operation: string): Permit => {
    const isProbe = probe === 'wanted';
    if (isProbe) probe = 'out';
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
      end(how) {
        const now = clock.monotonic();
        inFlight--;
        if (sentAt === null) departures.revoke();
        if (how === 'answered' && sentAt !== null) {
          answers.grant();
          answers.stamp(sentAt);
          departures.delay(number, control.answered(operation, now, now - sentAt, inFlight + 1));
        }
        if (isProbe && probe === 'out') {
          if (how === 'answered') resume(now);
          else probe = 'wanted';
        }
        pump();
      },
    };
  };

  const resume = (now: number): void => {
    probe = 'none';
    if (now < pausedUntil) {
      probe = 'wanted';
      return;
    }
    pauseReason = null;
    control.resume(now, departures, answers);
    changed();
  };

  /** Those who won't wait for the end of the pause are told so at once. */
  const turnAway = (now: number): void => {
    if (pausedUntil <= now || pauseReason === null) return;
    for (const lane of [lanes.front, lanes.back]) {
      for (const waiter of lane) {
        waiter.patience.since ??= now;
        if (pausedUntil <= waiter.patience.since + waiter.patience.ms) continue;
        lane.delete(waiter);
        waiter.settle({ ok: false, why: pauseReason, retryAfterMs: Math.ceil(pausedUntil - now) });
      }
    }
  };

  const waitMs = (now: number): number => {
    if (now < pausedUntil) return pausedUntil - now;
    if (probe === 'out') return Infinity;
    if (probe === 'wanted') return departures.waitMs(now, control.cap);
    return Math.max(departures.waitMs(now, control.cap), control.waitMs(now, inFlight));
  };

  const pump = (): void => {
    forgetTimer?.();
    forgetTimer = null;
    for (;;) {
      const now = clock.monotonic();
      turnAway(now);
      const lane = lanes.front.size > 0 ? lanes.front : lanes.back;
      const [waiter] = lane;
      if (!waiter) return;
      const wait = waitMs(now);
      if (wait > 0) {
        if (wait !== Infinity) forgetTimer = clock.after(Math.ceil(wait), pump);
        return;
      }
      lane.delete(waiter);
      control.take(now);
      waiter.settle(permit(waiter.operation));
    }
  };

  return {
    admit(operation, lane, patience, signal) {
      return new Promise((resolve) => {
        const cancelled: Refusal = { ok: false, why: 'cancelled', retryAfterMs: 0 };
        if (closed || signal.aborted) {
          resolve(cancelled);
          return;
        }
        const stop = (): void => {
          lanes[lane].delete(waiter);
          resolve(cancelled);
        };
        const waiter: Waiter = {
          operation,
          patience,
          settle(result) {
            signal.removeEventListener('abort', stop);
            resolve(result);
          },
        };
        signal.addEventListener('abort', stop, { once: true });
        lanes[lane].add(waiter);
        pump();
      });
    },
    pause(ms, why) {
      const now = clock.monotonic();
      if (now + ms > pausedUntil) {
        pausedUntil = now + ms;
        pauseReason = why;
      }
      if (probe === 'none') probe = 'wanted';
      changed();
      pump();
    },
    learn: (told) => control.learn(told),
    congested: (sentAt) => control.refused(sentAt, clock.monotonic()),
    get pausedFor() {
      return Math.max(0, pausedUntil - clock.monotonic());
    },
    get pauseReason() {
      return pausedUntil > clock.monotonic() || probe !== 'none' ? pauseReason : null;
    },
    get inFlight() {
      return inFlight;
    },
    close() {
      closed = true;
      forgetTimer?.();
      for (const lane of [lanes.front, lanes.back]) {
        for (const waiter of lane) waiter.settle({ ok: false, why: 'cancelled', retryAfterMs: 0 });
        lane.clear();
      }
    },
  };
}

/** A second and a little: what leaves evenly may arrive bunched, and the service counts what arrives. */
export const WINDOW_MS = 1_010;

/**
 * When requests left, and those granted but not gone yet. Keeps the last `size` departures, so that any cap up to
 * `size` can be held in every window, wherever the window starts.
 */
export class SlidingWindow {
  readonly #stamps: Float64Array;
  #total = 0;
  #pending = 0;

  constructor(size: number) {
    this.#stamps = new Float64Array(size);
  }

  /** How long until one more fits under `cap`; Infinity while only the granted ones stand in the way. */
  waitMs(now: number, cap: number): number {
    const room = Math.min(cap, this.#stamps.length) - this.#pending;
    if (room <= 0) return Infinity;
    if (this.#total < room) return 0;
    return Math.max(0, this.#at(room) + WINDOW_MS - now);
  }

  grant(): void {
    this.#pending++;
  }

  /** A granted request did not leave after all. */
  revoke(): void {
    this.#pending--;
  }

  /** A granted request leaves now. Returns its number, for `delay`. */
  stamp(now: number): number {
    this.#pending--;
    this.#stamps[this.#total % this.#stamps.length] = now;
    return this.#total++;
  }

  /** It turned out that a request left, or arrived, so much later. */
  delay(number: number, ms: number): void {
    if (number < this.#total - this.#stamps.length) return;
    const place = number % this.#stamps.length;
    this.#stamps[place] = (this.#stamps[place] ?? 0) + ms;
  }

  /** Those stamped after `from` and up to `to`; they need not be in order. */
  count(from: number, to: number): number {
    let count = 0;
    for (let back = 1; back <= Math.min(this.#total, this.#stamps.length); back++) {
      const stamp = this.#at(back);
      if (stamp > from && stamp <= to) count++;
    }
    return count;
  }

  #at(back: number): number {
    return this.#stamps[(this.#total - back) % this.#stamps.length] ?? 0;
  }
}
