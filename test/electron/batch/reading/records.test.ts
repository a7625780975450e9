import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import { detectFormat } from '../../../../electron/batch/reading/detect.ts';
import { fieldRule, fillField, valueOfField } from '../../../../electron/batch/reading/record-rows.ts';
import { readCopybook } from '../../../../electron/contract/copybook.ts';
import { done } from '../../../../electron/contract/errors.ts';
import type { ColumnPlan, Notice, Plan, Preview } from '../../../../electron/contract/models/batch.ts';
import { recordLayout, type RecordLayout } from '../../../../electron/contract/models/records.ts';
import { presetOf, recordPresets } from '../../../../electron/contract/record-presets.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import {
  cardMaster,
  cardOf,
  copybook,
  dtausFile,
  nachaFile,
  settlementFile,
} from '../../../fidelity/fixed-width.ts';
import { fromMemory } from '../../../fidelity/run-cases.ts';
import { codeOf, detokenize, openApp, valueOf, type TestApp } from '../../../support/batch-app.ts';

const layoutFound = async (bytes: Buffer | string): Promise<RecordLayout | undefined> => {
  const format = await detectFormat(fromMemory(Buffer.from(bytes)), {});
  if (!format.ok) throw new Error(format.failure.code);
  expect(format.value.guesses.records ?? false).toBe(format.value.records !== undefined);
  return format.value.records;
};

const line = (n: number): string =>
  `Person ${n % 10}   ${cardOf(n)}   ${String(n * 137).padStart(9)}  2026-01-${String(10 + (n % 20))}`;
const table = (rows: number): string => Array.from({ length: rows }, (_, n) => `${line(n)}\n`).join('');

describe('a guess', () => {
  it('knows NACHA, DTAUS and card settlement, with or without line ends', async () => {
    expect(await layoutFound(nachaFile(4))).toEqual(presetOf('nacha'));
    expect(await layoutFound(nachaFile(4).replaceAll('\n', ''))).toEqual({
      ...presetOf('nacha'),
      lines: false,
    });
    expect(await layoutFound(dtausFile(3))).toEqual(presetOf('dtaus'));
    expect(await layoutFound(dtausFile(3).replaceAll(/.{128}/gs, '$&\r\n'))).toEqual({
      ...presetOf('dtaus'),
      lines: true,
    });
    expect(await layoutFound(settlementFile(5))).toEqual(presetOf('base2'));
    // One of its lines may be damaged.
    const lines = nachaFile(12).split('\n');
    expect(await layoutFound(lines.map((one, at) => (at === 4 ? one.slice(1) : one)).join('\n'))).toEqual(
      presetOf('nacha'),
    );
    const inEbcdic = codecOf('ibm037').encode(nachaFile(4).replaceAll('\n', '\x85'));
    expect(inEbcdic.ok && (await layoutFound(inEbcdic.bytes))).toEqual(presetOf('nacha'));
  });

  it('proposes columns where all rows go on behind a blank, or change their class', async () => {
    const found = await layoutFound(table(20));
    expect(found?.bytes).toBe(line(1).length);
    expect(found?.columns.map(({ start, fill }) => [start, fill])).toEqual([
      [1, 'left'],
      [8, 'left'],
      [12, 'left'],
      [36, undefined],
      [42, undefined],
    ]);
  });

  it('takes the names from a header', async () => {
    const rows = Array.from({ length: 20 }, (_, n) => `Person ${n % 10}     ${cardOf(n)}   ${100 + n}`);
    const found = await layoutFound(['Name         Card               Sum', ...rows, ''].join('\n'));
    expect(found?.columns.map(({ name }) => name)).toEqual(['Name', 'Column 2', 'Card', 'Sum']);
  });

  it('leaves a header and a trailer out where letters before digits say which record is of which type', async () => {
    const rows = Array.from({ length: 20 }, (_, n) => `DTL${cardOf(n)}  ${'NAME'.padEnd(12)}`);
    const found = async (...lines: string[]): Promise<RecordLayout | undefined> =>
      layoutFound(lines.map((one) => `${one.padEnd(33)}\n`).join(''));
    const layout = await found('HDR20261126  CARDS', ...rows, 'TRL0000020  X');
    expect(layout).toMatchObject({ bytes: 33, only: { start: 1, texts: ['DTL'] } });
    expect(layout?.columns.map(({ start }) => start)).toEqual([1, 4, 22]);
    expect((await found(...rows, 'TRL0000020  X'))?.only?.texts).toEqual(['DTL']);
    expect((await found('HDR20261126  CARDS', ...rows))?.only?.texts).toEqual(['DTL']);
    expect(await found(...rows)).toMatchObject({ lines: true });
    expect((await found(...rows))?.only).toBeUndefined();
    const mixed = rows.map((row, n) => (n % 5 === 2 ? row.replace('DTL', 'ADD') : row));
    expect((await found('HDR20261126  CARDS', ...mixed))?.only).toBeUndefined();
    expect((await found('NAME', ...rows))?.only).toBeUndefined();
  });

  it('finds the length of records that no line end parts', async () => {
    const { bytes, layout } = cardMaster(40, 'ibm037');
    const found = await layoutFound(bytes);
    expect(found).toMatchObject({ lines: false, bytes: layout.bytes });
  });

  it.each([
    ['a list of tokens', Array.from({ length: 40 }, (_, n) => `tok${1000 + n}abcd\n`).join('')],
    ['a list of cards', Array.from({ length: 40 }, (_, n) => `${cardOf(n)}\n`).join('')],
    ['a table with commas', 'a,b\n1,2\n3,4\n5,6\n'],
    ['a sentence', 'one line without an end'],
    ['prose', 'The first line of it.\nAnother one, which is longer.\nThe end.\n'],
  ])('is none for %s', async (_, text) => {
    expect(await layoutFound(text)).toBeUndefined();
  });
});

