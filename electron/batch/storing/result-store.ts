import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import type { Seal } from '../../privacy/seal.ts';
import { createCommitter, type Commit } from './committer.ts';
import type { Entry } from './journal.ts';
import type { ChunkPlace } from './place.ts';
import { recordReader, type ReadRecord } from './read-record.ts';
import { openRecords, type Records } from './records.ts';
import { addCounts, emptyTally, type ChunkResults } from './results.ts';

/**
 * The results of one job on disk: encrypted records, one a chunk, and the journal that says which of them count.
 * Whatever a crash leaves half written is dropped at the next opening.
 */
export interface ResultStore {
  /** Committed chunks in source order. */
  readonly entries: readonly Entry[];
  readonly tally: Tally;
  /**
   * Takes a chunk's results. Without an index it is the next one; with one it replaces that chunk's earlier results.
   * Failures: file.disk-full, file.unwritable; after one of them nothing more is taken.
   */
  commit(
    index: number | null,
    chunk: Pick<ChunkPlace, 'start' | 'end' | 'crc'>,
    results: ChunkResults,
  ): Commit;
  /** Failure: job.damaged. */
  read(index: number): Promise<Outcome<ChunkResults>>;
  /** For someone who reads many chunks one behind the other. */
  readThrough(): ReadRecord;
  /** Resolves when what was taken is settled; asked for where nothing more comes. */
  settled(): Promise<void>;
  /** Waits for what was taken, then lets go of the files. */
  close(): Promise<void>;
}

/** Failures: job.damaged, file.unwritable. */
export async function openResultStore(folder: string, seal: Seal): Promise<Outcome<ResultStore>> {
  const opened = await openRecords(folder, seal);
  return opened.ok ? done(createStore(opened.value, seal)) : opened;
}

function createStore(opened: Records, seal: Seal): ResultStore {
  const { entries, records, journal } = opened;
  let tally = entries.reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  const committer = createCommitter(opened, seal, (entry) => {
    const earlier = entries[entry.chunk];
    if (earlier !== undefined) tally = addCounts(tally, earlier.counts, -1);
    tally = addCounts(tally, entry.counts);
    entries[entry.chunk] = entry;
  });

  const readRecord = recordReader(records, seal);

  return {
    entries,
    get tally() {
      return tally;
    },
    commit: (index, chunk, results) => committer.take(index, chunk, results),
    read(index) {
      const entry = entries[index];
      return entry === undefined ? Promise.resolve(failed('job.damaged')) : readRecord(entry);
    },
    readThrough() {
      const end = entries.reduce((last, { offset, length }) => Math.max(last, offset + length), 0);
      return recordReader(records, seal, end);
    },
    settled: () => committer.idle(),
    async close() {
      await committer.idle();
      await Promise.allSettled([records.close(), journal.close()]);
    },
  };
}

/** Which chunk holds a row, by halving. */
export function indexOfRow({ entries }: Pick<ResultStore, 'entries'>, row: number): number {
  let low = 0;
  let high = entries.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.end.row ?? 0) > row) high = middle;
    else low = middle + 1;
  }
  return low;
}
