import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measure } from './figures.ts';
import { runPart, withEcho } from './parts.ts';
import { writeTable, writeWideTable } from './table.ts';
import { type Timed, timedFigures } from './timed.ts';

const rows = 9_000_000;
const wide = { rows: 20_000, columns: 1_000 };
const maxFilterMs = 3_000;
const maxSortMs = 8_000;
const maxFindMs = 5_000;
const maxNextMs = 500;
const maxPageMs = 50;
const maxWideFindMs = 2_000;
/** Of the process that has the table open, at its most. */
const maxPeakMiB = 600;
/** A row’s number is four bytes, in the view and again in what a search found in it; the app takes the rest. */
const maxKeptBytes = 10;

const steps = {
  opened: 'first page after a start',
  anyPage: ['page at the slowest of 25 places', maxPageMs],
  few: ['filter that few rows meet, first page', maxFilterMs],
  fewPage: ['filter that few rows meet, page at the slowest of 25 places', maxPageMs],
  half: ['filter that half of them meet, first page', maxFilterMs],
  halfPage: ['filter that half of them meet, page at the slowest of 25 places', maxPageMs],
  masked: ['filter by a mask that all of them have, first page', maxFilterMs],
  maskedPage: ['filter by a mask that all of them have, page at the slowest of 25 places', maxPageMs],
  text: ['sort by text, first page', maxSortMs],
  textPage: ['sort by text, page at the slowest of 25 places', maxPageMs],
  number: ['sort by numbers, first page', maxSortMs],
  numberPage: ['sort by numbers, page at the slowest of 25 places', maxPageMs],
  cards: ['sort by masked cards, first page', maxSortMs],
  cardsPage: ['sort by masked cards, page at the slowest of 25 places', maxPageMs],
  nowhere: ['search for a text that is nowhere', maxFindMs],
  find: ['search for a text that one row in 8,100 has', maxFindMs],
  findNext: ['the next one', maxNextMs],
} as const;

const wideSteps = {
  nowhere: ['search for a text that is nowhere', maxWideFindMs],
  find: ['search for a text of the last row', maxWideFindMs],
  next: ['the next one', maxNextMs],
} as const;

interface Measured {
  readonly steps: Readonly<Record<keyof typeof steps, Timed>>;
  readonly totals: Readonly<Record<string, number>>;
  /** Of all pages behind the first one of a view. */
  readonly slowestMs: number;
  readonly keptBytes: number;
  readonly peakRss: number;
}

/** What the window asks of a job of a long day, and of one of many columns. */
export const measureManyRows: Measure = async (folder) => {
  const own = join(folder, 'many-rows');
  const long = await measured<Measured>(join(own, 'long'), 'many-rows.ts', {
    write: (path) => writeTable(path, rows),
    column: 1,
  });
  const ofWide = await measured<Record<keyof typeof wideSteps, Timed>>(join(own, 'wide'), 'wide-rows.ts', {
    write: (path) => writeWideTable(path, wide.rows, wide.columns),
    column: 0,
  });
  const kept = long.keptBytes / rows;
  const peak = long.peakRss / 2 ** 20;
  return [
    ...timedFigures('9,000,000 rows', steps, long.steps),
    { name: '9,000,000 rows: slowest page of all', value: long.slowestMs, unit: 'ms' },
    {
      name: '9,000,000 rows: that the second filter leaves',
      value: long.totals['half'] ?? null,
      unit: 'rows',
    },
    {
      name: '9,000,000 rows: kept of a view and a search',
      value: kept,
      unit: 'bytes a row',
      bar: `<= ${maxKeptBytes}`,
      holds: kept <= maxKeptBytes,
      note: `${Math.round(long.keptBytes / 2 ** 20)} MiB`,
    },
    {
      name: '9,000,000 rows: peak memory',
      value: peak,
      unit: 'MiB',
      bar: `<= ${maxPeakMiB} MiB`,
      holds: peak <= maxPeakMiB,
    },
    ...timedFigures('1,000 columns of 20,000 rows', wideSteps, ofWide),
  ];
};

/** Runs a table to its end and measures it with one of this folder's programs, in processes of their own. */
async function measured<T>(
  folder: string,
  program: string,
  { write, column }: { write: (path: string) => Promise<void>; column: number },
): Promise<T> {
  const home = join(folder, 'home');
  const input = join(folder, 'rows.csv');
  await mkdir(folder, { recursive: true });
  try {
    await write(input);
    // Results of digits alone: of others a mask hides all.
    const { jobId } = await withEcho(
      (url, ca) =>
        runPart<{ jobId: string }>('finished-job.ts', JSON.stringify({ input, home, url, ca, column })),
      0,
      '9',
    );
    return await runPart<T>(program, JSON.stringify({ home, jobId, rows }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
