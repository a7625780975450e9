import type { Figure, Measure } from './figures.ts';
import { runPart } from './parts.ts';

/** What a person takes for at once; keys and the pointer don't wait longer. */
const maxTaskMs = 100;
const maxBeyondEmptyMs = 500;

const steps = {
  empty: 'without an answer, opened',
  opened: 'opened, until chart and table stand',
  again: 'loaded again',
  range: 'from 90 days to 365',
  definition: 'one definition chosen in the chart',
  scrolled: 'scrolled to the end of the table, a frame',
} as const;

type Measured = Readonly<Record<keyof typeof steps, { readonly ms: number; readonly task: number }>>;

/** What the reports page takes to draw the largest answer: each day of a year for 40 definitions. */
export const measureReports: Measure = async () => {
  const measured = await runPart<Measured>('reports-page.ts');
  const beyond = measured.opened.ms - measured.empty.ms;
  const what = 'reports of 365 days × 40 definitions';
  return [
    ...(Object.keys(steps) as (keyof typeof steps)[]).flatMap((step): Figure[] => [
      { name: `${what}: ${steps[step]}`, value: measured[step].ms, unit: 'ms' },
      {
        name: `${what}: ${steps[step]}, longest task of the renderer`,
        value: measured[step].task,
        unit: 'ms of processor time',
        bar: `<= ${maxTaskMs} ms`,
        holds: measured[step].task <= maxTaskMs,
      },
    ]),
    {
      name: `${what}: opened, beyond the page without an answer`,
      value: beyond,
      unit: 'ms',
      bar: `<= ${maxBeyondEmptyMs} ms`,
      holds: beyond <= maxBeyondEmptyMs,
    },
  ];
};
