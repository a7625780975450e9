import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readAhead, type ByteSource } from '../../storage/byte-source.ts';
import { readChunk, readUnfoundChunk, unreadChunk } from '../reading/read-rows.ts';
import type { JobSource } from '../running/job-source.ts';
import type { BatchJob, JobResults } from '../running/job.ts';
import { maskedColumnsOf } from '../storing/job-files.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { ReadRecord } from '../storing/records.ts';
import { withoutPending, type ChunkResults } from '../storing/results.ts';
import type { JobRows } from '../viewing/look-at-rows.ts';
import type { LoadedChunk, Needed, View } from '../viewing/result-rows.ts';

const viewOf = ({ spec, work }: BatchJob): View => ({
  width: spec.format.width,
  work,
  masked: maskedColumnsOf(spec),
});

const noResults: ChunkResults = { states: '', flaws: {}, columns: [] };

/** Whether each row of a chunk has these results. */
const haveAll = ({ counts }: JournalEntry, answers: readonly number[]): boolean =>
  answers.every((answer) => counts.columns?.[answer]?.ok === counts.rows);

export interface OpenChunks {
  readonly rows: JobRows;
  readonly store: JobResults;
  readonly source: JobSource;
}

/** Runs `act` while the job's source and results are open. */
export async function withChunks<T>(
  job: BatchJob,
  act: (chunks: OpenChunks) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const opened = await job.openResults();
  if (!opened.ok) return opened;
  const store = opened.value;
  const source = await job.openSource();
  if (!source.ok) return source;
  try {
    const { identity } = source.value;
    const { mended, pending, typed } = store.corrected;
    const loader =
      (
        read: ByteSource['read'],
        readResults: (entry: JournalEntry, index: number) => ReturnType<ReadRecord>,
        readRows: typeof readChunk,
      ) =>
      async (index: number, { withResults, columns, answers }: Needed): Promise<Outcome<LoadedChunk>> => {
        const entry = store.entries[index];
        if (entry === undefined) return failed('job.damaged');
        const hasFlaws = Object.keys(entry.counts.codes).some((code) => code.startsWith('row.'));
        const maxFields = hasFlaws ? undefined : columns;
        // What a corrected row is now only the source tells.
        const areAlone = answers !== undefined && pending.size === 0 && haveAll(entry, answers);
        if (withResults && areAlone) {
          const results = await readResults(entry, index);
          return results.ok ? done({ chunk: unreadChunk(entry), results: results.value }) : results;
        }
        const [chunk, results] = await Promise.all([
          readRows({ identity, read, mended, typed }, job.spec.format, entry, maxFields),
          withResults ? readResults(entry, index) : done(noResults),
        ]);
        if (!chunk.ok) return chunk;
        if (!withResults) {
          const flaws = Object.fromEntries(chunk.value.flaws);
          return done({ chunk: chunk.value, results: { ...noResults, flaws } });
        }
        if (!results.ok) return results;
        const { start, flaws } = chunk.value;
        const known = withoutPending(results.value, { firstRow: start.row, flaws }, pending);
        return done({ chunk: chunk.value, results: known });
      };
    const read: ByteSource['read'] = (offset, length) => source.value.read(offset, length);
    const readNext = readAhead(read, identity.size, { isFreed: true });
    const rows: JobRows = {
      entries: store.entries,
      version: store.tally,
      isRunning: job.busy,
      view: viewOf(job),
      load: loader(read, (_, index) => store.read(index), readChunk),
      loadNext: loader(readNext, store.createSequentialReader(), readUnfoundChunk),
    };
    return await act({ rows, store, source: { ...source.value, ...store.corrected } });
  } finally {
    await source.value.close();
  }
}
