import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFlaws } from '../../electron/batch/reading/row-flaws.ts';
import { findRows } from '../../electron/batch/reading/row-spans.ts';
import { Table } from '../../electron/batch/reading/table.ts';
import type { Preview } from '../../electron/contract/models/batch.ts';
import { countValues } from '../../electron/masking/find-values.ts';
import { maskCell } from '../../electron/masking/masking.ts';
import { openCleartext } from '../../electron/util/cleartext.ts';
import { openApp, valueOf, type TestApp } from '../support/batch-app.ts';
import { longestTurn, noticedTurn } from '../support/longest-turn.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

async function shown(content: string): Promise<Preview> {
  const sourceId = await app.open(await app.write('in.csv', content));
  return valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
}

const table = (text: string): Table => {
  const spans = findRows(text, {
    delimiter: ',',
    newline: '\n',
    isEnd: true,
    isFull: false,
    until: Infinity,
  });
  return new Table({ encoding: 'utf-8', bytes: Buffer.from(text), view: text }, spans);
};

describe('a cell that is made to be long', () => {
  it('keeps nothing waiting: eight megabytes of quotes', async () => {
    const content = `name,card\n"${'""'.repeat(4_000_000)}",4111111111111111\n`;
    const turn = await longestTurn(() => shown(content));
    expect(turn).toBeLessThan(noticedTurn * 2);
  });

  it('keeps nothing waiting: fifteen million delimiters', async () => {
    const turn = await longestTurn(() => shown(`a,b\n${','.repeat(15_000_000)}\n1,2\n`));
    expect(turn).toBeLessThan(noticedTurn * 2);
  });

  it.each([
    ['card numbers', '4111111111111111 ', '411111••••••1111 '],
    ['letters whose bytes are letters too', '慢', '慢'],
  ])('is masked in time that is linear in its length: %s', async (_, one, masked) => {
    const times = Math.ceil(100_000 / one.length);
    let said = '';
    const turn = await longestTurn(() => Promise.resolve((said = maskCell(one.repeat(times)))));
    expect(said === masked.repeat(times)).toBe(true);
    expect(turn).toBeLessThan(noticedTurn);
  });

  it('is hidden whole where its values would be looked for too long, and counts as all that it may hold', () => {
    const cards = '4111 1111 1111 1111 x '.repeat(20_000);
    expect(maskCell(cards)).toMatch(/^•+$/);
    expect(countValues(cards)).toBeGreaterThanOrEqual(20_000);
    const words = 'nothing to hide, '.repeat(20_000);
    expect(maskCell(words)).toBe(words);
    expect(countValues('何も隠すものはありません。'.repeat(25_000))).toBe(0);
    const values = [
      'anna%40example.com',
      'anna&#64;example.com',
      'anna\\u0040example.com',
      'anna&amp;#x40;example.com',
    ];
    for (const value of [...values, 'LC46BOSLABCDEFGHIJKLMNOPQRSTUVWX é', '慮湡', 'anna＠example.com']) {
      expect(maskCell(`${words} ${value}`)).toMatch(/^•+$/);
      if (values.includes(value)) expect(countValues(`${words} ${value}`)).toBeGreaterThan(0);
    }
    for (const other of [
      '٤١١١١١١١١١١١١١١١ x ',
      '𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏 ',
      '&#52;111111111111111 ',
      'anna＠example.org ',
    ])
      expect(countValues(other.repeat(20_000))).toBeGreaterThanOrEqual(20_000);
  });

  it('is masked where its beginning is seen', async () => {
    const long = `paid with 4111 1111 1111 1111 ${'and more '.repeat(1_000)}`;
    const { rows } = await shown(`note,n\n${'called,1\n'.repeat(9)}${long},1\n`);
    expect(rows.at(-1)?.[0]).toMatch(/^paid with 4111 11•• •••• 1111 and more/);
  });

  it('shows nothing of itself in a column that is hidden, wherever it is cut', async () => {
    const card = '4111111111111111';
    // Twelve digits, of which a mask would show the last four.
    const long = `411111111111${' '.repeat(5_000)}1111`;
    const { rows, columns } = await shown(`card,n\n${`${card},1\n`.repeat(9)}${long},1\n`);
    expect(columns[0]?.masked).toBe(true);
    expect(rows.at(-1)?.[0]).toMatch(/^•+…$/);
  });

  it('says all that it has to who sends or writes it', () => {
    const quotes = '""'.repeat(5_000);
    const rows = table(`"a${quotes}b",${'x'.repeat(9_000)}\n`);
    expect(openCleartext(rows.value(0, 0))).toBe(`a${'"'.repeat(5_000)}b`);
    expect(openCleartext(rows.value(0, 1))).toBe('x'.repeat(9_000));
    expect(openCleartext(rows.beginning(0, 1))).toBe(`${'x'.repeat(4_096)} …`);
  });

  it('may be a row of more cells than anybody has, which is refused and stays as it is', () => {
    const row = `${'1,'.repeat(70_000)}1`;
    const rows = table(`${row}\n2,3\n`);
    expect(rows.count).toBe(2);
    expect(rows.width(0)).toBeLessThan(70_000);
    expect(rows.rowBytes(0).toString()).toBe(`${row}\n`);
    expect(openCleartext(rows.value(0, rows.width(0) - 1))).toMatch(/1,1$/);
    expect(findFlaws(rows, 2, null).get(0)).toBe('row.malformed');
    expect(rows.fields(1).map(openCleartext)).toEqual(['2', '3']);
  });
});
