import { realpath } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { AuditIntent } from '../../audit/audit.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Exported, ExportChoice, Job, Tally } from '../../contract/models/batch.ts';
import { restoreText } from '../../contract/obscured.ts';
import type { AtomicFile } from '../../storage/atomic-file.ts';
import { readAhead, type ByteSource } from '../../storage/byte-source.ts';
import type { BatchOptions } from '../batch.ts';
import type { ColumnWork } from '../planning/plan.ts';
import { readHeader, type Format } from '../reading/read-rows.ts';
import { sheetRows } from '../reading/workbook/sheet.ts';
import type { BatchJob } from '../running/job.ts';
import type { JobSpec } from '../storing/job-files.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { rowStates } from '../storing/results.ts';
import { createRowWriter } from '../write-csv.ts';
import { openOutputFile } from './output-file.ts';
import { canWriteResult, createOutputRows, joinRows } from './output-rows.ts';
import { hasHidden } from './result-rows.ts';
import { createConvertedOutput, createSourceOutput, isUnicode, type RowOutput } from './row-output.ts';
import { createSheetWriter, workbookFile } from './write-workbook.ts';

const minPassphraseLength = 8;

/**
 * One export: asks for the target, records the export in the audit log, writes the file whole or not at all, and
 * records the sum. Null when the person chose no target. The system's dialog asks before a file is replaced; the
 * source never is.
 * Failures: job.*, reveal.reason-required, reveal.reason-refused, export.*, disclosure.limit, audit.*, keychain.*, and those of `writeRows`.
 */
export async function exportJob(
  options: Pick<BatchOptions, 'audit' | 'disclosures' | 'managed' | 'platform' | 'store'>,
  job: BatchJob,
  choice: ExportChoice,
): Promise<Outcome<Exported | null>> {
  const { spec } = job;
  if (job.busy) return failed('job.busy');
  const opened = await job.openStore();
  if (!opened.ok) return opened;
  const store = opened.value;
  const isCaseRequired = options.store.read('settings').caseRequired;
  const holdsCleartext = hasCleartext(choice, job.work);
  const refused = checkChoice({
    choice,
    isCaseRequired,
    environment: spec.environment,
    tally: store.tally,
    holdsCleartext,
    managed: options.managed,
  });
  if (refused !== null) return refused;
  const target = await options.platform.chooseTarget({
    name: suggestName(spec.sourceName, choice, job.view()),
    beside: spec.sourcePath,
  });
  if (target === null) return done(null);
  if (spec.sourcePath !== null && (await isSameFile(target, spec.sourcePath))) {
    return failed('file.exists', { subject: basename(target) });
  }
  const intent = auditIntent(spec, choice, { tally: store.tally, holdsCleartext });
  const audited = await options.audit.begin(intent);
  if (!audited.ok) return audited;
  const end = audited.value;
  const counted = options.disclosures.count(
    'exportedRows',
    holdsCleartext ? maxRows(choice, store.tally) : 0,
  );
  const written = counted.ok ? await writeExport({ job, store, choice, target }) : counted;
  if (!written.ok) {
    end({ ok: false, code: written.failure.code });
    return written;
  }
  const { tally } = store;
  const sum = `${tally.rows} = ${tally.ok} ok + ${tally.failed} failed + ${tally.unmatched} unmatched + ${tally.blank} blank`;
  // A line is read by itself: what was exported stays in it.
  end({ ok: true, rows: written.value.rowsWritten, note: `${intent.note ?? ''}: ${sum}` });
  return done({ ...written.value, name: basename(target), tally });
}

function checkChoice({
  choice,
  isCaseRequired,
  environment,
  tally,
  holdsCleartext,
  managed,
}: {
  choice: ExportChoice;
  isCaseRequired: boolean;
  environment: string;
  tally: Tally;
  holdsCleartext: boolean;
  managed: BatchOptions['managed'];
}): ReturnType<typeof failed> | null {
  // One row is the header's.
  if (choice.format === 'workbook' && maxRows(choice, tally) >= sheetRows)
    return failed('file.workbook-full', { subject: String(sheetRows - 1) });
  if (choice.passphrase !== null && restoreText(choice.passphrase).length < minPassphraseLength)
    return failed('export.passphrase');
  if (!holdsCleartext) return null;
  if (managed.cleartextExport === 'forbidden') return failed('export.forbidden');
  if (managed.cleartextExport === 'encrypted' && choice.passphrase === null)
    return failed('export.unencrypted');
  if (choice.reason === '') return failed('reveal.reason-required');
  if (isCaseRequired && choice.caseReference === '') return failed('reveal.reason-required');
  if (managed.reasons?.includes(choice.reason) === false) return failed('reveal.reason-refused');
  if (environment === 'production' && choice.confirmRows !== maxRows(choice, tally))
    return failed('export.confirm');
  return null;
}

