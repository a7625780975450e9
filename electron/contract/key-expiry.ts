const day = 86_400_000;
/** The last time zone in which a date is still today is twelve hours behind UTC. */
const lastZone = 12 * 3_600_000;

/** Days before the end at which a person is reminded. */
const reminders = [30, 7, 1] as const;

export type KeyExpiry =
  | { readonly state: 'unknown' }
  | { readonly state: 'fine'; readonly days: number }
  /** `reminder` is the nearest of 30, 7, 1 that was reached: one that was dismissed comes back with the next. */
  | { readonly state: 'soon'; readonly days: number; readonly reminder: (typeof reminders)[number] }
  /** No session is tried any more (spec §3). */
  | { readonly state: 'over'; readonly days: number };

/**
 * How an API key stands on its expiration date (spec §2: after this date the key is unusable). `days` are whole days
 * left, or since. The date ends when it has ended in every time zone, since the service's is not known.
 */
export function keyExpiry(expires: string | null, now: Date): KeyExpiry {
  if (expires === null) return { state: 'unknown' };
  const start = Date.parse(expires);
  if (now.getTime() >= start + day + lastZone) {
    return { state: 'over', days: Math.max(1, Math.floor((now.getTime() - start) / day)) };
  }
  const days = Math.max(0, Math.ceil((start - now.getTime()) / day));
  const reminder = reminders.findLast((one) => days <= one);
  return reminder === undefined ? { state: 'fine', days } : { state: 'soon', days, reminder };
}
