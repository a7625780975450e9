import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import Papa from 'papaparse';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import type { Delimiter, Encoding, ExportChoice } from '../../../../electron/contract/models/batch.ts';
import {
  detokenize,
  openApp,
  plainExport,
  planOf,
  takeIn,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';
import { encodeText, lettersOf, listEncodings, spreadsheetWays } from '../../../fidelity/corrected-lists.ts';
import { text as textCell, workbook } from '../../../support/make-workbook.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
  app.service.refuses = (value) => value.startsWith('BAD');
});
afterEach(() => app.close());

const wordsIn = (encoding: Encoding): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...lettersOf(encoding), 'a', 'b', ' '), maxLength: 8 }),
    fc.constantFrom(
      '',
      '007',
      '4111111111111111',
      '2026-01-31',
      '=1+1',
      '-x',
      ' pad ',
      'a"b',
      'x;y',
      'x,y',
      'true',
      "O'N",
    ),
  );

interface Case {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  readonly rows: string[][];
  readonly quoted: boolean;
  readonly newline: string;
  readonly as: 'same' | 'utf-8' | 'utf-16le';
  readonly otherDelimiter: Delimiter;
  readonly padding: number;
}

const cases: fc.Arbitrary<Case> = fc.constantFrom(...listEncodings).chain((encoding) =>
  fc.record({
    encoding: fc.constant(encoding),
    delimiter: fc.constantFrom<Delimiter>(',', ';', '\t'),
    rows: fc.array(fc.array(wordsIn(encoding), { minLength: 3, maxLength: 3 }), {
      minLength: 1,
      maxLength: 6,
    }),
    quoted: fc.boolean(),
    newline: fc.constantFrom('\r\n', '\n'),
    as: fc.constantFrom('same', 'utf-8', 'utf-16le'),
    otherDelimiter: fc.constantFrom<Delimiter>(',', ';', '\t', '|'),
    padding: fc.nat({ max: 3 }),
  }),
);

async function exported(jobId: string, choice: Partial<ExportChoice>): Promise<Buffer> {
  const outcome = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId, ...choice });
  return readFile(join(app.folder, valueOf(outcome)?.name ?? ''));
}

const listOf = (jobId: string, choice: Partial<ExportChoice> = {}): Promise<Buffer> =>
  exported(jobId, { content: 'tokens', rows: 'failed', ...choice });

/** Two good rows, and others that are refused until their token is corrected. */
async function run({
  encoding,
  delimiter,
  rows,
  newline,
}: Pick<Case, 'encoding' | 'delimiter' | 'rows' | 'newline'>) {
  const all = [
    ['token', 'b', 'c', 'd'],
    ['tok1', 'x', 'y', 'z'],
    ...rows.map((cells, n) => [`BAD${n}`, ...cells]),
    ['tok2', 'x', '"', 'z'],
  ];
  const text = `${Papa.unparse(all, { delimiter, newline })}${newline}`;
  const sourceId = await app.open(await app.write('in.csv', encodeText(text, encoding)));
  const plan = planOf([detokenize(0, { definition: 'text' })], { encoding, delimiter });
  const { jobId, tally } = await app.run(sourceId, plan);
  expect(tally).toMatchObject({ failed: rows.length });
  const merged = encodeText(text.replace(/tok[12]/g, '<$&>').replace(/BAD(\d)/g, '<good$1>'), encoding);
  return { jobId, merged };
}

async function correct(jobId: string, name: string, content: Buffer) {
  const sourceId = await app.open(await app.write(name, content));
  const result = valueOf(await takeIn(app, { jobId, sourceId }));
  await app.until(jobId, 'finished');
  return result;
}

