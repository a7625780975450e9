import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measure } from './figures.ts';
import { runPart } from './parts.ts';
import { writeTable } from './table.ts';

/** From choosing a file of 1 GB to its first rows. */
export const measurePreview: Measure = async (folder) => {
  const input = join(folder, 'gigabyte.csv');
  const block = join(folder, 'block.csv');
  await writeTable(block, 100_000);
  const out = createWriteStream(input);
  const bytes = await readFile(block);
  for (let size = 0; size < 1e9; size += bytes.length) if (!out.write(bytes)) await once(out, 'drain');
  out.end();
  await once(out, 'close');
  const { ms, rows } = await runPart<{ ms: number; rows: number }>('preview-first.ts', input);
  await rm(input);
  const holds = rows > 0 && ms <= 1_000;
  return [{ name: 'first rows of a 1 GB file', value: ms, unit: 'ms', bar: '<= 1000 ms', holds }];
};