describe('a field', () => {
  const field = { name: 'f', start: 1, width: 8 };
  const own = { blank: ' ', zero: '0' };

  it('keeps its alignment and what fills it up', () => {
    const fill = (present: string, over = {}, value = 'tok'): string =>
      fillField(value, { ...field, ...over, present, ...own });
    expect(fill('4111    ')).toBe('tok     ');
    expect(fill('    4111')).toBe('     tok');
    expect(fill('  4111  ')).toBe('  tok   ');
    expect(fill('41114111')).toBe('tok     ');
    expect(fill('41114111', { fill: 'right' })).toBe('     tok');
    expect(fill('00004111', { fill: 'zeros' })).toBe('00000tok');
    // A mask: no result is as long.
    expect(fill('41114111', {}, '41••••••11')).toBe('41••••••');
  });

  it('takes only what is read from it as itself', () => {
    const fits = (value: string, over = {}, encoding: 'utf-8' | 'ibm037' = 'utf-8'): boolean =>
      fieldRule({ records: { lines: true, columns: [{ ...field, ...over }] }, encoding }, 0)?.(value) ?? true;
    expect(fits('12345678')).toBe(true);
    expect(fits('123456789')).toBe(false);
    // By bytes, of which an accented letter has two in UTF-8 and one in EBCDIC.
    expect(fits('müllerei')).toBe(false);
    expect(fits('müllerei', {}, 'ibm037')).toBe(true);
    expect(fits(' token')).toBe(false);
    expect(fits('0123', { fill: 'zeros' })).toBe(false);
    expect(fits('1230', { fill: 'zeros' })).toBe(true);
    expect(fits('a\nb')).toBe(false);
    expect(fits('1', { packed: true })).toBe(false);
    expect(valueOfField('\0\0\0\0', {})).toBe('');
  });
});

describe('a layout', () => {
  const columns = [
    { name: 'A', start: 1, width: 4 },
    { name: 'B', start: 5, width: 4 },
  ];
  it.each<[string, object]>([
    ['no length without line ends', { lines: false, columns }],
    ['a column over another', { lines: true, columns: [columns[0], { name: 'B', start: 4, width: 4 }] }],
    ['a column behind the end', { lines: true, bytes: 7, columns }],
    ['two columns of one name', { lines: true, columns: [columns[0], { ...columns[1], name: 'A' }] }],
    ['no columns', { lines: true, columns: [] }],
    ['columns in another order', { lines: true, columns: columns.toReversed() }],
  ])('is refused with %s', (_, layout) => {
    expect(recordLayout.safeParse(layout).success).toBe(false);
  });
  it('is one otherwise, and so are those that are shipped', () => {
    expect(recordLayout.safeParse({ lines: true, columns }).success).toBe(true);
    for (const { layout } of recordPresets) expect(recordLayout.safeParse(layout).success).toBe(true);
  });
});

