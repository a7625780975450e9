/** What a host without power events can see of sleep: time went by that the process did not live through. */
export interface SleepClocks {
  /** Milliseconds that go on while the machine sleeps. */
  readonly wall: () => number;
  /** Milliseconds that stop while it does. */
  readonly lived: () => number;
}

const everyMs = 5_000;
const gapMs = 15_000;

/** Calls back after a sleep. A clock set forward looks the same, and locking once too often does no harm. */
export function watchSleep(onWake: () => void, { wall, lived }: SleepClocks): () => void {
  let [lastWall, lastLived] = [wall(), lived()];
  const timer = setInterval(() => {
    const [nowWall, nowLived] = [wall(), lived()];
    if (nowWall - lastWall - (nowLived - lastLived) > gapMs) onWake();
    [lastWall, lastLived] = [nowWall, nowLived];
  }, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
