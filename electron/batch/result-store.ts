import { constants } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Tally } from '../contract/models/batch.ts';
import { writeFailure } from './failing.ts';
import { readJournal, writeLine, type Entry } from './journal.ts';
import {
  addCounts,
  countChunk,
  decodeResults,
  emptyTally,
  encodeResults,
  type ChunkResults,
} from './results.ts';
import type { Chunk } from './read-rows.ts';
import type { Seal } from './seal.ts';

/**
 * The results of one job on disk: encrypted records, one a chunk, and the journal that says which of them count. A
 * chunk counts once its record and then its line are synced; whatever a crash leaves behind that is dropped at the
 * next opening. Chunks that arrive together share their two syncs.
 */
export interface ResultStore {
  /** Committed chunks in source order. */
  readonly entries: readonly Entry[];
  readonly tally: Tally;
  /** Resolves when the chunk is on disk. A chunk written again replaces its earlier results. */
  commit(
    index: number,
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

const openForBoth = constants.O_RDWR | constants.O_CREAT;

export async function openResultStore(folder: string, seal: Seal): Promise<Outcome<ResultStore>> {
  let records: FileHandle | undefined;
  let journal: FileHandle | undefined;
  try {
    records = await open(join(folder, 'results'), openForBoth, 0o600);
    journal = await open(join(folder, 'journal'), openForBoth, 0o600);
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
  let recordsEnd = known.records;
  let journalEnd = known.bytes;
  let tally = entries.reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;
  /** After a failed write nothing more is taken: a later chunk must not be committed before an earlier one. */
  let broken: Outcome<null> | null = null;

  async function writeGroup(group: readonly Waiting[]): Promise<Outcome<null>> {
    if (broken !== null) return broken;
    const sealed: Buffer[] = [];
    const lines: string[] = [];
    const added: Entry[] = [];
    let offset = recordsEnd;
    for (const { index, chunk, results } of group) {
      const { start, end, crc } = chunk;
      const record = seal.seal(encodeResults(results), contextOf(index, { start, end, crc }));
      const entry = {
        chunk: index,
        offset,
        length: record.length,
        start,
        end,
        crc,
        counts: countChunk(results),
      };
      sealed.push(record);
      lines.push(writeLine(entry));
      added.push(entry);
      offset += record.length;
    }
    const text = Buffer.from(lines.join(''), 'latin1');
    try {
      await writeAll(records, Buffer.concat(sealed), recordsEnd);
      await records.datasync();
      await writeAll(journal, text, journalEnd);
      await journal.datasync();
    } catch (error) {
      // What was half written lies behind the ends that count; the next write goes over it.
      await journal.truncate(journalEnd).catch(() => undefined);
      broken = writeFailure(error);
      return broken;
    }
    recordsEnd = offset;
    journalEnd += text.length;
    for (const entry of added) {
      const earlier = entries[entry.chunk];
      if (earlier !== undefined) tally = addCounts(tally, earlier.counts, -1);
      tally = addCounts(tally, entry.counts);
      entries[entry.chunk] = entry;
    }
    return done(null);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const outcome = await writeGroup(group);
      for (const one of group) one.settle(outcome);
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
        waiting.push({ index, chunk, results, settle });
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

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
