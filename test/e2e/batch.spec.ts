import fs from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { expect, test } from '../support/app-fixture.ts';
import {
  choose,
  chooseFile,
  exportRows,
  go,
  map,
  readSum,
  run,
  startBuiltIn,
} from '../support/page-actions.ts';

const rows = 10_000;
const malformedRow = 7_001;

/** Cards of six digits BIN, six that count, three, and the check digit. */
function card(index: number): string {
  const digits = `400000${String(index).padStart(6, '0')}${String(index % 1_000).padStart(3, '0')}`;
  const sum = Array.from(digits).reduce((total, digit, place) => {
    const twice = Number(digit) * (place % 2 === 0 ? 2 : 1);
    return total + (twice > 9 ? twice - 9 : twice);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Every second row has something that a careless reader breaks. */
const notes = ['plain', 'semi;colon', 'say "hi"', 'two\r\nlines', ' spaced ', 'naïve – ½', '=1+1', '0012'];

function original(): string[][] {
  const table = [['case', 'card', 'note']];
  for (let row = 1; row <= rows; row++) {
    const blank = row % 1_000 === 0;
    table.push([`D-${row}`, blank ? '' : card(row), notes[row % notes.length] ?? '']);
  }
  table[malformedRow]?.push('one field too many');
  return table;
}

const byteOrderMark = '\uFEFF';
const write = (table: string[][]): string =>
  byteOrderMark + Papa.unparse(table, { delimiter: ';', newline: '\r\n' });
const read = (file: string): string[][] =>
  Papa.parse<string[]>(fs.readFileSync(file, 'utf8').replace(byteOrderMark, ''), { skipEmptyLines: true })
    .data;

test('10,000 rows are tokenized, detokenized and come back value by value', async ({ page, app, home }) => {
  test.setTimeout(180_000);
  const table = original();
  const source = path.join(home, 'disputes.csv');
  fs.writeFileSync(source, write(table));
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');

  await chooseFile(page, source);
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  const expected = { rows, ok: rows - 11, failed: 1, unmatched: 0, blank: 10 };
  expect(await readSum(page)).toEqual(expected);
  const tokensFile = await exportRows(page, { content: 'Tokens', written: 'Exact values' });
  const tokens = read(path.join(app.downloads, tokensFile));
  expect(tokens).toHaveLength(rows + 1);

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, path.join(app.downloads, tokensFile));
  await map(page, 'card', 'Detokenize', 'Card number');
  await run(page);
  await readSum(page);
  const clearFile = await exportRows(page, {
    content: 'With cleartext',
    written: 'Exact values',
    caseReference: 'D-1',
  });
  const back = read(path.join(app.downloads, clearFile));

  // Every value of every row is the one it was, whatever columns the two runs added. The row with a field too many
  // was never sent: it keeps its place and its fields, the one too many behind the error of each run, and what may be a
  // card is masked in a masked file.
  const differing = table.slice(1).flatMap((row, index) => {
    const there = back[index + 1] ?? [];
    return row.some((value, column) => there[column] !== value) ? [there] : [];
  });
  const malformed = [`D-${malformedRow}`, '400000••••••0014', 'semi;colon'];
  expect(differing).toEqual([[...malformed, 'row.malformed', 'row.malformed', 'one field too many']]);
  const tokenized = tokens.slice(1).filter((row, index) => row[1] !== '' && row[1] !== table[index + 1]?.[1]);
  expect(tokenized).toHaveLength(rows - 10);

  // The window never got a card in clear.
  const cards = new Set(table.slice(1).map(([, pan]) => pan));
  const seen = (await app.outward()).flatMap((message) => message.match(/\d{16}/g) ?? []);
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter((number) => cards.has(number))).toEqual([]);
});
