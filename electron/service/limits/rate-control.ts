import { rate as limits } from './limits.ts';

/**
 * How fast requests may leave: additive increase, multiplicative decrease. A 429 shows what the service
 * takes: as many requests as it answered in the second before. After it: half of that, then just under it for a
 * plateau, then more, slowly at first. Slow answers lower the rate without stopping it. All times are monotonic milliseconds.
 */
export class RateControl {
  readonly #limit: number;
  /** Per second, as the service's headers report; the configured limit until then. */
  #reported: number;
  #ceiling: number;
  #flight: number | null = limits.firstFlight;
  /** When the present climb began; null while nothing was ever refused. */
  #climbSince: number | null = null;
  #plateauMs = limits.firstPlateauMs;
  /** When the service last said that little is left of its second; Infinity where it never says. */
  #fullAt = Infinity;
  /** Whether the present plateau is one of slow answers. */
  #isSlow = false;
  #growth: { readonly since: number; readonly from: number } | null = null;
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
    const maxRate = Math.min(this.#limit, this.#reported) * limits.comfortShare;
    if (this.#climbSince === null) return maxRate;
    const since = now - this.#climbSince;
    const comfort = this.#ceiling * limits.comfortShare;
    if (since < limits.halfRateMs) return Math.min(maxRate, this.#ceiling / 2);
    const ramped = since - limits.halfRateMs;
    if (ramped < limits.rampMs) {
      return Math.min(maxRate, this.#ceiling / 2 + (comfort - this.#ceiling / 2) * (ramped / limits.rampMs));
    }
    const plateauUntil = this.#plateauUntil(this.#climbSince + limits.halfRateMs + limits.rampMs);
    if (now <= plateauUntil) {
      this.#growth = null;
      return Math.min(maxRate, comfort);
    }
    this.#growth ??= { since: plateauUntil, from: comfort };
    const seconds = (now - this.#growth.since) / 1000;
    const share = limits.growthShare * (2 ** seconds - 1);
    const grown = this.#growth.from * (1 + share) + limits.minGrowth * seconds;
    if (grown > this.#ceiling) this.#ceiling = Math.min(grown, maxRate);
    return Math.min(maxRate, grown);
  }

  /** Where the service says that there is room again, others of its account have ended. Slowness is no matter of room. */
  #plateauUntil(from: number): number {
    const end = from + this.#plateauMs;
    return this.#isSlow ? end : Math.min(end, Math.max(from, this.#fullAt) + limits.roomMs);
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
    // The cap holds all the same.
    const maxTokens = Math.max(1, rate * limits.catchUpSeconds);
    this.#tokens = Math.min(maxTokens, this.#tokens + ((now - (this.#refilled ?? now)) * rate) / 1000);
    this.#refilled = now;
  }

  /** The service's headers said how many requests a second it measures. */
  learn(limit: number, remaining: number | null, now: number): void {
    if (limit < this.#reported) this.#tokens = Math.min(this.#tokens, 1);
    this.#reported = Math.max(1, limit);
    if (remaining !== null && (this.#fullAt === Infinity || remaining < limit * limits.roomShare))
      this.#fullAt = now;
  }

  /**
   * Takes note of an answer. Returns by how much the request may have arrived later than it should: by what the answer
   * took beyond the usual, and by all of it while connections are still being made.
   */
  answered(operation: string, now: number, latencyMs: number, inFlight: number): number {
    if (this.#flight !== null) this.#flight = Math.min(this.#flight + 1, this.#limit);
    this.#latencyMs += (latencyMs - this.#latencyMs) / 8;
    const latency = this.#usual.get(operation);
    const isCold = this.#answers++ < limits.coldAnswers;
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
    const isSlow =
      latency.recent > latency.usual * limits.slowFactor && latency.recent > latency.usual + limits.slowMs;
    if (isSlow && inFlight > 1 && now - this.#lastDecrease > limits.slowEveryMs) {
      this.#ceiling = Math.max(1, this.rate(now) * limits.slowShare);
      // Skips the half rate and the climb: slow answers ask for a lower rate, not for a stop.
      this.#climbSince = now - limits.halfRateMs - limits.rampMs;
      this.#plateauMs = limits.slowPlateauMs;
      this.#isSlow = true;
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
    const jitter = Math.min(limits.maxJitterMs, Math.max(limits.minJitterMs, this.#latencyMs / 2));
    const [from, to] = [this.#congestedAt - 1000 - jitter, this.#congestedAt + jitter];
    const [tried, answered] = [departures.count(from, to), answers.count(from, to)];
    // An outage may refuse everything at any rate: assume no less than half of what was tried. Nor more than the rate
    // that was refused: the counts are only as exact as the network is even.
    const found = Math.max(0.5, Math.min(this.#refusedRate, Math.max(1, answered, tried / 2)));
    const steady =
      this.#climbSince !== null && Math.abs(found - this.#ceiling) <= Math.max(1, this.#ceiling / 5);
    this.#plateauMs = steady ? Math.min(this.#plateauMs * 2, limits.maxPlateauMs) : limits.firstPlateauMs;
    this.#ceiling = Math.min(found, this.#limit);
    this.#climbSince = now;
    this.#isSlow = false;
    this.#growth = null;
    this.#flight = null;
    this.#congestedAt = null;
    this.#tokens = Math.min(this.#tokens, 1);
  }
}

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
    return Math.max(0, this.#at(free) + limits.secondMs - now);
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
