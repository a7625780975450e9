/** A step back of the service's clock beyond a second's rounding: what was learned is void. */
const STEP_MS = 2_000;

/**
 * The service's time of day, learned from the Date header of its answers against our monotonic clock, so that a wrong
 * clock on this machine does not matter. Date is cut to the second: the furthest ahead of several is closest to the
 * truth and never beyond it.
 */
export class ServerClock {
  #offset: number | null = null;

  /** Takes the Date header of an answer that arrived at `monotonic`. */
  observe(date: string | string[] | undefined, monotonic: number): void {
    if (typeof date !== 'string') return;
    const told = Date.parse(date);
    if (Number.isNaN(told)) return;
    const offset = told - monotonic;
    if (this.#offset === null || offset > this.#offset || offset < this.#offset - STEP_MS) {
      this.#offset = offset;
    }
  }

  /** The service's time at `monotonic`; `fallback` while it never told. */
  at(monotonic: number, fallback: number): number {
    return this.#offset === null ? fallback : this.#offset + monotonic;
  }

  /** How far this machine's time of day is off; null while the service never told. */
  skew(now: number, monotonic: number): number | null {
    return this.#offset === null ? null : now - (this.#offset + monotonic);
  }
}
