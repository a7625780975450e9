import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Encrypter } from 'age-encryption';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import type { ExportChoice, Reading } from '../../electron/contract/models/batch.ts';
import { packWithOther } from '../support/unpack-with-other.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runProduct, withEcho, type Product } from './parts.ts';
import { writeTable } from './table.ts';

const rows = 1_000_000;
const rounds = 3;
const bar = 0.6;

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
      const [, ...lines] = (await readFile(table, 'latin1')).trimEnd().split('\r\n');
      const out = createWriteStream(path);
      for (const line of lines) {
        const cells = line.replaceAll('"', '').replace(', ', ' ').split(',');
        out.write(`${widths.map((width, at) => (cells[at] ?? '').padEnd(width)).join('')}\r\n`);
      }
      await new Promise<void>((done) => out.end(done));
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

async function writeJson(
  table: string,
  path: string,
  [open, between, close]: readonly [string, string, string],
): Promise<void> {
  const [head = '', ...lines] = (await readFile(table, 'utf8')).trimEnd().split('\r\n');
  const names = head.split(',');
  const out = createWriteStream(path);
  out.write(open);
  for (const [at, line] of lines.entries()) {
    const cells = line.split(',');
    const row = Object.fromEntries(names.map((name, column) => [name, cells[column] ?? '']));
    out.write(`${at === 0 ? '' : between}${JSON.stringify(row)}`);
  }
  await new Promise<void>((done) => out.end(close, done));
}

/**
 * Each format against the CSV of the same rows, in turns: opened, which unpacks what is packed, run and exported in the
 * same form.
 */
export const measureFormats: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const table = join(folder, 'formats.csv');
    await writeTable(table, rows);
    const files = formats.map((format, at) => ({
      format,
      path: join(folder, `format-${at}${format.ending}`),
    }));
    for (const { format, path } of files) await format.write(table, path);
    const plain: Product[] = [];
    const measured = files.map((): Product[] => []);
    for (let round = 0; round < rounds; round++) {
      plain.push(await runProduct(rows, table, { url, ca, reading: {} }));
      for (const [at, { format, path }] of files.entries()) {
        const { passphrase: phrase, choice, reading = {} } = format;
        const options = { url, ca, reading, ...(phrase !== undefined && { passphrase: phrase }) };
        measured[at]?.push(
          await runProduct(rows, path, { ...options, choice: { safety: 'source', ...choice } }),
        );
      }
    }
    for (const { path } of [...files, { path: table }]) await rm(path, { force: true });
    const csv = median(plain.map(rate));
    const memory = median(plain.map(({ peakRss }) => peakRss / 2 ** 20));
    return [
      {
        name: 'CSV, opened, run and exported',
        value: csv,
        unit: 'rows/s',
        note: `${Math.round(memory)} MiB`,
      },
      ...files.map(({ format }, at): Figure => {
        const some = measured[at] ?? [];
        const value = median(some.map(rate));
        const of = (pick: (one: Product) => number): number => Math.round(median(some.map(pick)));
        return {
          name: `the same as ${format.name}`,
          value,
          unit: 'rows/s',
          ratio: value / csv,
          reference: 'CSV, opened, run and exported',
          bar: `>= ${bar} of the CSV`,
          holds: value / csv >= bar,
          note: `open ${of(({ openMs }) => openMs)} ms, run ${of(({ runMs }) => runMs)} ms, export ${of(({ exportMs }) => exportMs)} ms, ${of(({ peakRss }) => peakRss / 2 ** 20)} MiB`,
        };
      }),
    ];
  });

const rate = ({ openMs, ms }: Product): number => rows / ((openMs + ms) / 1_000);