describe('a copybook', () => {
  it('gives columns by its pictures, usages and repetitions', () => {
    const read = readCopybook(copybook);
    if ('problem' in read) throw new Error(read.problem);
    expect(read.bytes).toBe(2 + 19 + 20 + 15 + 6 + 14 + 8 + 3);
    expect(
      read.columns.map(({ name, start, width, packed }) => [name, start, width, packed === true]),
    ).toEqual([
      ['REC-TYPE', 1, 2, false],
      ['CARD-NO', 3, 19, false],
      ['LAST-NAME', 22, 20, false],
      ['FIRST-NAME', 42, 15, false],
      ['BALANCE', 57, 6, true],
      ['LIMIT-AMOUNT', 63, 7, false],
      ['LIMIT-AMOUNT (2)', 70, 7, false],
      ['OPENED', 77, 8, false],
      ['FILLER (1)', 85, 3, false],
    ]);
    expect(read.leftOut).toEqual(['OPENED-PARTS (redefines OPENED)']);
  });

  it.each<[string, number, boolean]>([
    ['S9(4) COMP', 2, true],
    ['9(9) USAGE IS BINARY', 4, true],
    ['S9(10) COMP-5', 8, true],
    ['9(5) PACKED-DECIMAL', 3, true],
    ['S9(6)', 6, true],
    ['S9(6) SIGN LEADING SEPARATE', 7, false],
    ['ZZZ,ZZ9.99', 10, false],
    ['A(5)', 5, false],
    ['9(5)V99', 7, false],
    ['X', 1, false],
  ])('PIC %s', (picture, width, packed) => {
    const read = readCopybook(`05 F PIC ${picture}.`);
    expect('problem' in read ? read.problem : read.columns[0]).toMatchObject({
      width,
      ...(packed && { packed }),
    });
  });

  it.each([
    ['nothing', 'hello', 'level number'],
    [
      'a length that depends on a field',
      '01 R. 05 N PIC 9. 05 T OCCURS 1 TO 9 DEPENDING ON N PIC X.',
      'depends',
    ],
    ['two records', '01 A. 05 B PIC X. 01 C. 05 D PIC X.', 'more than one'],
    ['letters of two bytes', '05 N PIC N(4).', 'two bytes'],
    ['a picture that is none', '05 N PIC ?.', 'can’t be read'],
    ['too many bytes', '05 N PIC X(40000).', 'too long'],
    ['no picture', '01 A. 05 B.', 'no PIC'],
  ])('says why %s is no layout', (_, text, why) => {
    const read = readCopybook(text);
    expect('problem' in read ? read.problem : '').toContain(why);
  });
});

