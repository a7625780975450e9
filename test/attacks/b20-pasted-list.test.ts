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

/** What the window is told after it wrote a guess into another row than that of the hidden cell. */
async function toldAfter(column: number, guess: string, isChosen = false) {
  const rows = [
    ['a1', 'Jane Roe van Dyk', 'XK1234567', 'none'],
    ['a2', 'Max Power senior', 'YL7654321', 'none'],
  ];
  app.service.refuses = () => true;
  const heads = 'ref,name,passport,note';
  const text = `${heads}\n${rows.map((row) => row.join(',')).join('\n')}\n`;
  const source = await app.open(await app.write('hidden.csv', text));
  const plan = planOf([detokenize(1, { operation: 'tokenize', definition: 'text' })]);
  const job = await app.run(source, plan);
  const page = valueOf(await app.batch['batch.rows']({ jobId: job.jobId, filter: 'all', from: 1, count: 1 }));
  const own = page.rows[0]?.cells.map(({ text: shown }) => shown) ?? [];
  own[column] = guess;
  const list = `source_row,column,reason,code,${heads}\n2,ref,r,c,${own.join(',')}\n`;
  const sourceId = isChosen
    ? await app.open(await app.write('list.csv', list))
    : valueOf(await app.batch['batch.paste']({ text: list })).sourceId;
  valueOf(await app.batch['batch.compare']({ jobId: job.jobId, sourceId }));
  valueOf(await app.batch['batch.mend']({ jobId: job.jobId, taken: { doubts: [], except: [] } }));
  await app.until(job.jobId, 'finished');
  const { jobId } = job;
  const remaining = valueOf(await app.batch['batch.checkExport']({ jobId, content: 'tokens', rows: 'all' }));
  const profiles: unknown[] = [];
  for (const of of [0, 1, 2, 3])
    profiles.push(valueOf(await app.batch['batch.profile']({ jobId, column: of })));
  const told = { remaining, profiles };
  return JSON.stringify(told);
}

it.each([
  ['a sent value, in a column that is copied', 3, 'Jane Roe van Dyk', 'Jane Roe van Dol'],
  ['a hidden cell that is copied, in the column that is sent', 1, 'XK1234567', 'XK1234568'],
  ['a cell of the same hidden column', 2, 'XK1234567', 'XK1234568'],
  ['a cell of the same column that is sent', 1, 'Jane Roe van Dyk', 'Jane Roe van Dol'],
])('no guess of %s is told by a count', async (_what, column, right, wrong) => {
  expect(await toldAfter(column, right)).toBe(await toldAfter(column, wrong));
});

it('nor is it after a restart', async () => {
  const right = await toldAfter(3, 'Jane Roe van Dyk');
  const again = await app.again();
  const jobs = valueOf(await again.batch['batch.jobs']({}));
  const jobId = jobs.map((job) => ('jobId' in job ? job.jobId : '')).at(0) ?? '';
  const remaining = valueOf(
    await again.batch['batch.checkExport']({ jobId, content: 'tokens', rows: 'all' }),
  );
  await again.close();
  expect(JSON.parse(right)).toMatchObject({ remaining });
  expect(remaining).toMatchObject({ values: 0 });
});

it('what a person corrected in a file is counted', async () => {
  expect(await toldAfter(3, 'Jane Roe van Dyk', true)).toContain('"values":1');
});
