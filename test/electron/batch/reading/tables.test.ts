import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import Papa from 'papaparse';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCleartext } from '../../../../electron/util/cleartext.ts';
import type { ByteSource } from '../../../../electron/storage/byte-source.ts';
import { done } from '../../../../electron/contract/errors.ts';
import { detectFormat } from '../../../../electron/batch/reading/detect.ts';
import {
  beginning,
  readRows,
  type Chunk,
  type Format,
} from '../../../../electron/batch/reading/read-rows.ts';
import { createRowWriter, neutralise } from '../../../../electron/storage/csv.ts';
import type { Delimiter, Encoding } from '../../../../electron/contract/models/batch.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import {
  cleartextOf,
  detokenize,
  openApp,
  planOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|'];

/** Fields with everything in them that a table can trip over. */
const field = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('"', ',', ';', '\t', '|', '\r', '\n', ' ', 'a', '=', 'é', '日', '💳'),
    maxLength: 8,
  }),
  fc.constantFrom(
    '',
    ' ',
    '"',
    '""',
    '\r',
    '\n',
    '\r\n',
    '\ufeff',
    '00012',
    '4111111111111111',
    'x'.repeat(300),
  ),
);
/** Text that any of the encodings can hold, and no NUL: a row with one is kept and not sent. */
const cleanField = field.map((text) => text.toWellFormed().replaceAll('\0', '0').replaceAll('\ufffd', '?'));

const tables = (cell: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 40 }))
    .chain(([width, rows]) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: rows, maxLength: rows }),
    );

const fromMemory = (bytes: Buffer): ByteSource => ({
  identity: { size: bytes.length, modifiedMs: 0 },
  read: (offset, length) => Promise.resolve(done(bytes.subarray(offset, offset + length))),
  check: () => Promise.resolve(done(null)),
  close: () => Promise.resolve(),
});

async function readAll(bytes: Buffer, format: Format): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of readRows(fromMemory(bytes), format, beginning(format)))
    chunks.push(valueOf(chunk));
  return chunks;
}

const rowsOf = ({ table }: Chunk): string[][] => table.firstRows().map((row) => row.map(openCleartext));

const formatOf = (width: number, over: Partial<Format> = {}): Format => ({
  encoding: 'utf-8',
  delimiter: ',',
  header: false,
  newline: '\r\n',
  markLength: 0,
  names: null,
  width,
  ...over,
});

