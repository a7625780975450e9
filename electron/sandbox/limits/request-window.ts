/** What a limit allows at a moment. `resetAt` is when the window is next entirely free, on the same clock. */
export interface Room {
  readonly remaining: number;
  readonly resetAt: number;
}

/**
 * At most `limit` admissions in any second, wherever the second starts. Remembers the time of each of the last
 * `limit` admissions; a refusal takes no place.
 */
export class RequestWindow {
  readonly limit: number;
  readonly #times: Float64Array;
  #next = 0;
  #newest = -Infinity;

  constructor(limit: number) {
    this.limit = limit;
    this.#times = new Float64Array(limit).fill(-Infinity);
  }

  /** Whether one more fits at `now` (milliseconds). */
  hasRoom(now: number): boolean {
    return now - (this.#times[this.#next] ?? 0) >= 1000;
  }

  /** Takes a place; only after `hasRoom` said yes. */
  take(now: number): void {
    this.#times[this.#next] = now;
    this.#newest = now;
    this.#next = (this.#next + 1) % this.limit;
  }

  /** Places left at `now`. The times are in order from `#next` on, so the free ones are found by halving. */
  room(now: number): Room {
    let low = 0;
    let high = this.limit;
    while (low < high) {
      const middle = (low + high) >> 1;
      const time = this.#times[(this.#next + middle) % this.limit] ?? 0;
      if (now - time >= 1000) low = middle + 1;
      else high = middle;
    }
    return { remaining: low, resetAt: Math.max(this.#newest + 1000, now) };
  }

  isIdle(now: number): boolean {
    return now - this.#newest >= 1000;
  }
}
