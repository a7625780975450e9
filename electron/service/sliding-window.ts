/** A second and a little: what leaves evenly may arrive bunched, and the service counts what arrives. */
export const WINDOW_MS = 1_010;

/**
 * When requests left, and those granted but not gone yet. Keeps the last `size` departures, so that any cap up to
 * `size` can be held in every window, wherever the window starts.
 */
export class SlidingWindow {
  readonly #stamps: Float64Array;
  #total = 0;
  #pending = 0;

  constructor(size: number) {
    this.#stamps = new Float64Array(size);
  }

  /** How long until one more fits under `cap`; Infinity while only the granted ones stand in the way. */
  waitMs(now: number, cap: number): number {
    const room = Math.min(cap, this.#stamps.length) - this.#pending;
    if (room <= 0) return Infinity;
    if (this.#total < room) return 0;
    return Math.max(0, this.#at(room) + WINDOW_MS - now);
  }

  grant(): void {
    this.#pending++;
  }

  /** A granted request did not leave after all. */
  revoke(): void {
    this.#pending--;
  }

  /** A granted request leaves now. Returns its number, for `delay`. */
  stamp(now: number): number {
    this.#pending--;
    this.#stamps[this.#total % this.#stamps.length] = now;
    return this.#total++;
  }

  /** It turned out that a request left, or arrived, so much later. */
  delay(number: number, ms: number): void {
    if (number < this.#total - this.#stamps.length) return;
    const place = number % this.#stamps.length;
    this.#stamps[place] = (this.#stamps[place] ?? 0) + ms;
  }

  /** Those stamped after `from` and up to `to`; they need not be in order. */
  count(from: number, to: number): number {
    let count = 0;
    for (let back = 1; back <= Math.min(this.#total, this.#stamps.length); back++) {
      const stamp = this.#at(back);
      if (stamp > from && stamp <= to) count++;
    }
    return count;
  }

  #at(back: number): number {
    return this.#stamps[(this.#total - back) % this.#stamps.length] ?? 0;
  }
}
