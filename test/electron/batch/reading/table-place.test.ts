import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job, Plan, Preview, Reading } from '../../../../electron/contract/models/batch.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { done } from '../../../../electron/contract/errors.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import {
  codeOf,
  detokenize,
  openApp,
  plainExport,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';
import { text, workbook } from '../../../support/make-workbook.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
  app.service.answer = (_, elements) =>
    done({
      requestId: 'r',
      elements: elements.map(({ ref, value }) => ({
        ref,
        ok: true as const,
        value: cleartext(`<${value}>`),
      })),
    });
});
afterEach(() => app.close());

type Overrides = Partial<Reading>;

async function previewOf(content: string | Buffer, reading: Overrides = {}): Promise<Preview> {
  const sourceId = await app.open(await app.write('in.csv', content));
  return valueOf(await app.batch['batch.preview']({ sourceId, reading, masked: null }));
}

async function run(content: string | Buffer, reading: Overrides = {}, column = 0): Promise<Job> {
  const shown = await previewOf(content, reading);
  const plan: Plan = { reading: shown.reading, columns: [detokenize(column, { definition: 'text' })] };
  return app.run(shown.source.sourceId, plan);
}

async function exportOf(job: Job, over: object = {}): Promise<string> {
  const choice = {
    ...plainExport,
    safety: 'source',
    content: 'cleartext',
    jobId: job.jobId,
    ...over,
  } as const;
  const exported = valueOf(await app.batch['batch.export'](choice));
  return readFile(join(app.folder, exported?.name ?? ''), 'utf8');
}

const rows = (count: number): string[] =>
  Array.from({ length: count }, (_, row) => `t${row};0${1 + (row % 9)}.02.2026;${10 + row},50;Shop ${row}`);

const statement = [
  '"Konto";"Girokonto DE02"',
  '"Von";"01.02.2026"',
  '"Bis";"28.02.2026"',
  '',
  'Token;Buchung;Betrag;Text',
  ...rows(12),
];
const lines = (all: readonly string[]): string => all.map((line) => `${line}\r\n`).join('');

describe('lines above a header', () => {
  it('are found, said to be a guess, never sent, and go out byte for byte', async () => {
    const content = lines(statement);
    const shown = await previewOf(content);
    expect(shown.reading).toMatchObject({ header: true, headerRow: 5, delimiter: ';' });
    expect(shown.guesses.header).toBe(true);
    expect(shown.columns.map(({ name }) => name)).toEqual(['Token', 'Buchung', 'Betrag', 'Text']);
    expect(shown.above.map((row) => row[0])).toEqual(['Konto', 'Von', 'Bis', '', 'Token']);
    const job = await run(content);
    expect(job).toMatchObject({ state: 'finished', tally: { rows: 12, ok: 12 } });
    expect(app.service.sent.flat().sort()).toEqual(
      rows(12)
        .map((_, row) => `t${row}`)
        .sort(),
    );
    expect(await exportOf(job)).toBe(content.replaceAll(/^(t\d+);/gm, '<$1>;'));
  });

  it('stay above in an export of another form, and are not in one of some rows', async () => {
    const job = await run(lines(statement));
    const converted = await exportOf(job, { safety: 'exact', delimiter: ',', newline: '\n' });
    expect(converted).toContain(
      'Konto,Girokonto DE02\nVon,01.02.2026\nBis,28.02.2026\n\nToken,Buchung,Betrag,Text\n',
    );
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) =>
          value === 't3'
            ? { ref, ok: false as const, code: 'service.element-refused' as const }
            : { ref, ok: true as const, value: cleartext(`<${value}>`) },
        ),
      });
    const other = await run(lines(statement));
    const failed = await exportOf(other, { rows: 'failed', content: 'tokens' });
    expect(failed.split('\r\n')[0]).toBe('source_row;column;reason;code;Token;Buchung;Betrag;Text');
  });

  it.each<[string, string[], Overrides]>([
    [
      'comments',
      ['# made by x', '# on a day', 'id,token,amount', '1,a1,5', '2,b2,6', '3,c3,7'],
      { headerRow: 3 },
    ],
    ['a line of dashes', ['id|token|n', '-----|-----|-----', '1|a1|5', '2|b2|6', '3|c3|7'], { firstRow: 3 }],
    [
      'cells a spreadsheet padded',
      ['Report,,', ',,', 'id,token,note', '1,a1,x', '2,b2,y', '3,c3,z'],
      { headerRow: 3 },
    ],
    [
      'a long letterhead',
      [...Array.from({ length: 25 }, (_, i) => `Key ${i};value`), 'id;token;amount', '1;a1;5', '2;b2;6'],
      { headerRow: 26 },
    ],
  ])('%s', async (_, all, place) => {
    const shown = await previewOf(lines(all));
    expect(shown.reading).toMatchObject(place);
    expect(shown.guesses.header).toBe(true);
    expect(shown.columns.map(({ name }) => name)[1]).toBe('token');
  });

  it('a line sep= tells the delimiter, and is no row', async () => {
    for (const delimiter of [';', '^', '\t']) {
      const all = [
        `sep=${delimiter}`,
        ...['id;token;amount', '1;a1;5', '2;b2;6', '3;c3;7'].map((line) => line.replaceAll(';', delimiter)),
      ];
      const shown = await previewOf(lines(all));
      expect(shown.reading).toMatchObject({ delimiter, headerRow: 2 });
      expect(shown.guesses).toMatchObject({ delimiter: null, header: false });
      const job = await run(lines(all), {}, 1);
      expect(job.tally).toMatchObject({ rows: 3, ok: 3 });
      expect(await exportOf(job)).toBe(lines(all).replaceAll(/(a1|b2|c3)/g, '<$1>'));
      // It would tell a spreadsheet the wrong one.
      expect(await exportOf(job, { safety: 'exact', delimiter: ',' })).toMatch(/^id,token,amount\r\n/);
    }
  });

  it('rows that are wrong are not left out for lines above: they are rows, and said to be malformed', async () => {
    const multi = ['HDR|20260201|3', ...Array.from({ length: 50 }, (_, i) => `DTL|t${i}|${i}|a|b`)];
    const shown = await previewOf(lines(multi));
    expect(shown.reading).toEqual({ encoding: 'utf-8', delimiter: '|', header: false });
    expect(shown.columns).toHaveLength(5);
    const job = await run(lines(multi), {}, 1);
    expect(job.tally).toMatchObject({ rows: 51, ok: 50, failed: 1 });
  });

  it('a first row that no other is as wide as is asked about, though it may be names', async () => {
    const multi = ['HDR|x|y', ...Array.from({ length: 50 }, (_, i) => `DTL|t${i}|${i}|a|b`)];
    expect((await previewOf(lines(multi))).guesses.header).toBe(true);
    const names = ['id|x|y', ...Array.from({ length: 50 }, (_, i) => `t${i}|${i}|a`)];
    expect((await previewOf(lines([...names, 't|1|a|b']))).guesses.header).toBe(false);
  });

  it('rows that end with a delimiter have the names of a header that does not', async () => {
    const shown = await previewOf(
      lines(['name;token', ...Array.from({ length: 9 }, (_, i) => `n${i};t${i};`)]),
    );
    expect(shown.reading).toMatchObject({ header: true });
    expect(shown.columns.map(({ name }) => name)).toEqual(['name', 'token', 'Column 3']);
    expect(shown.notices.map(({ kind }) => kind)).not.toContain('row-malformed');
  });
});

