import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ExportChoice } from '../../contract/models/batch.ts';
import type { ByteSource } from '../reading/bytes.ts';
import { toBytes } from '../reading/decode.ts';
import type { OutputFile } from './output-file.ts';
import { outputRows } from './output-rows.ts';
import { readChunk } from '../reading/read-chunk.ts';
import type { Chunk, Format } from '../reading/read-rows.ts';
import type { ChunkResults } from '../storing/results.ts';
import type { ResultStore } from '../storing/result-store.ts';
import type { View } from './shown-rows.ts';
import { createRowWriter } from './write-csv.ts';

export interface Written {
  readonly rowsWritten: number;
  readonly escaped: number;
}

const flushCharacters = 128 * 1024;

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
  const entries = [...store.entries.entries()].filter(
    ([, { counts }]) => choice.rows !== 'failed' || counts.failed > 0,
  );
  const load = (nth: number): Promise<Loaded> | null => {
    const [index, entry] = entries[nth] ?? [];
    if (index === undefined || entry === undefined) return null;
    return Promise.all([readChunk(source, format, entry), store.read(index)]);
  };
  let text = choice.byteOrderMark ? '\ufeff' : '';
  if (rows.header !== null) text += writer.line(rows.header);
  let rowsWritten = 0;
  let writing: Promise<Outcome<null>> = Promise.resolve(done(null));
  // The disk works ahead and behind while this chunk is joined.
  let next = load(0);
  for (let nth = 0; next !== null; nth++) {
    const [chunk, results] = await next;
    next = load(nth + 1);
    const failure = !chunk.ok
      ? chunk
      : !results.ok
        ? results
        : results.value.states.length !== chunk.value.rows.length
          ? failed('job.damaged')
          : null;
    if (failure !== null || !chunk.ok || !results.ok) {
      await Promise.all([next, writing]);
      return failure ?? failed('job.damaged');
    }
    for (let i = 0; i < chunk.value.rows.length; i++) {
      const fields = rows.fields(chunk.value, results.value, i);
      if (fields === null) continue;
      text += writer.line(fields);
      rowsWritten += 1;
    }
    // Bytes that were not valid go back as they came, and only there: text of the service stays text.
    if (!chunk.value.clean || text.length >= flushCharacters) {
      const written = await writing;
      if (!written.ok) {
        await next;
        return written;
      }
      writing = output.write(chunk.value.clean ? Buffer.from(text) : toBytes(text));
      text = '';
      await yieldToOthers();
    }
  }
  const before = await writing;
  if (!before.ok) return before;
  const last = text === '' ? before : await output.write(Buffer.from(text));
  if (!last.ok) return last;
  const same = await source.check();
  return same.ok ? done({ rowsWritten, escaped: writer.escaped }) : same;
}

type Loaded = [Outcome<Chunk>, Outcome<ChunkResults>];
