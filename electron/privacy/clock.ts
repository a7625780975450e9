/** Time as the rooms see it, so that a test can hold it still. Milliseconds everywhere. */
export interface Clock {
  /** Time of day since 1970; may step. */
  now(): number;
  /** Never steps back, whatever is done to the wall clock; stands still or not while the machine sleeps. */
  monotonic(): number;
  /** Runs once after `ms`; the answer calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** Beyond this, Node's timers fire at once. */
const longestTimer = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), longestTimer));
    return () => clearTimeout(timer);
  },
};