describe('rows below a table', () => {
  const content = lines([...statement.slice(4), 'Summe;;1234,50;', '', '(12 Buchungen)']);

  it('are found, said to be a guess, never sent, and go out byte for byte', async () => {
    const shown = await previewOf(content);
    expect(shown.reading).toMatchObject({ header: true, rowsBelow: 3 });
    expect(shown.guesses.header).toBe(true);
    expect(shown.below.map((row) => row[0])).toEqual(['Summe', '', '(12 Buchungen)']);
    const job = await run(content);
    expect(job).toMatchObject({ state: 'finished', tally: { rows: 12, ok: 12 } });
    expect(app.service.sent.flat()).not.toContain('Summe');
    expect(await exportOf(job)).toBe(content.replaceAll(/^(t\d+);/gm, '<$1>;'));
  });

  it('are rows where a person says so', async () => {
    const shown = await previewOf(content, { header: true });
    expect(shown.reading.rowsBelow).toBeUndefined();
    expect(shown.guesses.header).toBe(false);
    const job = await run(content, { header: true });
    expect(job.tally.rows).toBe(15);
  });

  it('are not a row that was cut, nor a value that looks like a word for a sum', async () => {
    expect((await previewOf(`${lines(statement.slice(4))}t99;01`)).reading.rowsBelow).toBeUndefined();
    const sums = lines(['token;note;n', 'a1;x;1', 'b2;y;2', 'Total;z;3']);
    expect((await previewOf(sums)).reading.rowsBelow).toBeUndefined();
  });

  it('are shown below a long file, with the last rows of the table', async () => {
    const long = lines([statement[4] ?? '', ...rows(5_000), 'Summe;;1234,50;']);
    const shown = await previewOf(long);
    expect(shown.reading.rowsBelow).toBe(1);
    expect(shown.last.map((row) => row[0])).toEqual(['t4995', 't4996', 't4997', 't4998', 't4999']);
    expect(shown.below).toEqual([['Summe', '', '1234,50', '']]);
  });
});

