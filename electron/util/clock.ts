/** All time of the main process, so that tests can control it. Milliseconds everywhere. */
export interface Clock {
  /** Time since 1970; jumps when the wall clock is set. */
  now(): number;
  /** Never goes back, even when the wall clock is set. Whether it runs while the machine sleeps is not defined. */
  monotonic(): number;
  /** Runs once after `ms`. The function returned cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Above this, Node's timers fire at once. */
const maxTimerMs = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), maxTimerMs));
    return () => clearTimeout(timer);
  },
};
