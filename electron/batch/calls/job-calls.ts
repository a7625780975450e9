import { done, type Outcome } from '../../contract/errors.ts';
import type { Batch } from '../batch.ts';
import type { BatchParts } from '../parts.ts';
import { createJob } from '../running/create-job.ts';
import type { BatchJob } from '../running/job.ts';
import type { JobList } from '../running/job-list.ts';
import type { Drafts } from './draft-calls.ts';

type Calls = Pick<
  Batch,
  | 'batch.start'
  | 'batch.pause'
  | 'batch.resume'
  | 'batch.cancel'
  | 'batch.retry'
  | 'batch.discard'
  | 'batch.jobs'
  | 'batch.damaged'
>;

/** What a person does to a job as a whole. */
export function createJobCalls(parts: BatchParts, drafts: Drafts, jobs: JobList): Calls {
  const onJob = async (
    jobId: string,
    act: (job: BatchJob) => Promise<Outcome<null>>,
  ): Promise<Outcome<Record<string, never>>> => {
    const job = jobs.find(jobId);
    if (!job.ok) return job;
    const outcome = await act(job.value);
    return outcome.ok ? done({}) : outcome;
  };

  return {
    async 'batch.start'({ sourceId, plan }) {
      const draft = await drafts.ready(sourceId, plan);
      if (!draft.ok) return draft;
      const job = await createJob(parts, draft.value, plan);
      if (!job.ok) return job;
      // Listed before it runs, so that closing the desk finds it.
      const added = jobs.add(job.value);
      const begun = added.ok ? await job.value.go('forward') : added;
      if (!begun.ok) {
        jobs.remove(job.value.what.jobId);
        await job.value.discard();
        return begun;
      }
      return done({ jobId: job.value.what.jobId });
    },
    'batch.pause': ({ jobId }) => onJob(jobId, (job) => job.pause()),
    'batch.resume': ({ jobId }) => onJob(jobId, (job) => job.resume()),
    'batch.cancel': ({ jobId }) => onJob(jobId, (job) => job.cancel()),
    'batch.retry': ({ jobId, code }) => onJob(jobId, (job) => job.retry(code)),
    async 'batch.discard'({ jobId }) {
      const damaged = await jobs.discardDamaged(jobId);
      if (damaged !== null) return damaged.ok ? done({}) : damaged;
      return onJob(jobId, async (job) => {
        const outcome = await job.discard();
        if (outcome.ok) jobs.remove(jobId);
        return outcome;
      });
    },
    'batch.jobs': () => Promise.resolve(done(jobs.views())),
    'batch.damaged': () => Promise.resolve(done(jobs.damaged())),
  };
}
