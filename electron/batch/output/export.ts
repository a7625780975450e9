import { realpath } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Exported, ExportChoice, Tally } from '../../contract/models/batch.ts';
import { restoreText } from '../../contract/obscured.ts';
import type { BatchParts } from '../batch.ts';
import { type ByteSource, readAhead } from '../../storage/byte-source.ts';
import type { Format } from '../reading/read-rows.ts';
import { sheetRows } from '../reading/workbook/sheet.ts';
import type { BatchJob } from '../running/job.ts';
import type { Entry } from '../storing/journal.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { createOutputFile, type OutputFile } from './output-file.ts';
import { joinRows, outputRows } from './output-rows.ts';
import type { View } from './result-rows.ts';
import { createRowWriter } from '../write-csv.ts';
import { workbookFile, createSheetWriter } from './write-workbook.ts';

/**
 * One export: asks where to, records it in the audit log, writes it whole or not at all, and records the sum. Null
 * when the person changed their mind. The host's dialog asks before a file is replaced; the source never is.
 */
export async function deliver(
  parts: BatchParts,
  job: BatchJob,
  view: View,
  choice: ExportChoice,
): Promise<Outcome<Exported | null>> {
  const { what } = job;
  if (job.busy) return failed('job.busy');
  const opened = await job.open();
  if (!opened.ok) return opened;
  const { store } = opened.value;
  const refused = checkChoice(parts, choice, what.environment, store.tally);
  if (refused !== null) return refused;
  const target = await parts.platform.chooseTarget({
    name: suggestName(what.sourceName, choice),
    beside: what.sourcePath,
  });
  if (target === null) return done(null);
  if (what.sourcePath !== null && (await isSame(target, what.sourcePath))) {
    return failed('file.exists', { subject: basename(target) });
  }

  const rows = choice.rows === 'failed' ? store.tally.failed : store.tally.rows;
  const begun = await parts.audit.begin({
    action: 'Export',
    connection: what.connectionName,
    environment: what.environment,
    policy: [...new Set(what.plan.columns.map(({ policy }) => policy))].join(', '),
    definition: [...new Set(what.plan.columns.map(({ definition }) => definition))].join(', '),
    ...(choice.reason !== '' && { reason: choice.reason }),
    ...(choice.caseReference !== '' && { caseReference: choice.caseReference }),
    rows,
    job: what.jobId,
    note: [
      choice.content,
      choice.rows,
      choice.format === 'workbook' ? 'workbook' : choice.safety,
      ...(choice.passphrase === null ? [] : ['encrypted']),
    ].join(' '),
  });
  if (!begun.ok) return begun;
  const written = await write(job, view, choice, target);
  if (!written.ok) {
    begun.value({ ok: false, code: written.failure.code });
    return written;
  }
  const { tally } = store;
  const sum = `${tally.rows} = ${tally.ok} ok + ${tally.failed} failed + ${tally.unmatched} unmatched + ${tally.blank} blank`;
  begun.value({ ok: true, rows: written.value.rowsWritten, note: sum });
  return done({ ...written.value, name: basename(target), tally });

  async function write(
    ...[from, shown, wanted, path]: [BatchJob, View, ExportChoice, string]
  ): Promise<Outcome<{ rowsWritten: number; escaped: number; bytes: number }>> {
    const source = await from.openSource();
    if (!source.ok) return source;
    try {
      const passphrase = wanted.passphrase === null ? null : restoreText(wanted.passphrase);
      const output = await createOutputFile(path, passphrase);
      if (!output.ok) return output;
      const file = wanted.format === 'workbook' ? workbookFile(output.value) : output.value;
      const counts = await writeRows(store, source.value, what.format, shown, wanted, file);
      const bytes = counts.ok ? await file.finish() : counts;
      if (counts.ok && bytes.ok) return done({ ...counts.value, bytes: bytes.value });
      // A full or locked disk leaves what was written for another try elsewhere; a source that changed does not.
      const failure = counts.ok ? bytes : counts;
      const keep = !failure.ok && ['file.disk-full', 'file.unwritable'].includes(failure.failure.code);
      await file.abandon(keep);
      return failure as Exclude<typeof failure, { ok: true }>;
    } finally {
      await source.value.close();
    }
  }
}

function checkChoice(
  parts: BatchParts,
  choice: ExportChoice,
  environment: string,
  { rows, failed: failures, unmatched }: Tally,
): ReturnType<typeof failed> | null {
  const written = { all: rows, matches: rows - unmatched, failed: failures }[choice.rows];
  // One row is the header's.
  if (choice.format === 'workbook' && written >= sheetRows)
    return failed('file.workbook-full', { subject: String(sheetRows - 1) });
  if (choice.passphrase !== null && restoreText(choice.passphrase).length < 8)
    return failed('export.passphrase');
  if (choice.content !== 'cleartext' || choice.rows === 'failed') return null;
  if (choice.reason === '') return failed('reveal.reason-required');
  if (parts.caseRequired() && choice.caseReference === '') return failed('reveal.reason-required');
  if (environment === 'production' && choice.confirmRows !== rows) return failed('export.confirm');
  return null;
}

function suggestName(sourceName: string, choice: ExportChoice): string {
  const stem = basename(sourceName, extname(sourceName));
  const what = choice.rows === 'failed' ? 'errors' : choice.rows === 'matches' ? 'matches' : choice.content;
  return `${stem}_${what}${choice.format === 'workbook' ? '.xlsx' : '.csv'}${choice.passphrase === null ? '' : '.age'}`;
}

async function isSame(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  try {
    return (await realpath(one)) === (await realpath(other));
  } catch {
    return false;
  }
}

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
