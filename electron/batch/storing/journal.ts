import { crc32 } from 'node:zlib';
import type { Place } from '../reading/read-rows.ts';
import type { ChunkCounts } from '../running/results.ts';

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

/** A line carries its own checksum: one torn by a crash is told from one that was written. */
export function writeLine(entry: Entry): string {
  const { chunk, offset, length, start, end, crc, counts } = entry;
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
  ]);
  return `${text} ${crc32(text).toString(16)}\n`;
}

type Line = [
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
];

/** What a journal says: entries by chunk, the last word on each; and how many bytes of it are whole lines. */
export function readJournal(text: string): { entries: Entry[]; bytes: number; records: number } {
  const entries: Entry[] = [];
  let bytes = 0;
  let records = 0;
  while (bytes < text.length) {
    const end = text.indexOf('\n', bytes);
    const entry = end < 0 ? null : readLine(text.slice(bytes, end));
    // Chunks are committed in order; a line out of turn can't be ours.
    if (entry === null || entry.chunk > entries.length) break;
    entries[entry.chunk] = entry;
    records = entry.offset + entry.length;
    bytes = end + 1;
  }
  return { entries, bytes, records };
}

function readLine(line: string): Entry | null {
  const space = line.lastIndexOf(' ');
  const text = line.slice(0, space);
  if (space < 0 || crc32(text).toString(16) !== line.slice(space + 1)) return null;
  const [chunk, offset, length, startOffset, startRow, endOffset, endRow, crc, numbers, codes] = JSON.parse(
    text,
  ) as Line;
  const [rows, ok, failed, unmatched, blank] = numbers;
  return {
    chunk,
    offset,
    length,
    start: { offset: startOffset, row: startRow },
    end: { offset: endOffset, row: endRow },
    crc,
    counts: { rows, ok, failed, unmatched, blank, codes },
  };
}
