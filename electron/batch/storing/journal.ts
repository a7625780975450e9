import { crc32 } from 'node:zlib';
import type { Place } from './job-files.ts';
import type { ChunkCounts } from './results.ts';

/** One committed chunk: where its record is, where its rows are in the source, and counts. Never a value. */
export interface Entry {
  readonly chunk: number;
  /** Of the record in the result store. */
  readonly offset: number;
  readonly length: number;
  readonly start: Place;
  readonly end: Place;
  /** CRC-32 of the source's bytes. */
  readonly crc: number;
  readonly counts: ChunkCounts;
}

/** A journal's line: an entry, and how many bytes of the result store were synced when it was written. */
export interface Line extends Entry {
  readonly synced: number;
}

/** A line carries its own checksum: one torn by a crash is told from one that was written. */
export function writeLine(line: Line): string {
  const { chunk, offset, length, start, end, crc, counts, synced } = line;
  const { rows, ok, failed, unmatched, blank, codes } = counts;
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
  ]);
  return `${text} ${crc32(text).toString(16)}\n`;
}

type Packed = [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  [number, number, number, number, number],
  ChunkCounts['codes'],
  number,
];

/** The whole lines of a journal, in the order they were written, and how many bytes each of them ends at. */
export function readJournal(text: string): { line: Line; bytes: number }[] {
  const lines: { line: Line; bytes: number }[] = [];
  let bytes = 0;
  let chunks = 0;
  while (bytes < text.length) {
    const end = text.indexOf('\n', bytes);
    const line = end < 0 ? null : readLine(text.slice(bytes, end));
    // Chunks are committed in order; a line out of turn can't be ours.
    if (line === null || line.chunk > chunks) break;
    chunks = Math.max(chunks, line.chunk + 1);
    bytes = end + 1;
    lines.push({ line, bytes });
  }
  return lines;
}

/** By chunk, the last word on each. */
export function entriesOf(lines: readonly { readonly line: Line }[]): Entry[] {
  const entries: Entry[] = [];
  for (const { line } of lines) {
    const { chunk, offset, length, start, end, crc, counts } = line;
    entries[chunk] = { chunk, offset, length, start, end, crc, counts };
  }
  return entries;
}

function readLine(line: string): Line | null {
  const space = line.lastIndexOf(' ');
  const text = line.slice(0, space);
  if (space < 0 || crc32(text).toString(16) !== line.slice(space + 1)) return null;
  const [chunk, offset, length, startOffset, startRow, endOffset, endRow, crc, numbers, codes, synced] =
    JSON.parse(text) as Packed;
  const [rows, ok, failed, unmatched, blank] = numbers;
  return {
    chunk,
    offset,
    length,
    start: { offset: startOffset, row: startRow },
    end: { offset: endOffset, row: endRow },
    crc,
    counts: { rows, ok, failed, unmatched, blank, codes },
    synced,
  };
}