it('a list in any encoding that comes back in any dialect changes what was corrected and not one byte more', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const { jobId, merged } = await run(one);
      const listed = codecOf(one.encoding)
        .decode(await listOf(jobId))
        .text.replaceAll('BAD', 'good');
      const { data } = Papa.parse<string[]>(listed, { delimiter: one.delimiter, skipEmptyLines: true });
      const padded = data.map((row) => [...row, ...Array.from({ length: one.padding }, () => '')]);
      const resaved = Papa.unparse(padded, {
        delimiter: one.as === 'same' ? one.delimiter : one.otherDelimiter,
        quotes: one.quoted,
        newline: '\n',
      });
      const bytes =
        one.as === 'same' ? encodeText(resaved, one.encoding) : encodeText(`\ufeff${resaved}`, one.as);
      const result = await correct(jobId, 'corrected.csv', bytes);
      expect(result).toMatchObject({ changed: one.rows.length, unchanged: 0, leftOutRows: 0 });
      expect((await exported(jobId, { rows: 'all' })).toString('latin1')).toBe(merged.toString('latin1'));
      await app.batch['batch.discard']({ jobId });
    }),
    {
      numRuns: 60,
      seed: 20_261_126,
      // Nothing about its bytes looks like EBCDIC.
      examples: [
        [
          {
            encoding: 'ibm037',
            delimiter: ',',
            rows: [['', 'ääääääää', '']],
            quoted: true,
            newline: '\r\n',
            as: 'same',
            otherDelimiter: ',',
            padding: 0,
          },
        ],
      ],
    },
  );
}, 120_000);

it.each(Object.keys(spreadsheetWays))(
  'a spreadsheet that %s corrects nothing',
  async (name) => {
    const change = spreadsheetWays[name] ?? String;
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        const { jobId } = await run(one);
        const before = await exported(jobId, { rows: 'all' });
        const { text } = codecOf(one.encoding).decode(await listOf(jobId));
        const { data } = Papa.parse<string[]>(text, { delimiter: one.delimiter, skipEmptyLines: true });
        const changed = data.map((row, n) =>
          n === 0 ? row : [...row.slice(0, 5), ...row.slice(5).map(change)],
        );
        const bytes = encodeText(`\ufeff${Papa.unparse(changed)}`, 'utf-8');
        expect(await correct(jobId, 'resaved.csv', bytes)).toMatchObject({
          changed: 0,
          unchanged: one.rows.length,
          leftOutRows: 0,
        });
        expect((await exported(jobId, { rows: 'all' })).equals(before)).toBe(true);
        await app.batch['batch.discard']({ jobId });
      }),
      { numRuns: 8, seed: 20_261_126 },
    );
  },
  60_000,
);

it('a list that is a workbook comes back cell by cell', async () => {
  const rows = [
    ['00123456', '4111111111111111', 'Łódź'],
    ['2026-01-31', ' padded ', '=1+1'],
    ['1.50', 'TRUE', '+49 30 1234'],
  ];
  const { jobId, merged } = await run({ encoding: 'utf-8', delimiter: ',', rows, newline: '\r\n' });
  await listOf(jobId, { format: 'workbook' });
  const sourceId = await app.open(join(app.folder, 'in_errors.xlsx'));
  const compared = valueOf(await app.batch['batch.compare']({ jobId, sourceId }));
  expect(compared).toMatchObject({ cells: 0, unchanged: 3, leftOutRows: 0 });
  const listed = (await listOf(jobId)).toString().replaceAll('BAD', 'good');
  const { data } = Papa.parse<string[]>(listed, { skipEmptyLines: true });
  const columnOf = (at: number): string => String.fromCharCode(65 + at);
  const sheet = data.map((cells, n) => {
    const row = cells.map((cell, at) => textCell(`${columnOf(at)}${n + 1}`, cell));
    return `<row r="${n + 1}">${row.join('')}</row>`;
  });
  const corrected = await workbook({ sheets: [{ rows: sheet.join('') }] });
  expect(await correct(jobId, 'corrected.xlsx', corrected)).toMatchObject({ changed: 3 });
  expect((await exported(jobId, { rows: 'all' })).toString()).toBe(merged.toString());
});
