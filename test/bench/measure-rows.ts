import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Figure, Measure } from './figures.ts';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import { runPart, withEcho } from './parts.ts';
import { writeTable } from './table.ts';

const rows = 1_000_000;

const names = {
  contains: 'filter by an unmapped column',
  masked: 'filter by a masked column',
  byText: 'sort by text',
  byNumber: 'sort by numbers',
} as const;

/** In the built app, so after `npm run build`. */
async function measurePageDown(folder: string): Promise<Figure[]> {
  const keyring = missingTools().length === 0 ? await startKeyring() : null;
  Object.assign(process.env, keyring?.env);
  try {
    const { median, processorMs, drawn } = await runPart<Record<string, number>>('page-down.ts', folder);
    const value = median ?? null;
    return [
      {
        name: 'Page Down at 1,000 columns, until its frame',
        value,
        unit: 'ms',
        bar: '<= 50 ms',
        holds: value !== null && value <= 50,
      },
      { name: 'Page Down at 1,000 columns, processor time', value: processorMs ?? null, unit: 'ms' },
      { name: 'cells in the document at 1,000 columns', value: drawn ?? null, unit: 'cells' },
    ];
  } finally {
    await keyring?.stop();
  }
}

/** What the window waits for in a finished job of a million rows, and how soon a run that fails pauses. */
export const measureRows: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const input = join(folder, 'rows.csv');
    await writeTable(input, rows);
    const measured = await runPart<Record<string, number>>(
      'result-rows.ts',
      JSON.stringify({ input, url, ca }),
    );
    const refused = await withEcho(
      (url, ca) => runPart<Record<string, number>>('refused-run.ts', JSON.stringify({ input, url, ca })),
      9,
    );
    await rm(input);
    const pageDown = await measurePageDown(folder);
    const within = (name: string, value: number | undefined, bar: number): Figure => ({
      name,
      value: value ?? null,
      unit: 'ms',
      bar: `<= ${bar} ms`,
      holds: value !== undefined && value <= bar,
    });
    const kept = (measured['keptBytes'] ?? Infinity) / rows;
    return [
      within('page anywhere in a million rows', measured['jump'], 100),
      ...Object.entries(names).flatMap(([key, name]) => [
        within(`${name}, the first time`, measured[key], 2_000),
        {
          name: `${name}, processor time`,
          value: measured[`${key}Processor`] ?? null,
          unit: 'ms',
          note: 'what a busy machine does not change',
        },
        within(`${name}, its slowest page`, measured[`${key}Page`], 100),
      ]),
      { name: 'find in all columns, the first time', value: measured['find'] ?? null, unit: 'ms' },
      within('find the next', measured['findNext'], 100),
      {
        name: 'kept of a view and a search',
        value: kept,
        unit: 'bytes a row',
        bar: '<= 16',
        holds: kept <= 16,
      },
      { name: 'peak memory', value: (measured['peakRss'] ?? 0) / 2 ** 20, unit: 'MiB' },
      within('a run of which 90 % is refused, until it has paused by itself', refused['ms'], 1_000),
      { name: 'the same, processor time', value: refused['processorMs'] ?? null, unit: 'ms' },
      { name: 'values sent until then', value: refused['sent'] ?? null, unit: 'values' },
      ...pageDown,
    ];
  });
