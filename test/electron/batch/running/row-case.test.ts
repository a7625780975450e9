import { afterEach, beforeEach, expect, it } from 'vitest';
import { newXorKey } from '../../../../electron/contract/obscured.ts';
import { failed } from '../../../../electron/contract/errors.ts';
import {
  cleartextOf,
  detokenize,
  openApp,
  planOf,
  type TestApp,
  valueOf,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const byCase = { ...planOf([detokenize(1)]), caseColumn: 0 };
const table = ['case,token', 'D-1,a', ',b', 'D-2,c', '   ,d', `${'x'.repeat(101)},e`, ' D-1 ,f', '\u200b,g'];

it('a row without a case is not sent, and has its own code; every other one is as before', async () => {
  const sourceId = await app.open(await app.write('in.csv', `${table.join('\n')}\n`));
  const counts = valueOf(await app.batch['batch.preflight']({ sourceId, plan: byCase }));
  const job = await app.run(sourceId, byCase);
  expect(job.tally).toEqual({ rows: 7, ok: 3, failed: 4, unmatched: 0, blank: 0 });
  expect(job.failures).toEqual([
    { column: 1, code: 'value.case-missing', count: 4, firstRow: 2, retriable: false },
  ]);
  expect(counts.sourceId).toBe(sourceId);
  expect([...app.service.sent].sort()).toEqual(['a', 'c', 'f']);
  const written = valueOf(await app.export(job.jobId));
  const results = table.map((line, at) => {
    if (at === 0) return `${line},error`;
    return [1, 3, 6].includes(at)
      ? `${line.replace(/[acf]$/, (token) => cleartextOf(token))},`
      : `${line},value.case-missing`;
  });
  expect(written.trim().split(/\r?\n/)).toEqual(results);
});

it('a reveal of a cell is recorded under the case of its row, whatever the window says', async () => {
  const sourceId = await app.open(await app.write('in.csv', `${table.join('\n')}\n`));
  const { jobId } = await app.run(sourceId, byCase);
  const cell = { jobId, column: 1, xorKey: newXorKey(), reason: 'Refund', caseReference: 'D-9' };
  for (const row of [3, 6]) valueOf(await app.batch['batch.reveal']({ ...cell, row }));
  const reveals = app.audit.intents.filter(({ action }) => action === 'Reveal');
  expect(reveals.map(({ caseReference }) => caseReference)).toEqual(['D-2', 'D-1']);
  expect(await app.batch['batch.reveal']({ ...cell, row: 2 })).toEqual(failed('reveal.gone'));
});

it('the column of cases is one of the file, and no mapped one', async () => {
  const sourceId = await app.open(await app.write('in.csv', `${table.join('\n')}\n`));
  for (const caseColumn of [1, 2]) {
    const plan = { ...byCase, caseColumn };
    expect(await app.batch['batch.start']({ sourceId, plan, grounds: null })).toEqual(
      failed('plan.column-unknown', { column: String(caseColumn + 1) }),
    );
  }
});
