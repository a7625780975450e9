import { realpath } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Exported, Job, Tally } from '../../contract/models/batch.ts';
import { restoreText } from '../../contract/obscured.ts';
import type { AtomicFile } from '../../storage/atomic-file.ts';
import { readAhead } from '../../storage/byte-source.ts';
import type { BatchOptions } from '../options.ts';
import { type ColumnWork, yieldsCleartext } from '../planning/plan.ts';
import { byteOrderMarks } from '../reading/detect.ts';
import { readHeader, type Format } from '../reading/read-rows.ts';
import { sheetRows } from '../../parsing/workbook/sheet.ts';
import type { BatchJob } from '../running/job.ts';
import type { JobSource } from '../running/job-source.ts';
import type { JobSpec } from '../storing/job-files.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { ResultStore } from '../storing/result-store.ts';
import type { CleartextAct } from '../../privacy/cleartext-act.ts';
import { createRowWriter } from '../../storage/csv.ts';
import { openOutputFile } from './output-file.ts';
import type { UnfinishedExports } from './unfinished-exports.ts';
import { createOutputRows, type ExportRequest, joinRows } from './output-rows.ts';
import { hasHidden } from '../viewing/result-rows.ts';
import { createConvertedOutput, createSourceOutput, type RowOutput } from './row-output.ts';
import { createSheetWriter, workbookFile } from './write-workbook.ts';

const minPassphraseLength = 8;

/**
 * One export: asks for the target, records the export in the audit log, writes the file whole or not at all, and
 * records the sum. Null when the person chose no target. The system's dialog asks before a file is replaced; the
 * source never is.
 * Failures: job.*, reveal.reason-required, reveal.reason-refused, export.*, disclosure.limit, audit.*, keychain.*, and those of `writeRows`.
 */
export async function exportJob(
  options: Pick<BatchOptions, 'audit' | 'gate' | 'platform' | 'scryptCost'> & {
    readonly unfinished: Pick<UnfinishedExports, 'during'>;
  },
  job: BatchJob,
  asked: ExportRequest,
): Promise<Outcome<(Omit<Exported, 'exportId' | 'folder'> & { readonly target: string }) | null>> {
  const { spec } = job;
  const { scryptCost } = options;
  if (job.busy) return failed('job.busy');
  const opened = await job.openStore();
  if (!opened.ok) return opened;
  const store = opened.value;
  const choice = { ...asked, content: contentOf(asked, job.work) };
  // The file's name and the audit line would say what it doesn't hold.
  if (asked.content !== choice.content && asked.rows !== 'failed') return failed('export.no-cleartext');
  const act = holdsCleartext(choice) ? cleartextAct(spec, choice, store.tally) : null;
  const refused = checkChoice(choice, store.tally) ?? (act === null ? null : options.gate.check(act));
  if (refused !== null) return refused;
  const target = await options.platform.chooseTarget({
    name: suggestName(spec.sourceName, choice, job.view()),
    beside: spec.sourcePath,
  });
  if (target === null) return done(null);
  if (spec.sourcePath !== null && (await isSameFile(target, spec.sourcePath))) {
    return failed('file.exists', { subject: basename(target) });
  }
  const write = async (
    add: (facts: { rows: number; note: string }) => void,
  ): Promise<Outcome<Written & { bytes: number; name: string; tally: Tally; target: string }>> => {
    const { jobId, connectionName, environment } = spec;
    const written = await options.unfinished.during(
      { target, job: jobId, connection: connectionName, environment },
      () => writeExport({ job, store, choice, target, scryptCost }),
    );
    if (!written.ok) return written;
    const { tally } = store;
    add({ rows: written.value.rowsWritten, note: sumOf(tally) });
    return done({ ...written.value, name: basename(target), tally, target });
  };
  if (act !== null) return options.gate.open(act, { fetch: () => done(null), give: (_, add) => write(add) });
  const line = { ...exportLine(spec, choice), rows: rowsOfLine(choice, store.tally), cleartext: false };
  return options.audit.record({ ...line, action: 'Export' }, write);
}

/** Without what is 0. */
function sumOf({ rows, ok, failed: refused, unmatched, blank }: Tally): string {
  const parts = Object.entries({ succeeded: ok, failed: refused, unmatched, blank });
  const shown = parts.filter(([name, count]) => name === 'succeeded' || count > 0);
  return `${rows} = ${shown.map(([name, count]) => `${count} ${name}`).join(' + ')}`;
}

