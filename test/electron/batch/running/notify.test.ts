import { expect, test } from 'vitest';
import type { Job } from '../../../../electron/contract/models/batch.ts';
import { createRunningBatches } from '../../../../electron/batch/running/notify.ts';

function watched() {
  const shown: (number | 'unknown' | null)[] = [];
  const notified: { title: string; body: string; jobId: string }[] = [];
  let now = 0;
  const batches = createRunningBatches({
    platform: {
      showProgress: (share) => shown.push(share),
      notify: (text) => notified.push(text),
      locale: () => 'de-DE',
    },
    now: () => now,
  });
  const update = (over: Partial<Job>): void => {
    batches.update({
      jobId: 'job-1',
      sourceName: 'canary-file.csv',
      connectionName: 'canary-connection',
      state: 'running',
      committed: 0,
      total: 100,
      failure: null,
      tally: { rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0 },
      ...over,
    } as Job);
  };
  return { batches, shown, notified, update, pass: (ms: number) => (now += ms) };
}
const tally = { rows: 500_000, ok: 499_963, failed: 37, unmatched: 0, blank: 0 };

test('the progress is that of all batches that run, by their rows', () => {
  const { batches, shown, update } = watched();
  update({ committed: 50 });
  update({ jobId: 'job-2', committed: 0, total: 300 });
  update({ jobId: 'job-2', committed: 150, total: 300 });
  expect(batches.count()).toBe(2);
  update({ state: 'paused' });
  update({ jobId: 'job-2', state: 'finished' });
  expect(shown).toEqual([0.5, 0.125, 0.5, 0.5, null]);
  expect(batches.count()).toBe(0);
});

test('a batch whose rows are not counted yet has a progress that is not known', () => {
  const { shown, update } = watched();
  update({ total: null });
  update({ total: 0 });
  expect(shown).toEqual(['unknown', 0]);
});

test('the end of a long batch is told, with counts and no name', () => {
  const { notified, update, pass } = watched();
  update({});
  pass(60_000);
  update({ state: 'finished', tally });
  // Written as the person's own language does.
  expect(notified).toEqual([
    { title: 'A batch is finished', body: '500.000 rows, 37 of them failed.', jobId: 'job-1' },
  ]);
  update({});
  pass(60_000);
  update({ state: 'failed', tally, failure: { code: 'file.changed', subject: 'canary-file.csv' } });
  expect(notified[1]).toEqual({
    title: 'A batch has stopped',
    body: '500.000 rows are done. Tokendesk says why.',
    jobId: 'job-1',
  });
  expect(JSON.stringify(notified)).not.toContain('canary');
});

test.each([
  ['a short one', 59_999, { state: 'finished' as const }],
  ['one that the person cancelled', 60_000, { state: 'cancelled' as const }],
  ['one that the person paused', 60_000, { state: 'paused' as const }],
])('the end of %s is not', (_, ms, over) => {
  const { notified, update, pass } = watched();
  update({});
  pass(ms);
  update({ ...over, tally });
  expect(notified).toEqual([]);
});

test('an earlier batch that is only listed is not told of', () => {
  const { shown, notified, update, pass } = watched();
  pass(100_000);
  update({ state: 'finished', tally });
  expect([shown, notified]).toEqual([[], []]);
});
