import type { FileName } from '../../contract/models/fields.ts';
import { shownName } from '../../privacy/file-names.ts';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { AuditEnd } from '../../audit/entries.ts';
import type { Exported, Job, Remaining, Tally } from '../../contract/models/batch.ts';
import type { WrittenCases } from '../../contract/models/activity.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import { packedEnding, unpackedName } from '../../contract/packed-names.ts';
import { restoreText } from '../../contract/obscured.ts';
import { isDelimited } from '../../contract/row-kinds.ts';
import { receiptFile, type ReceiptFacts, type WrittenReceipt } from '../../evidence/receipt.ts';
import type { AtomicFile } from '../../storage/atomic-file.ts';
import type { BatchOptions } from '../options.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { groundsOfRows } from '../planning/row-case.ts';
import { columnName, disclosedRows } from '../planning/disclosed.ts';
import { definitionsOf, yieldsCleartext, lastMapped } from '../planning/plan.ts';
import { byteOrderMarks } from '../reading/detect.ts';
import { codecOf, prepareCodec } from '../reading/encodings.ts';
import { readAbove, readBelow, type Format } from '../reading/read-rows.ts';
import { rowKindOf } from '../reading/row-spans.ts';
import { sheetRows } from '../../parsing/workbook/sheet.ts';
import type { BatchJob, JobResults } from '../running/job.ts';
import type { JobSpec } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';
import type { CleartextAct } from '../../privacy/act.ts';
import { createRowWriter } from '../../storage/csv.ts';
import { isInside } from '../planning/inside-cells.ts';
import { openOutputFile } from './output-file.ts';
import { groupChunks, joinRows, openJoin, writtenEntries } from './join.ts';
import {
  addsColumns,
  createOutputRows,
  mayBeClear,
  type ExportContent,
  type ExportRequest,
} from './output-rows.ts';
import type { OwnTokens } from './own-tokens.ts';
import { type OpenJob, remainingOf, type RemainingChecks } from './remaining.ts';
import type { UnfinishedExports } from './unfinished-exports.ts';
import { kindsSent } from '../viewing/result-rows.ts';
import { createLeakCheck, type LeakCheck } from './leak-check.ts';
import { createSentValues } from './sent-values.ts';
import { createResultsAlone, joinResults } from './results-alone.ts';
import { createConvertedOutput, createSourceOutput, type RowOutput } from './row-output.ts';
import { createSheetWriter, workbookFile } from './write-workbook.ts';
import { yieldToOthers } from '../../util/turns.ts';

const minPassphraseLength = 8;

/** What an export is made with. */
type ExportOptions = Pick<BatchOptions, 'audit' | 'gate' | 'managed' | 'platform' | 'scryptCost'> & {
  readonly checks: RemainingChecks;
  readonly own: Pick<OwnTokens, 'remember'>;
  /** Ends the writing: no file is left. */
  readonly signal: AbortSignal;
  /** Where the last result of its mapping was written to; null where none was: beside the source. */
  readonly folder: string | null;
  /** How far it is, 0 to 1, after each piece that is written. */
  readonly report: (share: number, rows: number) => void;
  /** Writes the receipt; null where none is asked for. */
  readonly receipt: ((parts: ReceiptParts) => Promise<Outcome<WrittenReceipt>>) | null;
};

/** What a receipt says of the file itself, and where its content is before it has its name. */
export interface ReceiptParts
  extends
    Pick<Exported, 'tally' | 'rowsWritten' | 'remaining'>,
    Pick<ReceiptFacts, 'target' | 'content' | 'cases'> {}

/**
 * One export: asks for the target, records the export in the audit log, writes the file whole or not at all, and
 * records the sum. Null when the person chose no target. The system's dialog asks before a file is replaced; a
 * source never is, see `createGuardedDialogs`.
 * What stays in clear in a file of masks or tokens is counted while it is written, and decides before the file has its
 * name: an administrator may want a reason for it, or no such file. So does the receipt, where one is asked for: a process
 * that is killed leaves no file without it.
 * Failures: service.cancelled, job.*, reveal.reason-required, reveal.reason-refused, export.*, disclosure.limit, audit.*, keychain.*, and those of `writeRows`
 * and of the receipt.
 */