describe('files', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp();
  });
  afterAll(() => app.close());

  const open = async (bytes: Buffer | string): Promise<string> => app.open(await app.write('in.txt', bytes));
  const previewOf = async (
    bytes: Buffer | string,
    reading: Partial<Plan['reading']> = {},
  ): Promise<Preview> =>
    valueOf(await app.batch['batch.preview']({ sourceId: await open(bytes), reading, masked: null }));
  const planFor = (records: RecordLayout, ...names: string[]): Plan => ({
    reading: { encoding: 'utf-8', delimiter: ',', header: false, records },
    columns: names.map((name): ColumnPlan =>
      detokenize(
        records.columns.findIndex((column) => column.name === name),
        { definition: 'text' },
      ),
    ),
  });
  const answers = (make: (value: string) => string): void => {
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: true as const,
          value: cleartext(make(value)),
        })),
      });
  };
  const noticesOf = async (bytes: string, plan: Plan): Promise<Notice[]> => {
    const sourceId = await open(bytes);
    app.preflights.length = 0;
    await app.batch['batch.preflight']({ sourceId, plan });
    await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
    return app.preflights.at(-1)?.notices ?? [];
  };

  it('show records as masked as their cells, and nothing of a number that a layout divides', async () => {
    const bytes = table(20);
    const shown = await previewOf(bytes);
    expect(shown.records?.lines).toHaveLength(20);
    expect(shown.records?.lines[3]).toHaveLength(line(3).length);
    for (let n = 0; n < 20; n++) expect(JSON.stringify(shown)).not.toContain(cardOf(n));
    const start = line(0).indexOf(cardOf(0)) + 1;
    const pieces = [0, 4, 8, 12].map((at) => ({ name: `c${at}`, start: start + at, width: 4 }));
    const divided = await previewOf(bytes, { records: { lines: true, columns: pieces } });
    expect(new Set(divided.rows.flat())).toEqual(new Set(['•'.repeat(8)]));
    expect(divided.records?.lines.join('')).not.toMatch(/[0-9]/);
    // Nor as lines in which the number touches others.
    const touching = Array.from({ length: 20 }, (_, n) => `7${cardOf(n)}${n % 10}  x${n % 10}  y\n`).join('');
    const whole = await previewOf(touching, { delimiter: ',' });
    for (let n = 0; n < 20; n++) expect(JSON.stringify(whole)).not.toContain(cardOf(n));
    // A layout that leaves it whole shows the rest.
    const fitting = await previewOf(bytes, {
      records: {
        lines: true,
        columns: [
          { name: 'Name', start: 1, width: 10 },
          { name: 'Card', start, width: 16 },
        ],
      },
    });
    expect(fitting.rows[3]?.[0]).toBe('Person 3');
    expect(fitting.columns[1]?.masked).toBe(true);
  });

  it('fail a cell whose result does not fit its field, with its row, and keep the others', async () => {
    const layout = presetOf('nacha');
    const bytes = nachaFile(4, 3);
    answers((value) => (value.startsWith('SMITH') ? 'A NAME OF MORE THAN 22 BYTES' : 'TOK'));
    const job = await app.run(await open(bytes), planFor(layout, 'Individual name'));
    expect(job.tally).toMatchObject({ ok: 3, failed: 1 });
    expect(job.failures).toMatchObject([{ code: 'value.field-width', count: 1, retriable: false }]);
    const row = bytes.split('\n').findIndex((one) => one.includes('SMITH')) + 1;
    expect(job.failures[0]?.firstRow).toBe(row);
    const written = valueOf(await app.export(job.jobId, { safety: 'source' })).split('\n');
    expect(written.map((one) => one.length)).toEqual(bytes.split('\n').map((one) => one.length));
    expect(written[row - 1]).toBe(bytes.split('\n')[row - 1]);
    expect(app.suggested.at(-1)?.name).toMatch(/\.txt$/);
    // A list of failed rows is a table, with the reasons.
    const list = valueOf(await app.export(job.jobId, { safety: 'source', rows: 'failed' }));
    expect(list.split('\r\n')[0]).toBe(
      `source_row,column,reason,code,${layout.columns.map(({ name }) => name).join(',')}`,
    );
    expect(list).toContain('The result does not fit its field');
  });

  it('leave out records of other types where they are written as a table', async () => {
    answers(() => 'TOK');
    const job = await app.run(await open(nachaFile(3)), planFor(presetOf('nacha'), 'Individual name'));
    expect(job.tally).toMatchObject({ ok: 3, failed: 0, blank: 7 });
    const rows = valueOf(await app.export(job.jobId))
      .trim()
      .split('\r\n');
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatch(/^Record type,Transaction code/);
  });

  it('have no room for other columns in their own form', async () => {
    const plan = planFor(presetOf('nacha'), 'Individual name');
    const beside = {
      ...plan,
      columns: plan.columns.map((column) => ({ ...column, into: 'beside' as const })),
    };
    const job = await app.run(await open(nachaFile(3)), beside);
    expect(codeOf(await app.export(job.jobId, { safety: 'source' }))).toBe('export.no-columns');
    expect(codeOf(await app.export(job.jobId))).toBe('ok');
  });

  it('send nothing of records of another length, and of those that are cut', async () => {
    const lines = nachaFile(4, 3).split('\n');
    lines[2] = lines[2]?.slice(0, -1) ?? '';
    app.service.sent.length = 0;
    answers((value) => value);
    const job = await app.run(
      await open(lines.join('\n').slice(0, -40)),
      planFor(presetOf('nacha'), 'Individual name'),
    );
    expect(job.failures).toMatchObject([{ code: 'row.record-length', count: 1, firstRow: 3 }]);
    expect(app.service.sent).toHaveLength(3);
  });

  it('send nothing of records without line ends that do not fill their file', async () => {
    const plan = planFor(presetOf('dtaus'), 'Name of the payee');
    const started = async (bytes: string): Promise<string> =>
      codeOf(await app.batch['batch.start']({ sourceId: await open(bytes), plan, grounds: null }));
    const whole = dtausFile(2);
    app.service.sent.length = 0;
    for (const damaged of [
      whole.slice(0, -200),
      whole.slice(0, 128 + 256 + 60),
      whole.slice(0, 200) + whole.slice(201),
      // What is left over is the blank that ends the last record.
      `${whole.slice(0, 200)}x${whole.slice(200)}`,
    ])
      expect(await started(damaged)).toBe('file.record-length');
    expect(app.service.sent).toEqual([]);
    answers((value) => value);
    for (const end of ['\r\n', '\x1a'])
      expect((await app.run(await open(whole + end), plan)).tally).toMatchObject({ ok: 2, failed: 0 });
  });

  it('never change a packed number', async () => {
    const { bytes, layout } = cardMaster(6, 'ibm037');
    const plan = {
      ...planFor(layout, 'BALANCE'),
      reading: { ...planFor(layout).reading, encoding: 'ibm037' as const },
    };
    const started = await app.batch['batch.start']({ sourceId: await open(bytes), plan, grounds: null });
    expect(codeOf(started)).toBe('plan.column-packed');
  });

  it('say which totals will not agree, and show the entry hash', async () => {
    const bytes = nachaFile(9, 5);
    const hash = bytes
      .split('\n')
      .find((one) => /^9(?!99)/.test(one))
      ?.slice(21, 31);
    const of = (notices: Notice[], kind: Notice['kind']): unknown => notices.find((one) => one.kind === kind);
    const kept = await noticesOf(bytes, planFor(presetOf('nacha'), 'Account number'));
    expect(of(kept, 'total-stays')).toMatchObject({ figure: hash });
    expect(of(kept, 'records-others')).toMatchObject({ count: bytes.trim().split('\n').length - 9 });
    const changed = await noticesOf(bytes, planFor(presetOf('nacha'), 'Receiving bank'));
    expect(of(changed, 'total-changes')).toMatchObject({ figure: hash });
    const wrong = await noticesOf(
      bytes
        .split('\n')
        .filter((_, at) => at !== 2)
        .join('\n'),
      planFor(presetOf('nacha'), 'Account number'),
    );
    expect(of(wrong, 'total-wrong')).toBeDefined();
    const cut = await noticesOf(
      bytes.split('\n').slice(0, 8).join('\n'),
      planFor(presetOf('nacha'), 'Account number'),
    );
    expect(of(cut, 'total-missing')).toBeDefined();
    // A sum of account numbers tells one where there are few.
    const german = await noticesOf(dtausFile(1), planFor(presetOf('dtaus'), 'Account of the payee'));
    expect(of(german, 'total-changes')).toMatchObject({ column: 'The sum of the account numbers' });
    expect(german.every(({ figure }) => figure === undefined)).toBe(true);
  });

  it('count a card that stays in clear in a record of another type, or between columns', async () => {
    const rows = Array.from(
      { length: 6 },
      (_, n) => `D${cardOf(n)}  TOK${n}  ${n === 3 ? cardOf(90) : 'x'.padEnd(16)}\n`,
    );
    const bytes = `H HEADER ${cardOf(77)}\n${rows.join('')}`;
    const records: RecordLayout = {
      lines: true,
      only: { start: 1, texts: ['D'] },
      columns: [
        { name: 'Card', start: 2, width: 16 },
        { name: 'Token', start: 20, width: 4 },
      ],
    };
    answers(() => 'T');
    const job = await app.run(await open(bytes), planFor(records, 'Token'));
    const exported = valueOf(
      await app.batch['batch.export']({
        content: 'tokens',
        rows: 'all',
        format: 'csv',
        safety: 'source',
        delimiter: ',',
        encoding: 'utf-8',
        byteOrderMark: false,
        newline: '\n',
        grounds: null,
        passphrase: null,
        jobId: job.jobId,
      }),
    );
    expect(exported?.remaining?.cards).toBe(8);
  });
});