/** How many rows an export writes, at most. */
const maxRows = ({ rows }: ExportChoice, tally: Tally): number =>
  ({ all: tally.rows, matches: tally.ok, failed: tally.failed })[rows];

/** The list of failed rows has what came in, which is cleartext only where it was to be tokenized. */
const hasCleartext = ({ content, rows }: ExportChoice, work: readonly ColumnWork[]): boolean =>
  content === 'cleartext' && (rows !== 'failed' || hasHidden({ work, masked: new Map() }));

/** A file with only a part of the rows says so in its name. */
function suggestName(
  sourceName: string,
  choice: ExportChoice,
  { state, tally, total }: Pick<Job, 'state' | 'tally' | 'total'>,
): string {
  const stem = basename(sourceName, extname(sourceName));
  const content =
    choice.rows === 'failed' ? 'errors' : choice.rows === 'matches' ? 'matches' : choice.content;
  const isWhole = choice.rows === 'failed' || state === 'finished';
  const partial = isWhole ? '' : `_partial_${tally.rows}${total === null ? '' : `_of_${total}`}`;
  return `${stem}_${content}${partial}${choice.format === 'workbook' ? '.xlsx' : '.csv'}${choice.passphrase === null ? '' : '.age'}`;
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  try {
    return (await realpath(one)) === (await realpath(other));
  } catch {
    return false;
  }
}

function auditIntent(
  spec: JobSpec,
  choice: ExportChoice,
  { tally, holdsCleartext }: { tally: Tally; holdsCleartext: boolean },
): AuditIntent {
  const { columns } = spec.plan;
  return {
    action: 'Export',
    connection: spec.connectionName,
    environment: spec.environment,
    policy: [...new Set(columns.map(({ policy }) => policy))].join(', '),
    definition: [...new Set(columns.map(({ definition }) => definition))].join(', '),
    ...(choice.reason !== '' && { reason: choice.reason }),
    ...(choice.caseReference !== '' && { caseReference: choice.caseReference }),
    rows: choice.rows === 'failed' ? tally.failed : tally.rows,
    job: spec.jobId,
    cleartext: holdsCleartext,
    note: [
      choice.content,
      choice.rows,
      choice.format === 'workbook' ? 'workbook' : choice.safety,
      ...(choice.passphrase === null ? [] : ['encrypted']),
    ].join(' '),
  };
}

interface Written {
  readonly rowsWritten: number;
  /** Cells that were escaped for spreadsheets. */
  readonly escaped: number;
}

interface WriteExportOptions {
  readonly job: BatchJob;
  readonly store: ResultStore;
  readonly choice: ExportChoice;
  readonly target: string;
}

async function writeExport({
  job,
  store,
  choice,
  target,
}: WriteExportOptions): Promise<Outcome<Written & { bytes: number }>> {
  const source = await job.openSource();
  if (!source.ok) return source;
  try {
    const passphrase = choice.passphrase === null ? null : restoreText(choice.passphrase);
    const output = await openOutputFile(target, passphrase);
    if (!output.ok) return output;
    const file = choice.format === 'workbook' ? workbookFile(output.value) : output.value;
    const { format } = job.spec;
    const written = await writeRows({ store, source: source.value, format, work: job.work, choice, file });
    if (!written.ok) return await abandon(file, written);
    const bytes = await file.finish();
    return bytes.ok ? done({ ...written.value, bytes: bytes.value }) : await abandon(file, bytes);
  } finally {
    await source.value.close();
  }
}

/** On a full or locked disk the rows written so far stay as `.partial`. */
async function abandon(
  file: AtomicFile,
  failure: Extract<Outcome<never>, { ok: false }>,
): Promise<typeof failure> {
  await file.abandon(['file.disk-full', 'file.unwritable'].includes(failure.failure.code));
  return failure;
}

