import { crc32 } from 'node:zlib';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readAhead, type ReadBytes } from '../../storage/byte-source.ts';
import { readChunk, type Format } from '../reading/read-rows.ts';
import type { JobSource } from '../running/job-source.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { ReadRecord } from '../storing/records.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { withoutPending, type ChunkResults } from '../storing/results.ts';
import type { ExportRequest, OutputRows } from './output-rows.ts';
import type { RowOutput } from './row-output.ts';
import { freeMemory } from '../../util/free-memory.ts';
import { createTurn, type Turn } from '../../util/turns.ts';

export interface JoinOptions {
  readonly source: Pick<JobSource, 'identity' | 'read' | 'mended' | 'pending' | 'typed'>;
  readonly format: Format;
  /** Of each chunk its own results, which nobody else has. */
  readonly read: ReadRecord;
  /** For rows that are copied all at once: each piece is empty once others are read. */
  readonly readCopied: ReadBytes;
  readonly rows: Pick<OutputRows, 'write' | 'rest'> & Partial<Pick<OutputRows, 'writeAll' | 'mayWriteAll'>>;
  readonly output: RowOutput;
  /** As many fields of each row are asked for; all of them, if absent. */
  readonly maxFields?: number | undefined;
}

/** Of the source, after which the clock is looked at. */
const turnUnits = 16 * 1024;

/**
 * The bytes of some chunks: source and results, row by row. The memory of the results is given back once they are joined.
 * Failures: file.changed, file.unreadable, job.damaged.
 */
export async function joinRows(
  options: JoinOptions,
  entries: readonly JournalEntry[],
): Promise<Outcome<{ bytes: Buffer; rows: number }>> {
  let written = 0;
  const turn = createTurn();
  for (const entry of entries) {
    const results = await options.read(entry);
    if (!results.ok) return results;
    await turn.next();
    const joined = await joinChunk(options, entry, results.value, turn);
    if (!joined.ok) return joined;
    written += joined.value;
    if (results.value.memory !== undefined) freeMemory(results.value.memory);
  }
  return done({ bytes: options.output.take(), rows: written });
}

/** How many rows of it are written. */
async function joinChunk(
  options: JoinOptions,
  entry: JournalEntry,
  results: ChunkResults,
  turn: Turn,
): Promise<Outcome<number>> {
  const { source, format, rows, maxFields } = options;
  const count = entry.end.row - entry.start.row;
  if (results.states.length !== count) return failed('job.damaged');
  const isSpliced = await spliceRows(options, entry, results);
  if (!isSpliced.ok) return isSpliced;
  if (isSpliced.value) return done(count);
  const chunk = await readChunk(source, format, entry, maxFields);
  if (!chunk.ok) return chunk;
  const { start, flaws, table } = chunk.value;
  const known = withoutPending(results, { firstRow: start.row, flaws }, source.pending);
  let written = 0;
  let looked = 0;
  for (let i = 0; i < count; i++) {
    const isWritten = rows.write(chunk.value, known, i);
    if (isWritten === true || (await isWritten)) written += 1;
    if (table.rowEnd(i) - looked < turnUnits) continue;
    looked = table.rowEnd(i);
    if (turn.isOver()) await turn.next();
  }
  await rows.rest();
  return done(written);
}

/**
 * All rows of a chunk at once, where their results are all that differs from the source: nothing has to be taken apart.
 * False where they are written one by one.
 */
async function spliceRows(
  { source, rows, readCopied }: JoinOptions,
  entry: JournalEntry,
  results: ChunkResults,
): Promise<Outcome<boolean>> {
  const { start, end, crc } = entry;
  if (rows.mayWriteAll?.(results) !== true || rows.writeAll === undefined) return done(false);
  for (let row = start.row; source.mended.size > 0 && row < end.row; row++)
    if (source.mended.has(row)) return done(false);
  const length = end.offset - start.offset;
  const bytes = await readCopied(start.offset, length);
  if (!bytes.ok) return bytes;
  if (bytes.value.length < length || crc32(bytes.value) !== crc) return failed('file.changed');
  return done(rows.writeAll(entry, bytes.value, results));
}

/** Source and results, to be read once from their beginning. */
export function openJoin(
  source: JobSource,
  store: Pick<ResultStore, 'createSequentialReader'>,
): Pick<JoinOptions, 'source' | 'read' | 'readCopied'> {
  const { identity, mended, pending, typed } = source;
  const reader = (isFreed: boolean): ReadBytes =>
    readAhead((offset, length) => source.read(offset, length), identity.size, { isFreed });
  return {
    source: { identity, read: reader(false), mended, pending, typed },
    readCopied: reader(true),
    read: store.createSequentialReader(),
  };
}

/** The chunks that have rows of an export. */
export const writtenEntries = (
  { entries }: Pick<ResultStore, 'entries'>,
  { rows }: Pick<ExportRequest, 'rows'>,
): readonly JournalEntry[] => entries.filter(({ counts }) => rows !== 'failed' || counts.failed > 0);

/** Bytes of the source that are joined and written at once, about. */
const groupBytes = 256 * 1024;

/** Chunks that are joined at once. */
export function* groupChunks(entries: readonly JournalEntry[]): Generator<JournalEntry[], void> {
  let group: JournalEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    group.push(entry);
    bytes += entry.end.offset - entry.start.offset;
    if (bytes < groupBytes) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
