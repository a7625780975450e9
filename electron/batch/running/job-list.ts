import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Job } from '../../contract/models/batch.ts';
import type { BatchParts } from '../parts.ts';
import {
  freshCondition,
  listJobFolders,
  loadJob,
  saveCondition,
  type Condition,
} from '../storing/job-files.ts';
import { entriesOf, readJournal } from '../storing/journal.ts';
import { isOwned } from '../storing/owner.ts';
import { BatchJob } from './job.ts';
import { addCounts, emptyTally } from '../storing/results.ts';

/** All jobs of this desk, those of earlier runs included. */
export interface JobList {
  /** Picks up what earlier runs left; jobs that a crash cut short become `interrupted`. */
  load(): Promise<void>;
  add(job: BatchJob): void;
  remove(jobId: string): void;
  /** Failure: job.unknown. */
  find(jobId: string): Outcome<BatchJob>;
  /** The newest first. */
  views(): Job[];
  close(): Promise<void>;
}

export function createJobList(parts: BatchParts): JobList {
  const jobs = new Map<string, BatchJob>();
  return {
    async load() {
      await mkdir(parts.folder, { recursive: true, mode: 0o700 });
      for (const name of await listJobFolders(parts.folder)) {
        const folder = join(parts.folder, name);
        const loaded = await loadJob(folder);
        if (!loaded.ok || loaded.value.what.jobId !== name) continue;
        const { what, how } = loaded.value;
        let condition = how ?? freshCondition;
        if (condition.state === 'running' && !(await isOwned(folder))) {
          condition = { ...condition, state: 'interrupted', ...(await countJournal(folder)) };
          await saveCondition(folder, condition);
        }
        jobs.set(what.jobId, new BatchJob(parts, folder, what, condition));
      }
    },
    add: (job) => void jobs.set(job.what.jobId, job),
    remove: (jobId) => void jobs.delete(jobId),
    find(jobId) {
      const job = jobs.get(jobId);
      return job === undefined ? failed('job.unknown') : done(job);
    },
    views: () =>
      [...jobs.values()].map((job) => job.view()).sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)),
    async close() {
      await Promise.all([...jobs.values()].map((job) => job.close()));
    },
  };
}

/** What a process that ended left behind, without the key: the journal has counts in clear. */
async function countJournal(folder: string): Promise<Pick<Condition, 'tally' | 'committed'>> {
  const text = await readFile(join(folder, 'journal'), 'latin1').catch(() => '');
  const tally = entriesOf(readJournal(text)).reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  return { tally, committed: tally.rows };
}
