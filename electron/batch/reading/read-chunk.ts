import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ByteSource } from './bytes.ts';
import type { Entry } from '../storing/journal.ts';
import { readRows, type Chunk, type Format } from './read-rows.ts';

/**
 * The rows of one committed chunk, from the source again. Failures: file.changed when they are not the rows that
 * were sent; file.gone, file.unreadable.
 */
export async function readChunk(
  source: ByteSource,
  format: Format,
  entry: Pick<Entry, 'start' | 'end' | 'crc'>,
): Promise<Outcome<Chunk>> {
  const parts: Chunk[] = [];
  for await (const part of readRows(source, format, entry.start, entry.end.offset)) {
    if (!part.ok) return part;
    parts.push(part.value);
  }
  const [first] = parts;
  if (first === undefined) return failed('file.changed');
  const chunk = parts.length === 1 ? first : merge(parts, first);
  const same = chunk.end.row === entry.end.row && (parts.length > 1 || chunk.crc === entry.crc);
  return same ? done({ ...chunk, crc: entry.crc }) : failed('file.changed');
}

/** A chunk with damaged rows may come in other pieces the second time. */
function merge(parts: readonly Chunk[], first: Chunk): Chunk {
  const rows: string[][] = [];
  const flaws = new Map(first.flaws);
  for (const part of parts) {
    for (const [row, code] of part.flaws) flaws.set(rows.length + row, code);
    for (const row of part.rows) rows.push(row);
  }
  return {
    start: first.start,
    end: parts.at(-1)?.end ?? first.end,
    rows,
    flaws,
    crc: first.crc,
    clean: parts.every(({ clean }) => clean),
  };
}
