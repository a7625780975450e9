import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Encrypter } from 'age-encryption';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import type { ExportChoice, Reading } from '../../electron/contract/models/batch.ts';
import { packWithOther } from '../support/unpack-with-other.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runProduct, withEcho, type Product } from './parts.ts';
import { writeTable } from './table.ts';

/** A passphrase costs a second and the reader's thread half of one, whatever the length. */
const lengths = [
  // From here on V8 has all the room for young objects that it takes.
  { rows: 1_000_000, rounds: 2 },
  { rows: 3_000_000, rounds: 3 },
];
/**
 * What is packed is unpacked before, and packed again; of fixed width and EBCDIC each cell is written anew. Processor time is
 * the steadier figure: rows a second of one file differ by a quarter from round to round.
 */
const bars = { throughput: 0.35, cpu: 2.2, memory: 1.15 };

interface FormatFile {
  readonly name: string;
  readonly ending: string;
  /** Of the same rows. */
  write(table: string, path: string): Promise<void>;
  readonly passphrase?: string;
  readonly choice?: Partial<ExportChoice>;
  readonly reading?: Partial<Reading>;
}

const passphrase = 'correct horse';

/** Of the columns of `writeTable`. */
const widths = [10, 16, 14, 8, 10, 20];

const formats: readonly FormatFile[] = [
  {
    name: 'gzip',
    ending: '.csv.gz',
    write: (table, path) => pipeline(createReadStream(table), createGzip(), createWriteStream(path)),
    choice: { archive: 'gzip' },
  },
  {
    name: 'ZIP',
    ending: '.zip',
    write: async (table, path) => writeFile(path, packWithOther('zip', await readFile(table))),
    choice: { archive: 'zip' },
  },
  {
    name: 'age, under a passphrase',
    ending: '.csv.age',
    passphrase,
    async write(table, path) {
      const encrypter = new Encrypter();
      encrypter.setPassphrase(passphrase);
      encrypter.setScryptWorkFactor(10);
      await writeFile(path, await encrypter.encrypt(await readFile(table)));
    },
  },
  { name: 'JSON Lines', ending: '.jsonl', write: (table, path) => writeJson(table, path, ['', '\n', '\n']) },
  {
    name: 'a JSON array',
    ending: '.json',
    write: (table, path) => writeJson(table, path, ['[', ',\n', ']\n']),
  },
  {
    name: 'EBCDIC',
    ending: '.csv',
    async write(table, path) {
      const encoded = codecOf('ibm037').encode(
        (await readFile(table, 'latin1')).replaceAll('\r\n', '\u0085'),
      );
      if (encoded.ok) await writeFile(path, encoded.bytes);
    },
  },
  {
    name: 'fixed width',
    ending: '.txt',
    reading: { header: false, records: layout() },
    async write(table, path) {
      await writeLines(table, path, ({ line }) => {
        const cells = line.replaceAll('"', '').replace(', ', ' ').split(',');
        return `${widths.map((width, at) => (cells[at] ?? '').padEnd(width)).join('')}\r\n`;
      });
    },
  },
];

function layout(): Reading['records'] {
  const starts = widths.map((_, at) => widths.slice(0, at).reduce((sum, width) => sum + width, 1));
  return {
    lines: true,
    bytes: widths.reduce((sum, width) => sum + width, 0),
    columns: widths.map((width, at) => ({ name: `column ${at + 1}`, start: starts[at] ?? 1, width })),
  };
}

/** Writes what is made of each line below the header. */
async function writeLines(
  table: string,
  path: string,
  make: (row: { readonly head: string; readonly line: string; readonly isFirst: boolean }) => string,
  close = '',
): Promise<void> {
  let head: string | null = null;
  let isFirst = true;
  async function* made(): AsyncGenerator<string, void> {
    for await (const line of createInterface({ input: createReadStream(table) })) {
      if (head === null) head = line;
      else {
        yield make({ head, line, isFirst });
        isFirst = false;
      }
    }
    yield close;
  }
  await pipeline(made(), createWriteStream(path));
}

