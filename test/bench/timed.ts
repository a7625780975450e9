import { longestTurn } from '../support/longest-turn.ts';
import { cpuMs, type Figure } from './figures.ts';

/**
 * The event loop is not kept longer than that from a call of the window. Most turns take 10 to 25; the longest of a step that
 * is measured once has no median, and memory that is touched for the first time may add 20.
 */
const usualMaxTurnMs = 50;

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

/** What a step is called, and how long it may take where that is held. */
type Step = string | readonly [name: string, maxMs: number];

/** Two for each step: how long it took, which has a bar where one is named, and its longest turn, which has one. */
export const timedFigures = <Name extends string>(
  what: string,
  steps: Readonly<Record<Name, Step>>,
  measured: Readonly<Record<NoInfer<Name>, Timed>>,
  maxTurnMs = usualMaxTurnMs,
): Figure[] =>
  (Object.keys(steps) as Name[]).flatMap((step) => {
    const [name, maxMs] = typeof steps[step] === 'string' ? [steps[step]] : steps[step];
    return figuresOf(`${what}: ${name}`, measured[step], maxTurnMs, maxMs);
  });

const figuresOf = (
  name: string,
  { ms, cpuMs, turn }: Timed,
  maxTurnMs: number,
  maxMs: number | undefined,
): Figure[] => [
  {
    name,
    value: ms,
    unit: 'ms',
    ...(maxMs !== undefined && { bar: `<= ${maxMs} ms`, holds: ms <= maxMs }),
    note: `${Math.round(cpuMs)} ms of processor time`,
  },
  {
    name: `${name}, longest turn of the event loop`,
    value: turn,
    unit: 'ms of processor time',
    bar: `<= ${maxTurnMs} ms`,
    holds: turn <= maxTurnMs,
  },
];
