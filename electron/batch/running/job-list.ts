import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { DamagedJob, Job } from '../../contract/models/batch.ts';
import type { BatchParts } from '../batch.ts';
import {
  freshCondition,
  listJobFolders,
  loadJob,
  saveCondition,
  type Condition,
} from '../storing/job-files.ts';
import { entriesOf, readJournal } from '../storing/journal.ts';
import { isOwned, own } from '../storing/owner.ts';
import { BatchJob } from './job.ts';
import { addCounts, emptyTally } from '../storing/results.ts';

/** All jobs of this app, those of earlier runs included. */
export interface JobList {
  /** Picks up what earlier runs left; jobs that a crash cut short become `interrupted`. */
  load(): Promise<void>;
  /** Failure: job.busy, when the app is closing. */
  add(job: BatchJob): Outcome<null>;
  remove(jobId: string): void;
  /** Failure: job.unknown. */
  find(jobId: string): Outcome<BatchJob>;
  /** The newest first. */
  views(): Job[];
  /** What could not be read as a job: nothing is hidden from the person. */
  damaged(): DamagedJob[];
  /** Null when it is no damaged one. Failures: job.elsewhere, file.unwritable. */
  discardDamaged(jobId: string): Promise<Outcome<null>> | null;
  close(): Promise<void>;
}

export function createJobList(parts: BatchParts): JobList {
  const jobs = new Map<string, BatchJob>();
  const damaged = new Map<string, { folder: string; changedAt: string | null }>();
  let closed = false;

  async function removeDamaged(jobId: string, folder: string): Promise<Outcome<null>> {
    const owner = await own(folder).catch(() => null);
    if (owner !== null && !owner.ok) return owner;
    try {
      await rm(folder, { recursive: true, force: true });
    } catch {
      return failed('file.unwritable');
    }
    damaged.delete(jobId);
    return done(null);
  }

  return {
    async load() {
      await mkdir(parts.folder, { recursive: true, mode: 0o700 });
      for (const name of await listJobFolders(parts.folder)) {
        const folder = join(parts.folder, name);
        const loaded = await loadJob(folder);
        if (!loaded.ok || loaded.value.what.jobId !== name) {
          damaged.set(parts.newId(), { folder, changedAt: await changeOf(folder) });
          continue;
        }
        const { what, how } = loaded.value;
        let condition = how ?? { ...freshCondition, ...(await countJournal(folder)) };
        if (condition.state === 'running' && !(await isOwned(folder))) {
          condition = { ...condition, state: 'interrupted', ...(await countJournal(folder)) };
          await saveCondition(folder, condition);
        }
        jobs.set(what.jobId, new BatchJob(parts, folder, what, condition));
      }
    },
    add(job) {
      if (closed) return failed('job.busy');
      jobs.set(job.what.jobId, job);
      return done(null);
    },
    remove: (jobId) => void jobs.delete(jobId),
    find(jobId) {
      const job = jobs.get(jobId);
      return job === undefined ? failed('job.unknown') : done(job);
    },
    views: () =>
      [...jobs.values()].map((job) => job.view()).sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)),
    damaged: () => [...damaged].map(([jobId, { changedAt }]) => ({ jobId, changedAt })),
    discardDamaged(jobId) {
      const found = damaged.get(jobId);
      return found === undefined ? null : removeDamaged(jobId, found.folder);
    },
    async close() {
      closed = true;
      await Promise.all([...jobs.values()].map((job) => job.close()));
    },
  };
}

const changeOf = (folder: string): Promise<string | null> =>
  stat(folder).then(
    ({ mtime }) => mtime.toISOString(),
    () => null,
  );

/** What a process that ended left behind, without the key: the journal has counts in clear. */
async function countJournal(folder: string): Promise<Pick<Condition, 'tally' | 'committed'>> {
  const text = await readFile(join(folder, 'journal'), 'latin1').catch(() => '');
  const tally = entriesOf(readJournal(text)).reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  return { tally, committed: tally.rows };
}