function checkChoice(choice: ExportRequest, tally: Tally): ReturnType<typeof failed> | null {
  // One row is the header's.
  if (choice.format === 'workbook' && maxRows(choice, tally) >= sheetRows)
    return failed('file.workbook-full', { subject: String(sheetRows - 1) });
  if (choice.passphrase !== null && restoreText(choice.passphrase).length < minPassphraseLength)
    return failed('export.passphrase');
  return null;
}

/** How many rows an export writes, at most. */
const maxRows = ({ rows, shownRows }: ExportRequest, tally: Tally): number =>
  ({ all: tally.rows, matches: tally.ok, failed: tally.failed, shown: shownRows?.length ?? 0 })[rows];

/**
 * What the file will hold: cleartext only where there is any. The list of failed rows has what came in, which is cleartext
 * only where it was to be tokenized. Reason, limit, file, count and audit line all go by it.
 */
function contentOf({ content, rows }: ExportRequest, work: readonly ColumnWork[]): ExportRequest['content'] {
  if (content !== 'cleartext' || hasHidden({ work, masked: new Map() })) return content;
  const hasResults = rows !== 'failed' && work.some(({ plan }) => yieldsCleartext(plan.operation));
  return hasResults ? content : 'tokens';
}

const holdsCleartext = ({ content }: ExportRequest): boolean => content === 'cleartext';

/** A file with only a part of the rows says so in its name. */
function suggestName(
  sourceName: string,
  choice: ExportRequest,
  { state, tally, total }: Pick<Job, 'state' | 'tally' | 'total'>,
): string {
  const stem = basename(sourceName, extname(sourceName));
  const content =
    choice.rows === 'failed' ? 'errors' : choice.rows === 'matches' ? 'matches' : choice.content;
  const part = choice.rows === 'shown' ? '_filtered' : '';
  const isWhole = choice.rows === 'failed' || state === 'finished';
  const partial = isWhole ? '' : `_partial_${tally.rows}${total === null ? '' : `_of_${total}`}`;
  return `${stem}_${content}${part}${partial}${choice.format === 'workbook' ? '.xlsx' : '.csv'}${choice.passphrase === null ? '' : '.age'}`;
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  try {
    return (await realpath(one)) === (await realpath(other));
  } catch {
    return false;
  }
}

function exportLine(spec: JobSpec, choice: ExportRequest) {
  const { columns } = spec.plan;
  const { content, rows, format, safety, passphrase } = choice;
  return {
    connection: spec.connectionName,
    environment: spec.environment,
    policy: [...new Set(columns.map(({ policy }) => policy))].join(', '),
    definition: [...new Set(columns.map(({ definition }) => definition))].join(', '),
    job: spec.jobId,
    export: {
      content,
      rows,
      format: format === 'workbook' ? format : safety,
      encrypted: passphrase !== null,
    },
  };
}

const rowsOfLine = (choice: ExportRequest, tally: Tally): number =>
  choice.rows === 'all' || choice.rows === 'matches' ? tally.rows : maxRows(choice, tally);

const cleartextAct = (spec: JobSpec, choice: ExportRequest, tally: Tally): CleartextAct => ({
  ...exportLine(spec, choice),
  action: 'Export',
  grounds: choice.grounds,
  rows: maxRows(choice, tally),
  rowsOfLine: rowsOfLine(choice, tally),
});

interface Written {
  readonly rowsWritten: number;
  /** Cells that were escaped for spreadsheets. */
  readonly escaped: number;
}

interface WriteExportOptions {
  readonly job: BatchJob;
  readonly store: ResultStore;
  readonly choice: ExportRequest;
  readonly target: string;
  readonly scryptCost: number | undefined;
}

type WrittenFile = Written & { readonly bytes: number };

/** Some cell could not be written in the encoding, and the rows have no column to say so in. */
const needsErrorColumn = 'needs-error-column';

async function writeExport(options: WriteExportOptions): Promise<Outcome<WrittenFile>> {
  const { job, store, choice } = options;
  const source = await job.openSource();
  if (!source.ok) return source;
  try {
    const withError = store.tally.failed > 0 && showsFailed(choice);
    const written = await writeFile(options, source.value, withError);
    if (!written.ok) return written;
    if (written.value !== needsErrorColumn) return done(written.value);
    // Known only now. Looking through the source first would cost every export as much as writing it.
    const again = await writeFile(options, source.value, true);
    if (!again.ok) return again;
    return again.value === needsErrorColumn ? failed('call.failed') : done(again.value);
  } finally {
    await source.value.close();
  }
}

