/** What a limit allows at a moment. `resetAt` is when the window is next entirely free, on the same clock. */
export interface Room {
  readonly remaining: number;
  readonly resetAt: number;
}

/**
 * At most `limit` admissions in any second, wherever the second starts. Remembers the time of each of the last
 * `limit` admissions; a refusal takes no place.
 */
export class RequestWindow {
  readonly limit: number;
  readonly #times: Float64Array;
  #next = 0;
  #newest = -Infinity;

  constructor(limit: number) {
    this.limit = limit;
    this.#times = new Float64Array(limit).fill(-Infinity);
  }

  /** Whether one more fits at `now` (milliseconds). */
  hasRoom(now: number): boolean {
    return now - (this.#times[this.#next] ?? 0) >= 1000;
  }

  /** Takes a place; only after `hasRoom` said yes. */
  take(now: number): void {
    this.#times[this.#next] = now;
    this.#newest = now;
    this.#next = (this.#next + 1) % this.limit;
  }

  /** Places left at `now`. The times are in order from `#next` on, so the free ones are found by halving. */
  room(now: number): Room {
    let low = 0;
    let high = this.limit;
    while (low < high) {
      const middle = (low + high) >> 1;
      const time = this.#times[(this.#next + middle) % this.limit] ?? 0;
      if (now - time >= 1000) low = middle + 1;
      else high = middle;
    }
    return { remaining: low, resetAt: Math.max(this.#newest + 1000, now) };
  }

  isIdle(now: number): boolean {
    return now - this.#newest >= 1000;
  }
}

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/**
 * At most `limit` transfers in any 24 hours, counted by the minute: a minute's transfers leave together, once
 * its last moment is 24 hours gone. Never more than the limit, at times a minute late in giving back.
 */
export class TransferWindow {
  readonly limit: number;
  readonly #minutes = new Map<number, number>();
  #sum = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  #forget(now: number): void {
    for (const [minute, count] of this.#minutes) {
      if ((minute + 1) * MINUTE + DAY > now) return;
      this.#sum -= count;
      this.#minutes.delete(minute);
    }
  }

  room(now: number): Room {
    this.#forget(now);
    const [newest] = [...this.#minutes.keys()].slice(-1);
    const resetAt = newest === undefined ? now : (newest + 1) * MINUTE + DAY;
    return { remaining: Math.max(0, this.limit - this.#sum), resetAt };
  }

  hasRoom(now: number, transfers: number): boolean {
    this.#forget(now);
    return this.#sum + transfers <= this.limit;
  }

  take(now: number, transfers: number): void {
    const minute = Math.floor(now / MINUTE);
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + transfers);
    this.#sum += transfers;
  }

  isIdle(now: number): boolean {
    this.#forget(now);
    return this.#sum === 0;
  }
}

export interface Limits {
  readonly requestsPerSecond: number;
  readonly transfersPerDay: number;
}
export const DEFAULT_LIMITS: Limits = { requestsPerSecond: 600, transfersPerDay: 10_000_000 };

/** Whom a request counts against: an IP address always, a client and its account once they are known. */
export type Party = `ip:${string}` | `client:${string}` | `account:${string}`;

export interface LimitReport extends Room {
  readonly limit: number;
}

/** Milliseconds. `monotonic` never steps back; `now` is the time of day. */
export interface Clock {
  readonly now: () => number;
  readonly monotonic: () => number;
}
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** The limits of spec §8, measured per Client ID, per IP address and per account. */
export interface Limiter {
  /** Takes one place of the second with every party, or with none. */
  admit(parties: readonly Party[]): boolean;
  /** Takes transfers of the 24 hours with every party, or with none. */
  transfer(parties: readonly Party[], transfers: number): boolean;
  /** Counts transfers of an earlier run, in the order in which they were made (`at`: milliseconds since 1970). */
  restore(party: Party, at: number, transfers: number): void;
  /** The most restrictive rule among those of the parties, its reset in milliseconds since 1970. */
  report(parties: readonly Party[]): LimitReport;
}

interface Windows {
  readonly requests: RequestWindow;
  readonly transfers: TransferWindow;
}

const MANY_PARTIES = 1000;

export function createLimiter(limits: Limits, clock: Clock): Limiter {
  const windows = new Map<Party, Windows>();

  const windowsOf = (party: Party): Windows => {
    let found = windows.get(party);
    if (!found) {
      if (windows.size >= MANY_PARTIES) {
        for (const [key, { requests, transfers }] of windows) {
          if (requests.isIdle(clock.monotonic()) && transfers.isIdle(clock.now())) windows.delete(key);
        }
      }
      found = {
        requests: new RequestWindow(limits.requestsPerSecond),
        transfers: new TransferWindow(limits.transfersPerDay),
      };
      windows.set(party, found);
    }
    return found;
  };

  return {
    admit(parties) {
      const now = clock.monotonic();
      const all = parties.map((party) => windowsOf(party).requests);
      if (!all.every((window) => window.hasRoom(now))) return false;
      for (const window of all) window.take(now);
      return true;
    },
    transfer(parties, transfers) {
      const now = clock.now();
      const all = parties.map((party) => windowsOf(party).transfers);
      if (!all.every((window) => window.hasRoom(now, transfers))) return false;
      for (const window of all) window.take(now, transfers);
      return true;
    },
    restore(party, at, transfers) {
      windowsOf(party).transfers.take(at, transfers);
    },
    report(parties) {
      const now = clock.now();
      const monotonic = clock.monotonic();
      const reports = parties.flatMap((party): LimitReport[] => {
        const { requests, transfers } = windowsOf(party);
        const second = requests.room(monotonic);
        return [
          { limit: requests.limit, remaining: second.remaining, resetAt: now + second.resetAt - monotonic },
          { limit: transfers.limit, ...transfers.room(now) },
        ];
      });
      return reports.reduce((least, one) => (one.remaining < least.remaining ? one : least));
    },
  };
}
