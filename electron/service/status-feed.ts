import type { Clock } from '../privacy/clock.ts';

/** A window has no use for more. */
const EVERY_MS = 250;

/** Tells listeners that something changed, at once and then at most a few times a second. */
export function createStatusFeed(clock: Clock) {
  const listeners = new Set<() => void>();
  let forgetTimer: (() => void) | null = null;
  let toldAt = -Infinity;

  const tell = (): void => {
    forgetTimer = null;
    toldAt = clock.monotonic();
    for (const listener of listeners) listener();
  };

  return {
    changed(): void {
      if (listeners.size === 0 || forgetTimer) return;
      forgetTimer = clock.after(Math.max(0, toldAt + EVERY_MS - clock.monotonic()), tell);
    },
    /** Returns the function that stops it. */
    listen(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close(): void {
      forgetTimer?.();
      listeners.clear();
    },
  };
}
