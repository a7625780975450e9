import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median, type Figure, type Measure } from './figures.ts';
import { runProduct, withEcho } from './parts.ts';
import { writeTable } from './table.ts';

const rounds = 3;

/**
 * The peak of a run and its export, for two lengths of a table. In turns and more than once: in each process V8 decides
 * anew when it collects.
 */
export const measureMemory: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const lengths = [500_000, 5_000_000];
    const peaks: number[][] = lengths.map(() => []);
    const tables = lengths.map((rows) => ({ rows, input: join(folder, `${rows}.csv`) }));
    for (const { rows, input } of tables) await writeTable(input, rows);
    for (let round = 0; round < rounds; round++) {
      for (const [at, { rows, input }] of tables.entries()) {
        const { peakRss } = await runProduct(rows, input, { url, ca });
        peaks[at]?.push(peakRss / 2 ** 20);
      }
    }
    for (const { input } of tables) await Promise.all([rm(input), rm(`${input}.out`)]);
    const [few = 0, many = 0] = peaks.map(median);
    const notes = peaks.map((some) => some.map(Math.round).join(', '));
    const figures: Figure[] = [
      { name: 'peak memory, 500,000 rows', value: few, unit: 'MiB', note: `${notes[0]}` },
      {
        name: 'peak memory, 5,000,000 rows',
        value: many,
        unit: 'MiB',
        ratio: many / few,
        reference: 'peak memory, 500,000 rows',
        bar: '<= 1.15',
        holds: many / few <= 1.15,
        note: `${notes[1]}`,
      },
    ];
    return figures;
  });