describe('reading what was written', () => {
  it('gives the same table, for any delimiter, line end and encoding', async () => {
    const encodings: readonly Encoding[] = ['utf-8', 'utf-16le', 'utf-16be'];
    await fc.assert(
      fc.asyncProperty(
        tables(cleanField),
        fc.constantFrom(...delimiters),
        fc.constantFrom<'\r\n' | '\n'>('\r\n', '\n'),
        fc.constantFrom(...encodings),
        async (table, delimiter, newline, encoding) => {
          const writer = createRowWriter({ delimiter, newline, spreadsheet: false });
          const text = table.map((row) => writer.line(row)).join('');
          let bytes = Buffer.from(text);
          if (encoding !== 'utf-8') bytes = Buffer.from(text, 'utf16le');
          if (encoding === 'utf-16be') bytes.swap16();
          const width = table[0]?.length ?? 0;
          const chunks = await readAll(bytes, formatOf(width, { delimiter, newline, encoding }));
          expect(chunks.flatMap(rowsOf)).toEqual(table);
          expect(chunks.every(({ flaws }) => flaws.size === 0)).toBe(true);
          expect(chunks.at(-1)?.end).toEqual({ offset: bytes.length, row: table.length + 1 });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('agrees with a parser that has the whole text at once', async () => {
    await fc.assert(
      fc.asyncProperty(tables(cleanField), async (table) => {
        const many = Array.from({ length: 200 }, () => table).flat();
        const text = Papa.unparse(many, { newline: '\r\n', quotes: true }) + '\r\n';
        const chunks = await readAll(Buffer.from(text), formatOf(table[0]?.length ?? 0));
        expect(chunks.flatMap(rowsOf)).toEqual(many);
      }),
      { numRuns: 30 },
    );
  });

  it('never loses a byte of anything, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 400 }), async (noise) => {
        const bytes = Buffer.from(noise);
        const found = await detectFormat(fromMemory(bytes), {});
        if (!found.ok) return;
        const chunks = await readAll(bytes, found.value);
        const rows = chunks.reduce((sum, chunk) => sum + chunk.table.count, found.value.header ? 1 : 0);
        expect(chunks.at(-1)?.end.offset).toBe(bytes.length);
        expect(chunks.at(-1)?.end.row).toBe(rows + (found.value.header ? 0 : 1));
      }),
      { numRuns: 500 },
    );
  });

  it('finds a damaged row among good ones and keeps its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('good,1', 'bad"x,2', '"open,3', '"a"b,4', 'short', 'q,"5 ""x"""'), {
          maxLength: 60,
        }),
        async (lines) => {
          const text = lines.map((line) => `${line}\n`).join('');
          if (text === '') return;
          const chunks = await readAll(Buffer.from(text), formatOf(2, { newline: '\n' }));
          expect(chunks.at(-1)?.end.offset).toBe(text.length);
          const rows = chunks.flatMap((chunk) =>
            rowsOf(chunk).map((row, i) => ({ row, flaw: chunk.flaws.get(i) })),
          );
          const good = rows.filter(({ flaw }) => flaw === undefined).map(({ row }) => row[0]);
          expect(good.filter((cell) => cell === 'good')).toHaveLength(
            lines.filter((line) => line === 'good,1').length,
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** The fields of a line, by another reader. */
const parsed = (line: string): string[] => {
  const { data } = new Papa.Parser({ delimiter: ',', newline: '\n' }).parse(line, 0, true);
  return (data as string[][])[0] ?? [];
};

describe('formulas', () => {
  it('are neutralised, counted, and nothing else is touched', () => {
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 8 }), (fields) => {
        const writer = createRowWriter({ delimiter: ',', newline: '\n', spreadsheet: true });
        const line = writer.line(fields);
        const back = parsed(line);
        expect(back).toEqual(fields.map(neutralise));
        expect(writer.escaped).toBe(fields.filter((one) => neutralise(one) !== one).length);
        back.forEach((cell, i) => {
          const plain = /^[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?$/i.test(cell);
          expect(/^[\s\p{Cf}]*[=+\-@\p{Cc}＝＋－＠]/u.test(cell) && !plain).toBe(false);
          expect(cell.replaceAll("'", '')).toBe((fields[i] ?? '').replaceAll("'", ''));
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['-5', '+1.50', '-1,234.50', '+4.2E-7'])('%s is a number', (text) => {
    expect(neutralise(text)).toBe(text);
  });

  it.each([
    ['=1', "'=1"],
    ['+1+1', "'+1+1"],
    ['-x', "'-x"],
    ['@a', "'@a"],
    ['\tx', "'\tx"],
    ['\t=1', "'\t'=1"],
    ['\r=1', "'\r'=1"],
    ['\n=1', "'\n'=1"],
    ['\0=1', "'\0'=1"],
    ['\u009bx', "'\u009bx"],
    [' =1', " '=1"],
    ['\u200b=1', "\u200b'=1"],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠a', "'＠a"],
    ['+49 30', "'+49 30"],
    ['a; "=1', `a; "'=1`],
  ])('%j is a formula', (text, safe) => {
    expect(neutralise(text)).toBe(safe);
  });
});

describe('from table to table', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await openApp();
  });
  afterEach(() => app.close());

  it('nothing changes but the column that was asked for', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        tables(cleanField),
        fc.nat(),
        fc.constantFrom(...delimiters),
        async (table, pick, delimiter) => {
          const width = table[0]?.length ?? 1;
          const column = pick % width;
          const names = Array.from({ length: width }, (_, i) => `h${i}`);
          const writer = createRowWriter({ delimiter, newline: '\r\n', spreadsheet: false });
          const lines = [names, ...table].map((row) => writer.line(row));
          await mkdir(app.folder, { recursive: true });
          const sourceId = await app.open(await app.write(`in${run++}.csv`, lines.join('')));
          const job = await app.run(sourceId, planOf([detokenize(column)], { delimiter }));
          expect(job.state).toBe('finished');
          const blank = table.filter((row) => row[column]?.trim() === '').length;
          expect(job.tally).toEqual({
            rows: table.length,
            ok: table.length - blank,
            failed: 0,
            unmatched: 0,
            blank,
          });
          const outcome = await app.batch['batch.export']({
            jobId: job.jobId,
            content: 'cleartext',
            rows: 'all',
            format: 'csv',
            safety: 'exact',
            delimiter,
            encoding: 'utf-8',
            byteOrderMark: false,
            newline: '\r\n',
            grounds: { reason: 'Refund', caseReference: '' },
            passphrase: null,
          });
          const path = join(app.folder, valueOf(outcome)?.name ?? '');
          const expected = table.map((row) =>
            writer.line(
              row.map((cell, i) => (i === column && cell.trim() !== '' ? cleartextOf(cell) : cell)),
            ),
          );
          expect(await readFile(path, 'utf8')).toBe([lines[0], ...expected].join(''));
          await rm(path);
          valueOf(await app.batch['batch.discard']({ jobId: job.jobId }));
        },
      ),
      { numRuns: 60 },
    );
  });
});
