import type { Figure, Measure } from './figures.ts';
import { runPart, withEcho } from './parts.ts';
import { type WorstInput, worstInputs } from './worst-inputs.ts';
import type { Step } from './worst-turns.ts';

const maxTurnMs = 100;

/**
 * How long main is kept from all else by the worst inputs, step by step. Processor time of its thread, which a busy
 * machine does not change; turns within a millisecond count as one. Of these only the worst step is held against the bar.
 */
export const measureTurns: Measure = () =>
  withEcho(async (url, ca) => {
    const figures: Figure[] = [];
    for (const [input, name] of Object.entries(worstInputs) as [WorstInput, string][]) {
      const steps = await runPart<Record<string, Step>>('worst-turns.ts', JSON.stringify({ input, url, ca }));
      const ordered = Object.entries(steps).sort(([, a], [, b]) => b.turn - a.turn);
      const [, worst] = ordered[0] ?? [];
      const value = worst?.turn ?? null;
      figures.push({
        name: `${name}, longest turn`,
        value,
        unit: 'ms of processor time',
        bar: `<= ${maxTurnMs} ms`,
        holds: value !== null && value <= maxTurnMs,
        note: ordered
          .map(([step, { turn, failure = '' }]) => `${step} ${Math.round(turn)}${failure && ` (${failure})`}`)
          .join(', '),
      });
    }
    return figures;
  });
