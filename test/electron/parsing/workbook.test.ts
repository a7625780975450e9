import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCleartext } from '../../../electron/util/cleartext.ts';
import { createSheetWriter, workbookFile } from '../../../electron/batch/output/write-workbook.ts';
import { detectFormat } from '../../../electron/batch/reading/detect.ts';
import { openEncryptedSource } from '../../../electron/batch/reading/encrypted-copies.ts';
import { beginning, readRows } from '../../../electron/batch/reading/read-rows.ts';
import { readPacked } from '../../../electron/parsing/packed/read-packed.ts';
import type { Converted } from '../../../electron/parsing/workbook/convert-sheet.ts';
import { done, type Failure, type Outcome } from '../../../electron/contract/errors.ts';
import { openAtomicFile } from '../../../electron/storage/atomic-file.ts';
import { createEncryptedFile } from '../../../electron/storage/encrypted-file.ts';
import { createRecordCipher } from '../../../electron/storage/encryption.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { partsOf, text, workbook, zip } from '../../support/make-workbook.ts';

let folder: string;
let files = 0;
const cipher = createRecordCipher(new Uint8Array(32).fill(3), 'test');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokendesk-workbook-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function convert(
  bytes: Buffer,
  sheet: string | null = null,
  report: (share: number) => void = () => undefined,
): Promise<Outcome<{ rows: string[][]; flawed: number; converted: Converted }>> {
  const path = join(folder, `${++files}.xlsx`);
  const copy = join(folder, `${files}.copy`);
  await writeFile(path, bytes);
  const createOutput = () => createEncryptedFile(copy, cipher);
  const outcome = await readPacked({ path, sheet, passphrase: null, createOutput, report });
  if (!outcome.ok) return outcome;
  const { converted } = outcome.value;
  if (converted === null) throw new Error('no workbook');
  const source = await openEncryptedSource(copy, cipher);
  if (!source.ok) throw new Error(source.failure.code);
  const format = await detectFormat(source.value, { encoding: 'utf-8', delimiter: ',', header: false });
  if (!format.ok) throw new Error(format.failure.code);
  const rows: string[][] = [];
  let flawed = 0;
  for await (const chunk of readRows(source.value, format.value, beginning(format.value))) {
    if (!chunk.ok) throw new Error(chunk.failure.code);
    rows.push(...chunk.value.table.firstRows().map((row) => row.map(openCleartext)));
    flawed += chunk.value.flaws.size;
  }
  await source.value.close();
  return done({ rows, flawed, converted });
}

async function rowsOf(bytes: Buffer, sheet: string | null = null): Promise<string[][]> {
  const outcome = await convert(bytes, sheet);
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value.rows;
}

async function refusalOf(bytes: Buffer): Promise<Failure> {
  const outcome = await convert(bytes);
  if (outcome.ok) throw new Error('was read');
  return outcome.failure;
}

