import type { SlidingWindow } from './pacing.ts';

/** Before the first refusal: requests in flight, one more for each answer, as TCP begins. */
const FIRST_FLIGHT = 4;
/** Just under what the service takes: requests that leave evenly arrive less so. */
const COMFORT = 0.95;
const HALF_RATE_MS = 300;
const RAMP_MS = 250;
const FIRST_PLATEAU_MS = 30_000;
const LONGEST_PLATEAU_MS = 300_000;
/** Departures this close to the refused one may have arrived before it; further apart where answers take long. */
const LEAST_JITTER_MS = 10;
const MOST_JITTER_MS = 100;
/** While these come in, connections and handshakes are part of what they took. */
const COLD_ANSWERS = 32;
/** How slow is slow: this many times the usual, and this much more. */
const SLOW_FACTOR = 4;
const SLOW_MS = 250;

/**
 * How fast requests may leave: additive increase, multiplicative decrease. A 429 tells what the service takes: as many
 * as it answered in the second before. After it, half of that, then just under it for a long while, then carefully
 * more. Slow answers lower the rate without stopping it. All times are monotonic milliseconds.
 */
export class RateControl {
  readonly #limit: number;
  /** Per second, as the service's own headers tell; the configured limit until then. */
  #told: number;
  #ceiling: number;
  #flight: number | null = FIRST_FLIGHT;
  /** When the present climb began; null while nothing was ever refused. */
  #climbSince: number | null = null;
  #plateauMs = FIRST_PLATEAU_MS;
  #tokens = 1;
  #refilled: number | null = null;
  #congestedAt: number | null = null;
  #refusedRate = Infinity;
  #lastDecrease = -Infinity;
  #latencyMs = 0;
  #answers = 0;
  readonly #usual = new Map<string, { usual: number; recent: number }>();

  constructor(limit: number) {
    this.#limit = limit;
    this.#told = limit;
    this.#ceiling = limit;
  }

  /** Most departures in any second. */
  get cap(): number {
    return Math.max(1, Math.floor(Math.min(this.#limit, this.#told, Math.ceil(this.#ceiling))));
  }

  /** Departures a second, now. */
  rate(now: number): number {
    const most = Math.min(this.#limit, this.#told) * COMFORT;
    if (this.#climbSince === null) return most;
    const since = now - this.#climbSince;
    const comfort = this.#ceiling * COMFORT;
    if (since < HALF_RATE_MS) return Math.min(most, this.#ceiling / 2);
    const ramped = since - HALF_RATE_MS;
    if (ramped < RAMP_MS) {
      return Math.min(most, this.#ceiling / 2 + (comfort - this.#ceiling / 2) * (ramped / RAMP_MS));
    }
    const beyond = ramped - RAMP_MS - this.#plateauMs;
    if (beyond <= 0) return Math.min(most, comfort);
    const grown = comfort + (Math.max(0.2, 0.02 * this.#ceiling) * beyond) / 1000;
    if (grown > this.#ceiling) this.#ceiling = Math.min(grown, most);
    return Math.min(most, grown);
  }

  /** How long until the rate lets one more leave; Infinity while answers are awaited before more are tried. */
  waitMs(now: number, inFlight: number): number {
    if (this.#flight !== null && inFlight >= this.#flight) return Infinity;
    this.#refill(now);
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.rate(now)) * 1000;
  }

  take(now: number): void {
    this.#refill(now);
    this.#tokens -= 1;
  }

  #refill(now: number): void {
    const rate = this.rate(now);
    // A quarter of a second's worth makes up for late timers and a busy machine; the cap holds all the same.
    const most = Math.max(1, rate / 4);
    this.#tokens = Math.min(most, this.#tokens + ((now - (this.#refilled ?? now)) * rate) / 1000);
    this.#refilled = now;
  }

  /** The service said how many requests a second it measures. */
  learn(limit: number): void {
    if (limit < this.#told) this.#tokens = Math.min(this.#tokens, 1);
    this.#told = Math.max(1, limit);
  }

  /**
   * Takes note of an answer. Returns by how much the request may have arrived later than it should: by what the answer
   * took beyond the usual, and by all of it while connections are still being made.
   */
  answered(operation: string, now: number, latencyMs: number, inFlight: number): number {
    if (this.#flight !== null) this.#flight = Math.min(this.#flight + 1, this.#limit);
    this.#latencyMs += (latencyMs - this.#latencyMs) / 8;
    const seen = this.#usual.get(operation);
    const cold = this.#answers++ < COLD_ANSWERS;
    if (!seen) {
      this.#usual.set(operation, { usual: latencyMs, recent: latencyMs });
      return latencyMs;
    }
    const late = cold ? latencyMs : Math.max(0, latencyMs - 2 * seen.usual);
    // Slowly: one hiccup reaches all that are in flight, and means nothing.
    seen.recent += (latencyMs - seen.recent) / 64;
    // Falls at once, rises slowly: what is usual is what the service does when it is well.
    seen.usual = latencyMs < seen.usual ? latencyMs : seen.usual + Math.max(0, latencyMs - seen.usual) / 1000;
    const slow = seen.recent > seen.usual * SLOW_FACTOR && seen.recent > seen.usual + SLOW_MS;
    if (slow && inFlight > 1 && now - this.#lastDecrease > 2000) {
      this.#ceiling = Math.max(1, this.rate(now) * 0.8);
      // Past the half rate and the climb: slowness wants less, not a stop.
      this.#climbSince = now - HALF_RATE_MS - RAMP_MS;
      this.#plateauMs = 5_000;
      this.#lastDecrease = now;
    }
    return late;
  }

  /**
   * A 429 for a request that left at `sentAt`. True when it begins a new congestion; false when it is one more of
   * those that were on the way when the last began.
   */
  refused(sentAt: number, now: number): boolean {
    if (this.#congestedAt !== null || sentAt <= this.#lastDecrease) return false;
    this.#congestedAt = sentAt;
    this.#refusedRate = this.#climbSince === null ? Infinity : this.rate(now);
    this.#lastDecrease = now;
    return true;
  }

  /** The pause after a 429 is over and one request got through. */
  resume(now: number, departures: SlidingWindow, answers: SlidingWindow): void {
    this.#lastDecrease = now;
    if (this.#congestedAt === null) return;
    const jitter = Math.min(MOST_JITTER_MS, Math.max(LEAST_JITTER_MS, this.#latencyMs / 2));
    const [from, to] = [this.#congestedAt - 1000 - jitter, this.#congestedAt + jitter];
    const [tried, taken] = [departures.count(from, to), answers.count(from, to)];
    // A storm refuses everything, whatever the rate: never believe less than half of what was tried.
    // Nor more than the rate it was refused at: what is counted here is only as sharp as the network is even.
    const found = Math.max(0.5, Math.min(this.#refusedRate, Math.max(1, taken, tried / 2)));
    const steady =
      this.#climbSince !== null && Math.abs(found - this.#ceiling) <= Math.max(1, this.#ceiling / 5);
    this.#plateauMs = steady ? Math.min(this.#plateauMs * 2, LONGEST_PLATEAU_MS) : FIRST_PLATEAU_MS;
    this.#ceiling = Math.min(found, this.#limit);
    this.#climbSince = now;
    this.#flight = null;
    this.#congestedAt = null;
    this.#tokens = Math.min(this.#tokens, 1);
  }
}
