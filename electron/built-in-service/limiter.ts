export interface Limits {
  readonly requestsPerSecond: number;
  readonly transfersPerDay: number;
}
export const defaultLimits: Limits = { requestsPerSecond: 600, transfersPerDay: 10_000_000 };

/**
 * Whom a request counts against: client, account and IP address once it is known who asks, else all strangers of an
 * address. On one machine its programs share the address: a flood of one must not use up what the others may.
 */
export type Party = `ip:${string}` | `client:${string}` | `account:${string}` | `stranger:${string}`;

/** What a window has left. `resetAt` is when it is next entirely free, in milliseconds since 1970. */
interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

/** Milliseconds. `monotonic` never steps back; `now` is the time of day. */
export interface Clock {
  readonly now: () => number;
  readonly monotonic: () => number;
}
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** The limits of spec §8, measured per Client ID, per IP address and per account. */
export interface Limiter {
  /** Counts a request with every party, or with none: then it is over a limit. */
  admit(parties: readonly Party[]): boolean;
  /** Counts transfers with every party, or with none: then they are over a limit. */
  transfer(parties: readonly Party[], transfers: number): boolean;
  /** Counts transfers of an earlier run, in the order in which they were made (`at`: milliseconds since 1970). */
  restore(party: Party, at: number, transfers: number): void;
  /** The most restrictive rule among those of the parties. */
  report(parties: readonly Party[]): WindowState;
}

/** With more parties than this, those without a request in their windows are dropped. */
const maxIdleParties = 1000;

export function createLimiter(limits: Limits, clock: Clock): Limiter {
  const windows = new Map<Party, { readonly requests: RequestWindow; readonly transfers: TransferWindow }>();

  const windowsOf = (party: Party) => {
    let found = windows.get(party);
    if (!found) {
      if (windows.size >= maxIdleParties) {
        for (const [key, { requests, transfers }] of windows) {
          if (requests.isIdle(clock.monotonic()) && transfers.isIdle(clock.now())) windows.delete(key);
        }
      }
      found = {
        requests: createRequestWindow(limits.requestsPerSecond),
        transfers: createTransferWindow(limits.transfersPerDay),
      };
      windows.set(party, found);
    }
    return found;
  };

  return {
    admit(parties) {
      const now = clock.monotonic();
      const all = parties.map((party) => windowsOf(party).requests);
      if (!all.every((window) => window.fits(now))) return false;
      for (const window of all) window.add(now);
      return true;
    },
    transfer(parties, transfers) {
      const now = clock.now();
      const all = parties.map((party) => windowsOf(party).transfers);
      if (!all.every((window) => window.fits(now, transfers))) return false;
      for (const window of all) window.add(now, transfers);
      return true;
    },
    restore(party, at, transfers) {
      windowsOf(party).transfers.add(at, transfers);
    },
    report(parties) {
      const now = clock.now();
      const monotonic = clock.monotonic();
      const states = parties.flatMap((party): WindowState[] => {
        const { requests, transfers } = windowsOf(party);
        return [
          {
            limit: limits.requestsPerSecond,
            remaining: requests.remaining(monotonic),
            resetAt: now + Math.max(requests.freeAt() - monotonic, 0),
          },
          {
            limit: limits.transfersPerDay,
            remaining: transfers.remaining(now),
            resetAt: Math.max(transfers.freeAt(), now),
          },
        ];
      });
      return states.reduce((least, one) => (one.remaining < least.remaining ? one : least));
    },
  };
}

type RequestWindow = ReturnType<typeof createRequestWindow>;

/**
 * At most `limit` requests in any second, wherever the second starts. Keeps the time of each of the last `limit`
 * requests in a ring; a refused request is not among them.
 */
function createRequestWindow(limit: number) {
  const times = new Float64Array(limit).fill(-Infinity);
  let oldest = 0;
  let newestTime = -Infinity;
  const isFree = (index: number, now: number) => now - (times[index % limit] ?? 0) >= 1000;

  return {
    /** Whether one more request fits at `now`. */
    fits: (now: number) => isFree(oldest, now),
    /** Counts a request; only after `fits` said yes. */
    add(now: number) {
      times[oldest] = now;
      newestTime = now;
      oldest = (oldest + 1) % limit;
    },
    /** The times are in order from the oldest on, so the number of free ones is found by bisection. */
    remaining(now: number) {
      let low = 0;
      let high = limit;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (isFree(oldest + middle, now)) low = middle + 1;
        else high = middle;
      }
      return low;
    },
    freeAt: () => newestTime + 1000,
    isIdle: (now: number) => now - newestTime >= 1000,
  };
}

type TransferWindow = ReturnType<typeof createTransferWindow>;

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

/**
 * At most `limit` transfers in any 24 hours, counted by the minute. The transfers of a minute are dropped together,
 * once its last moment is 24 hours old: never more than the limit, and up to a minute late in giving back.
 */
function createTransferWindow(limit: number) {
  const countByMinute = new Map<number, number>();
  let sum = 0;
  let newestMinute = -Infinity;
  const endOf = (minute: number) => (minute + 1) * minuteMs + dayMs;

  const sumAt = (now: number): number => {
    for (const [minute, count] of countByMinute) {
      if (endOf(minute) > now) break;
      sum -= count;
      countByMinute.delete(minute);
    }
    return sum;
  };

  return {
    fits: (now: number, transfers: number) => sumAt(now) + transfers <= limit,
    add(now: number, transfers: number) {
      const minute = Math.floor(now / minuteMs);
      countByMinute.set(minute, (countByMinute.get(minute) ?? 0) + transfers);
      newestMinute = Math.max(newestMinute, minute);
      sum += transfers;
    },
    remaining: (now: number) => Math.max(0, limit - sumAt(now)),
    freeAt: () => endOf(newestMinute),
    isIdle: (now: number) => sumAt(now) === 0,
  };
}