describe('cells come as the text a person takes them for', () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="000\\-00\\-0000"/>' +
    '<numFmt numFmtId="166" formatCode="[h]:mm"/></numFmts>' +
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/>' +
    '<xf numFmtId="165"/><xf numFmtId="22"/><xf numFmtId="166"/><xf numFmtId="20"/></cellXfs>';
  const cells: [string, string][] = [
    ['<c r="A1" t="s"><v>0</v></c>', '4111111111111111'],
    ['<c r="A1" t="s"><v>1</v></c>', ' bold and plain '],
    ['<c r="A1" t="s"><v>2</v></c>', '=1+1, "quoted"\nnext'],
    ['<c r="A1" t="s"><v>3</v></c>', 'a\rb_x000D_'],
    ['<c r="A1" t="s"><v>4</v></c>', '東京'],
    ['<c r="A1" t="inlineStr"><is><t>0012</t></is></c>', '0012'],
    ['<c r="A1" t="inlineStr"><is><r><t>00</t></r><r><t><![CDATA[<12>]]></t></r></is></c>', '00<12>'],
    ['<c r="A1" t="str"><f>A2&amp;"x"</f><v>from a formula</v></c>', 'from a formula'],
    ['<c r="A1"><f>1+1</f><v>2</v></c>', '2'],
    ['<c r="A1" t="b"><v>1</v></c>', 'TRUE'],
    ['<c r="A1" t="b"><v>0</v></c>', 'FALSE'],
    ['<c r="A1" t="e"><v>#N/A</v></c>', '#N/A'],
    ['<c r="A1" t="d"><v>2026-02-03T04:05:06</v></c>', '2026-02-03T04:05:06'],
    ['<c r="A1"><v>123456789012345</v></c>', '123456789012345'],
    ['<c r="A1" t="n"><v>-5</v></c>', '-5'],
    ['<c r="A1"><v>1E3</v></c>', '1000'],
    ['<c r="A1"><v>0.30000000000000004</v></c>', '0.3'],
    ['<c r="A1"><v>1.0000000000000001E-7</v></c>', '1E-7'],
    ['<c r="A1" s="1"><v>45306</v></c>', '2024-01-15'],
    ['<c r="A1" s="2"><v>60</v></c>', '1900-02-29'],
    ['<c r="A1" s="2"><v>1</v></c>', '1900-01-01'],
    ['<c r="A1" s="1"><v>45306.5</v></c>', '2024-01-15T12:00:00'],
    ['<c r="A1" s="4"><v>45306</v></c>', '2024-01-15T00:00:00'],
    ['<c r="A1" s="6"><v>0.75</v></c>', '18:00:00'],
    ['<c r="A1" s="5"><v>1.25</v></c>', '30:00:00'],
    ['<c r="A1" s="3"><v>1234567</v></c>', '001-23-4567'],
    ['<c r="A1" s="1"><v>-3</v></c>', '-3'],
  ];
  const strings =
    '<si><t>4111111111111111</t></si><si><r><t> bold</t></r><r><t xml:space="preserve"> and plain </t></r></si>' +
    '<si><t>=1+1, "quoted"\r\nnext</t></si><si><t>a_x000D_b_x005F_x000D_</t></si>' +
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>';

  it.each(cells)('%s', async (cell, shown) => {
    const rows = `<row r="1">${cell}</row>`;
    expect(await rowsOf(await workbook({ sheets: [{ rows }], strings, styles }))).toEqual([[shown]]);
  });

  it('counts days from 1904 where the workbook says so', async () => {
    const rows = '<row r="1"><c r="A1" s="1"><v>43844</v></c></row>';
    const made = await workbook({ sheets: [{ rows }], styles, workbookPr: '<workbookPr date1904="1"/>' });
    expect(await rowsOf(made)).toEqual([['2024-01-15']]);
  });

  it('shows numbers of more than 15 digits as what they are: rounded', async () => {
    const rows =
      `<row r="3">${text('A3', 'id')}${text('B3', 'pan')}</row>` +
      '<row r="4"><c r="A4"><v>7</v></c><c r="B4"><v>4111111111111111</v></c></row>' +
      '<row r="5"><c r="A5"><v>8</v></c><c r="B5"><v>4.1111111111111101E+15</v></c></row>';
    const outcome = await convert(await workbook({ sheets: [{ rows }] }));
    expect(outcome).toMatchObject({
      ok: true,
      value: {
        rows: [
          ['id', 'pan'],
          ['7', '4.11111111111111E+15'],
          ['8', '4.11111111111111E+15'],
        ],
        converted: { rounded: [{ column: 1, row: 2, count: 2 }] },
      },
    });
  });
});

