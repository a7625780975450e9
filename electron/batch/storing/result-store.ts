import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import { writeAll, writeParts } from '../../storage/durable.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { writeFailure } from '../../storage/file-failures.ts';
import { lockFolder } from './job-files.ts';
import { formatHead, formatLine, type ChunkRange, type JournalEntry } from './journal.ts';
import { contextOf, createRecordReader, openRecords, type ReadRecord } from './records.ts';
import { addCounts, countChunk, emptyTally, encodeResults, type ChunkResults } from './results.ts';
import { yieldToOthers } from '../../util/turns.ts';

/** What became of a chunk that was committed. Neither promise rejects. */
export interface Commit {
  /** The system has it: it survives the end of this process. */
  readonly written: Promise<Outcome<null>>;
  /** The disk has it, and it counts: it survives a power cut. */
  readonly synced: Promise<Outcome<null>>;
}

/**
 * The results of one job on disk: encrypted records, one a chunk, and the journal that says which of them count.
 * Whatever a crash leaves half written is dropped at the next opening.
 */
export interface ResultStore {
  /** Synced chunks in source order. */
  readonly entries: readonly JournalEntry[];
  readonly tally: Tally;
  /**
   * Stores a chunk's results. With null for an index it is the next chunk; with one it replaces that chunk's earlier
   * results. Chunks are written in the order of the calls. Failures: file.disk-full, file.unwritable; after one of
   * them nothing more is written.
   */
  commit(index: number | null, range: ChunkRange, results: ChunkResults): Commit;
  /** Failures: job.damaged; what `close` was told. */
  read(index: number): Promise<Outcome<ChunkResults>>;
  /** For reading many chunks in order. */
  createSequentialReader(): ReadRecord;
  /** What is there now: of a second try the records are written behind the earlier ones, which stay. */
  snapshot(): StoredResults;
  /** Resolves when everything committed is synced or has failed; it is synced at once. */
  settled(): Promise<void>;
  /**
   * After `settled`, closes the files and releases the lock. Whoever still reads, of a snapshot too, gets this failure: what
   * can't be read any more is not damaged.
   */
  close(readersGet: FailureCode): Promise<void>;
}

/** Results that no run changes any more. */
export type StoredResults = Pick<ResultStore, 'entries' | 'tally' | 'read' | 'createSequentialReader'>;

/** A sync takes long, and protects against a power cut only. */
const syncEveryMs = 50;

interface UnwrittenChunk {
  readonly entry: Omit<JournalEntry, 'offset' | 'length'>;
  readonly record: readonly Buffer[];
  readonly written: (outcome: Outcome<null>) => void;
  readonly synced: (outcome: Outcome<null>) => void;
}

interface UnsyncedChunk {
  readonly entry: JournalEntry;
  readonly synced: (outcome: Outcome<null>) => void;
}

