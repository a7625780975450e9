import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Figure, Measure } from './figures.ts';
import { runPart, withEcho } from './parts.ts';
import { tokenOf } from './table.ts';

interface Found {
  readonly ms: number;
  readonly peakRss: number;
  readonly files: readonly { readonly rows: number; readonly repeated: { readonly rows: number } }[];
  readonly groups: readonly {
    readonly files: readonly number[];
    readonly values: number;
    readonly rows: readonly number[];
  }[];
}

/** Rows of a file: the value of every tenth is the one before it. */
const valueAt = (n: number, from: number): number => from + (n % 10 === 9 ? n - 1 : n);

async function writeFile(path: string, rows: number, from: number): Promise<void> {
  const out = createWriteStream(path);
  let text = 'case,token,note\r\n';
  for (let n = 0; n < rows; n++) {
    text += `D-${n},${tokenOf(valueAt(n, from))},goods not received\r\n`;
    if (text.length < 1_000_000) continue;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
  }
  out.end(text);
  await once(out, 'close');
}

/** How many values and rows are in both, by arithmetic on how the files were made. */
function expectedOf(rows: number): string {
  const half = rows / 2;
  const values = half * 0.9;
  return JSON.stringify([
    { files: [0, 1], values, rows: [half, half] },
    { files: [0], values, rows: [half, 0] },
    { files: [1], values, rows: [0, half] },
  ]);
}

/** Two files of which half the values are in both, each with its rows written out. */
export const measureCompared: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const figures: Figure[] = [];
    for (const rows of [1_000_000, 5_000_000]) {
      const files = [join(folder, 'compared-a.csv'), join(folder, 'compared-b.csv')];
      for (const [at, file] of files.entries()) await writeFile(file, rows, (at * rows) / 2);
      const found = await runPart<Found>('compared-files.ts', JSON.stringify({ files, url, ca }));
      for (const file of files) await rm(file);
      const agrees =
        JSON.stringify(found.groups) === expectedOf(rows) &&
        found.files.every((file) => file.rows === rows && file.repeated.rows === rows / 5);
      const memory = found.peakRss / 2 ** 20;
      const isBar = rows === 1_000_000;
      figures.push(
        {
          name: `2 × ${rows.toLocaleString('en')} rows compared and written`,
          value: found.ms / 1_000,
          unit: 's',
          ...(isBar && { bar: '<= 10 s', holds: found.ms <= 10_000 }),
        },
        {
          name: 'the same, peak memory',
          value: memory,
          unit: 'MiB',
          ...(isBar && { bar: '<= 500 MB', holds: found.peakRss <= 500e6 }),
        },
        {
          name: 'the same, counts against arithmetic',
          value: agrees ? 1 : 0,
          unit: '',
          bar: 'equal',
          holds: agrees,
        },
      );
    }
    return figures;
  });
