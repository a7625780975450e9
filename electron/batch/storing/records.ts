import { constants } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readAhead } from '../../storage/byte-source.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { writeFailure } from '../../storage/file-failures.ts';
import { entriesOf, readJournal, type JournalEntry, type JournalLine } from './journal.ts';
import { areCountsOf, decodeResults, type ChunkResults } from './results.ts';

/** The two files of a result store, cut to what can be relied on. */
export interface Records {
  readonly records: FileHandle;
  readonly journal: FileHandle;
  readonly entries: JournalEntry[];
  /** Valid bytes of each file, all of them synced. */
  readonly recordsEnd: number;
  readonly journalEnd: number;
}

/**
 * Records are written before they are synced: written data survives the end of the process, synced data a power cut
 * too. A journal line says how much was synced when it was written; a record beyond that is used only if it decrypts.
 * Failures: job.damaged, file.disk-full, file.unwritable.
 */
export async function openRecords(folder: string, cipher: RecordCipher): Promise<Outcome<Records>> {
  let records: FileHandle | undefined;
  let journal: FileHandle | undefined;
  try {
    records = await open(join(folder, 'results'), constants.O_RDWR | constants.O_CREAT, 0o600);
    journal = await open(join(folder, 'journal'), constants.O_RDWR | constants.O_CREAT, 0o600);
    const text = await readFile(join(folder, 'journal'), 'latin1');
    const lines = await readJournal(text);
    const synced = lines.at(-1)?.synced ?? 0;
    const { size } = await records.stat();
    if (size < synced) {
      await Promise.all([records.close(), journal.close()]);
      return failed('job.damaged');
    }
    const valid = await countValidLines({ records, lines, synced, cipher });
    const last = lines[valid - 1];
    const recordsEnd = last === undefined ? 0 : last.entry.offset + last.entry.length;
    const journalEnd = last?.lineEnd ?? 0;
    if (journalEnd < text.length) await journal.truncate(journalEnd);
    if (recordsEnd < size) await records.truncate(recordsEnd);
    if (recordsEnd > synced) await Promise.all([records.datasync(), journal.datasync()]);
    return done({ records, journal, entries: entriesOf(lines.slice(0, valid)), recordsEnd, journalEnd });
  } catch (error) {
    await Promise.allSettled([records?.close(), journal?.close()]);
    return writeFailure(error);
  }
}

/** How many lines, from the first on, have their record. */
async function countValidLines({
  records,
  lines,
  synced,
  cipher,
}: {
  records: FileHandle;
  lines: readonly JournalLine[];
  synced: number;
  cipher: RecordCipher;
}): Promise<number> {
  for (const [index, { entry }] of lines.entries()) {
    if (entry.offset + entry.length <= synced) continue;
    const record = Buffer.alloc(entry.length);
    const { bytesRead } = await records.read(record, 0, entry.length, entry.offset);
    if (bytesRead < entry.length || cipher.decrypt(record, contextOf(entry)) === null) return index;
  }
  return lines.length;
}

/** Binds a record to its rows: an altered journal can't join it to others. */
export function contextOf({
  chunk,
  start,
  end,
  crc,
}: Pick<JournalEntry, 'chunk' | 'start' | 'end' | 'crc'>): string {
  return [chunk, start.offset, start.row, end.offset, end.row, crc].join(':');
}

/** Failure: job.damaged, also where the journal counts other rows than the record has. */
export type ReadRecord = (entry: JournalEntry) => Promise<Outcome<ChunkResults>>;

/** With `end`, where the last record ends, records are read in large blocks: for callers that read many in order. */
export function createRecordReader(records: FileHandle, cipher: RecordCipher, end?: number): ReadRecord {
  async function readBytes(offset: number, length: number): Promise<Outcome<Buffer>> {
    const bytes = Buffer.allocUnsafe(length);
    try {
      const { bytesRead } = await records.read(bytes, 0, length, offset);
      return bytesRead < length ? failed('job.damaged') : done(bytes);
    } catch {
      return failed('job.damaged');
    }
  }
  const read = end === undefined ? readBytes : readAhead(readBytes, end);
  return async (entry) => {
    const record = await read(entry.offset, entry.length);
    if (!record.ok) return record;
    const cleartext = cipher.decrypt(record.value, contextOf(entry));
    if (cleartext === null) return failed('job.damaged');
    const results = decodeResults(cleartext);
    return areCountsOf(entry.counts, results) ? done(results) : failed('job.damaged');
  };
}
