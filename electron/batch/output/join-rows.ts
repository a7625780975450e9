import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import { toBytes } from '../reading/decode.ts';
import { readChunk } from '../reading/read-chunk.ts';
import type { Format } from '../reading/read-rows.ts';
import type { Entry } from '../storing/journal.ts';
import type { ReadRecord } from '../storing/read-record.ts';
import type { OutputRows } from './output-rows.ts';
import type { RowWriter } from '../csv/write-csv.ts';

export interface Join {
  readonly source: Pick<ByteSource, 'identity' | 'read'>;
  readonly format: Format;
  readonly read: ReadRecord;
  readonly rows: OutputRows;
  readonly writer: RowWriter;
}

/** The text of some chunks: source and results, row by row. Failures: file.changed, file.unreadable, job.damaged. */
export async function joinRows(
  { source, format, read, rows, writer }: Join,
  entries: readonly Entry[],
): Promise<Outcome<{ bytes: Buffer; rows: number }>> {
  const parts: Buffer[] = [];
  let text = '';
  let written = 0;
  for (const entry of entries) {
    const [chunk, results] = await Promise.all([readChunk(source, format, entry), read(entry)]);
    if (!chunk.ok) return chunk;
    if (!results.ok) return results;
    const count = chunk.value.rows.length;
    if (results.value.states.length !== count) return failed('job.damaged');
    for (let i = 0; i < count; i++) {
      const fields = rows.fields(chunk.value, results.value, i);
      if (fields === null) continue;
      text += writer.line(fields);
      written += 1;
    }
    // Bytes that were not valid go back as they came, and only there: text of the service stays text.
    if (!chunk.value.clean) {
      parts.push(toBytes(text));
      text = '';
    }
  }
  parts.push(Buffer.from(text));
  const [only] = parts;
  return done({
    bytes: parts.length === 1 && only !== undefined ? only : Buffer.concat(parts),
    rows: written,
  });
}
