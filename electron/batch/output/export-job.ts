import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { done, type Outcome } from '../../contract/errors.ts';
import type { ExportChoice } from '../../contract/models/batch.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import { readAhead } from '../bytes/read-ahead.ts';
import type { Format } from '../reading/read-rows.ts';
import type { Entry } from '../storing/journal.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { joinRows } from './join-rows.ts';
import type { OutputFile } from './output-file.ts';
import { outputRows } from './output-rows.ts';
import type { View } from './shown-rows.ts';
import { createRowWriter } from '../csv/write-csv.ts';
import { createSheetWriter } from './write-workbook.ts';

export interface Written {
  readonly rowsWritten: number;
  readonly escaped: number;
}

/** Bytes of the source that are joined and written in one go. */
const partBytes = 256 * 1024;

/**
 * Joins source and results into `output`, in source order and constant memory.
 * Failures: file.changed, file.gone, file.unreadable, job.damaged, file.disk-full, file.unwritable,
 * file.workbook-cell, file.workbook-full.
 */
export async function writeRows(
  store: Pick<ResultStore, 'entries' | 'readThrough' | 'tally'>,
  source: ByteSource,
  format: Format,
  view: View,
  choice: ExportChoice,
  output: OutputFile,
): Promise<Outcome<Written>> {
  const rows = outputRows(format, view, choice, store.tally.failed > 0);
  const writer =
    choice.format === 'workbook'
      ? createSheetWriter()
      : createRowWriter({ ...choice, spreadsheet: choice.safety === 'spreadsheet' });
  const through = { ...source, read: readAhead((...at) => source.read(...at), source.identity.size) };
  const join = { source: through, format, read: store.readThrough(), rows, writer };
  const head =
    (choice.byteOrderMark && choice.format === 'csv' ? '\ufeff' : '') +
    (rows.header === null ? '' : writer.line(rows.header));
  let rowsWritten = 0;
  // The disk writes one part while the next is joined.
  let writing = output.write(Buffer.from(head));
  const entries = store.entries.filter(({ counts }) => choice.rows !== 'failed' || counts.failed > 0);
  for (const part of inParts(entries)) {
    const joined = await joinRows(join, part);
    const written = await writing;
    if (!joined.ok) return joined;
    if (!written.ok) return written;
    if (writer.failure !== null) return { ok: false, failure: writer.failure };
    rowsWritten += joined.value.rows;
    writing = output.write(joined.value.bytes);
    await yieldToOthers();
  }
  const written = await writing;
  if (!written.ok) return written;
  if (writer.failure !== null) return { ok: false, failure: writer.failure };
  const same = await source.check();
  return same.ok ? done({ rowsWritten, escaped: writer.escaped }) : same;
}

function* inParts(entries: readonly Entry[]): Generator<Entry[], void> {
  let part: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    part.push(entry);
    bytes += entry.end.offset - entry.start.offset;
    if (bytes < partBytes) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}
