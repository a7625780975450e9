import { constants } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { readAhead } from '../../storage/byte-source.ts';
import { writeFailure } from './job-files.ts';
import { entriesOf, readJournal, type Entry, type Line } from './journal.ts';
import { decodeResults, type ChunkResults } from './results.ts';

/** The two files of a result store, cut to what can be relied on. */
export interface Records {
  readonly records: FileHandle;
  readonly journal: FileHandle;
  readonly entries: Entry[];
  /** Bytes of each that count, all of them synced. */
  readonly recordsEnd: number;
  readonly journalEnd: number;
}

/**
 * Records are written before they are synced, so that what the process did survives its end at once, and what the
 * machine did survives a moment later. A journal's line says how much was synced when it was written; what lies
 * beyond that may be missing after a power cut, and is believed only if it opens.
 */
export async function openRecords(folder: string, cipher: RecordCipher): Promise<Outcome<Records>> {
  let records: FileHandle | undefined;
  let journal: FileHandle | undefined;
  try {
    records = await open(join(folder, 'results'), constants.O_RDWR | constants.O_CREAT, 0o600);
    journal = await open(join(folder, 'journal'), constants.O_RDWR | constants.O_CREAT, 0o600);
    const text = await readFile(join(folder, 'journal'), 'latin1');
    const lines = readJournal(text);
    const synced = lines.at(-1)?.line.synced ?? 0;
    const { size } = await records.stat();
    if (size < synced) {
      await Promise.all([records.close(), journal.close()]);
      return failed('job.damaged');
    }
    const good = await believable(records, lines, synced, cipher);
    const last = lines[good - 1];
    const recordsEnd = last === undefined ? 0 : last.line.offset + last.line.length;
    const journalEnd = last?.bytes ?? 0;
    if (journalEnd < text.length) await journal.truncate(journalEnd);
    if (recordsEnd < size) await records.truncate(recordsEnd);
    if (recordsEnd > synced) await Promise.all([records.datasync(), journal.datasync()]);
    const entries = entriesOf(lines.slice(0, good));
    return done({ records, journal, entries, recordsEnd, journalEnd });
  } catch (error) {
    await Promise.allSettled([records?.close(), journal?.close()]);
    return writeFailure(error);
  }
}

/** How many lines, from the first on, speak of records that are there. */
async function believable(
  records: FileHandle,
  lines: readonly { readonly line: Line }[],
  synced: number,
  cipher: RecordCipher,
): Promise<number> {
  for (const [nth, { line }] of lines.entries()) {
    if (line.offset + line.length <= synced) continue;
    const record = Buffer.alloc(line.length);
    const { bytesRead } = await records.read(record, 0, line.length, line.offset);
    if (bytesRead < line.length || cipher.decrypt(record, contextOf(line)) === null) return nth;
  }
  return lines.length;
}

/** Ties a record to its place, so that an altered journal can't join it to other rows. */
export function contextOf({
  chunk,
  start,
  end,
  crc,
}: Pick<Entry, 'chunk' | 'start' | 'end' | 'crc'>): string {
  return [chunk, start.offset, start.row, end.offset, end.row, crc].join(':');
}

/** Failure: job.damaged. */
export type ReadRecord = (entry: Entry) => Promise<Outcome<ChunkResults>>;

/** `end`: where the last record ends that will be asked for, by someone who reads many; absent reads each alone. */
export function recordReader(records: FileHandle, cipher: RecordCipher, end?: number): ReadRecord {
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
    const clear = cipher.decrypt(record.value, contextOf(entry));
    return clear === null ? failed('job.damaged') : done(decodeResults(clear));
  };
}
