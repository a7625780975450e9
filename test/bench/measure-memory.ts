import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measure } from './figures.ts';
import { runProduct, withEcho } from './parts.ts';
import { writeTable } from './table.ts';

/** The peak of a run and its export, for two lengths of a table. */
export const measureMemory: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const peaks: number[] = [];
    for (const rows of [500_000, 5_000_000]) {
      const input = join(folder, `${rows}.csv`);
      await writeTable(input, rows);
      const { peakRss } = await runProduct(rows, input, { url, ca });
      peaks.push(peakRss / 2 ** 20);
      await Promise.all([rm(input), rm(`${input}.out`)]);
    }
    const [few = 0, many = 0] = peaks;
    return [
      { name: 'peak memory, 500,000 rows', value: few, unit: 'MiB' },
      {
        name: 'peak memory, 5,000,000 rows',
        value: many,
        unit: 'MiB',
        ratio: many / few,
        reference: 'peak memory, 500,000 rows',
        bar: '<= 1.15',
        holds: many / few <= 1.15,
      },
    ];
  });
