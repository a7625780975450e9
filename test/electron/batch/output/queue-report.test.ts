import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifyEvidence } from '../../../../scripts/verify-evidence.ts';
import type { Queue } from '../../../../electron/contract/models/queue.ts';
import {
  codeOf,
  detokenize,
  openApp,
  planOf,
  someGrounds,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

/* One report of several files: its sums agree with the files', and it says what is left of the old tokens. */

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const token = (file: string, n: number): string => `${file}Token${String(n).padStart(6, '0')}`;

/** The first token of each file stands in its note too. */
const write = (file: string, rows: number): Promise<string> =>
  app.write(
    `${file}.csv`,
    `id,card,note\n${Array.from({ length: rows }, (_, n) => `${n},${token(file, n)},${n === 0 ? token(file, 0) : ''}\n`).join('')}`,
  );

async function runAll(references: string[], operation: 'translate' | 'detokenize'): Promise<Queue> {
  const { source, queue } = valueOf(await app.batch['batch.dropFiles']({ references }));
  const queueId = queue?.queueId ?? '';
  const sourceId = source?.sourceId ?? '';
  const target = operation === 'translate' ? { policy: 'Other', definition: 'ssn' } : null;
  const plan = planOf([detokenize(1, { operation, definition: 'text', target })]);
  valueOf(await app.batch['batch.startQueue']({ queueId, sourceId, plan, grounds: someGrounds }));
  const find = async (): Promise<Queue | undefined> =>
    valueOf(await app.batch['batch.queues']({})).find((one) => one.queueId === queueId);
  await vi.waitFor(async () => expect((await find())?.state).toBe('finished'), { timeout: 10_000 });
  const found = await find();
  if (found === undefined) throw new Error('no queue');
  return found;
}

async function report(queueId: string, form: 'csv' | 'html' | 'json'): Promise<string> {
  const saved = valueOf(await app.batch['batch.reportQueue']({ queueId, form }));
  return readFile(join(app.folder, saved?.name ?? ''), 'utf8');
}

const translated = 'card: translate text (Disputes) to ssn (Other)';

test('a line for each file, and a sum that agrees', async () => {
  app.service.refuses = (value) => value.endsWith('000003');
  const files = await Promise.all([write('a', 10), write('b', 20)]);
  const { queueId } = await runAll(files, 'translate');
  const csv = await report(queueId, 'csv');
  expect(csv.split('\r\n')).toEqual([
    'file,state,rows,done,failed,unmatched,blank,old_tokens_left,reasons,plan',
    // The one that failed, and the one in the note.
    `a.csv,finished,10,9,1,0,0,2,service.element-refused: 1,${translated}`,
    `b.csv,finished,20,19,1,0,0,2,service.element-refused: 1,${translated}`,
    'Sum,2 of 2 finished,30,28,2,0,0,4,,',
    '',
  ]);
  const { sum, files: listed } = JSON.parse(await report(queueId, 'json')) as {
    sum: object;
    files: object[];
  };
  expect(sum).toEqual({
    rows: 30,
    ok: 28,
    failed: 2,
    unmatched: 0,
    blank: 0,
    left: 4,
    files: 2,
    finished: 2,
    removed: 0,
  });
  expect(listed).toHaveLength(2);
  const page = await report(queueId, 'html');
  expect(page).toContain('<th scope="row">a.csv</th>');
  for (const text of [csv, page]) expect(text).not.toContain('Token0');
  expect(app.audit.intents.at(-1)).toMatchObject({ action: 'SaveQueueReport', note: 'report.html' });
});

test('a file that was left out is named, and counts nothing', async () => {
  const files = [await write('a', 5), await app.write('other.csv', 'x,y\n1,2\n')];
  const { queueId } = await runAll(files, 'detokenize');
  const lines = (await report(queueId, 'csv')).split('\r\n');
  expect(lines.slice(1, 4)).toEqual([
    'a.csv,finished,5,5,0,0,0,,,card: detokenize text (Disputes)',
    'other.csv,queue.columns,0,0,0,0,0,,,',
    'Sum,1 of 2 finished,5,5,0,0,0,,,',
  ]);
});

test('each file says what was done with it: another policy of one of them is not that of all', async () => {
  app.service.refuses = (value) => value.startsWith('b');
  const { queueId, files } = await runAll([await write('a', 2), await write('b', 2)], 'translate');
  app.service.refuses = () => false;
  const jobId = files[1]?.jobId ?? '';
  const changes = [{ column: 1, policy: 'Other', targetPolicy: 'Disputes' }];
  valueOf(await app.batch['batch.changePolicy']({ jobId, changes, grounds: someGrounds }));
  await app.until(jobId, 'finished');
  const { files: listed } = JSON.parse(await report(queueId, 'json')) as { files: { plan: string }[] };
  const other = 'card: translate text (Other) to ssn (Disputes)';
  expect(listed.map(({ plan }) => plan)).toEqual([translated, other]);
  for (const form of ['csv', 'html'] as const)
    for (const plan of [translated, other]) expect(await report(queueId, form)).toContain(plan);
});

test('a file whose batch was removed says so, and so does the sum', async () => {
  const { queueId, files } = await runAll([await write('a', 2), await write('b', 2)], 'translate');
  valueOf(await app.batch['batch.discard']({ jobId: files[0]?.jobId ?? '' }));
  const lines = (await report(queueId, 'csv')).split('\r\n');
  expect(lines.slice(1, 4)).toEqual([
    'a.csv,removed,0,0,0,0,0,,,',
    `b.csv,finished,2,2,0,0,0,1,,${translated}`,
    'Sum,"1 of 2 finished, 1 removed",2,2,0,0,0,1,,',
  ]);
  const { sum } = JSON.parse(await report(queueId, 'json')) as { sum: object };
  expect(sum).toMatchObject({ files: 2, finished: 1, removed: 1 });
});

test('nothing is written where the person changes their mind, or for no queue', async () => {
  const { queueId } = await runAll([await write('a', 2), await write('b', 2)], 'detokenize');
  app.target = null;
  expect(valueOf(await app.batch['batch.reportQueue']({ queueId, form: 'csv' }))).toBeNull();
  expect(codeOf(await app.batch['batch.reportQueue']({ queueId: 'none', form: 'csv' }))).toBe(
    'queue.unknown',
  );
});

test('as JSON it is signed: the verifier takes it, and nothing that was changed in it', async () => {
  const files = await Promise.all([write('a', 10), write('b', 20)]);
  const { queueId } = await runAll(files, 'translate');
  const text = await report(queueId, 'json');
  const file = join(app.folder, 'kept.json');
  const verify = async (changed: string) => {
    await writeFile(file, changed);
    return verifyEvidence({ file, signer });
  };
  await writeFile(file, text);
  const { signer: found, problems } = await verifyEvidence({ file });
  expect(problems).toEqual([]);
  const signer = found ?? '';
  expect((await verify(text)).verdict).toBe('valid');
  for (const [before, after] of [
    ['"failed": 0', '"failed": 1'],
    ['"left": 2', '"left": 0'],
    ['"a.csv"', '"c.csv"'],
    ['(Other)', '(Others)'],
  ] as const) {
    expect(text).toContain(before);
    expect((await verify(text.replace(before, after))).verdict).toBe('not valid');
  }
});
