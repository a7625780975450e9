import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { caseReference } from '../../../../electron/contract/models/fields.ts';
import { caseOfCell } from '../../../../electron/batch/planning/row-case.ts';
import { plainText } from '../../../../electron/masking/plain-text.ts';
import { maskCaseReference } from '../../../../electron/masking/masking.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { newXorKey } from '../../../../electron/contract/obscured.ts';
import { failed } from '../../../../electron/contract/errors.ts';
import {
  cleartextOf,
  detokenize,
  memoryStore,
  openApp,
  planOf,
  takeIn,
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

it('the column of cases is one of the file that has a name, and no mapped one', async () => {
  const sourceId = await app.open(await app.write('in.csv', `${table.join('\n')}\n`));
  for (const caseColumn of [1, 2]) {
    const plan = { ...byCase, caseColumn };
    expect(await app.batch['batch.start']({ sourceId, plan, grounds: null })).toEqual(
      failed('plan.case-column', { column: String(caseColumn + 1) }),
    );
  }
  const plan = { ...byCase, reading: { ...byCase.reading, header: false } };
  expect(await app.batch['batch.start']({ sourceId, plan, grounds: null })).toEqual(
    failed('plan.case-column', { column: '1' }),
  );
});

const withoutUnseen = (text: string): string =>
  text.replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, '');

const mayBeCase = fc.constantFrom(
  '',
  ' ',
  '\u200b',
  '\u3164',
  '\u2800',
  'D-1',
  'd-1',
  'Ö 7',
  '４１１１',
  'D-1\n2',
  'D\t2',
  'Ｄ－１',
  'e\u0301',
  'x'.repeat(101),
);

it('the case of a row is what the log has: whatever stands in its cell, it is found again under it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), mayBeCase), (cell) => {
      const found = caseOfCell(cleartext(cell));
      const logged = caseReference.safeParse(cell);
      if (!found.ok) return;
      expect(logged.data).toBe(found.value);
      expect(maskCaseReference(found.value)).toBe(plainText(found.value));
      expect(found.value).toBe(withoutUnseen(cell).trim());
      expect(found.value).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      expect(found.value.trim()).not.toBe('');
    }),
  );
  for (const blank of ['', ' ', '\u200b', '\u2800', '\u00ad', ' \u200d\t', 'x'.repeat(101)])
    expect(caseOfCell(cleartext(blank))).toEqual(failed('value.case-missing'));
  for (const value of [
    'D-1\n2',
    'D-1\r\nD-2',
    'D\t1',
    'D\u00071',
    'D\u00851',
    'D\u20281',
    '4111 1111 1111 1111',
    'case ４１１１１１１１１１１１１１１１',
  ])
    expect(caseOfCell(cleartext(value))).toEqual(failed('value.case-value'));
});

it('an export in clear says how many cases it is under, and which row is under which', async () => {
  const sourceId = await app.open(await app.write('in.csv', `${table.join('\n')}\n`));
  const { jobId } = await app.run(sourceId, byCase);
  const grounds = { reason: 'Refund', caseReference: 'D-9' };
  valueOf(await app.export(jobId, { content: 'cleartext', grounds }));
  const intent = app.audit.intents.find(({ action }) => action === 'Export');
  expect(intent).toMatchObject({ caseReference: '', caseColumn: 0, cleartext: true });
  const lines = ['1\t1\tD-1', '3\t1\tD-2', '6\t1\tD-1'].map((line) => `${line}\n`).join('');
  const sha256 = createHash('sha256').update(lines).digest('hex');
  expect(app.audit.ends.at(-1)).toMatchObject({ values: 3, cases: { count: 2, rows: 3, sha256 } });
});

it('a value that was not sent for want of a case leaves in no file in clear either', async () => {
  const rows = ['case,value', 'D-1,4111111111111111', '\u200b,5500005555555559', ',4242424242424242,more'];
  const sourceId = await app.open(await app.write('in.csv', `${rows.join('\n')}\n`));
  const plan = { ...planOf([detokenize(1, { operation: 'tokenize' })]), caseColumn: 0 };
  const { jobId } = await app.run(sourceId, plan);
  const grounds = { reason: 'Refund', caseReference: 'D-9' };
  for (const choice of [{ rows: 'all' }, { rows: 'failed' }] as const) {
    const written = valueOf(await app.export(jobId, { content: 'cleartext', grounds, ...choice }));
    expect(written).not.toMatch(/5500005555555559|4242424242424242/);
  }
  expect(await app.export(jobId, { content: 'cleartext', grounds, withoutSource: true })).toEqual(
    failed('export.cases-unknown'),
  );
});

it('a corrected case is sent, and is the case from then on', async () => {
  const sourceId = await app.open(await app.write('in.csv', 'case,token\nD-1,a\n,b\n'));
  const { jobId } = await app.run(sourceId, byCase);
  const list = valueOf(await app.export(jobId, { rows: 'failed' }));
  app.service.sent.length = 0;
  const corrected = await app.open(await app.write('list.csv', list.replace(/,,b(\r?\n)/, ',D-7,b$1')));
  valueOf(await takeIn(app, { jobId, sourceId: corrected }));
  await app.until(jobId, 'finished');
  expect(app.service.sent).toEqual(['b']);
  const cell = { jobId, column: 1, row: 2, xorKey: newXorKey(), reason: 'Refund', caseReference: '' };
  valueOf(await app.batch['batch.reveal'](cell));
  expect(app.audit.intents.at(-1)?.caseReference).toBe('D-7');
});

it('a case lists the batches that have rows of it, with how many', async () => {
  const sourceId = await app.open(await app.write('in.csv', `${table.join('\n')}\n`));
  const { jobId } = await app.run(sourceId, byCase);
  const other = await app.open(await app.write('other.csv', 'case,token\nD-1,z\n'));
  await app.run(other, planOf([detokenize(1)]));
  const ofCase = async (caseReference: string) =>
    valueOf(await app.batch['batch.ofCase']({ caseReference })).batches;
  const found = [{ jobId, name: 'in.csv', rows: 2, ok: 2, first: [1, 6] }];
  for (const _ of ['counted', 'known']) expect(await ofCase('D-1')).toMatchObject(found);
  expect(await ofCase('D-2')).toMatchObject([{ rows: 1, first: [3] }]);
  expect(await ofCase('D-9')).toEqual([]);
  await rm(join(app.folder, 'in.csv'));
  const { uncovered } = valueOf(await app.batch['batch.ofCase']({ caseReference: 'D-3' }));
  expect(uncovered).toMatchObject([{ jobId, code: 'job.source-gone' }]);
});

it('where a case is required, the column of cases is enough for an export, and one case is not needed', async () => {
  const strict = await openApp({ store: memoryStore({ caseRequired: true }) });
  try {
    const sourceId = await strict.open(await strict.write('in.csv', `${table.join('\n')}\n`));
    const grounds = { reason: 'Refund', caseReference: '' };
    const { jobId } = await strict.run(sourceId, byCase);
    expect((await strict.export(jobId, { content: 'cleartext', grounds })).ok).toBe(true);
    const other = await strict.run(sourceId, planOf([detokenize(1)]));
    expect(await strict.export(other.jobId, { content: 'cleartext', grounds })).toEqual(
      failed('reveal.reason-required'),
    );
  } finally {
    await strict.close();
  }
});
