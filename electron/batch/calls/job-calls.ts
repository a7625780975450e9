import { done, type Outcome, failed } from '../../contract/errors.ts';
import type { Reveal } from '../../contract/models/lookup.ts';
import type { Batch, BatchParts } from '../batch.ts';
import { deliver } from '../output/export.ts';
import { groupFailures, pageOf, type View } from '../output/result-rows.ts';
import { revealCell } from '../output/reveal-cell.ts';
import { readChunk, type Chunk } from '../reading/read-rows.ts';
import type { JobList } from '../running/job-list.ts';
import type { BatchJob } from '../running/job.ts';
import { createJob } from '../running/open-job.ts';
import { indexOfRow, type ResultStore } from '../storing/result-store.ts';
import { isRetriable, type ChunkResults } from '../storing/results.ts';
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
      // Listed before it runs, so that closing the app finds it.
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

type ResultCalls = Pick<Batch, 'batch.rows' | 'batch.failures' | 'batch.reveal' | 'batch.export'>;

interface Loaded {
  readonly chunk: Chunk;
  readonly results: ChunkResults;
}

/** What a person sees and takes of a job's results. */
export function createResultCalls(parts: BatchParts, jobs: JobList): ResultCalls {
  const viewOf = (job: BatchJob): View => ({
    width: job.what.format.width,
    work: job.work,
    masked: new Map(job.what.maskedColumns.map(({ column, kind }) => [column, kind])),
  });

  /** Runs `act` with the chunk of a job's source and its results at hand. */
  async function withRows<T>(
    job: BatchJob,
    act: (load: (index: number) => Promise<Outcome<Loaded>>, store: ResultStore) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const opened = await job.open();
    if (!opened.ok) return opened;
    const { store } = opened.value;
    const source = await job.openSource();
    if (!source.ok) return source;
    try {
      return await act(async (index) => {
        const entry = store.entries[index];
        if (entry === undefined) return failed('job.damaged');
        const [chunk, results] = await Promise.all([
          readChunk(source.value, job.what.format, entry),
          store.read(index),
        ]);
        if (!chunk.ok) return chunk;
        if (!results.ok) return results;
        return done({ chunk: chunk.value, results: results.value });
      }, store);
    } finally {
      await source.value.close();
    }
  }

  return {
    async 'batch.rows'({ jobId, ...query }) {
      const job = jobs.find(jobId);
      if (!job.ok) return job;
      return withRows(job.value, (load, { entries }) => pageOf(entries, query, viewOf(job.value), load));
    },
    async 'batch.failures'({ jobId }) {
      const job = jobs.find(jobId);
      if (!job.ok) return job;
      const opened = await job.value.open();
      if (!opened.ok) return opened;
      const groups = groupFailures(opened.value.store.entries);
      return done(groups.map((group) => ({ ...group, retriable: isRetriable(group.code) })));
    },
    async 'batch.reveal'({ jobId, row, column, ...revealReason }): Promise<Outcome<Reveal>> {
      const job = jobs.find(jobId);
      if (!job.ok) return job;
      return withRows(job.value, async (load, store) => {
        if (row > store.tally.rows) return failed('reveal.gone');
        const loaded = await load(indexOfRow(store, row));
        if (!loaded.ok) return loaded;
        const place = { ...loaded.value, index: row - loaded.value.chunk.start.row, column };
        return revealCell(parts, job.value, viewOf(job.value), place, revealReason);
      });
    },
    async 'batch.export'(choice) {
      const job = jobs.find(choice.jobId);
      if (!job.ok) return job;
      return deliver(parts, job.value, viewOf(job.value), choice);
    },
  };
}