interface WriteRowsOptions {
  readonly store: Pick<ResultStore, 'entries' | 'createSequentialReader' | 'tally'>;
  readonly source: ByteSource;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly choice: ExportChoice;
  readonly file: AtomicFile;
}

/**
 * Joins source and results in the order of the source, in constant memory.
 * Failures: file.changed, file.gone, file.unreadable, job.damaged, file.disk-full, file.unwritable,
 * file.workbook-cell, file.workbook-full.
 */
async function writeRows(options: WriteRowsOptions): Promise<Outcome<Written>> {
  const { store, source, format, work, choice, file } = options;
  const inSourceForm = isInSourceForm(choice);
  const output = inSourceForm
    ? createSourceOutput(format)
    : createConvertedOutput(
        choice.format === 'workbook'
          ? createSheetWriter()
          : createRowWriter({ ...choice, spreadsheet: choice.safety === 'spreadsheet' }),
        format,
      );
  const hasErrors = await hasErrorRows(options, output);
  if (!hasErrors.ok) return hasErrors;
  const rows = createOutputRows({ format, work, choice, hasErrors: hasErrors.value, output });
  const mark = await readMark(options);
  if (!mark.ok) return mark;
  const header = format.header ? await readHeader(source, format) : done(null);
  if (!header.ok) return header;
  rows.writeHeader(header.value);
  let rowsWritten = 0;
  // The disk writes one group of chunks while the next is joined.
  let writing = file.write(Buffer.concat([mark.value, output.take()]));
  const { identity } = source;
  const read = readAhead((offset, length) => source.read(offset, length), identity.size);
  const join = { source: { identity, read }, format, read: store.createSequentialReader(), rows, output };
  const entries = store.entries.filter(({ counts }) => choice.rows !== 'failed' || counts.failed > 0);
  for (const group of groupChunks(entries)) {
    const joined = await joinRows(join, group);
    const written = await writing;
    if (!joined.ok) return joined;
    if (!written.ok) return written;
    if (output.failure !== null) return { ok: false, failure: output.failure };
    rowsWritten += joined.value.rows;
    writing = file.write(joined.value.bytes);
    await yieldToOthers();
  }
  const written = await writing;
  if (!written.ok) return written;
  if (output.failure !== null) return { ok: false, failure: output.failure };
  const unchanged = await source.check();
  return unchanged.ok ? done({ rowsWritten, escaped: output.escaped }) : unchanged;
}

const isInSourceForm = ({ format, safety }: ExportChoice): boolean => format === 'csv' && safety === 'source';

/** The byte order mark: the source's, or a new one. */
function readMark({ choice, format, source }: WriteRowsOptions): Promise<Outcome<Buffer>> {
  if (isInSourceForm(choice)) return source.read(0, format.markLength);
  return Promise.resolve(done(Buffer.from(choice.byteOrderMark && choice.format === 'csv' ? '\ufeff' : '')));
}

/**
 * Whether any row has an error to be told. Rows failed; or a result has a character that the source's encoding has not,
 * which is known before only by looking.
 */
async function hasErrorRows(
  { store, format, work, choice }: WriteRowsOptions,
  output: RowOutput,
): Promise<Outcome<boolean>> {
  if (store.tally.failed > 0) return done(true);
  if (choice.rows !== 'all' || !isInSourceForm(choice) || isUnicode(format.encoding)) return done(false);
  const read = store.createSequentialReader();
  for (const entry of store.entries) {
    const results = await read(entry);
    if (!results.ok) return results;
    const isLost = results.value.columns.some(({ states, values }, i) => {
      const one = work[i];
      return (
        one !== undefined &&
        values.some(
          (value, row) => states[row] === rowStates.ok && !canWriteResult(one, value, { choice, output }),
        )
      );
    });
    if (isLost) return done(true);
  }
  return done(false);
}

/** Bytes of the source that are joined and written at once, about. */
const groupBytes = 256 * 1024;

function* groupChunks(entries: readonly JournalEntry[]): Generator<JournalEntry[], void> {
  let group: JournalEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    group.push(entry);
    bytes += entry.end.offset - entry.start.offset;
    if (bytes < groupBytes) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