describe('a person says where the table is', () => {
  it('by its header, its first row, its last one; what is outside is not sent and goes out', async () => {
    const content = lines(['a;1', 'x;y', 'name;token', '---;unit', 't1;u1', 't2;u2', 't3;u3', 'end;here']);
    const place = { header: true, headerRow: 3, firstRow: 5, rowsBelow: 1 };
    const shown = await previewOf(content, place);
    expect(shown.reading).toMatchObject(place);
    expect(shown.guesses.header).toBe(false);
    expect(shown.rows.map((row) => row[0])).toEqual(['t1', 't2', 't3']);
    const job = await run(content, place);
    expect(job.tally).toMatchObject({ rows: 3, ok: 3 });
    expect(app.service.sent.flat()).toEqual(['t1', 't2', 't3']);
    expect(await exportOf(job)).toBe(content.replaceAll(/^(t\d)/gm, '<$1>'));
  });

  it('and a column that its own header hides stays hidden', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `C01X0${String.fromCharCode(65 + (i % 26))}T47;t${i}`);
    const content = lines(['passport;token', ...names]);
    const own = await previewOf(content);
    expect(own.columns[0]?.masked).toBe(true);
    for (const place of [
      { header: true, headerRow: 9 },
      { header: false, firstRow: 20 },
      { header: false, rowsBelow: 20 },
    ]) {
      const shown = await previewOf(content, place);
      expect(shown.columns[0]?.masked).toBe(true);
      expect(JSON.stringify([shown.rows, shown.above.slice(1), shown.last, shown.below])).not.toMatch(
        /C01X0[A-Z]T47/,
      );
    }
  });

  it('a killed batch goes on, and the sum holds', async () => {
    const content = lines([...statement.slice(0, 5), ...rows(4_000), 'Summe;;1;']);
    const job = await run(content);
    expect(job.tally.rows).toBe(4_000);
    expect(job.state).toBe('finished');
  });
});

describe('any character can be the delimiter', () => {
  it.each(['^', '~', '\x01', '\x1f', ':', '#', ' ', '-', ']', '\\', '§'])('%j', async (delimiter) => {
    const text = [
      ['name', 'token', 'note'],
      ['a', 't1', 'k'],
      ['b', 't2', 'l'],
      ['c', 't3', 'm'],
    ]
      .map((row) => `${row.join(delimiter)}\n`)
      .join('');
    const content = Buffer.from(text, 'latin1');
    const encoding = delimiter === '§' ? 'windows-1252' : 'utf-8';
    const job = await run(content, { delimiter, encoding, header: true }, 1);
    expect(job.tally).toMatchObject({ rows: 3, ok: 3 });
    expect(app.service.sent.flat()).toEqual(['t1', 't2', 't3']);
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: true as const,
          value: cleartext(`${value}${delimiter}"`),
        })),
      });
    const again = await run(content, { delimiter, encoding, header: true }, 1);
    const path = valueOf(
      await app.batch['batch.export']({
        ...plainExport,
        safety: 'source',
        content: 'cleartext',
        jobId: again.jobId,
      }),
    )?.name;
    const written = (await readFile(join(app.folder, path ?? ''))).toString('latin1');
    expect(written).toContain(`a${delimiter}"t1${delimiter}"""${delimiter}k`);
  });

  it('is refused where an encoding writes it in several bytes', async () => {
    const sourceId = await app.open(await app.write('in.csv', 'a§b\n1§2\n'));
    const reading = { delimiter: '§', encoding: 'utf-8' } as const;
    expect(codeOf(await app.batch['batch.preview']({ sourceId, reading, masked: null }))).toBe(
      'file.delimiter',
    );
  });

  it.each<[string, string, string[] | null]>([
    ['a^b^c\n1^2,5^3\n4^5,5^6\n', '^', [',']],
    ['a\x01b\n1\x012\n3\x014\n', '\x01', []],
    ['token\nt1\nt2\n', ',', []],
    ['a:b\n1:2\n3:4\n', ',', [':']],
    ['Anna Smith x\nBert Jones y\nCarl Adam z\n', ',', [' ']],
  ])('of %j %j is taken, on a guess', async (content, delimiter, alternatives) => {
    const shown = await previewOf(content);
    expect(shown.reading.delimiter).toBe(delimiter);
    expect(shown.guesses.delimiter).toEqual(alternatives);
  });
});

const sheetOf = (cells: string[][]): Promise<Buffer> =>
  workbook({
    sheets: [
      {
        rows: cells
          .map(
            (row, r) =>
              `<row r="${r + 1}">${row.map((cell, c) => text(`${'ABC'[c] ?? ''}${r + 1}`, cell)).join('')}</row>`,
          )
          .join(''),
      },
    ],
  });

describe('a sheet', () => {
  it('with a title and a sum: neither is sent, and both are in the export', async () => {
    const bytes = await sheetOf([
      ['Report of January'],
      [],
      ['token', 'a', 'b'],
      ['t1', 'x', 'y'],
      ['t2', 'x', 'z'],
      ['Total', '', '2'],
    ]);
    const sourceId = await app.open(await app.write('in.xlsx', bytes));
    const shown = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
    expect(shown.reading).toMatchObject({ header: true, headerRow: 3, rowsBelow: 1 });
    const job = await app.run(sourceId, {
      reading: shown.reading,
      columns: [detokenize(0, { definition: 'text' })],
    });
    expect(job.tally).toMatchObject({ rows: 2, ok: 2 });
    expect(app.service.sent.flat()).toEqual(['t1', 't2']);
    const saved = await exportOf(job, { safety: 'exact', newline: '\n' });
    expect(saved).toBe('Report of January,,\n,,\ntoken,a,b\n<t1>,x,y\n<t2>,x,z\nTotal,,2\n');
  });
});