/** One process at a time may have it open. Failures: job.elsewhere, job.damaged, file.disk-full, file.unwritable. */
export async function openResultStore(folder: string, cipher: RecordCipher): Promise<Outcome<ResultStore>> {
  const lock = lockFolder(folder);
  if (!lock.ok) return lock;
  const opened = await openRecords(folder, cipher);
  if (!opened.ok) {
    lock.value.release();
    return opened;
  }
  const { records, journal, entries } = opened.value;
  let { recordsEnd, journalEnd } = opened.value;
  let tally = entries.reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  let nextIndex = entries.length;
  let syncedEnd = recordsEnd;
  let syncedAt = -syncEveryMs;
  let unwritten: UnwrittenChunk[] = [];
  let unsynced: UnsyncedChunk[] = [];
  let writing: Promise<void> | null = null;
  let syncing: Promise<void> | null = null;
  let syncNow = (): void => undefined;
  /** After a failed write nothing more is written: a later chunk must not be committed before an earlier one. */
  let broken: ReturnType<typeof failed> | null = null;

  async function writeGroup(group: readonly UnwrittenChunk[]): Promise<void> {
    let offset = recordsEnd;
    const parts: Buffer[] = [];
    const added: UnsyncedChunk[] = [];
    for (const { entry, record, synced } of group) {
      const length = record.reduce((sum, part) => sum + part.length, 0);
      const head = formatHead(entry, length);
      parts.push(head, ...record);
      added.push({ entry: { ...entry, offset: offset + head.length, length }, synced });
      offset += head.length + length;
    }
    await writeParts(records, parts, recordsEnd);
    recordsEnd = offset;
    unsynced.push(...added);
  }

  async function writeUnwritten(): Promise<void> {
    // Chunks that are ready at the same moment share a write.
    await yieldToOthers();
    while (unwritten.length > 0) {
      const group = unwritten;
      unwritten = [];
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
      if (unsynced.length > 0) syncing ??= syncUnsynced();
    }
    writing = null;
  }

  /** So that more chunks share a sync. Ends early by `syncNow`. */
  function waitForMore(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      syncNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function syncUnsynced(): Promise<void> {
    while (unsynced.length > 0) {
      await waitForMore(syncedAt + syncEveryMs - performance.now());
      const group = unsynced;
      unsynced = [];
      const end = recordsEnd;
      try {
        const lines = Buffer.from(group.map(({ entry }) => formatLine(entry, syncedEnd)).join(''), 'latin1');
        await writeAll(journal, lines, journalEnd);
        journalEnd += lines.length;
        await Promise.all([records.datasync(), journal.datasync()]);
        syncedEnd = end;
        syncedAt = performance.now();
      } catch (error) {
        broken ??= writeFailure(error);
      }
      for (const { entry, synced } of group) {
        if (broken === null) count(entry);
        synced(broken ?? done(null));
      }
    }
    syncing = null;
  }

  function count(entry: JournalEntry): void {
    const earlier = entries[entry.chunk];
    if (earlier !== undefined) tally = addCounts(tally, earlier.counts, -1);
    tally = addCounts(tally, entry.counts);
    entries[entry.chunk] = entry;
  }

  let closed: ReturnType<typeof failed> | null = null;

  function createReader(end?: number): ReadRecord {
    const read = createRecordReader(records, cipher, end);
    return async (entry) => {
      const results = closed ?? (await read(entry));
      return closed ?? results;
    };
  }
  const readRecord = createReader();

  const readersOf = (
    some: readonly JournalEntry[],
  ): Pick<ResultStore, 'read' | 'createSequentialReader'> => ({
    read(index) {
      const entry = some[index];
      return entry === undefined ? Promise.resolve(failed('job.damaged')) : readRecord(entry);
    },
    createSequentialReader() {
      const end = some.reduce((last, { offset, length }) => Math.max(last, offset + length), 0);
      return createReader(end);
    },
  });

  async function settled(): Promise<void> {
    await writing;
    syncNow();
    while (writing !== null || syncing !== null) await Promise.all([writing, syncing]);
  }

  return done({
    entries,
    get tally() {
      return tally;
    },
    commit(index, { start, end, crc }, results) {
      const chunk = index ?? nextIndex++;
      const entry = { chunk, start, end, crc, counts: countChunk(results) };
      const record = [...cipher.encryptParts([encodeResults(results)], contextOf(entry))];
      const written = Promise.withResolvers<Outcome<null>>();
      const synced = Promise.withResolvers<Outcome<null>>();
      unwritten.push({ entry, record, written: written.resolve, synced: synced.resolve });
      writing ??= writeUnwritten();
      return { written: written.promise, synced: synced.promise };
    },
    ...readersOf(entries),
    snapshot() {
      const now = [...entries];
      return { entries: now, tally, ...readersOf(now) };
    },
    settled,
    async close(readersGet) {
      await settled();
      closed = failed(readersGet);
      await Promise.allSettled([records.close(), journal.close()]);
      lock.value.release();
    },
  });
}

/** Which chunk holds a row, by bisection. */
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