const lastMapped = (work: readonly ColumnWork[]): number => Math.max(...work.map(({ plan }) => plan.column));

/** Whether failed rows are written among the others. */
const showsFailed = ({ rows, shown }: ExportRequest): boolean =>
  rows === 'all' || (rows === 'shown' && ['all', 'failed'].includes(shown?.filter ?? 'all'));

async function writeFile(
  { job, store, choice, target, scryptCost }: WriteExportOptions,
  source: JobSource,
  withError: boolean,
): Promise<Outcome<WrittenFile | typeof needsErrorColumn>> {
  const passphrase = choice.passphrase === null ? null : restoreText(choice.passphrase);
  const output = await openOutputFile(target, passphrase, scryptCost);
  if (!output.ok) return output;
  const file = choice.format === 'workbook' ? workbookFile(output.value) : output.value;
  const { format } = job.spec;
  const written = await writeRows({ store, source, format, work: job.work, choice, file, withError });
  if (!written.ok) return abandon(file, written);
  if (written.value === needsErrorColumn) {
    await file.abandon(false);
    return done(needsErrorColumn);
  }
  const bytes = await file.finish();
  return bytes.ok ? done({ ...written.value, bytes: bytes.value }) : abandon(file, bytes);
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
  readonly source: JobSource;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly choice: ExportRequest;
  readonly file: AtomicFile;
  /** Whether the rows have an `error` column. */
  readonly withError: boolean;
}

/**
 * Joins source and results in the order of the source, in constant memory.
 * Failures: file.changed, file.gone, file.unreadable, job.damaged, file.disk-full, file.unwritable,
 * file.workbook-cell, file.workbook-full; export.encoding for a header that the encoding can't hold.
 */
async function writeRows(options: WriteRowsOptions): Promise<Outcome<Written | typeof needsErrorColumn>> {
  const { store, source, format, work, choice, file, withError } = options;
  const output = createOutput(choice, format);
  const rows = createOutputRows({ format, work, choice, withError, output });
  const mark = await readMark(options);
  if (!mark.ok) return mark;
  const header = format.header ? await readHeader(source, format) : done(null);
  if (!header.ok) return header;
  rows.writeHeader(header.value);
  if (output.lost) return failed('export.encoding', { subject: choice.encoding });
  let rowsWritten = 0;
  // The disk writes one group of chunks while the next is joined.
  let writing = file.write(Buffer.concat([mark.value, output.take()]));
  const { identity, mended } = source;
  const read = readAhead((offset, length) => source.read(offset, length), identity.size);
  const join = {
    source: { identity, read, mended },
    format,
    read: store.createSequentialReader(),
    rows,
    output,
    // What stands behind the mapped columns is copied as it is, unless a cell is put behind it.
    maxFields: isInSourceForm(choice) && !withError ? lastMapped(work) + 1 : undefined,
  };
  const entries = store.entries.filter(({ counts }) => choice.rows !== 'failed' || counts.failed > 0);
  for (const group of groupChunks(entries)) {
    const joined = await joinRows(join, group);
    const written = await writing;
    if (!joined.ok) return joined;
    if (!written.ok) return written;
    if (output.failure !== null) return { ok: false, failure: output.failure };
    if (rows.hasUnencodable && !withError && choice.rows !== 'failed') return done(needsErrorColumn);
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

const isInSourceForm = ({ format, safety }: ExportRequest): boolean =>
  format === 'csv' && safety === 'source';

function createOutput(choice: ExportRequest, format: Format): RowOutput {
  if (isInSourceForm(choice)) return createSourceOutput(format);
  const from = format.encoding;
  if (choice.format === 'workbook')
    return createConvertedOutput(createSheetWriter(), { encoding: 'utf-8', from });
  const writer = createRowWriter({ ...choice, spreadsheet: choice.safety === 'spreadsheet' });
  return createConvertedOutput(writer, { encoding: choice.encoding, from });
}

/** The byte order mark: the source's, or a new one where the encoding has one. */
function readMark({ choice, format, source }: WriteRowsOptions): Promise<Outcome<Buffer>> {
  if (isInSourceForm(choice)) return source.read(0, format.markLength);
  const mark = byteOrderMarks.find(({ encoding }) => encoding === choice.encoding)?.bytes ?? [];
  return Promise.resolve(done(Buffer.from(choice.byteOrderMark && choice.format === 'csv' ? mark : [])));
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