export async function exportJob(
  options: ExportOptions & { readonly unfinished: Pick<UnfinishedExports, 'during'> },
  job: BatchJob,
  asked: ExportRequest,
): Promise<Outcome<(Omit<Exported, 'exportId' | 'folder'> & { readonly target: string }) | null>> {
  const { spec } = job;
  const { scryptCost } = options;
  if (job.busy) return failed('job.busy');
  const opened = await job.openResults();
  if (!opened.ok) return opened;
  const store = opened.value;
  const { valueless } = job.view();
  const valued = job.work.filter(({ plan }) => !valueless.includes(plan.column));
  const choice = { ...asked, content: contentOf(asked, valued) };
  // The file's name and the audit line would say what it doesn't hold.
  if (asked.content !== choice.content && asked.rows !== 'failed') return failed('export.no-cleartext');
  const mostRows = maxRows(choice, store.tally);
  const act = holdsCleartext(choice) ? cleartextAct(job, choice, store) : null;
  await prepareCodec(choice.encoding);
  const refused =
    checkChoice(choice, store.tally, job) ?? (act === null ? null : await options.gate.check(act));
  if (refused !== null) return refused;
  const target = await options.platform.chooseTarget({
    name: suggestName(spec, choice, job.view()),
    beside: options.folder === null ? spec.sourcePath : join(options.folder, spec.sourceName),
  });
  if (target === null) return done(null);
  const write = async (
    add: (facts: Partial<AuditEnd>) => void,
  ): Promise<
    Outcome<Omit<WrittenFile, 'clearValues' | 'cases'> & { name: FileName; tally: Tally; target: string }>
  > => {
    const mayRemain = (remaining: Remaining): Outcome<null> => {
      const { cards, values } = remaining;
      add({ remaining: { cards, values } });
      return cards + values === 0 ? done(null) : checkRemaining(options, choice, spec);
    };
    const { checks, own, signal, report, receipt } = options;
    const { jobId, connectionName, environment } = spec;
    const written = await options.unfinished.during(
      { target, job: jobId, connection: connectionName, environment },
      () =>
        writeExport({
          ...{ job, store, choice, target, scryptCost, checks, own, mayRemain, signal, report, receipt },
          mostRows,
        }),
    );
    if (!written.ok) return written;
    const { tally } = store;
    const { clearValues: values, cases, ...file } = written.value;
    add({
      rows: file.rowsWritten,
      note: sumOf(tally),
      ...(holdsCleartext(choice) && { values }),
      ...(cases && { cases }),
    });
    return done({ ...file, name: shownName(target), tally, target });
  };
  if (act !== null) return options.gate.open(act, { fetch: () => done(null), give: (_, add) => write(add) });
  const line = { ...exportLine(spec, choice), rows: rowsOfLine(choice, store.tally), cleartext: false };
  return options.audit.record({ ...line, ...groundsOfLine(choice, spec), action: 'Export' }, write);
}

/** What stays in clear in a file that would be written so; null for one in clear. Failures: job.*, and those of `look`. */
export async function checkExport(
  checks: Pick<RemainingChecks, 'look'>,
  job: BatchJob,
  { signal, ...asked }: ExportContent & { readonly signal: AbortSignal },
): Promise<Outcome<Remaining | null>> {
  if (job.busy) return failed('job.busy');
  const opened = await job.openResults();
  if (!opened.ok) return opened;
  const choice = { ...asked, content: contentOf(asked, job.work) };
  if (holdsCleartext(choice)) return done(null);
  const source = await job.openSource();
  if (!source.ok) return source;
  try {
    const { corrected } = opened.value;
    return await checks.look(
      { job, store: opened.value, source: { ...source.value, ...corrected } },
      choice,
      signal,
    );
  } finally {
    await source.value.close();
  }
}

/** What an administrator says of a file in which something stays in clear. */
function checkRemaining(
  { gate, managed }: Pick<ExportOptions, 'gate' | 'managed'>,
  { grounds }: Pick<ExportRequest, 'grounds'>,
  { plan }: Pick<JobSpec, 'plan'>,
): Outcome<null> {
  switch (managed.remainingCleartext) {
    case 'forbidden':
      return failed('export.remaining-forbidden');
    case 'reason':
      return grounds === null
        ? failed('export.remaining-reason')
        : (gate.checkGrounds(grounds, plan.caseColumn !== undefined) ?? done(null));
    default:
      return done(null);
  }
}

