/** Before the first refusal: requests in flight at the start, one more for each answer (TCP slow start). */
const firstFlight = 4;
/** Of the rate the service takes: requests that leave evenly arrive less evenly. */
const comfortShare = 0.95;
const halfRateMs = 300;
const rampMs = 250;
const firstPlateauMs = 30_000;
const maxPlateauMs = 300_000;
/** Departures this close to the refused one may have arrived before it; further apart where answers take long. */
const minJitterMs = 10;
const maxJitterMs = 100;
/** The first answers take longer: connections and handshakes are part of their time. */
const coldAnswers = 32;
/** An answer is slow when it takes this many times the usual time and this much longer. */
const slowFactor = 4;
const slowMs = 250;

/**
 * How fast requests may leave: additive increase, multiplicative decrease. A 429 shows what the service
 * takes: as many requests as it answered in the second before. After it: half of that, then just under it for a
 * plateau, then slowly more. Slow answers lower the rate without stopping it. All times are monotonic milliseconds.
 */
export class RateControl {
  readonly #limit: number;
  /** Per second, as the service's headers report; the configured limit until then. */
  #reported: number;
  #ceiling: number;
  #flight: number | null = firstFlight;
  /** When the present climb began; null while nothing was ever refused. */
  #climbSince: number | null = null;
  #plateauMs = firstPlateauMs;
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
    this.#reported = limit;
    this.#ceiling = limit;
  }

  /** Maximum departures in any second. */
  get cap(): number {
    return Math.max(1, Math.floor(Math.min(this.#limit, this.#reported, Math.ceil(this.#ceiling))));
  }

  /** Departures a second, now. */
  rate(now: number): number {
    const maxRate = Math.min(this.#limit, this.#reported) * comfortShare;
    if (this.#climbSince === null) return maxRate;
    const since = now - this.#climbSince;
    const comfort = this.#ceiling * comfortShare;
    if (since < halfRateMs) return Math.min(maxRate, this.#ceiling / 2);
    const ramped = since - halfRateMs;
    if (ramped < rampMs) {
      return Math.min(maxRate, this.#ceiling / 2 + (comfort - this.#ceiling / 2) * (ramped / rampMs));
    }
    const beyond = ramped - rampMs - this.#plateauMs;
    if (beyond <= 0) return Math.min(maxRate, comfort);
    const grown = comfort + (Math.max(0.2, 0.02 * this.#ceiling) * beyond) / 1000;
    if (grown > this.#ceiling) this.#ceiling = Math.min(grown, maxRate);
    return Math.min(maxRate, grown);
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
    // Up to a quarter of a second's requests may catch up after late timers; the cap holds all the same.
    const maxTokens = Math.max(1, rate / 4);
    this.#tokens = Math.min(maxTokens, this.#tokens + ((now - (this.#refilled ?? now)) * rate) / 1000);
    this.#refilled = now;
  }

  /** The service's headers said how many requests a second it measures. */
  learn(limit: number): void {
    if (limit < this.#reported) this.#tokens = Math.min(this.#tokens, 1);
    this.#reported = Math.max(1, limit);
  }

  /**
   * Takes note of an answer. Returns by how much the request may have arrived later than it should: by what the answer
   * took beyond the usual, and by all of it while connections are still being made.
   */
  answered(operation: string, now: number, latencyMs: number, inFlight: number): number {
    if (this.#flight !== null) this.#flight = Math.min(this.#flight + 1, this.#limit);
    this.#latencyMs += (latencyMs - this.#latencyMs) / 8;
    const latency = this.#usual.get(operation);
    const isCold = this.#answers++ < coldAnswers;
    if (!latency) {
      this.#usual.set(operation, { usual: latencyMs, recent: latencyMs });
      return latencyMs;
    }
    const late = isCold ? latencyMs : Math.max(0, latencyMs - 2 * latency.usual);
    // Slowly: one delay reaches all requests in flight, and means nothing.
    latency.recent += (latencyMs - latency.recent) / 64;
    // Falls at once, rises slowly: the usual time is that of a healthy service.
    latency.usual =
      latencyMs < latency.usual ? latencyMs : latency.usual + Math.max(0, latencyMs - latency.usual) / 1000;
    const isSlow = latency.recent > latency.usual * slowFactor && latency.recent > latency.usual + slowMs;
    if (isSlow && inFlight > 1 && now - this.#lastDecrease > 2000) {
      this.#ceiling = Math.max(1, this.rate(now) * 0.8);
      // Skips the half rate and the climb: slow answers ask for a lower rate, not for a stop.
      this.#climbSince = now - halfRateMs - rampMs;
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
    const jitter = Math.min(maxJitterMs, Math.max(minJitterMs, this.#latencyMs / 2));
    const [from, to] = [this.#congestedAt - 1000 - jitter, this.#congestedAt + jitter];
    const [tried, answered] = [departures.count(from, to), answers.count(from, to)];
    // An outage may refuse everything at any rate: assume no less than half of what was tried. Nor more than the rate
    // that was refused: the counts are only as exact as the network is even.
    const found = Math.max(0.5, Math.min(this.#refusedRate, Math.max(1, answered, tried / 2)));
    const steady =
      this.#climbSince !== null && Math.abs(found - this.#ceiling) <= Math.max(1, this.#ceiling / 5);
    this.#plateauMs = steady ? Math.min(this.#plateauMs * 2, maxPlateauMs) : firstPlateauMs;
    this.#ceiling = Math.min(found, this.#limit);
    this.#climbSince = now;
    this.#flight = null;
    this.#congestedAt = null;
    this.#tokens = Math.min(this.#tokens, 1);
  }
}

/** A second and a margin: requests that leave evenly may arrive bunched, and the service counts arrivals. */
const windowMs = 1_010;

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

  /** How long until one more fits under `cap`; Infinity while granted ones that have not left fill it. */
  waitMs(now: number, cap: number): number {
    const free = Math.min(cap, this.#stamps.length) - this.#pending;
    if (free <= 0) return Infinity;
    if (this.#total < free) return 0;
    return Math.max(0, this.#at(free) + windowMs - now);
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
    const slot = number % this.#stamps.length;
    this.#stamps[slot] = (this.#stamps[slot] ?? 0) + ms;
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
