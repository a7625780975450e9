import type { Clock } from '../../electron/util/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Lets everything that needs no time happen. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time that passes only when told to, and then at once. */
export class FakeClock implements Clock {
  #time = 1_000_000;
  #order = 0;
  #timers: Timer[] = [];
  /** Time of day at monotonic zero; a test may step it. */
  epoch = Date.UTC(2026, 0, 15) - 1_000_000;

  now(): number {
    return this.epoch + this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#time + Math.max(0, ms), order: this.#order++, callback };
    const after = this.#timers.findIndex(({ at }) => at > timer.at);
    if (after === -1) this.#timers.push(timer);
    else this.#timers.splice(after, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index !== -1) this.#timers.splice(index, 1);
    };
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Runs timers in order, up to and including those due `ms` from now. */
  async pass(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      await settle();
      const [next] = this.#timers;
      if (!next || next.at > end) break;
      this.#time = next.at;
      this.#timers.shift();
      next.callback();
    }
    this.#time = end;
  }

  /** Runs timers until the work is done; fails when nothing is left to wait for, or after `limitMs`. */
  async until<T>(work: Promise<T>, limitMs = 86_400_000): Promise<T> {
    const state = { isDone: false };
    void work.finally(() => (state.isDone = true)).catch(() => undefined);
    const end = this.#time + limitMs;
    for (;;) {
      await settle();
      if (state.isDone) return work;
      const [next] = this.#timers;
      if (!next || next.at > end) throw new Error('the work never ends');
      this.#time = next.at;
      this.#timers.shift();
      next.callback();
    }
  }
}

/** Repeatable chance (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
