import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { styleOfCode } from '../../electron/parsing/workbook/cells.ts';
import { openApp, type TestApp } from '../support/batch-app.ts';
import { longestTurn, noticedTurn } from '../support/longest-turn.ts';
import { workbook } from '../support/make-workbook.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const formats = (codes: readonly string[]): string =>
  `<numFmts>${codes.map((code, i) => `<numFmt numFmtId="${200 + i}" formatCode="${code}"/>`).join('')}</numFmts>`;
const rows = '<row r="1"><c r="A1"><v>1</v></c></row>';

describe('a number format made to be slow', () => {
  it.each([
    ['brackets', '[h'],
    ['brackets only', '['],
    ['quotes', '&quot;'],
    ['backslashes', '\\'],
    ['zeros', '0-'],
    ['words', 'genera'],
  ])('of %s is damage where it is longer than any spreadsheet writes', async (_, piece) => {
    const styles = formats([piece.repeat(120_000)]);
    const path = await app.write('slow.xlsx', await workbook({ styles, sheets: [{ rows }] }));
    let answer = '';
    const turn = await longestTurn(() =>
      app.open(path).catch((error: unknown) => {
        answer = String(error);
      }),
    );
    expect(answer).toContain('file.workbook-damaged');
    expect(turn).toBeLessThan(noticedTurn);
  });

  it('is read in linear time at the length a spreadsheet writes', async () => {
    const codes = ['[h', '[', 'genera', '0-', '\\'].map((piece) => piece.repeat(255).slice(0, 255));
    const styles = formats(Array.from({ length: 20_000 }, (_, i) => codes[i % codes.length] ?? ''));
    const path = await app.write('many.xlsx', await workbook({ styles, sheets: [{ rows }] }));
    await app.open(await app.write('warm.xlsx', await workbook({ sheets: [{ rows }] })));
    expect(await longestTurn(() => app.open(path))).toBeLessThan(noticedTurn);
  });

  it('has no expression worse than linear', () => {
    for (const piece of ['[h', '[', '[$', 'general[', '_', '*', '\\', '0', '0-', '"a"', '"', ';', 'am/p']) {
      const began = process.threadCpuUsage().user;
      styleOfCode(`${piece.repeat(50_000)}#`);
      expect([piece, (process.threadCpuUsage().user - began) / 1_000 < 500]).toEqual([piece, true]);
    }
  });

  it('says the same of ordinary formats', () => {
    const kinds = ['[h]:mm', '[Red]0.00', '[$-409]d mmm', '"[h]"0', 'yyyy-mm-dd', '00000'].map(
      (code) => styleOfCode(code).kind,
    );
    expect(kinds).toEqual(['elapsed', 'plain', 'moment', 'plain', 'moment', 'padded']);
  });
});

describe('other workbooks made to be slow', () => {
  const wide = (count: number): string =>
    `<row r="1"><c r="ALL1"><v>1</v></c></row>` +
    Array.from({ length: count }, (_, i) => `<row r="${i + 2}"><c><v>1</v></c></row>`).join('');
  const files: [string, () => Promise<Buffer>][] = [
    ['short rows of a wide sheet', () => workbook({ sheets: [{ rows: wide(4_000) }] })],
    [
      'an attribute of seven million characters',
      () => workbook({ sheets: [{ rows: `<row><c r="${'A'.repeat(7_000_000)}"><v>1</v></c></row>` }] }),
    ],
    [
      'two million numbers to format',
      () =>
        workbook({
          styles: `${formats(['0'.repeat(15)])}<cellXfs><xf numFmtId="200"/></cellXfs>`,
          sheets: [{ rows: `<row>${'<c s="0"><v>1e14</v></c>'.repeat(900)}</row>`.repeat(200) }],
        }),
    ],
  ];
  it.each(files)('%s', async (_, make) => {
    const path = await app.write('slow.xlsx', await make());
    // Refused or read, either is an answer.
    expect(await longestTurn(() => app.open(path).catch(() => undefined))).toBeLessThan(noticedTurn);
  });
});
