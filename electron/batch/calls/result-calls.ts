import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Reveal } from '../../contract/models/lookup.ts';
import type { Batch } from '../batch.ts';
import { deliver } from '../output/deliver.ts';
import { revealCell } from '../output/reveal-cell.ts';
import { groupFailures, pageOf, type View } from '../output/shown-rows.ts';
import type { BatchParts } from '../parts.ts';
import { readChunk } from '../reading/read-chunk.ts';
import type { Chunk } from '../reading/read-rows.ts';
import type { BatchJob } from '../running/job.ts';
import type { JobList } from '../running/job-list.ts';
import { isRetriable, type ChunkResults } from '../storing/results.ts';
import { indexOfRow, type ResultStore } from '../storing/result-store.ts';

type Calls = Pick<Batch, 'batch.rows' | 'batch.failures' | 'batch.reveal' | 'batch.export'>;

interface Loaded {
  readonly chunk: Chunk;
  readonly results: ChunkResults;
}

/** What a person sees and takes of a job's results. */
export function createResultCalls(parts: BatchParts, jobs: JobList): Calls {
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
    async 'batch.reveal'({ jobId, row, column, ...justification }): Promise<Outcome<Reveal>> {
      const job = jobs.find(jobId);
      if (!job.ok) return job;
      return withRows(job.value, async (load, store) => {
        if (row > store.tally.rows) return failed('reveal.gone');
        const loaded = await load(indexOfRow(store, row));
        if (!loaded.ok) return loaded;
        const place = { ...loaded.value, index: row - loaded.value.chunk.start.row, column };
        return revealCell(parts, job.value, viewOf(job.value), place, justification);
      });
    },
    async 'batch.export'(choice) {
      const job = jobs.find(choice.jobId);
      if (!job.ok) return job;
      return deliver(parts, job.value, viewOf(job.value), choice);
    },
  };
}
