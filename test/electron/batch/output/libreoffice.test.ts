import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Papa from 'papaparse';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSheetWriter, workbookFile } from '../../../../electron/batch/output/write-workbook.ts';
import { createRowWriter } from '../../../../electron/storage/csv.ts';
import { openAtomicFile } from '../../../../electron/storage/atomic-file.ts';
import { readPacked } from '../../../../electron/parsing/packed/read-packed.ts';
import { valueOf } from '../../../support/batch-app.ts';
import { convertWithLibreOffice, hasLibreOffice } from '../../../support/libreoffice.ts';
import { workbook } from '../../../support/make-workbook.ts';
import { done } from '../../../../electron/contract/errors.ts';

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-libreoffice-'));
});
afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

const convert = (files: readonly string[], to: string, from?: string): Promise<void> =>
  convertWithLibreOffice(folder, files, { to, ...(from !== undefined && { from }) });

/** Values that spreadsheets like to take for something else, and characters that files like to lose. */
const nasty = [
  [
    '4111111111111111',
    '0012',
    '1/2',
    '4.11E+15',
    '=1+1',
    '+1',
    '-1',
    '@a',
    "'=x",
    'TRUE',
    '2026-01-02',
    '1e5',
  ],
  [
    '=cmd|x',
    '=HYPERLINK("http://x")',
    ' a  b ',
    'ä€😀',
    'a"b',
    'a,b;c\td',
    '_x0041_',
    '50%',
    '$1',
    '12:30',
    '#N/A',
  ],
  [
    '\u007f',
    'a\u0080b',
    '\u0085x',
    'x\u009f',
    'é\u0301',
    '\u200b',
    '\ufeff',
    'a\u00a0b',
    'ſ',
    '0x10',
    '1 000',
  ],
];

/** As wide as the sheet. */
const pad = (row: readonly string[]): string[] => [...row, ...Array<string>(12 - row.length).fill('')];

async function writeWorkbook(rows: readonly (readonly string[])[]): Promise<string> {
  const file = path.join(folder, 'ours.xlsx');
  const output = workbookFile(valueOf(await openAtomicFile(file)));
  const writer = createSheetWriter();
  for (const row of rows) valueOf(await output.write(Buffer.from(writer.line(row))));
  valueOf(await output.finish());
  return file;
}

describe.skipIf(!hasLibreOffice)('in LibreOffice (soffice)', () => {
  test('a workbook of ours has every cell as it was written', async () => {
    await convert(
      [await writeWorkbook(nasty)],
      'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false',
    );
    const text = fs.readFileSync(path.join(folder, 'ours.csv'), 'utf8');
    expect(Papa.parse<string[]>(text.trimEnd(), { delimiter: ',' }).data).toEqual(nasty.map(pad));
  }, 120_000);

  test('a workbook of theirs is read by us with the same cells', async () => {
    const source = path.join(folder, 'theirs.csv');
    const rows = [
      ['id', 'token', 'sum'],
      ['1', 'tok-0001', '2.5'],
      ['2', 'ä€😀 x', '3'],
    ];
    fs.writeFileSync(source, Papa.unparse(rows));
    await convert([source], 'xlsx:Calc MS Excel 2007 XML', 'Text - txt - csv (StarCalc):44,34,76,1');
    const pieces: Buffer[] = [];
    const converted = await readPacked({
      path: path.join(folder, 'theirs.xlsx'),
      sheet: null,
      passphrase: null,
      report: () => undefined,
      createOutput: () =>
        Promise.resolve(
          done({
            write: (bytes: Buffer) => Promise.resolve((pieces.push(bytes), done(null))),
            finish: () => Promise.resolve(done(null)),
            abandon: () => Promise.resolve(),
          }),
        ),
    });
    expect(valueOf(converted).converted?.unevaluated).toEqual([]);
    expect(
      Papa.parse<string[]>(Buffer.concat(pieces).toString().replace('\ufeff', '').trimEnd()).data,
    ).toEqual(rows);
  }, 120_000);

  test('a formula without a value, which is a counted blank here, has one', async () => {
    const rows = '<row r="1"><c r="A1"><v>7</v></c><c r="B1"><f>A1*2</f><v></v></c></row>';
    const file = path.join(folder, 'formula.xlsx');
    const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
    const over = {
      '[Content_Types].xml':
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
    };
    fs.writeFileSync(file, await workbook({ sheets: [{ rows }], over }));
    await convert([file], 'csv');
    expect(fs.readFileSync(path.join(folder, 'formula.csv'), 'utf8').trim()).toBe('7,14');
  }, 120_000);

  test.each([
    ['comma', 44],
    ['semicolon', 59],
    ['TAB', 9],
  ])(
    'no file "for spreadsheets" has a formula when it is split at %s',
    async (_, code) => {
      const starts = ['=1+1', '+1+1', '-1+1', '@SUM(1)', '\uff1d1+1'];
      const cells = starts.flatMap((start) =>
        ['', ' ', 'a,', 'a;', 'a\t', 'a\n', 'a\r', 'a;b,', '"', 'a", '].map((before) => before + start),
      );
      const files = ([',', ';', '\t'] as const).map((delimiter, at) => {
        const writer = createRowWriter({ delimiter, newline: '\r\n', spreadsheet: true });
        const file = path.join(folder, `spreadsheet-${at}-${code}.csv`);
        fs.writeFileSync(file, cells.map((cell) => writer.line([cell, 'x', cell])).join(''));
        return file;
      });
      // The last option evaluates formulas, which LibreOffice does in a file of text only when it is told to.
      const options = `${code},34,76,1,,0,false,true,false,false,false,0,true`;
      await convert(files, 'fods', `Text - txt - csv (StarCalc):${options}`);
      for (const file of files) {
        const sheet = fs.readFileSync(file.replace(/csv$/, 'fods'), 'utf8');
        expect(sheet).toContain('<table:table-cell');
        expect(sheet.match(/table:formula="[^"]*"/g)).toBeNull();
      }
    },
    120_000,
  );
});
