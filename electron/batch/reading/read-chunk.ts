import { failed, type Outcome } from '../../contract/errors.ts';
import type { Entry } from '../storing/journal.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import { readRows, type Chunk, type Format } from './read-rows.ts';

/**
 * The rows of one committed chunk, from the source again. Failures: file.changed when they are not the rows that
 * were sent; file.gone, file.unreadable.
 */
export async function readChunk(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
  entry: Pick<Entry, 'start' | 'end' | 'crc'>,
): Promise<Outcome<Chunk>> {
  const whole = { until: entry.end.offset, rows: Infinity };
  for await (const chunk of readRows(source, format, entry.start, whole)) {
    if (!chunk.ok) return chunk;
    const { end, crc } = chunk.value;
    const same = end.offset === entry.end.offset && end.row === entry.end.row && crc === entry.crc;
    return same ? chunk : failed('file.changed');
  }
  return failed('file.changed');
}
