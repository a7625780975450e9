/** Rows and bytes a second over the last few seconds. */
export interface Pace {
  add(now: number, rows: number, bytes: number): void;
  rates(now: number): { rows: number; bytes: number };
}

const spanMs = 10_000;
const stepMs = 250;

export function createPace(): Pace {
  let steps: { at: number; rows: number; bytes: number }[] = [];
  return {
    add(now, rows, bytes) {
      const last = steps.at(-1);
      if (last !== undefined && now - last.at < stepMs) {
        last.rows += rows;
        last.bytes += bytes;
      } else steps.push({ at: now, rows, bytes });
      if (steps.length > spanMs / stepMs) steps.shift();
    },
    rates(now) {
      steps = steps.filter(({ at }) => now - at <= spanMs);
      const [first] = steps;
      if (first === undefined) return { rows: 0, bytes: 0 };
      const seconds = Math.max(now - first.at, stepMs) / 1_000;
      return {
        rows: steps.reduce((sum, step) => sum + step.rows, 0) / seconds,
        bytes: steps.reduce((sum, step) => sum + step.bytes, 0) / seconds,
      };
    },
  };
}
