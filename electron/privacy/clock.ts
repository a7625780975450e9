/** Time as the rooms see it, so that a test can hold it still. */
export interface Clock {
  now(): Date;
  /** Milliseconds that only ever go forward, whatever is done to the wall clock. */
  monotonic(): number;
  /** Runs once after `ms`; the answer calls it off. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
