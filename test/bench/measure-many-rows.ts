import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Figure, Measure } from './figures.ts';
import { runPart, withEcho } from './parts.ts';
import { writeTable } from './table.ts';
import { type Timed, timedFigures } from './timed.ts';

const rows = 9_000_000;
/** A row’s number is four bytes, in the view and again in what a search found in it; the app takes the rest. */
const maxKeptBytes = 10;
/** The keys of a sort are 41 bytes a row, its two orders, its digits and the list it began with 14; the app takes the rest. */
const maxPeakBytes = 100;

const steps = {
  opened: 'first page after a start',
  anyPage: 'slowest of 25 pages',
  few: 'filter that few rows meet, first page',
  fewPage: 'filter that few rows meet, slowest of 25 pages',
  half: 'filter that half of them meet, first page',
  halfPage: 'filter that half of them meet, slowest of 25 pages',
  masked: 'filter by a mask that all of them have, first page',
  maskedPage: 'filter by a mask that all of them have, slowest of 25 pages',
  text: 'sort by text, first page',
  textPage: 'sort by text, slowest of 25 pages',
  number: 'sort by numbers, first page',
  numberPage: 'sort by numbers, slowest of 25 pages',
  nowhere: 'search for a text that is nowhere',
} as const;

interface Measured {
  readonly steps: Readonly<Record<keyof typeof steps, Timed>>;
  readonly totals: Readonly<Record<string, number>>;
  readonly keptBytes: number;
  readonly peakRss: number;
}

/** What the window asks of a job of a long day. Times are printed; what is held is that nothing blocks, and memory. */
export const measureManyRows: Measure = async (folder) => {
  const own = join(folder, 'many-rows');
  const home = join(own, 'home');
  const input = join(own, 'rows.csv');
  await mkdir(own);
  await writeTable(input, rows);
  const { jobId } = await withEcho((url, ca) =>
    runPart<{ jobId: string }>('finished-job.ts', JSON.stringify({ input, home, url, ca })),
  );
  const measured = await runPart<Measured>('many-rows.ts', JSON.stringify({ home, jobId, rows }));
  await rm(own, { recursive: true, force: true });
  const perRow = (name: string, bytes: number, max: number): Figure => ({
    name: `9,000,000 rows: ${name}`,
    value: bytes / rows,
    unit: 'bytes a row',
    bar: `<= ${max}`,
    holds: bytes / rows <= max,
    note: `${Math.round(bytes / 2 ** 20)} MiB`,
  });
  return [
    ...timedFigures('9,000,000 rows', steps, measured.steps),
    {
      name: '9,000,000 rows: that the second filter leaves',
      value: measured.totals['half'] ?? null,
      unit: 'rows',
    },
    perRow('kept of a view and a search', measured.keptBytes, maxKeptBytes),
    perRow('peak memory', measured.peakRss, maxPeakBytes),
  ];
};
