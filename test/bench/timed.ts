import { longestTurn } from '../support/longest-turn.ts';
import { cpuMs, type Figure } from './figures.ts';

/** The event loop is not kept longer than that from a call of the window. */
const maxTurnMs = 25;

export interface Timed {
  readonly ms: number;
  /** Processor time, all threads: what a busy machine does not change. */
  readonly cpuMs: number;
  /** For how long the event loop was kept from anything else, in processor time of the thread. */
  readonly turn: number;
}

/** Rejects as `act` does. */
export async function timed(act: () => Promise<unknown>): Promise<Timed> {
  const started = performance.now();
  const before = process.cpuUsage();
  const turn = await longestTurn(act);
  return { ms: performance.now() - started, cpuMs: cpuMs(process.cpuUsage(before)), turn };
}

/** Two for each step: how long it took, which is printed, and its longest turn, which has a bar. */
export const timedFigures = <Step extends string>(
  what: string,
  steps: Readonly<Record<Step, string>>,
  measured: Readonly<Record<NoInfer<Step>, Timed>>,
): Figure[] =>
  (Object.keys(steps) as Step[]).flatMap((step) => [
    {
      name: `${what}: ${steps[step]}`,
      value: measured[step].ms,
      unit: 'ms',
      note: `${Math.round(measured[step].cpuMs)} ms of processor time`,
    },
    {
      name: `${what}: ${steps[step]}, longest turn of the event loop`,
      value: measured[step].turn,
      unit: 'ms of processor time',
      bar: `<= ${maxTurnMs} ms`,
      holds: measured[step].turn <= maxTurnMs,
    },
  ]);