describe('formulas without a stored value', () => {
  it('are blank and counted by column, with the first row of each', async () => {
    const cell = (at: string, inner: string, type = ''): string => `<c r="${at}"${type}>${inner}</c>`;
    const rows =
      `<row r="1">${text('A1', 'id')}${text('B1', 'token')}${text('C1', 'sum')}</row>` +
      `<row r="2">${text('A2', '1')}${cell('B2', '<f>"tok"&amp;A2</f><v></v>')}${cell('C2', '<f>1+1</f><v>2</v>')}</row>` +
      `<row r="3">${text('A3', '2')}${cell('B3', '<f>"tok"&amp;A3</f><v/>')}${cell('C3', '<f>1+1</f>')}</row>` +
      `<row r="4">${text('A4', '3')}${cell('B4', '<f t="shared" si="0"/>', ' t="str"')}</row>`;
    const outcome = await convert(await workbook({ sheets: [{ rows }] }));
    expect(outcome).toMatchObject({
      ok: true,
      value: {
        rows: [
          ['id', 'token', 'sum'],
          ['1', '', '2'],
          ['2', '', ''],
          ['3', '', ''],
        ],
        converted: {
          unevaluated: [
            { column: 1, row: 2, count: 3 },
            { column: 2, row: 3, count: 1 },
          ],
        },
      },
    });
  });

  it('are not those whose value is an empty text', async () => {
    const rows = `<row r="1">${text('A1', 'a')}<c r="B1" t="str"><f>""</f><v></v></c><c r="C1"><v/></c></row>`;
    expect(await convert(await workbook({ sheets: [{ rows }] }))).toMatchObject({
      value: { rows: [['a']], converted: { unevaluated: [] } },
    });
  });

  it('are cells of the table, even where there are no others', async () => {
    const rows = '<row r="1"><c r="B1"><f>A1</f></c></row>';
    expect(await convert(await workbook({ sheets: [{ rows }] }))).toMatchObject({
      value: { rows: [['', '']], converted: { unevaluated: [{ column: 1, row: 1, count: 1 }] } },
    });
  });
});

