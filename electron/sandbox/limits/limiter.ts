import { RequestWindow } from './request-window.ts';
import type { Room } from './request-window.ts';
import { TransferWindow } from './transfer-window.ts';

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
