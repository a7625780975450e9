import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { done, type Failure, type Outcome } from '../contract/errors.ts';
import type { ExportChoice } from '../contract/models/batch.ts';
import type { ByteSource } from './bytes.ts';
import { toBytes } from './decode.ts';
import type { OutputFile } from './output-file.ts';
import { outputRows } from './output-rows.ts';
import { readChunk } from './read-chunk.ts';
import type { Format } from './read-rows.ts';
import type { ResultStore } from './result-store.ts';
import type { View } from './shown-rows.ts';
import { createRowWriter } from './write-csv.ts';

export interface Written {
  readonly rowsWritten: number;
  readonly escaped: number;
}

const flushCharacters = 256 * 1024;

/**
 * Joins source and results row by row into `output`, in source order and constant memory.
 * Failures: file.changed, file.gone, file.unreadable, job.damaged, file.disk-full, file.unwritable.
 */
export async function writeRows(
  store: Pick<ResultStore, 'entries' | 'read' | 'tally'>,
  source: ByteSource,
  format: Format,
  view: View,
  choice: ExportChoice,
  output: OutputFile,
): Promise<Outcome<Written>> {
  const rows = outputRows(format, view, choice, store.tally.failed > 0);
  const { delimiter, newline } = choice;
  const writer = createRowWriter({ delimiter, newline, spreadsheet: choice.safety === 'spreadsheet' });
  let text = choice.byteOrderMark ? '\ufeff' : '';
  if (rows.header !== null) text += writer.line(rows.header);
  let rowsWritten = 0;
  for (const [index, entry] of [...store.entries].entries()) {
    if (choice.rows === 'failed' && entry.counts.failed === 0) continue;
    const [chunk, results] = await Promise.all([readChunk(source, format, entry), store.read(index)]);
    if (!chunk.ok) return chunk;
    if (!results.ok) return results;
    if (results.value.states.length !== chunk.value.rows.length) return damaged;
    for (let i = 0; i < chunk.value.rows.length; i++) {
      const fields = rows.fields(chunk.value, results.value, i);
      if (fields === null) continue;
      text += writer.line(fields);
      rowsWritten += 1;
    }
    // Bytes that were not valid go back as they came, and only there: text of the service stays text.
    if (!chunk.value.clean || text.length >= flushCharacters) {
      const written = await output.write(chunk.value.clean ? Buffer.from(text) : toBytes(text));
      if (!written.ok) return written;
      text = '';
      await yieldToOthers();
    }
  }
  if (text !== '') {
    const written = await output.write(Buffer.from(text));
    if (!written.ok) return written;
  }
  const same = await source.check();
  return same.ok ? done({ rowsWritten, escaped: writer.escaped }) : same;
}

const damaged: { ok: false; failure: Failure } = { ok: false, failure: { code: 'job.damaged' } };