function groundsOfLine(
  { grounds: given }: Pick<ExportRequest, 'grounds'>,
  { plan }: Pick<JobSpec, 'plan'>,
): Partial<Grounds> & { readonly caseColumn?: number } {
  const { grounds, ...rows } = groundsOfRows(given, plan.caseColumn);
  return grounds === null ? {} : { reason: grounds.reason, caseReference: grounds.caseReference, ...rows };
}

/** Without what is 0. */
function sumOf({ rows, ok, failed: refused, unmatched, blank }: Tally): string {
  const parts = Object.entries({ succeeded: ok, failed: refused, unmatched, blank });
  const shown = parts.filter(([name, count]) => name === 'succeeded' || count > 0);
  return `${rows} = ${shown.map(([name, count]) => `${count} ${name}`).join(' + ')}`;
}

function checkChoice(
  choice: ExportRequest,
  tally: Tally,
  job: Pick<BatchJob, 'spec' | 'work' | 'view'>,
): ReturnType<typeof failed> | null {
  // Which case a row has stands in its source alone.
  if (choice.withoutSource === true && holdsCleartext(choice) && job.spec.plan.caseColumn !== undefined)
    return failed('export.cases-unknown');
  // One row is the header's.
  if (choice.format === 'workbook' && maxRows(choice, tally) >= sheetRows)
    return failed('file.workbook-full', { subject: String(sheetRows - 1) });
  const { format } = job.spec;
  if (isInSourceForm(choice, format)) {
    if (!isDelimited(format) && addsColumns(job.work, choice)) return failed('export.no-columns');
    const isPart = choice.rows !== 'all' || job.view().total !== tally.rows;
    if (rowKindOf(format).isOneValue && isPart) return failed('export.array-part');
  }
  const isAnew = choice.format === 'csv' && choice.safety !== 'source';
  if (isAnew && !codecOf(choice.encoding).encode(choice.delimiter).ok)
    return failed('file.delimiter', { subject: choice.encoding });
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
function contentOf({ content, rows }: ExportContent, work: readonly ColumnWork[]): ExportRequest['content'] {
  if (content !== 'cleartext' || kindsSent(work).length > 0) return content;
  const hasResults = rows !== 'failed' && work.some(({ plan }) => yieldsCleartext(plan.operation));
  return hasResults ? content : 'tokens';
}

const holdsCleartext = ({ content }: ExportContent): boolean => content === 'cleartext';

/** A file with only a part of the rows says so in its name. */
function suggestName(
  { sourceName, format }: Pick<JobSpec, 'sourceName' | 'format'>,
  choice: ExportRequest,
  { state, tally, total, packed }: Pick<Job, 'state' | 'tally' | 'total' | 'packed'>,
): string {
  const name = packed === undefined ? sourceName : unpackedName(sourceName, packed);
  const stem = basename(name, extname(name));
  const content =
    choice.rows === 'failed' ? 'errors' : choice.rows === 'matches' ? 'matches' : choice.content;
  const part = choice.rows === 'shown' ? '_filtered' : '';
  const isWhole = choice.rows === 'failed' || state === 'finished';
  const partial = isWhole ? '' : `_partial_${tally.rows}${total === null ? '' : `_of_${total}`}`;
  const ending = packedEnding(endingOf(choice, format, name), choice.archive);
  return `${stem}_${content}${part}${partial}${ending}${choice.passphrase === null ? '' : '.age'}`;
}

/** `source`: the name that the rows came under. */
function endingOf(choice: ExportRequest, format: Format, source: string): string {
  if (choice.format === 'workbook') return '.xlsx';
  return isInSourceForm(choice, format) ? rowKindOf(format).ending(source) : '.csv';
}

function exportLine(spec: JobSpec, choice: ExportRequest) {
  const { columns } = spec.plan;
  const { content, rows, format, safety, passphrase } = choice;
  return {
    connection: spec.connectionName,
    environment: spec.environment,
    policy: [...new Set(columns.map(({ policy }) => policy))].join(', '),
    definition: [...new Set(columns.flatMap(definitionsOf))].join(', '),
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

function cleartextAct(
  job: Pick<BatchJob, 'spec' | 'work' | 'openSource'>,
  choice: ExportRequest,
  { tally, entries }: Pick<ResultStore, 'tally' | 'entries'>,
): CleartextAct {
  const { spec, work } = job;
  const clear = work.filter(mayBeClear);
  const { connectionId, plan, format, jobId, sourceName: name, spool } = spec;
  return {
    ...exportLine(spec, choice),
    action: 'Export',
    ...groundsOfRows(choice.grounds, plan.caseColumn),
    rows: maxRows(choice, tally),
    rowsOfLine: rowsOfLine(choice, tally),
    values: work.reduce((sum, one, index) => {
      if (!mayBeClear(one)) return sum;
      // A text may hold any number of values.
      const inside = entries.reduce((all, { counts }) => all + (counts.columns?.[index]?.cells ?? 0), 0);
      return sum + (isInside(one) ? inside : maxRows(choice, tally));
    }, 0),
    approvedJob: jobId,
    disclosed: () =>
      disclosedRows({
        columns: clear.map(({ plan: { column } }) => columnName(spec.columns, column)),
        words: [...wordsOf(choice), ...caseWords(spec)],
        ...{ name, isFile: spool === null },
        open: choice.withoutSource === true ? null : () => job.openSource(),
        // Results of a second try lie elsewhere in the store.
        exact: [connectionId, plan, format, formOf(choice), tally, entries.map(({ offset }) => offset)],
      }),
  };
}

/** All that says what the file has, and how: who knows its passphrase is not in it. */
function formOf({ passphrase, grounds: _, shownRows, ...form }: ExportRequest): unknown {
  const rows = shownRows === undefined ? null : createHash('sha256').update(shownRows).digest('hex');
  return [Object.entries(form).sort(([one], [other]) => (one < other ? -1 : 1)), passphrase !== null, rows];
}

/** For a person who is to approve it. */
const caseWords = ({ plan, columns }: Pick<JobSpec, 'plan' | 'columns'>): string[] =>
  plan.caseColumn === undefined ? [] : [`the case of each row is in ${columnName(columns, plan.caseColumn)}`];

/** The same for a person. */
function wordsOf({ rows, format, safety, encoding, archive, passphrase }: ExportRequest): string[] {
  const dialect = {
    source: 'in the form of the source',
    spreadsheet: 'safe for spreadsheets',
    exact: 'exact',
  };
  const chosen = {
    all: 'all rows',
    matches: 'the rows that match',
    failed: 'the list of failed rows',
    shown: 'the rows that the table shows',
  };
  return [
    chosen[rows],
    format === 'workbook' ? 'an Excel workbook' : `a CSV file, ${dialect[safety]}, ${encoding}`,
    ...(archive === null || archive === undefined ? [] : [`packed: ${archive}`]),
    passphrase === null ? 'not encrypted' : 'encrypted with a passphrase',
  ];
}

interface Written {
  readonly rowsWritten: number;
  /** Cells that were escaped for spreadsheets. */
  readonly escaped: number;
  /** Values of mapped columns that it holds in clear. */
  readonly clearValues: number;
  /** Under which cases they are; absent where rows have none of their own. */
  readonly cases?: WrittenCases;
  /** Null for a file in clear. */
  readonly remaining: Remaining | null;
  /** Cells that the encoding can't hold, and the rows they are in. */
  readonly lostCells: number;
  readonly lostRows: number;
}

interface WriteExportOptions extends Pick<ExportOptions, 'signal' | 'report' | 'receipt'> {
  readonly checks: RemainingChecks;
  readonly own: Pick<OwnTokens, 'remember'>;
  /** Whether a file may be finished in which this stays in clear. */
  readonly mayRemain: (remaining: Remaining) => Outcome<null>;
  /** As many as were asked for when it began. */
  readonly mostRows: number;
  readonly job: BatchJob;
  readonly store: JobResults;
  readonly choice: ExportRequest;
  readonly target: string;
  readonly scryptCost: number | undefined;
}

type WrittenFile = Written & Pick<Exported, 'bytes' | 'receipt'>;

/** Some cell could not be written in the encoding, and the rows have no column to say so in. */
const needsErrorColumn = 'needs-error-column';

async function writeExport(options: WriteExportOptions): Promise<Outcome<WrittenFile>> {
  const { job, store, choice } = options;
  if (choice.withoutSource === true) return withErrorColumn(await writeResultsAlone(options));
  const source = await job.openSource();
  if (!source.ok) return source;
  try {
    const rows = { ...options, source: { ...source.value, ...store.corrected } };
    const writeAll = (withError: boolean) =>
      writeFile(options, (file) => writeRows({ ...rows, file, withError }));
    const written = await writeAll(store.tally.failed > 0 && showsFailed(choice));
    // Known only now. Looking through the source first would cost every export as much as writing it.
    const isWanting = written.ok && written.value === needsErrorColumn;
    const whole = withErrorColumn(isWanting ? await writeAll(true) : written);
    if (whole.ok) await options.own.remember(rows, choice);
    return whole;
  } finally {
    await source.value.close();
  }
}

/** Of a file that has the column, or never needed it. */
const withErrorColumn = (written: Outcome<WrittenFile | typeof needsErrorColumn>): Outcome<WrittenFile> =>
  written.ok && written.value === needsErrorColumn
    ? failed('call.failed')
    : (written as Outcome<WrittenFile>);

/** The numbers of the rows and what came back for them: all that is known without the source. */
async function writeResultsAlone(
  options: WriteExportOptions,
): Promise<Outcome<WrittenFile | typeof needsErrorColumn>> {
  const { job, store, choice } = options;
  const alone = createResultsAlone(job.spec.format, job.work);
  const { format, work, above } = alone;
  const output = createOutput(choice, format);
  // No cell of the source is in it, but for what stands beside the tokens of a text.
  const leaks = holdsCleartext(choice) ? null : createLeakCheck(format, createSentValues(format));
  const rows = createOutputRows({ format, work, choice, withError: true, output, leaks });
  const join = {
    alone,
    pending: store.corrected.pending,
    read: store.createSequentialReader(),
    rows,
    output,
  };
  return writeFile(options, async (file) => {
    await rows.writeAbove(above);
    if (output.lost.length > 0) return failed('export.encoding', { subject: choice.encoding });
    const mark = byteOrderMark(choice, format);
    let rowsWritten = 0;
    let written = await file.write(Buffer.concat([mark, output.take()]));
    for (const group of groupChunks(writtenEntries(store, choice))) {
      if (!written.ok) return written;
      const joined = await joinResults(join, group);
      if (!joined.ok) return joined;
      if (output.failure !== null) return { ok: false, failure: output.failure };
      rowsWritten += joined.value.rows;
      written = await file.write(joined.value.bytes, { isFreed: true });
      options.report(rowsWritten / Math.max(1, store.tally.rows), rowsWritten);
      await yieldToOthers();
      if (options.signal.aborted) return failed('service.cancelled');
    }
    if (!written.ok) return written;
    const { cells: lostCells, rows: lostRows } = rows.lost;
    if (lostCells > 0 && choice.leavesEmpty !== true)
      return failed('export.cells-lost', { subject: `${lostCells} ${lostRows}` });
    const remaining = leaks?.remaining() ?? null;
    const { clearValues } = rows;
    return done({ rowsWritten, clearValues, escaped: output.escaped, remaining, lostCells, lostRows });
  });
}

/** Whether failed rows are written among the others. */
const showsFailed = ({ rows, shown }: ExportRequest): boolean =>
  rows === 'all' || (rows === 'shown' && ['all', 'failed'].includes(shown?.filter ?? 'all'));

/** `write` puts the rows into the file, which gets its name once all of them are in it. */
async function writeFile(
  { job, target, scryptCost, mayRemain, choice, mostRows, receipt, store }: WriteExportOptions,
  write: (file: AtomicFile) => Promise<Outcome<Written | typeof needsErrorColumn>>,
): Promise<Outcome<WrittenFile | typeof needsErrorColumn>> {
  const passphrase = choice.passphrase === null ? null : restoreText(choice.passphrase);
  const { archive } = choice;
  const inner = basename(target).replace(/(?:\.age|\.zip)+$/i, '');
  const ending = endingOf(choice, job.spec.format, inner);
  const nameInside = inner.endsWith(ending) ? inner : inner + ending;
  // A command chooses the name itself: nobody was asked whether a file may be replaced.
  const isNew = receipt === null ? null : { alone: [receiptFile(target)] };
  const wrapping = { passphrase, workFactor: scryptCost, archive, nameInside, isNew };
  const output = await openOutputFile(target, wrapping);
  if (!output.ok) return output;
  const file = choice.format === 'workbook' ? workbookFile(output.value) : output.value;
  const written = await write(file);
  if (!written.ok) return abandon(file, written);
  if (written.value === needsErrorColumn) {
    await file.abandon(false);
    return done(needsErrorColumn);
  }
  const { remaining, rowsWritten, cases } = written.value;
  // The day's limit and the log go by what was granted.
  if (rowsWritten > mostRows) return abandon(file, failed('job.damaged'));
  const allowed = remaining === null ? done(null) : mayRemain(remaining);
  if (!allowed.ok) return abandon(file, allowed);
  const { tally } = store;
  let signed: WrittenReceipt | undefined;
  const bytes = await file.finish(async (content) => {
    const outcome = await receipt?.({ target, content, tally, rowsWritten, remaining, cases });
    if (outcome?.ok === true) signed = outcome.value;
    return outcome?.ok === false ? outcome : done(null);
  });
  if (bytes.ok) return done({ ...written.value, bytes: bytes.value, ...(signed && { receipt: signed }) });
  // It is of a file that is not there.
  if (signed !== undefined && (bytes.failure.code === 'file.exists' || !existsSync(target)))
    await rm(receiptFile(target), { force: true }).catch(() => undefined);
  return abandon(file, bytes);
}

/** On a full or locked disk the rows written so far stay as `.partial`. */
async function abandon(
  file: AtomicFile,
  failure: Extract<Outcome<never>, { ok: false }>,
): Promise<typeof failure> {
  await file.abandon(['file.disk-full', 'file.unwritable'].includes(failure.failure.code));
  return failure;
}

interface WriteRowsOptions extends OpenJob, Pick<ExportOptions, 'signal' | 'report'> {
  readonly choice: ExportRequest;
  readonly file: AtomicFile;
  readonly checks: RemainingChecks;
  /** Whether the rows have an `error` column. */
  readonly withError: boolean;
}

/**
 * Joins source and results in the order of the source, in constant memory.
 * Failures: file.changed, file.gone, file.unreadable, job.damaged, file.disk-full, file.unwritable,
 * file.workbook-cell, file.workbook-full; export.encoding for a header, or lines above and below the table, that the encoding can't hold, export.cells-lost
 * for other cells, unless a person wants the file without them.
 */
async function writeRows(options: WriteRowsOptions): Promise<Outcome<Written | typeof needsErrorColumn>> {
  const { job, store, source, choice, file, withError, signal, report } = options;
  const { work } = job;
  const { format } = job.spec;
  const output = createOutput(choice, format);
  const checked = await beginCheck(options, output);
  if (!checked.ok) return checked;
  const { leaks, known } = checked.value;
  const rows = createOutputRows({ format, work, choice, withError, output, leaks });
  const mark = await readMark(options);
  if (!mark.ok) return mark;
  const above = await readAbove(source, format);
  if (!above.ok) return above;
  await rows.writeAbove(above.value);
  if (output.lost.length > 0) return failed('export.encoding', { subject: choice.encoding });
  let rowsWritten = 0;
  // The disk writes one group of chunks while the next is joined.
  let writing = file.write(Buffer.concat([mark.value, output.take()]));
  const join = {
    ...openJoin(source, store),
    format,
    rows,
    output,
    // What stands behind the mapped columns is copied as it is, unless a cell is put behind it.
    maxFields: isInSourceForm(choice, format) && !withError ? lastMapped(work) + 1 : undefined,
  };
  const entries = writtenEntries(store, choice);
  const bytesToRead = entries.at(-1)?.end.offset ?? 0;
  for (const group of groupChunks(entries)) {
    const joined = await joinRows(join, group);
    const written = await writing;
    if (!joined.ok) return joined;
    if (!written.ok) return written;
    if (output.failure !== null) return { ok: false, failure: output.failure };
    if (rows.lost.cells > 0 && !withError && choice.rows !== 'failed') return done(needsErrorColumn);
    rowsWritten += joined.value.rows;
    writing = file.write(joined.value.bytes, { isFreed: true });
    report((group.at(-1)?.end.offset ?? 0) / Math.max(1, bytesToRead), rowsWritten);
    await yieldToOthers();
    if (signal.aborted) {
      await writing;
      return failed('service.cancelled');
    }
  }
  const written = await writing;
  if (!written.ok) return written;
  for await (const below of readBelow(source, format)) {
    if (!below.ok) return below;
    await rows.writeBelow(below.value);
    if (output.lost.length > 0) return failed('export.encoding', { subject: choice.encoding });
    const added = await file.write(output.take());
    if (!added.ok) return added;
  }
  if (output.failure !== null) return { ok: false, failure: output.failure };
  const unchanged = await source.check();
  if (!unchanged.ok) return unchanged;
  const { cells: lostCells, rows: lostRows } = rows.lost;
  if (lostCells > 0 && choice.leavesEmpty !== true)
    return failed('export.cells-lost', { subject: `${lostCells} ${lostRows}` });
  const remaining = leaks === null ? done(known) : await remainingOf(leaks, options);
  return remaining.ok
    ? done({
        rowsWritten,
        clearValues: rows.clearValues,
        ...(rows.cases !== null && { cases: rows.cases.sum() }),
        escaped: output.escaped,
        remaining: remaining.value,
        lostCells,
        lostRows,
      })
    : remaining;
}

/** Counts what stays in clear, unless that is known, or the file is one in clear. */
async function beginCheck(
  { choice, checks, ...open }: Pick<WriteRowsOptions, 'choice' | 'checks' | keyof OpenJob>,
  output: RowOutput,
): Promise<Outcome<{ leaks: LeakCheck | null; known: Remaining | null }>> {
  if (holdsCleartext(choice)) return done({ leaks: null, known: null });
  // What the encoding can't hold is left empty.
  const holdsAll =
    isInSourceForm(choice, open.job.spec.format) ||
    choice.format === 'workbook' ||
    choice.encoding.startsWith('utf-');
  const known = holdsAll ? checks.known(open, choice) : null;
  if (known !== null) return done({ leaks: null, known });
  const leaks = await checks.begin(open, holdsAll ? undefined : (cell) => output.canHold(cell));
  return leaks.ok ? done({ leaks: leaks.value, known: null }) : leaks;
}

/**
 * Not a list of failed rows where quotes are text, since whoever corrects it has a program that takes them for its own, or
 * where rows have no room for its columns.
 */
const isInSourceForm = (choice: ExportRequest, format: Format): boolean =>
  choice.format === 'csv' &&
  choice.safety === 'source' &&
  !((format.quote === 'none' || !isDelimited(format)) && choice.rows === 'failed');

function createOutput(choice: ExportRequest, format: Format): RowOutput {
  if (isInSourceForm(choice, format)) return createSourceOutput(format);
  const from = format.encoding;
  if (choice.format === 'workbook')
    return createConvertedOutput(createSheetWriter(), { encoding: 'utf-8', from });
  const writer = createRowWriter({ ...choice, spreadsheet: choice.safety === 'spreadsheet' });
  return createConvertedOutput(writer, { encoding: choice.encoding, from });
}

/** The byte order mark: the source's, or a new one where the encoding has one. */
function readMark({ choice, job, source }: WriteRowsOptions): Promise<Outcome<Buffer>> {
  if (isInSourceForm(choice, job.spec.format)) return source.read(0, job.spec.format.markLength);
  return Promise.resolve(done(byteOrderMark(choice, job.spec.format)));
}

/** Of a file that is written anew, where it is to have one. */
function byteOrderMark(choice: ExportRequest, format: Format): Buffer {
  const mark = byteOrderMarks.find(({ encoding }) => encoding === choice.encoding)?.bytes ?? [];
  const hasMark = choice.byteOrderMark && choice.format === 'csv' && !isInSourceForm(choice, format);
  return Buffer.from(hasMark ? mark : []);
}
