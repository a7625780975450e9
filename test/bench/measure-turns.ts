import { median, type Figure, type Measure } from './figures.ts';
import { newMemoryMs } from './new-memory.ts';
import { runPart, withEcho } from './parts.ts';
import type { Step } from './steps.ts';
import { worstInputs } from './worst-inputs.ts';

/**
 * For a turn, and for what a reveal waits beyond its usual time. Where new memory is that slow, twice what the longest row takes of
 * it: such a row is one text, which is made in one turn, and nothing that an app does makes its memory faster.
 */
const maxMs = 100;
const mostOfNewMemory = 2;
/** Four rows of ten are refused: 90,000. */
const correctedRows = 225_000;
const rounds = 3;

type Steps = Readonly<Record<string, Step>>;

/**
 * How long main is kept from all else by the worst there is, step by step, and how long a reveal waits for it that is asked
 * meanwhile. Both are processor time of its thread, which a busy machine changes little; turns within a millisecond count
 * as one. Of the steps only the worst is held against the bars.
 */
export const measureTurns: Measure = async () => [
  ...(await withEcho(async (url, ca) => {
    const figures: Figure[] = [];
    for (const [input, name] of Object.entries(worstInputs))
      figures.push(...(await measured(name, 'worst-turns.ts', { input, url, ca })));
    return figures;
  })),
  ...(await withEcho(
    (url, ca) => measured('90,000 corrections', 'worst-corrections.ts', { rows: correctedRows, url, ca }),
    4,
  )),
  // Making it takes as long as asking it.
  ...(await measured('10,000 jobs and 1,000,000 audit lines', 'worst-home.ts', {}, 1)),
];

async function measured(name: string, part: string, options: object, times = rounds): Promise<Figure[]> {
  const runs: Steps[] = [];
  const newMemory: number[] = [];
  while (runs.length < times) {
    newMemory.push(newMemoryMs());
    runs.push(await runPart<Steps>(part, JSON.stringify(options)));
  }
  const ofMemory = mostOfNewMemory * median(newMemory);
  const limit = Math.max(maxMs, ofMemory);
  const bar =
    ofMemory > maxMs ? `<= ${Math.round(ofMemory)} ms, twice 16 MB of new memory` : `<= ${maxMs} ms`;
  return [
    { ...worstOf(runs, 'turn'), name: `${name}: longest turn` },
    {
      ...worstOf(runs, 'revealBehind'),
      name: `${name}: what the slowest reveal meanwhile waited for, beyond its usual time`,
    },
  ].map((figure) => ({ ...figure, unit: 'ms of processor time', bar, holds: figure.value <= limit }));
}

/** The worst step by its median, and in the note all of them from the worst on. */
function worstOf(
  runs: readonly Steps[],
  member: 'revealBehind' | 'turn',
): { readonly value: number; readonly note: string } {
  const steps = Object.keys(runs[0] ?? {})
    .map((step) => ({
      step,
      failure: runs[0]?.[step]?.failure,
      values: runs.map((run) => run[step]?.[member] ?? Infinity),
    }))
    .sort((a, b) => median(b.values) - median(a.values));
  const note = steps
    .map(
      ({ step, failure, values }) =>
        `${step} ${[...values]
          .sort((a, b) => a - b)
          .map(Math.round)
          .join('/')}${failure === undefined ? '' : ` (${failure})`}`,
    )
    .join(', ');
  const byClock = Math.max(
    ...steps.map(({ step }) => median(runs.map((run) => run[step]?.revealBeyond ?? Infinity))),
  );
  return {
    value: median(steps[0]?.values ?? [Infinity]),
    note: member === 'turn' ? note : `${note}; by the clock at most ${Math.round(byClock)}`,
  };
}
