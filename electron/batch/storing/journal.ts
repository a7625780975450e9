import { crc32 } from 'node:zlib';
import type { ChunkCounts, ColumnCounts } from './results.ts';
import { yieldToOthers } from '../../util/turns.ts';

/** Between two rows of a source: byte offset, and the number (from 1, header not counted) of the row that begins there. */
export interface Position {
  readonly offset: number;
  readonly row: number;
}

/** Which rows of the source a chunk is. */
export interface ChunkRange {
  readonly start: Position;
  readonly end: Position;
  /** CRC-32 of the source's bytes, so that a changed file is noticed when it is read again. */
  readonly crc: number;
}

/** One committed chunk: its rows in the source, its record in the result store, and counts. Never a value. */
export interface JournalEntry extends ChunkRange {
  /** Index of the chunk. */
  readonly chunk: number;
  /** Of the record in the result store. */
  readonly offset: number;
  readonly length: number;
  readonly counts: ChunkCounts;
}

export interface JournalLine {
  readonly entry: JournalEntry;
  /** How many bytes of the result store were synced when the line was written. */
  readonly synced: number;
  /** Where the line ends in the journal, in bytes. */
  readonly lineEnd: number;
}

/** The line's own checksum tells a whole line from one torn by a crash. */
export function formatLine(entry: JournalEntry, synced: number): string {
  const { chunk, offset, length, start, end, crc, counts } = entry;
  const { rows, ok, failed, unmatched, blank, codes, columns } = counts;
  const text = JSON.stringify([
    chunk,
    offset,
    length,
    start.offset,
    start.row,
    end.offset,
    end.row,
    crc,
    [rows, ok, failed, unmatched, blank],
    codes,
    synced,
    columns?.map((column) => [column.cells, column.failed, column.codes, column.ok, column.matched]),
  ]);
  return `${text} ${crc32(text).toString(16)}\n`;
}

/** What stands before a record: its line but for where it is, so that it is found where the journal has none yet. */
export const formatHead = (entry: Omit<JournalEntry, 'offset' | 'length'>, length: number): Buffer =>
  Buffer.from(formatLine({ ...entry, offset: 0, length }, 0), 'latin1');

/** Null where none begins. `length`: its own, in bytes. */
export function readHead(bytes: Buffer): { readonly entry: JournalEntry; readonly length: number } | null {
  const end = bytes.indexOf('\n');
  const line = end < 0 ? null : parseLine(bytes.toString('latin1', 0, end));
  return line && { entry: line.entry, length: end + 1 };
}

type StoredLine = [
  chunk: number,
  offset: number,
  length: number,
  startOffset: number,
  startRow: number,
  endOffset: number,
  endRow: number,
  crc: number,
  counts: [number, number, number, number, number],
  codes: ChunkCounts['codes'],
  synced: number,
  /** Absent in lines of an earlier version. */
  columns?:
    [cells: number, failed: number, codes: ColumnCounts['codes'], ok?: number, matched?: number][] | null,
];

const linesPerTurn = 1_000;

/**
 * The whole lines of a journal, in the order they were written, up to the first that is torn. Millions of rows have
 * thousands of lines: other callers of this thread have their turns meanwhile.
 */
export async function readJournal(text: string): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  let position = 0;
  let chunks = 0;
  while (position < text.length) {
    const end = text.indexOf('\n', position);
    const line = end < 0 ? null : parseLine(text.slice(position, end));
    // Chunks are committed in order: a line out of order is not ours.
    if (line === null || line.entry.chunk > chunks) break;
    chunks = Math.max(chunks, line.entry.chunk + 1);
    position = end + 1;
    lines.push({ ...line, lineEnd: position });
    if (lines.length % linesPerTurn === 0) await yieldToOthers();
  }
  return lines;
}

/** By chunk, the latest entry of each: a retry replaces the earlier one. */
export function entriesOf(written: Iterable<JournalEntry>): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (const entry of written) entries[entry.chunk] = entry;
  return entries;
}

function parseLine(line: string): Pick<JournalLine, 'entry' | 'synced'> | null {
  const space = line.lastIndexOf(' ');
  const text = line.slice(0, space);
  if (space < 0 || crc32(text).toString(16) !== line.slice(space + 1)) return null;
  const [
    chunk,
    offset,
    length,
    startOffset,
    startRow,
    endOffset,
    endRow,
    crc,
    numbers,
    codes,
    synced,
    cells,
  ] = JSON.parse(text) as StoredLine;
  const [rows, ok, failed, unmatched, blank] = numbers;
  // Before matches without a value were known, there were none.
  const columns =
    cells?.map(([all, bad, why, good = 0, matched = 0]) => ({
      cells: all,
      failed: bad,
      codes: why,
      ok: good,
      matched,
    })) ?? null;
  const entry = {
    chunk,
    offset,
    length,
    start: { offset: startOffset, row: startRow },
    end: { offset: endOffset, row: endRow },
    crc,
    counts: { rows, ok, failed, unmatched, blank, codes, columns },
  };
  return { entry, synced };
}
