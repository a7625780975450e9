import { constants } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import { writeFailure } from '../failing.ts';
import { readJournal, writeLine, type Entry } from './journal.ts';
import {
  addCounts,
  countChunk,
  decodeResults,
  emptyTally,
  encodeResults,
  type ChunkResults,
} from '../running/results.ts';
import type { Chunk } from '../reading/read-rows.ts';
import type { Seal } from '../../privacy/seal.ts';

/**
 * The results of one job on disk: encrypted records, one a chunk, and the journal that says which of them count. A
 * chunk counts once its record and then its line are synced; whatever a crash leaves behind that is dropped at the
 * next opening. Chunks that arrive together share their two syncs.
 */
export interface ResultStore {
  /** Committed chunks in source order. */
  readonly entries: readonly Entry[];
  readonly tally: Tally;
  /**
   * Resolves when the chunk is on disk. Without an index it is the next one; with one it replaces that chunk's
   * earlier results.
   */
  commit(
    index: number | null,
    chunk: Pick<Chunk, 'start' | 'end' | 'crc'>,
    results: ChunkResults,
  ): Promise<Outcome<null>>;
  /** Failure: job.damaged. */
  read(index: number): Promise<Outcome<ChunkResults>>;
  close(): Promise<void>;
}

interface Waiting {
  readonly index: number;
  readonly chunk: Pick<Chunk, 'start' | 'end' | 'crc'>;
  readonly results: ChunkResults;
  readonly settle: (outcome: Outcome<null>) => void;
}

/** Linux writes and syncs in one call; elsewhere the flag is missing or says less than it should. */
const syncsItself = process.platform === 'linux';
const openFlags = constants.O_RDWR | constants.O_CREAT | (syncsItself ? constants.O_DSYNC : 0);

export async function openResultStore(folder: string, seal: Seal): Promise<Outcome<ResultStore>> {
  let records: FileHandle | undefined;
  let journal: FileHandle | undefined;
  try {
    records = await open(join(folder, 'results'), openFlags, 0o600);
    journal = await open(join(folder, 'journal'), openFlags, 0o600);
    const text = await readFile(join(folder, 'journal'), 'latin1');
    const known = readJournal(text);
    const { size } = await records.stat();
    if (size < known.records) {
      await Promise.all([records.close(), journal.close()]);
      return failed('job.damaged');
    }
    if (known.bytes < text.length) await journal.truncate(known.bytes);
    if (known.records < size) await records.truncate(known.records);
    return done(createStore(records, journal, known, seal));
  } catch (error) {
    await Promise.allSettled([records?.close(), journal?.close()]);
    return writeFailure(error);
  }
}

function createStore(
  records: FileHandle,
  journal: FileHandle,
  known: { entries: Entry[]; bytes: number; records: number },
  seal: Seal,
): ResultStore {
  const { entries } = known;
  let nextIndex = entries.length;
  let recordsEnd = known.records;
  let journalEnd = known.bytes;
  let tally = entries.reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;
  /** After a failed write nothing more is taken: a later chunk must not be committed before an earlier one. */
  let broken: ReturnType<typeof failed> | null = null;

  /** The first half: the records, on disk before the journal says so. */
  async function writeRecords(group: readonly Waiting[]): Promise<Entry[]> {
    const sealed: Buffer[] = [];
    const added: Entry[] = [];
    let offset = recordsEnd;
    for (const { index, chunk, results } of group) {
      const { start, end, crc } = chunk;
      const record = seal.seal(encodeResults(results), contextOf(index, { start, end, crc }));
      const counts = countChunk(results);
      sealed.push(record);
      added.push({ chunk: index, offset, length: record.length, start, end, crc, counts });
      offset += record.length;
    }
    await writeSynced(records, Buffer.concat(sealed), recordsEnd);
    recordsEnd = offset;
    return added;
  }

  /** The second half: from here on the chunks count. */
  async function writeJournal(added: readonly Entry[]): Promise<void> {
    const text = Buffer.from(added.map(writeLine).join(''), 'latin1');
    await writeSynced(journal, text, journalEnd);
    journalEnd += text.length;
    for (const entry of added) {
      const earlier = entries[entry.chunk];
      if (earlier !== undefined) tally = addCounts(tally, earlier.counts, -1);
      tally = addCounts(tally, entry.counts);
      entries[entry.chunk] = entry;
    }
  }

  /** Whatever was half written is found, or dropped, when the store is opened again. */
  function giveUp(error: unknown): undefined {
    broken ??= writeFailure(error);
  }

  /** While the journal of one group is written, the records of the next are: each waits for one sync, not two. */
  async function drain(): Promise<void> {
    let before = Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const added = broken === null ? await writeRecords(group).catch(giveUp) : undefined;
      await before;
      before = (async (): Promise<void> => {
        if (added !== undefined && broken === null) await writeJournal(added).catch(giveUp);
        for (const one of group) one.settle(broken ?? done(null));
      })();
      if (waiting.length === 0) await before;
    }
    writing = null;
  }

  return {
    entries,
    get tally() {
      return tally;
    },
    commit(index, chunk, results) {
      return new Promise((settle) => {
        waiting.push({ index: index ?? nextIndex++, chunk, results, settle });
        writing ??= drain();
      });
    },
    async read(index) {
      const entry = entries[index];
      if (entry === undefined) return failed('job.damaged');
      const record = Buffer.allocUnsafe(entry.length);
      try {
        const { bytesRead } = await records.read(record, 0, entry.length, entry.offset);
        if (bytesRead < entry.length) return failed('job.damaged');
      } catch {
        return failed('job.damaged');
      }
      const clear = seal.open(record, contextOf(index, entry));
      return clear === null ? failed('job.damaged') : done(decodeResults(clear));
    },
    async close() {
      await writing;
      await Promise.allSettled([records.close(), journal.close()]);
    },
  };
}

/** Ties a record to its place, so that an altered journal can't join it to other rows. */
function contextOf(index: number, { start, end, crc }: Pick<Entry, 'start' | 'end' | 'crc'>): string {
  return [index, start.offset, start.row, end.offset, end.row, crc].join(':');
}

async function writeSynced(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
  if (!syncsItself) await handle.datasync();
}

/** Which chunk holds a row, by halving. */
export function indexOfRow(store: Pick<ResultStore, 'entries'>, row: number): number {
  const { entries } = store;
  let low = 0;
  let high = entries.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.end.row ?? 0) > row) high = middle;
    else low = middle + 1;
  }
  return low;
}
