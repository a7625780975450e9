/** Ways in which a service may count requests. Times are milliseconds. */
export interface Limiter {
  readonly limit: number;
  admit(now: number): boolean;
  remaining(now: number): number;
  /** How long until the counters reset. */
  resetIn(now: number): number;
}

/** At most `limit` in any second, wherever it starts. */
export function slidingLimiter(limit: number): Limiter {
  const times: number[] = [];
  const recent = (now: number): number[] => {
    while (now - (times[0] ?? now) >= 1000) times.shift();
    return times;
  };
  return {
    limit,
    admit(now) {
      if (recent(now).length >= limit) return false;
      times.push(now);
      return true;
    },
    remaining: (now) => limit - recent(now).length,
    resetIn: (now) => Math.max(0, (recent(now).at(-1) ?? now - 1000) + 1000 - now),
  };
}

/** At most `limit` from one full second to the next. */
export function fixedLimiter(limit: number): Limiter {
  let window = -1;
  let used = 0;
  const turn = (now: number): void => {
    const current = Math.floor(now / 1000);
    if (current !== window) [window, used] = [current, 0];
  };
  return {
    limit,
    admit(now) {
      turn(now);
      if (used >= limit) return false;
      used++;
      return true;
    },
    remaining(now) {
      turn(now);
      return limit - used;
    },
    resetIn: (now) => 1000 - (now % 1000),
  };
}

/** A bucket that holds a second's worth and fills evenly. */
export function bucketLimiter(limit: number): Limiter {
  let level = limit;
  let filled = 0;
  const fill = (now: number): void => {
    level = Math.min(limit, level + ((now - filled) * limit) / 1000);
    filled = now;
  };
  return {
    limit,
    admit(now) {
      fill(now);
      if (level < 1) return false;
      level -= 1;
      return true;
    },
    remaining(now) {
      fill(now);
      return Math.floor(level);
    },
    resetIn(now) {
      fill(now);
      return Math.max(0, ((1 - level) * 1000) / limit);
    },
  };
}
