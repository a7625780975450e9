import type { Clock } from '../../util/clock.ts';
import { day } from './limits.ts';

/** What outlives a restart: transfers by the hour (hours since 1970), and a pause the service asked for. */
export interface TransfersRecord {
  readonly hours: readonly { readonly hour: number; readonly count: number }[];
  /** Time of day, milliseconds since 1970. */
  readonly pausedUntil: number | null;
}

/** Where the record of one connection is stored. Both may fail: the count then starts at zero and stays in memory. */
export interface QuotaStore {
  load(): Promise<TransfersRecord | null>;
  save(record: TransfersRecord): Promise<void>;
}

export interface Transfers {
  /** Resolves when the record is loaded; nothing is to be sent before. */
  readonly ready: Promise<void>;
  /** Takes `count` transfers, or says in how many milliseconds they will be available. */
  take(count: number): { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };
  /** The request did not leave after all. */
  giveBack(count: number): void;
  /** The service says that the day's transfers are spent. */
  spent(waitMs: number): void;
  readonly pausedFor: number;
  readonly today: number;
  flush(): Promise<void>;
}

/**
 * Counts the transfers of the last 24 hours (spec §8) by the hour, so that no 24 hours ever hold more than the limit,
 * at the price of releasing transfers up to an hour late. The specification does not show what counts as one: the profile says it.
 */
export function createTransfers(limit: number, store: QuotaStore, clock: Clock): Transfers {
  const hours = new Map<number, number>();
  let pausedUntil: number | null = null;
  let total = 0;
  let forgetTimer: (() => void) | null = null;
  let saving = Promise.resolve();

  const thisHour = (): number => Math.floor(clock.now() / day.hourMs);
  const dropOld = (): void => {
    const oldest = thisHour() - day.hours;
    for (const [hour, count] of hours) {
      if (hour >= oldest) continue;
      hours.delete(hour);
      total -= count;
    }
    if (pausedUntil !== null && pausedUntil <= clock.now()) pausedUntil = null;
  };
  const add = (count: number): void => {
    const hour = thisHour();
    hours.set(hour, (hours.get(hour) ?? 0) + count);
    total += count;
    forgetTimer ??= clock.after(day.saveAfterMs, () => void save());
  };
  const save = (): Promise<void> => {
    forgetTimer?.();
    forgetTimer = null;
    const record = { hours: [...hours].map(([hour, count]) => ({ hour, count })), pausedUntil };
    saving = saving.then(() => store.save(record)).catch(() => undefined);
    return saving;
  };

  const load = async (): Promise<void> => {
    const record = await store.load().catch(() => null);
    if (!record) return;
    const latest = thisHour();
    for (const { hour, count } of record.hours) {
      // A clock that was ahead when this was written must not lock the day for years.
      const counted = Math.min(hour, latest);
      hours.set(counted, (hours.get(counted) ?? 0) + count);
      total += count;
    }
    const maxUntil = clock.now() + day.hours * day.hourMs;
    pausedUntil = record.pausedUntil === null ? null : Math.min(record.pausedUntil, maxUntil);
    dropOld();
  };

  return {
    ready: load(),
    take(count) {
      dropOld();
      if (pausedUntil !== null) return { ok: false, retryAfterMs: Math.ceil(pausedUntil - clock.now()) };
      if (total + count <= limit) {
        add(count);
        return { ok: true };
      }
      let free = limit - total;
      for (const [hour, spent] of [...hours].sort(([a], [b]) => a - b)) {
        free += spent;
        const leaves = (hour + day.hours + 1) * day.hourMs;
        if (free >= count) return { ok: false, retryAfterMs: Math.ceil(leaves - clock.now()) };
      }
      return { ok: false, retryAfterMs: day.hours * day.hourMs };
    },
    giveBack: (count) => add(-count),
    spent(waitMs) {
      pausedUntil = clock.now() + waitMs;
      void save();
    },
    get pausedFor() {
      dropOld();
      return pausedUntil === null ? 0 : pausedUntil - clock.now();
    },
    get today() {
      dropOld();
      return Math.max(0, total);
    },
    flush: () => (forgetTimer === null ? saving : save()),
  };
}
