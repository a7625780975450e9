import { constants } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readAhead } from '../../storage/byte-source.ts';
import { writeAll } from '../../storage/durable.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { writeFailure } from '../../storage/file-failures.ts';
import {
  entriesOf,
  formatLine,
  readHead,
  readJournal,
  type JournalEntry,
  type JournalLine,
} from './journal.ts';
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
 * The lines are written together, before a sync: each record has its own in front of it, by which it is found meanwhile.
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
    const valid = lines.slice(0, await countValidLines({ records, lines, synced, cipher }));
    const keptEnd = valid.at(-1)?.lineEnd ?? 0;
    if (keptEnd < text.length) await journal.truncate(keptEnd);
    const found = await findUnlisted({ records, lines: valid, size, cipher });
    const entries = [...valid.map(({ entry }) => entry), ...found];
    const last = entries.at(-1);
    const recordsEnd = last === undefined ? 0 : last.offset + last.length;
    const added = Buffer.from(found.map((entry) => formatLine(entry, synced)).join(''), 'latin1');
    await writeAll(journal, added, keptEnd);
    if (recordsEnd < size) await records.truncate(recordsEnd);
    if (recordsEnd > synced) await Promise.all([records.datasync(), journal.datasync()]);
    return done({
      records,
      journal,
      entries: entriesOf(entries),
      recordsEnd,
      journalEnd: keptEnd + added.length,
    });
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

/** Longer is no line: its counts are by column and code. */
const maxHead = 64 * 1024;

/** The records behind those that the journal has, in order, up to the first that is torn or is none of this job's. */
async function findUnlisted({
  records,
  lines,
  size,
  cipher,
}: {
  records: FileHandle;
  lines: readonly JournalLine[];
  size: number;
  cipher: RecordCipher;
}): Promise<JournalEntry[]> {
  const found: JournalEntry[] = [];
  const last = lines.at(-1)?.entry;
  let position = last === undefined ? 0 : last.offset + last.length;
  let chunks = lines.reduce((count, { entry }) => Math.max(count, entry.chunk + 1), 0);
  while (position < size) {
    const bytes = Buffer.alloc(Math.min(maxHead, size - position));
    await records.read(bytes, 0, bytes.length, position);
    const head = readHead(bytes);
    if (head === null || head.entry.chunk > chunks || head.entry.length > size - position) break;
    const entry = { ...head.entry, offset: position + head.length };
    const record = Buffer.alloc(entry.length);
    const { bytesRead } = await records.read(record, 0, entry.length, entry.offset);
    if (bytesRead < entry.length || cipher.decrypt(record, contextOf(entry)) === null) break;
    found.push(entry);
    chunks = Math.max(chunks, entry.chunk + 1);
    position = entry.offset + entry.length;
  }
  return found;
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
    try {
      const bytes = Buffer.allocUnsafe(length);
      const { bytesRead } = await records.read(bytes, 0, length, offset);
      return bytesRead < length ? failed('job.damaged') : done(bytes);
    } catch {
      return failed('job.damaged');
    }
  }
  // A record is decrypted before the next one is asked for.
  const read = end === undefined ? readBytes : readAhead(readBytes, end, { isFreed: true });
  return async (entry) => {
    const record = await read(entry.offset, entry.length);
    if (!record.ok) return record;
    const cleartext = cipher.decrypt(record.value, contextOf(entry));
    if (cleartext === null) return failed('job.damaged');
    const results = decodeResults(cleartext);
    return areCountsOf(entry.counts, results) ? done(results) : failed('job.damaged');
  };
}
