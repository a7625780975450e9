import type { Clock } from '../../electron/util/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on and runs what falls due, in order. */
  advance(ms: number): void;
  /** Moves the wall clock alone, as a person or NTP does. */
  setWall(at: string): void;
  pending(): number;
}

export function fakeClock(start = '2026-01-02T03:04:05.678Z'): FakeClock {
  let elapsed = 0;
  let wall = Date.parse(start);
  let timers: { due: number; run: () => void }[] = [];
  return {
    now: () => wall,
    monotonic: () => elapsed,
    after(ms, run) {
      const timer = { due: elapsed + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = elapsed + ms;
      for (;;) {
        const next = timers.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
        if (!next) break;
        timers = timers.filter((other) => other !== next);
        wall += next.due - elapsed;
        elapsed = next.due;
        next.run();
      }
      wall += until - elapsed;
      elapsed = until;
    },
    setWall(at) {
      wall = Date.parse(at);
    },
    pending: () => timers.length,
  };
}
