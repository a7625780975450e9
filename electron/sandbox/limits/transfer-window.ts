import type { Room } from './request-window.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/**
 * At most `limit` transfers in any 24 hours, counted by the minute: a minute's transfers leave together, once
 * its last moment is 24 hours gone. Never more than the limit, at times a minute late in giving back.
 */
export class TransferWindow {
  readonly limit: number;
  readonly #minutes = new Map<number, number>();
  #sum = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  #forget(now: number): void {
    for (const [minute, count] of this.#minutes) {
      if ((minute + 1) * MINUTE + DAY > now) return;
      this.#sum -= count;
      this.#minutes.delete(minute);
    }
  }

  room(now: number): Room {
    this.#forget(now);
    const [newest] = [...this.#minutes.keys()].slice(-1);
    const resetAt = newest === undefined ? now : (newest + 1) * MINUTE + DAY;
    return { remaining: Math.max(0, this.limit - this.#sum), resetAt };
  }

  hasRoom(now: number, transfers: number): boolean {
    this.#forget(now);
    return this.#sum + transfers <= this.limit;
  }

  take(now: number, transfers: number): void {
    const minute = Math.floor(now / MINUTE);
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + transfers);
    this.#sum += transfers;
  }

  isIdle(now: number): boolean {
    this.#forget(now);
    return this.#sum === 0;
  }
}