describe('a sheet is a rectangle', () => {
  it('pads short rows, keeps blank rows between others and drops those around', async () => {
    const rows =
      `<row r="2"/><row r="3">${text('A3', 'a')}${text('B3', 'b')}</row>` +
      `<row r="6">${text('B6', 'x')}</row><row r="7"><c r="A7" s="0"/></row>`;
    const outcome = await convert(await workbook({ sheets: [{ rows }] }));
    expect(outcome).toMatchObject({ ok: true, value: { flawed: 0 } });
    expect(outcome.ok && outcome.value.rows).toEqual([
      ['a', 'b'],
      ['', ''],
      ['', ''],
      ['', 'x'],
    ]);
  });

  it('is as wide as its longest row, wherever that stands', async () => {
    const rows = `<row r="1">${text('A1', 'title')}</row><row r="2">${text('A2', 'a')}${text('AB2', 'z')}</row>`;
    const found = await rowsOf(await workbook({ sheets: [{ rows }] }));
    expect(found.map((row) => row.length)).toEqual([28, 28]);
    expect(found[0]?.[0]).toBe('title');
    expect(found[1]?.[27]).toBe('z');
  });

  it('needs no references, no prefixes of its own and no UTF-8', async () => {
    const plain =
      '<row><c><v>1</v></c><c t="inlineStr"><is><t>zwei</t></is></c></row><row><c><v>3</v></c></row>';
    const prefixed = `<x:worksheet xmlns:x="urn:x"><x:sheetData>${plain.replaceAll(/<(\/?)(?=[a-z])/g, '<$1x:')}</x:sheetData></x:worksheet>`;
    const wide = Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${prefixed}`, 'utf16le');
    const expected = [
      ['1', 'zwei'],
      ['3', ''],
    ];
    for (const whole of [prefixed, wide, Buffer.from(wide).swap16()])
      expect(await rowsOf(await workbook({ sheets: [{ whole }] }))).toEqual(expected);
  });

  it('keeps a byte order mark that is a cell\u2019s own', async () => {
    const rows = `<row r="1">${text('A1', '\ufeffa')}</row>`;
    expect(await rowsOf(await workbook({ sheets: [{ rows }] }))).toEqual([['\ufeffa']]);
  });
});

describe('of several sheets', () => {
  const one = (value: string): string => `<row r="1">${text('A1', value)}</row>`;
  const sheets = [
    { name: 'Secret', state: 'veryHidden', rows: one('hidden') },
    { name: 'Cover', rows: '<row r="1"/>' },
    { name: 'Cards', rows: one('cards') },
    { name: 'More', rows: one('more') },
  ] as const;

  it('W14 takes the one with most rows of those that are shown, or the first of several, and counts them', async () => {
    expect(await convert(await workbook({ sheets }))).toMatchObject({
      ok: true,
      value: {
        rows: [['cards']],
        converted: {
          sheet: 'Cards',
          sheets: [
            { name: 'Cover', rows: 0 },
            { name: 'Cards', rows: 1 },
            { name: 'More', rows: 1 },
          ],
        },
      },
    });
    const longer = { name: 'Longer', rows: `${one('head')}<row r="5">${text('A5', 'last')}</row>` };
    const damaged = { name: 'Damaged', rows: '<row r="0"/>' };
    expect(await convert(await workbook({ sheets: [...sheets, damaged, longer] }))).toMatchObject({
      ok: true,
      value: {
        rows: [['head'], [''], [''], [''], ['last']],
        converted: {
          sheet: 'Longer',
          sheets: [{}, {}, {}, { name: 'Damaged', rows: null }, { name: 'Longer', rows: 5 }],
        },
      },
    });
  });

  it('takes the one that is asked for, unless it is hidden', async () => {
    const made = await workbook({ sheets });
    expect(await rowsOf(made, 'More')).toEqual([['more']]);
    expect(await convert(made, 'Secret')).toMatchObject({ failure: { code: 'file.empty' } });
  });

  it('says how far it is', async () => {
    const rows = Array.from(
      { length: 20_000 },
      (_, i) => `<row r="${i + 1}">${text(`A${i + 1}`, `v${i}`)}</row>`,
    );
    const made = await workbook({ sheets: [{ rows: rows.join('') }] });
    const shares: number[] = [];
    expect((await convert(made, null, (share) => shares.push(share))).ok).toBe(true);
    expect(shares.length).toBeGreaterThan(3);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
  });
});

const tokenRow = (i: number): string =>
  `<row r="${i + 1}"><c r="A${i + 1}" t="s"><v>${i}</v></c><c r="B${i + 1}" s="1"><v>45306</v></c></row>`;

describe('a file made to harm is refused', () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'a');
  const laughs = `<?xml version="1.0"?><!DOCTYPE sst [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><sst><si><t>&b;</t></si></sst>`;
  const rows = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>';
  const whole = (inner: string): string => `<worksheet><sheetData>${inner}</sheetData></worksheet>`;

  it.each<[string, Parameters<typeof partsOf>[0], Failure['code']]>([
    ['entities', { sheets: [{ rows }], stringsWhole: laughs }, 'file.workbook-damaged'],
    ['entities in a sheet', { sheets: [{ whole: `<!DOCTYPE w><worksheet/>` }] }, 'file.workbook-damaged'],
    ['an undeclared entity', { sheets: [{ rows: text('A1', '&nbsp;') }] }, 'file.workbook-damaged'],
    [
      'a text that unpacks a thousandfold',
      {
        sheets: [{ rows }],
        stringsWhole: function* () {
          yield Buffer.from('<sst><si><t>');
          for (let i = 0; i < 64; i++) yield megabyte;
          yield Buffer.from('</t></si></sst>');
        },
      },
      'file.workbook-too-large',
    ],
    [
      'a cell of more than a million characters',
      { sheets: [{ rows: `<row>${text('A1', 'ab'.repeat(500_001))}</row>` }] },
      'file.workbook-too-large',
    ],
    [
      'elements that unpack a thousandfold',
      {
        sheets: [
          {
            whole: function* () {
              yield Buffer.from('<worksheet><sheetData>');
              for (let i = 0; i < 32; i++) yield Buffer.from('<c/>'.repeat(262_144));
              yield Buffer.from('</sheetData></worksheet>');
            },
          },
        ],
      },
      'file.workbook-too-large',
    ],
    [
      'a shared text of more than a million characters',
      { sheets: [{ rows }], strings: `<si><t>a</t></si><si><t>${'ab'.repeat(500_001)}</t></si>` },
      'file.workbook-too-large',
    ],
    [
      'elements without end',
      { sheets: [{ whole: '<a>'.repeat(200) + '</a>'.repeat(200) }] },
      'file.workbook-damaged',
    ],
    [
      'a text that is not there',
      { sheets: [{ rows: rows.replace('0', '5') }], strings: '<si><t>a</t></si>' },
      'file.workbook-damaged',
    ],
    [
      'a text number that is none',
      { sheets: [{ rows: '<row><c t="s"><v>-1</v></c></row>' }], strings: '<si><t>a</t></si>' },
      'file.workbook-damaged',
    ],
    [
      'rows out of order',
      { sheets: [{ rows: `<row r="2">${text('A2', 'a')}</row><row r="2">${text('A2', 'b')}</row>` }] },
      'file.workbook-damaged',
    ],
    [
      'two cells of one address',
      { sheets: [{ rows: `<row r="1">${text('A1', 'tok1')}${text('B1', 'b')}${text('A1', 'tok2')}</row>` }] },
      'file.workbook-damaged',
    ],
    [
      'two cells of one address, one of them without saying so',
      { sheets: [{ rows: `<row r="1">${text('B1', 'b')}${text('A1', 'a')}<c><v>1</v></c></row>` }] },
      'file.workbook-damaged',
    ],
    [
      'a cell with two values',
      { sheets: [{ rows: '<row r="1"><c r="A1"><v>1</v><v>2</v></c></row>' }] },
      'file.workbook-damaged',
    ],
    [
      'a cell between two rows',
      { sheets: [{ rows: `<row r="1">${text('A1', 'a')}</row>${text('B1', 'b')}<row r="2"/>` }] },
      'file.workbook-damaged',
    ],
    [
      'a row within a row',
      { sheets: [{ rows: `<row r="1">${text('A1', 'a')}<row r="2">${text('A2', 'b')}</row></row>` }] },
      'file.workbook-damaged',
    ],
    [
      'two sheets of one part',
      {
        sheets: [{ rows: `<row>${text('A1', 'a')}</row>` }],
        over: {
          'xl/workbook.xml':
            '<workbook><sheets><sheet name="a" id="rId1"/><sheet name="b" id="rId1"/></sheets></workbook>',
        },
      },
      'file.workbook-damaged',
    ],
    [
      'a sheet whose name is longer than any',
      { sheets: [{ name: 'a'.repeat(256), rows: `<row>${text('A1', 'a')}</row>` }] },
      'file.workbook-damaged',
    ],
    [
      'number formats that are missing',
      {
        sheets: [{ rows: '<row><c r="A1" s="1"><v>45306</v></c></row>' }],
        styles: '',
        over: { 'xl/styles.xml': null },
      },
      'file.workbook-damaged',
    ],
    [
      'a row beyond the last',
      { sheets: [{ rows: `<row r="1048577">${text('A1048577', 'a')}</row>` }] },
      'file.workbook-damaged',
    ],
    [
      'a column beyond the thousandth',
      { sheets: [{ rows: `<row r="1">${'<c t="inlineStr"><is><t>a</t></is></c>'.repeat(1_001)}</row>` }] },
      'file.too-many-columns',
    ],
    [
      'a lone cell far to the right',
      { sheets: [{ rows: `<row r="1">${text('A1', 'a')}${text('XFD1', 'b')}</row>` }] },
      'file.workbook-sparse',
    ],
    [
      'four cells far apart',
      {
        sheets: [
          {
            rows: [1, 100_000]
              .map((row) => `<row r="${row}">${text(`A${row}`, 'a')}${text(`ZZ${row}`, 'b')}</row>`)
              .join(''),
          },
        ],
      },
      'file.workbook-sparse',
    ],
    [
      'a cell without a column',
      { sheets: [{ rows: `<row r="1">${text('11', 'a')}</row>` }] },
      'file.workbook-damaged',
    ],
    [
      'torn XML',
      { sheets: [{ whole: whole(rows).slice(0, -5) }], strings: '<si><t>a</t></si>' },
      'file.workbook-damaged',
    ],
    [
      'bytes that are no text',
      { sheets: [{ whole: Buffer.from(whole(text('A1', '\xff')), 'latin1') }] },
      'file.workbook-damaged',
    ],
    ['a sheet that is missing', { over: { 'xl/worksheets/sheet1.xml': null } }, 'file.workbook-damaged'],
    ['no sheet with rows', { sheets: [{}] }, 'file.empty'],
    ['an archive of something else', { over: { '_rels/.rels': null } }, 'file.archive-several'],
    ['a document', { over: { 'xl/workbook.xml': '<document/>' } }, 'file.not-a-table'],
  ])('%s', async (_, made, code) => {
    expect((await refusalOf(await workbook(made))).code).toBe(code);
  });

  it('a short text that is shared until it fills the disk', async () => {
    const cell = '<c t="s"><v>0</v></c>';
    const amplified = await workbook({
      sheets: [{ rows: `<row>${cell.repeat(5)}</row>` }],
      strings: `<si><t>${'ab'.repeat(450_000)}</t></si>`,
    });
    expect((await refusalOf(amplified)).code).toBe('file.workbook-too-large');
  });

  it('texts shared by so many cells that the memory would fill', async () => {
    const cell = '<c t="s"><v>0</v></c>';
    const amplified = await workbook({
      sheets: [{ rows: `<row>${cell.repeat(4)}</row>`.repeat(20) }],
      strings: `<si><t>${'ab'.repeat(450_000)}</t></si>`,
    });
    expect((await refusalOf(amplified)).code).toBe('file.workbook-too-large');
  });

  it('two parts of one name, whatever their case', async () => {
    const parts = [...partsOf({ sheets: [{ rows: text('A1', 'a') }] })];
    const twice = await zip([...parts, ['XL/Workbook.xml', '<workbook/>']]);
    expect((await refusalOf(twice)).code).toBe('file.workbook-damaged');
  });

  it('a part that is longer than the archive says', async () => {
    const bytes = await workbook({ sheets: [{ rows: `<row>${text('A1', 'abc'.repeat(1_000))}</row>` }] });
    const name = Buffer.from('xl/worksheets/sheet1.xml');
    const header = bytes.lastIndexOf(name) - 46;
    expect(bytes.readUInt32LE(header)).toBe(0x02014b50);
    bytes.writeUInt32LE(100, header + 24);
    expect((await refusalOf(bytes)).code).toBe('file.workbook-damaged');
  });

  it('an archive that is cut off', async () => {
    const bytes = await workbook({ sheets: [{ rows: text('A1', 'a') }] });
    expect((await refusalOf(bytes.subarray(0, -30))).code).toBe('file.workbook-damaged');
  });

  it('or read exactly, wherever one bit of it was changed', async () => {
    const tokens = Array.from({ length: 300 }, (_, i) => `77055142341${String(i * 331).padStart(5, '0')}`);
    const expected = tokens.map((token) => [token, '2024-01-15']);
    const good = await workbook({
      sheets: [{ rows: tokens.map((_, i) => tokenRow(i)).join('') }],
      strings: tokens.map((token) => `<si><t>${token}</t></si>`).join(''),
      styles: '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>',
    });
    expect(await rowsOf(good)).toEqual(expected);
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length * 8 - 1), async (bit) => {
        const bytes = Buffer.from(good);
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        const outcome = await convert(bytes);
        if (outcome.ok) expect(outcome.value.rows).toEqual(expected);
        else expect(outcome.failure.code).toMatch(/^file\.(workbook|archive|not-a-table)/);
      }),
      { numRuns: 100 },
    );
  });

  it('a part that was only stored, with one digit changed', async () => {
    const parts = partsOf({ sheets: [{ rows: `<row r="1">${text('A1', 'tok3')}</row>` }] });
    const bytes = await zip(parts, { compress: false });
    expect(await rowsOf(bytes)).toEqual([['tok3']]);
    bytes.write('tok7', bytes.indexOf('tok3'), 'latin1');
    expect((await refusalOf(bytes)).code).toBe('file.workbook-damaged');
  });

  it('or read, wherever bytes of it were changed, and never more than that', async () => {
    const cells = Array.from({ length: 300 }, (_, i) => `<row><c t="s"><v>${i % 3}</v></c></row>`).join('');
    const strings = '<si><t>a</t></si><si><t>b</t></si><si><t>c</t></si>';
    const good = await workbook({
      sheets: [{ rows: cells }],
      strings,
      styles: '<cellXfs><xf numFmtId="14"/></cellXfs>',
    });
    const change = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of changes) bytes[at] = byte;
        const outcome = await convert(bytes);
        if (!outcome.ok) expect(outcome.failure.code).toMatch(/^file\./);
      }),
      { numRuns: 150 },
    );
  });
});

describe('what is written as a workbook', () => {
  async function write(
    table: readonly (readonly string[])[],
  ): Promise<{ bytes: Buffer; failure: Failure | null }> {
    const path = join(folder, `${++files}.out.xlsx`);
    const output = await openAtomicFile(path);
    if (!output.ok) throw new Error(output.failure.code);
    const file = workbookFile(output.value);
    const writer = createSheetWriter();
    for (const row of table) {
      const written = await file.write(Buffer.from(writer.line(row)));
      if (!written.ok) throw new Error(written.failure.code);
    }
    const finished = await file.finish();
    if (!finished.ok) throw new Error(finished.failure.code);
    const bytes = await readFile(path);
    expect(bytes.length).toBe(finished.value);
    return { bytes, failure: writer.failure };
  }

  const field = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({
      unit: fc.constantFrom(
        '_',
        'x',
        '0',
        'D',
        'd',
        '\r',
        '\n',
        '"',
        ',',
        ' ',
        '\ufeff',
        '\ufffe',
        '&',
        '<',
        ']]>',
      ),
    }),
    fc.stringMatching(/^\d{16}$/),
    fc.constantFrom('4.11E+15', '=1+1', '0012', '1/2', 'TRUE', '2026-01-02', '_x0041_x0042_', '\ud800'),
  );

  it('is read again as it was, whatever is in it', async () => {
    const table = fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 8 }))
      .chain(([width, height]) =>
        fc.array(fc.array(field, { minLength: width, maxLength: width }), {
          minLength: height,
          maxLength: height,
        }),
      );
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        // Rows and columns of nothing around the table are not part of it.
        const all = [['x', ...(rows[0] ?? []).map(() => 'x')], ...rows.map((row) => ['y', ...row])];
        const expected = all.map((row) => row.map((cell) => cell.toWellFormed()));
        expect(await rowsOf((await write(all)).bytes)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('has the controls U+007F to U+009F as they are, which LibreOffice does not unescape', async () => {
    const controls = Array.from({ length: 33 }, (_, i) => String.fromCharCode(0x7f + i)).join('');
    const { bytes } = await write([[controls, 'a\u0001\r']]);
    expect(await readPart(bytes, 'xl/worksheets/sheet1.xml')).toContain(`>${controls}</t>`);
    expect(await rowsOf(bytes)).toEqual([[controls, 'a\u0001\r']]);
  });

  it('has no formulas and no numbers, and says of each cell that it is text', async () => {
    const { bytes } = await write([['=cmd|x', '4111111111111111', '1']]);
    const outcome = await convert(bytes);
    expect(outcome).toMatchObject({ ok: true, value: { converted: { rounded: [] } } });
    const sheet = await readPart(bytes, 'xl/worksheets/sheet1.xml');
    expect(sheet).not.toMatch(/<f[ >]|<v>/);
    expect(sheet.match(/<c [^>]*>/g)).toEqual(
      ['A1', 'B1', 'C1'].map((cell) => `<c r="${cell}" s="1" t="inlineStr">`),
    );
    expect(await readPart(bytes, 'xl/styles.xml')).toMatch(/<cellXfs[^>]*><xf [^>]*\/><xf numFmtId="49"/);
  });

  it('ends with the failure of the disk, and does not wait for ever', async () => {
    const full = { ok: false, failure: { code: 'file.disk-full' } } as const;
    const abandoned: boolean[] = [];
    let room = 50_000;
    const file = workbookFile({
      write: (bytes) => Promise.resolve((room -= bytes.length) > 0 ? done(null) : full),
      finish: () => Promise.resolve(done(0)),
      abandon: (keep) => Promise.resolve(void abandoned.push(keep)),
    });
    const writer = createSheetWriter();
    let outcome: Outcome<unknown> = done(null);
    for (let i = 0; outcome.ok && i < 1_000; i++) {
      const rows = Array.from({ length: 500 }, () => writer.line([randomBytes(16).toString('hex')]));
      outcome = await file.write(Buffer.from(rows.join('')));
    }
    expect(outcome).toEqual(full);
    expect(await file.finish()).toEqual(full);
    await file.abandon(true);
    expect(abandoned).toEqual([false]);
  });

  it('says when a value is longer than a cell can be', async () => {
    expect((await write([['a'], ['b'.repeat(32_767)]])).failure).toBeNull();
    expect((await write([['a'], ['b'.repeat(32_768)]])).failure).toEqual({
      code: 'file.workbook-cell',
      row: 2,
    });
  });

  async function readPart(bytes: Buffer, name: string): Promise<string> {
    const { openPackage } = await import('../../../electron/parsing/workbook/package.ts');
    const path = join(folder, `${++files}.xlsx`);
    await writeFile(path, bytes);
    const pack = await openPackage(path);
    let content = '';
    for await (const piece of await pack.read(name)) content += piece.toString();
    pack.close();
    return content;
  }
});