async function writeJson(
  table: string,
  path: string,
  [open, between, close]: readonly [string, string, string],
): Promise<void> {
  await writeLines(
    table,
    path,
    ({ head, line, isFirst }) => {
      const cells = line.split(',');
      const row = Object.fromEntries(head.split(',').map((name, column) => [name, cells[column] ?? '']));
      return `${isFirst ? open : between}${JSON.stringify(row)}`;
    },
    close,
  );
}

/** The same rows as CSV. */
const csv: FormatFile = {
  name: 'CSV',
  ending: '.csv',
  write: (table, path) => copyFile(table, path),
};

/**
 * Each format against the CSV of the same rows, in turns: opened, which unpacks what is packed, run and exported in the
 * same form. Of many rows how fast, and how much memory more than of few.
 */
export const measureFormats: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const all = [csv, ...formats];
    const measured = all.map((): Product[][] => []);
    for (const { rows, rounds } of lengths) {
      const table = join(folder, 'formats.csv');
      await writeTable(table, rows);
      const paths = all.map(({ ending }, at) => join(folder, `format-${at}${ending}`));
      for (const [at, path] of paths.entries()) await all[at]?.write(table, path);
      const products = all.map((): Product[] => []);
      for (let round = 0; round < rounds; round++)
        for (const [at, { passphrase: phrase, choice, reading = {} }] of all.entries()) {
          const options = { url, ca, reading, ...(phrase !== undefined && { passphrase: phrase }) };
          products[at]?.push(
            await runProduct(rows, paths[at] ?? '', { ...options, choice: { safety: 'source', ...choice } }),
          );
        }
      for (const [at, some] of products.entries()) measured[at]?.push(some);
      for (const path of [...paths, table]) await rm(path, { force: true });
    }
    const ofCsv = measured[0]?.at(-1) ?? [];
    return all.flatMap(({ name }, at): Figure[] => {
      const [few = [], many = []] = measured[at] ?? [];
      const of = (pick: (one: Product) => number): number => Math.round(median(many.map(pick)));
      // Of each round the CSV of the same minute: how fast a machine is changes between them.
      const ratios = many.map((one, round) => rateOf(one) / rateOf(ofCsv[round] ?? one));
      const rate = median(many.map(rateOf));
      const ratio = median(ratios);
      const cpus = many.map((one, round) => one.cpuMs / (ofCsv[round] ?? one).cpuMs);
      const cpu = median(cpus);
      const memory = memoryOf(many) / memoryOf(few);
      return [
        {
          name: `${name}: opened, run and exported`,
          value: rate,
          unit: 'rows/s',
          ...(at > 0 && {
            ratio,
            reference: 'CSV: opened, run and exported',
            bar: `>= ${bars.throughput} of the CSV`,
            holds: ratio >= bars.throughput,
          }),
          note: `open ${of(({ openMs }) => openMs)} ms, run ${of(({ runMs }) => runMs)} ms, export ${of(({ exportMs }) => exportMs)} ms; ${textOf(ratios)}`,
        },
        ...(at === 0
          ? []
          : [
              {
                name: `${name}: processor time`,
                value: of(({ cpuMs }) => cpuMs),
                unit: 'ms',
                ratio: cpu,
                reference: 'CSV',
                bar: `<= ${bars.cpu} of the CSV`,
                holds: cpu <= bars.cpu,
                note: textOf(cpus),
              },
            ]),
        {
          name: `${name}: peak memory, 3,000,000 rows`,
          value: memoryOf(many),
          unit: 'MiB',
          ratio: memory,
          reference: 'peak memory, 1,000,000 rows',
          bar: `<= ${bars.memory}`,
          holds: memory <= bars.memory,
          note: [few, many]
            .map((some) => some.map(({ peakRss }) => Math.round(peakRss / 2 ** 20)).join(', '))
            .join('; '),
        },
      ];
    });
  });

const textOf = (ratios: readonly number[]): string => ratios.map((one) => one.toFixed(2)).join(', ');
const rateOf = ({ tally, openMs, ms }: Product): number => tally.ok / ((openMs + ms) / 1_000);
const memoryOf = (some: readonly Product[]): number => median(some.map(({ peakRss }) => peakRss / 2 ** 20));
