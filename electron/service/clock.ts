/** Time as the client sees it; tests bring their own. Milliseconds everywhere. */
export interface Clock {
  /** Time of day since 1970; may step. */
  now(): number;
  /** Never steps back; stands still or not while the machine sleeps, as the platform likes. */
  monotonic(): number;
  /** Calls back once after `ms`. Returns the function that forgets it. */
  setTimer(ms: number, callback: () => void): () => void;
}

/** Beyond this, Node's timers fire at once. */
const LONGEST_TIMER = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};

/** True when the time has passed, false when the signal ended the wait. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const stop = (): void => {
      forget();
      resolve(false);
    };
    const forget = clock.setTimer(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve(true);
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}
