import { realpath } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { uncoverText } from '../../contract/covered.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Exported, ExportChoice, Tally } from '../../contract/models/batch.ts';
import { writeRows } from './export-job.ts';
import type { BatchJob } from '../running/job.ts';
import { createOutputFile } from './output-file.ts';
import type { BatchParts } from '../parts.ts';
import { sheetRows } from '../reading/workbook/read-sheet.ts';
import type { View } from './shown-rows.ts';
import { workbookFile } from './write-workbook.ts';

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
  const target = await parts.shell.chooseTarget({
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
      const passphrase = wanted.passphrase === null ? null : uncoverText(wanted.passphrase);
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
  if (choice.passphrase !== null && uncoverText(choice.passphrase).length < 8)
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
