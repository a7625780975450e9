import { afterEach, beforeEach, expect, it } from 'vitest';
import { detokenize, openApp, planOf, valueOf, type TestApp } from '../support/batch-app.ts';

/* The window can paste a list, and so ask what differs from it: an answer by a hidden value would tell it digit by digit. */

const cells = ['r0', '4111118124045251', '219-09-9911', 'X1234567', '1980-02-29', 'jane@bank.example'];
const names = 'ref,card_number,ssn,passport,date_of_birth,email';

let app: TestApp;
let jobId: string;
beforeEach(async () => {
  app = await openApp();
  app.service.refuses = () => true;
  const source = await app.open(await app.write('people.csv', `${names}\n${cells.join(',')}\n`));
  ({ jobId } = await app.run(source, planOf([detokenize(0, { operation: 'tokenize' })])));
});
afterEach(() => app.close());

async function changesOf(row: readonly string[]) {
  const text = `source_row,column,reason,code,${names}\n1,ref,r,c,${row.join(',')}\n`;
  const { sourceId } = valueOf(await app.batch['batch.paste']({ text }));
  const summary = valueOf(await app.batch['batch.compare']({ jobId, sourceId }));
  const { cells: changed } = valueOf(await app.batch['batch.changes']({ jobId, from: 0, count: 100 }));
  return { summary, changed: changed.map(({ column, doubt }) => ({ column, doubt })) };
}

it.each([
  [
    'a card',
    1,
    ['4111118124045251', '4111118124045250', '4111118000000000', '4.11111812E+15', '5500005555555559'],
  ],
  ['an SSN', 2, ['219-09-9911', '219-09-9912', '219099911', '2.1E+8', '1.2E+8']],
  ['a passport', 3, ['X1234567', 'x1234567', ' X1234567', 'Y0000000']],
  ['a date of birth', 4, ['1980-02-29', '29/02/1980', '02/29/80', '2001-01-01']],
  ['an address', 5, ['jane@bank.example', 'JANE@bank.example', 'joe@bank.example']],
] as const)('no guess of %s is answered otherwise than another', async (_what, column, guesses) => {
  const answers = [];
  for (const guess of guesses) {
    const row: string[] = [...cells].fill('q');
    row[column] = guess;
    answers.push(JSON.stringify(await changesOf(row)));
  }
  expect(new Set(answers).size).toBe(1);
});

it('what the window sees is compared as ever', async () => {
  const seen = valueOf(await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 1 })).rows[0];
  const shown = seen?.cells.map(({ text }) => text) ?? [];
  expect((await changesOf(shown)).changed).toEqual([]);
  expect((await changesOf(['r1', ...shown.slice(1)])).changed).toEqual([{ column: 0, doubt: null }]);
});

it('a list in a file, which a person chose, is compared by its values', async () => {
  const text = `source_row,column,reason,code,${names}\n1,ref,r,c,${['r1', ...cells.slice(1)].join(',')}\n`;
  const sourceId = await app.open(await app.write('corrected.csv', text));
  valueOf(await app.batch['batch.compare']({ jobId, sourceId }));
  const { cells: changed } = valueOf(await app.batch['batch.changes']({ jobId, from: 0, count: 100 }));
  expect(changed.map(({ column }) => column)).toEqual([0]);
});
