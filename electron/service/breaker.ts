const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** A wait between half of `ms` and all of it: spread, but never so short that it is none. */
export const jittered = (ms: number, random: () => number): number => ms / 2 + (ms / 2) * random();

/** Full jitter over an exponential bound, with a floor. */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.max(50, random() * Math.min(10_000, 250 * 2 ** attempt));
}

/**
 * Counts failures with no success in between. From the fifth on it says how long the service is to be left alone,
 * longer each time, until something succeeds.
 */
export class Breaker {
  #failures = 0;
  #opened = 0;

  succeeded(): void {
    this.#failures = 0;
    this.#opened = 0;
  }

  /** Milliseconds to stay away; 0 while it still looks like bad luck. Many that fail together count once when open. */
  failed(random: () => number, alreadyOpen: boolean): number {
    this.#failures++;
    if (this.#failures < FAILURES_TO_OPEN || alreadyOpen) return 0;
    const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#opened);
    this.#opened++;
    return jittered(bound, random);
  }
}
