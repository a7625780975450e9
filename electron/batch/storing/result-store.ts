import type { FileHandle } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { writeFailure, type ChunkPlace } from './job-files.ts';
import { writeLine, type Entry } from './journal.ts';
import { contextOf, type Records, recordReader, type ReadRecord, openRecords } from './records.ts';
import { countChunk, encodeResults, type ChunkResults, addCounts, emptyTally } from './results.ts';

/** Each sync is dear, and makes only a power cut cheaper. */
const syncEveryMs = 50;

/** What became of a chunk that was handed over. Neither promise rejects. */
export interface Commit {
  /** The system has it: the end of this process costs nothing of it. */
  readonly written: Promise<Outcome<null>>;
  /** The disk has it, and it counts: nor does a power cut. */
  readonly synced: Promise<Outcome<null>>;
}

/** Writes chunks in the order they come, several at a time, and syncs behind them. */
export interface Committer {
  take(index: number | null, chunk: Pick<ChunkPlace, 'start' | 'end' | 'crc'>, results: ChunkResults): Commit;
  /** Settles everything taken, without waiting for company. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly entry: Omit<Entry, 'offset' | 'length'>;
  readonly record: Buffer;
  readonly written: (outcome: Outcome<null>) => void;
  readonly synced: (outcome: Outcome<null>) => void;
}

interface Unsynced {
  readonly entry: Entry;
  readonly synced: (outcome: Outcome<null>) => void;
}

/** `counts` is told of each chunk once it is synced, in order. */
export function createCommitter(
  { records, journal, entries, ...ends }: Records,
  cipher: RecordCipher,
  counts: (entry: Entry) => void,
): Committer {
  let nextIndex = entries.length;
  let { recordsEnd, journalEnd } = ends;
  let syncedEnd = recordsEnd;
  let syncedAt = -syncEveryMs;
  let waiting: Waiting[] = [];
  let unsynced: Unsynced[] = [];
  let writing: Promise<void> | null = null;
  let syncing: Promise<void> | null = null;
  let hurry = (): void => undefined;
  /** After a failed write nothing more is taken: a later chunk must not be committed before an earlier one. */
  let broken: ReturnType<typeof failed> | null = null;

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    let offset = recordsEnd;
    let lines = '';
    const added: Unsynced[] = [];
    for (const { entry, record, synced } of group) {
      const placed = { ...entry, offset, length: record.length };
      lines += writeLine({ ...placed, synced: syncedEnd });
      added.push({ entry: placed, synced });
      offset += record.length;
    }
    const text = Buffer.from(lines, 'latin1');
    const bytes =
      group.length === 1 ? (group[0]?.record ?? text) : Buffer.concat(group.map((one) => one.record));
    await Promise.all([writeAt(records, bytes, recordsEnd), writeAt(journal, text, journalEnd)]);
    recordsEnd = offset;
    journalEnd += text.length;
    unsynced.push(...added);
  }

  async function writeAll(): Promise<void> {
    // Chunks that are ready at the same moment share a write.
    await nextTurn();
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      if (broken === null) {
        try {
          await writeGroup(group);
        } catch (error) {
          broken = writeFailure(error);
        }
      }
      const outcome = broken ?? done(null);
      for (const { written, synced } of group) {
        written(outcome);
        if (!outcome.ok) synced(outcome);
      }
      if (unsynced.length > 0) syncing ??= syncAll();
    }
    writing = null;
  }

  /** Waits for more to sync together with, but not longer than that, and not when asked to hurry. */
  function company(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function syncAll(): Promise<void> {
    while (unsynced.length > 0) {
      await company(syncedAt + syncEveryMs - performance.now());
      const group = unsynced;
      unsynced = [];
      const end = recordsEnd;
      try {
        await Promise.all([records.datasync(), journal.datasync()]);
        syncedEnd = end;
        syncedAt = performance.now();
      } catch (error) {
        broken ??= writeFailure(error);
      }
      for (const { entry, synced } of group) {
        if (broken === null) counts(entry);
        synced(broken ?? done(null));
      }
    }
    syncing = null;
  }

  return {
    take(index, { start, end, crc }, results) {
      const chunk = index ?? nextIndex++;
      const entry = { chunk, start, end, crc, counts: countChunk(results) };
      const record = cipher.encrypt(encodeResults(results), contextOf(entry));
      const written = Promise.withResolvers<Outcome<null>>();
      const synced = Promise.withResolvers<Outcome<null>>();
      waiting.push({ entry, record, written: written.resolve, synced: synced.resolve });
      writing ??= writeAll();
      return { written: written.promise, synced: synced.promise };
    },
    async idle() {
      await writing;
      hurry();
      while (writing !== null || syncing !== null) await Promise.all([writing, syncing]);
    },
  };
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

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
export async function openResultStore(folder: string, cipher: RecordCipher): Promise<Outcome<ResultStore>> {
  const opened = await openRecords(folder, cipher);
  return opened.ok ? done(createStore(opened.value, cipher)) : opened;
}

function createStore(opened: Records, cipher: RecordCipher): ResultStore {
  const { entries, records, journal } = opened;
  let tally = entries.reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  const committer = createCommitter(opened, cipher, (entry) => {
    const earlier = entries[entry.chunk];
    if (earlier !== undefined) tally = addCounts(tally, earlier.counts, -1);
    tally = addCounts(tally, entry.counts);
    entries[entry.chunk] = entry;
  });

  const readRecord = recordReader(records, cipher);

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
      return recordReader(records, cipher, end);
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
