import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  initialState,
  loadJob,
  saveState,
  writeSpec,
  type JobSpec,
} from '../../../../electron/batch/storing/job-files.ts';
import { createRecordCipher } from '../../../../electron/storage/encryption.ts';
import { beginStart, endStart } from '../../../../electron/util/turns.ts';
import { calls } from '../../../../electron/contract/calls.ts';
import { jobsPerPage, type Job } from '../../../../electron/contract/models/batch.ts';
import { detokenize, openApp, planOf, valueOf, type TestApp } from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => {
  endStart();
  return app.close();
});

const finished = async (): Promise<Job> =>
  app.run(await app.open(await app.write('in.csv', 'token\ntok1\ntok2\n')), planOf([detokenize(0)]));

const folderOf = (jobId: string): string => join(app.folder, 'jobs', jobId);

/** Folders of jobs as an earlier run leaves them, two of each second. */
async function storeCopies(of: Job, count: number): Promise<string[]> {
  const key = () => app.options.keychain.key('batch-results');
  const { spec } = valueOf(await loadJob(folderOf(of.jobId), key));
  const masterKey = valueOf(await key());
  const copies = Array.from({ length: count }, (_, at): JobSpec => ({
    ...spec,
    jobId: randomUUID(),
    startedAt: new Date(Date.UTC(2020, 0, 1, 0, 0, at >> 1)).toISOString(),
  }));
  await Promise.all(
    copies.map(async (copy) => {
      const folder = folderOf(copy.jobId);
      await mkdir(folder);
      await writeSpec(folder, copy, masterKey);
      await saveState(
        folder,
        { ...initialState, state: 'finished' },
        createRecordCipher(masterKey, copy.jobId),
      );
    }),
  );
  return copies.map(({ jobId }) => jobId);
}

it('comes in pages, the newest first, with each job once', async () => {
  const newest = await finished();
  const stored = await storeCopies(newest, jobsPerPage + 30);
  app = await app.again();
  const listed: Job[] = [];
  while (listed.length <= stored.length + 1) {
    const last = listed.at(-1);
    const after = last && { jobId: last.jobId, startedAt: last.startedAt };
    const page = calls['batch.jobs'].output.parse(valueOf(await app.batch['batch.jobs']({ after })));
    if (page.length === 0) break;
    listed.push(...page);
  }
  expect(listed[0]?.jobId).toBe(newest.jobId);
  expect(new Set(listed.map(({ jobId }) => jobId))).toEqual(new Set([newest.jobId, ...stored]));
  expect(listed).toHaveLength(stored.length + 1);
  const times = listed.map(({ startedAt }) => startedAt);
  expect(times).toEqual(times.toSorted().reverse());
});

it('goes on behind a job that was removed meanwhile', async () => {
  const newest = await finished();
  await storeCopies(newest, 3);
  app = await app.again();
  const [, second, third, fourth] = valueOf(await app.batch['batch.jobs']({}));
  if (second === undefined) throw new Error('no second job');
  valueOf(await app.batch['batch.discard']({ jobId: second.jobId }));
  const after = { jobId: second.jobId, startedAt: second.startedAt };
  expect(valueOf(await app.batch['batch.jobs']({ after }))).toEqual([third, fourth]);
});

it('of an earlier run is waited for by what asks for one of its jobs, and by what asks for the damaged ones', async () => {
  const job = await finished();
  await mkdir(folderOf('not-a-job'));
  app = await app.again();
  const [damaged, page] = await Promise.all([
    app.batch['batch.damaged']({}),
    app.batch['batch.rows']({ jobId: job.jobId, filter: 'all', from: 0, count: 10 }),
  ]);
  expect(valueOf(damaged)).toHaveLength(1);
  expect(valueOf(page).rows).toHaveLength(2);
});

it('is read once the window is drawn, and a job that was made before is one job', async () => {
  const earlier = await finished();
  beginStart();
  app = await app.again();
  let isListed = false as boolean;
  const listing = app.batch['batch.jobs']({}).finally(() => (isListed = true));
  const sourceId = await app.open(await app.write('in.csv', 'token\ntok1\n'));
  const started = { sourceId, plan: planOf([detokenize(0)]), grounds: null };
  const { jobId } = valueOf(await app.batch['batch.start'](started));
  expect(isListed).toBe(false);
  endStart();
  const listed = valueOf(await listing);
  expect(listed.map((job) => job.jobId)).toEqual([jobId, earlier.jobId]);
  await app.until(jobId, 'finished');
});
