import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Figure, Measure } from './figures.ts';
import { runPart, withEcho } from './parts.ts';
import { writeTable } from './table.ts';

const rows = 1_000_000;

const names = {
  contains: 'filter by an unmapped column',
  masked: 'filter by a masked column',
  byText: 'sort by text',
  byNumber: 'sort by numbers',
} as const;

/** What the window waits for in a finished job of a million rows. */
export const measureRows: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const input = join(folder, 'rows.csv');
    await writeTable(input, rows);
    const measured = await runPart<Record<string, number>>(
      'result-rows.ts',
      JSON.stringify({ input, url, ca }),
    );
    await rm(input);
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
    ];
  });
