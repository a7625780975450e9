import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { ExportChoice } from '../../contract/models/batch.ts';
import { rowReasons } from '../../contract/row-reasons.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { mask, maskReason } from '../../privacy/masking.ts';
import { yieldsCleartext, yieldsMasks, type ColumnWork } from '../planning/plan.ts';
import { hideAnywhere } from '../reading/fit.ts';
import { readChunk, type Chunk, type Format } from '../reading/read-rows.ts';
import type { Table } from '../reading/table.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { JobSource } from '../running/job-source.ts';
import type { ReadRecord } from '../storing/records.ts';
import { asCode, codeOfRow, rowStates, withoutPending, type ChunkResults } from '../storing/results.ts';
import { hasHidden } from '../viewing/result-rows.ts';
import type { RowOutput } from './row-output.ts';

export interface JoinOptions {
  readonly source: Pick<JobSource, 'identity' | 'read' | 'mended' | 'pending'>;
  readonly format: Format;
  readonly read: ReadRecord;
  readonly rows: OutputRows;
  readonly output: RowOutput;
  /** As many fields of each row are asked for; all of them, if absent. */
  readonly maxFields?: number | undefined;
}

/** The bytes of some chunks: source and results, row by row. Failures: file.changed, file.unreadable, job.damaged. */
export async function joinRows(
  { source, format, read, rows, output, maxFields }: JoinOptions,
  entries: readonly JournalEntry[],
): Promise<Outcome<{ bytes: Buffer; rows: number }>> {
  let written = 0;
  for (const entry of entries) {
    const [chunk, results] = await Promise.all([readChunk(source, format, entry, maxFields), read(entry)]);
    if (!chunk.ok) return chunk;
    if (!results.ok) return results;
    const { count } = chunk.value.table;
    if (results.value.states.length !== count) return failed('job.damaged');
    const { start, flaws } = chunk.value;
    const known = withoutPending(results.value, { firstRow: start.row, flaws }, source.pending);
    for (let i = 0; i < count; i++) if (rows.write(chunk.value, known, i)) written += 1;
  }
  return done({ bytes: output.take(), rows: written });
}

/** An export with the rows it asks for. */
export interface ExportRequest extends ExportChoice {
  /** With `rows: 'shown'`: their numbers, ascending. */
  readonly shownRows?: Uint32Array;
}

type Choice = Pick<ExportRequest, 'content' | 'rows' | 'shownRows'>;

export interface OutputRowsOptions {
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly choice: Choice;
  /** Whether the rows have an `error` column; the list of failed rows has columns of its own. */
  readonly withError: boolean;
  readonly output: RowOutput;
}

/** Joins the source's rows with their results, as chosen for one export. */
export interface OutputRows {
  /** Null where the source has no header. */
  writeHeader(header: Table | null): void;
  /** Whether the row is written, or left out. */
  write(chunk: Chunk, results: ChunkResults, index: number): boolean;
  /** Whether a cell could not be written in the encoding, so that the rows need an `error` column to say so. */
  readonly hasUnencodable: boolean;
}

/**
 * New cells stand behind the column they belong to, and `error` behind the header's last column: a row with fewer fields
 * is filled up to there, and what a row has more stands behind it, so that no field comes under another's head.
 */
export function createOutputRows({ format, work, choice, withError, output }: OutputRowsOptions): OutputRows {
  const failedOnly = choice.rows === 'failed';
  let hasUnencodable = false;
  const shownRows = choice.rows === 'shown' ? (choice.shownRows ?? new Uint32Array(0)) : null;
  let nextShown = 0;
  const hideInputs = choice.content !== 'cleartext';
  const hideFlawed = hideInputs && hasHidden({ work, masked: new Map() });
  const mapped = work
    .map((one, i) => {
      const { plan } = one;
      return {
        one,
        i,
        column: plan.column,
        hidesInput: hideInputs && plan.operation === 'tokenize',
        replaces: plan.into === 'replace',
        hasResult: !failedOnly && plan.into === 'beside' && showsResult(one, choice),
        hasMatch: hasMatchColumn(one, choice),
      };
    })
    .sort((a, b) => a.column - b.column);
  const lastColumn = format.width - 1;
  const names = columnNames(format);

  /** The columns of such a row are not known, so each field is taken by itself. */
  function writeFlawed({ table }: Chunk, index: number): void {
    let column = 0;
    const hideUntil = (end: number): void => {
      for (; hideFlawed && column < Math.min(end, table.width(index)); column++)
        output.replace(column, hideAnywhere(table.value(index, column)));
    };
    for (const one of mapped) {
      hideUntil(one.column + 1);
      if (one.hasResult) output.insertAfter(one.column, '');
      if (one.hasMatch) output.insertAfter(one.column, '');
    }
    hideUntil(format.width);
  }

  /** A row may have several failed cells. */
  function errorOf({ start, table }: Chunk, results: ChunkResults, index: number): string[] {
    const row = String(start.row + index);
    const flaw = results.flaws[index];
    const lost: FailureCode[] = output.lost ? ['value.unencodable'] : [];
    if (flaw !== undefined) {
      const codes = [flaw, ...lost];
      return [row, '', join(codes.map(reasonOf)), join(codes)];
    }
    const failedCells = mapped.flatMap(({ one, i, column, hidesInput }) => {
      const cells = results.columns[i];
      if (cells?.states[index] !== rowStates.failed) return [];
      const code = asCode(cells.values[index] ?? '');
      const said = cells.reasons[index];
      // The service may repeat the value.
      const value = hidesInput ? openCleartext(table.value(index, column)) : '';
      const safe = said === undefined || !hideInputs ? said : maskReason(said, value, one.kind);
      const reason = safe === undefined ? reasonOf(code) : `${reasonOf(code)}: ${safe}`;
      return [{ name: names[column] ?? '', reason, code }];
    });
    return [
      row,
      join(failedCells.map(({ name }) => name)),
      join([...failedCells.map(({ reason }) => reason), ...lost.map(reasonOf)]),
      join([...new Set([...failedCells.map(({ code }) => code), ...lost])]),
    ];
  }

  /** The row's own code is said before one of the encoding. */
  function writeError(results: ChunkResults, index: number, isUnencodable: boolean): void {
    hasUnencodable ||= isUnencodable;
    if (!withError) return;
    const code = codeOfRow(results, index) ?? (isUnencodable ? 'value.unencodable' : '');
    output.insertAfter(lastColumn, code);
  }

  function hideSurplus({ table }: Chunk, index: number): void {
    for (let column = format.width; hideFlawed && column < table.width(index); column++)
      output.replace(column, hideAnywhere(table.value(index, column)));
  }

  return {
    writeHeader(header) {
      if (header === null) {
        if (failedOnly) output.line([...errorColumns, ...names]);
        return;
      }
      output.begin(header, 0);
      if (failedOnly) output.prepend(errorColumns);
      for (const { one, column, hasResult, hasMatch } of mapped) {
        const name = openCleartext(header.value(0, column));
        if (hasResult) output.insertAfter(column, `${name}_${suffixOf(one, choice)}`);
        if (hasMatch) output.insertAfter(column, `${name}_match`);
      }
      if (withError) output.insertAfter(lastColumn, 'error');
      output.end();
    },
    write(chunk, results, index) {
      const { table } = chunk;
      const state = results.states[index];
      if (failedOnly && state !== rowStates.failed) return false;
      if (choice.rows === 'matches' && state !== rowStates.ok) return false;
      if (shownRows !== null) {
        // Rows come in the order of the source.
        if (shownRows[nextShown] !== chunk.start.row + index) return false;
        nextShown += 1;
      }
      output.begin(table, index);
      if (failedOnly) output.prepend(errorOf(chunk, results, index));
      if (state === rowStates.failed && results.flaws[index] !== undefined) {
        writeFlawed(chunk, index);
        writeError(results, index, output.lost);
        hideSurplus(chunk, index);
        output.end();
        return true;
      }
      // An empty line stays one.
      if (format.width > 1 && table.isEmptyLine(index)) {
        output.end();
        return true;
      }
      let isUnencodable = false;
      for (const { one, i, column, hidesInput, replaces, hasResult, hasMatch } of mapped) {
        const cells = results.columns[i];
        const cellState = cells?.states[index];
        const answer = openCleartext(cells?.values[index] ?? '');
        let result: string | null = null;
        if (cellState === rowStates.ok && !failedOnly) {
          if (canWriteResult(one, answer, { choice, output })) result = resultOf(one, answer, choice);
          else isUnencodable = true;
        }
        if (replaces && result !== null) output.replace(column, result);
        else if (hidesInput) {
          const input = table.value(index, column);
          if (openCleartext(input) !== '') output.replace(column, mask(one.kind, input));
        }
        if (hasResult) output.insertAfter(column, result ?? '');
        if (hasMatch) output.insertAfter(column, matchText(cellState));
      }
      writeError(results, index, isUnencodable || output.lost);
      output.end();
      return true;
    },
    get hasUnencodable() {
      return hasUnencodable;
    },
  };
}

export const columnNames = ({ names, width }: Pick<Format, 'names' | 'width'>): string[] =>
  Array.from({ length: width }, (_, column) => names?.[column] ?? `Column ${column + 1}`);

/** What stands first in the list of failed rows. */
export const errorColumns = ['source_row', 'column', 'reason', 'code'];

const join = (texts: readonly string[]): string => texts.join('; ');

const reasonOf = (code: FailureCode): string => rowReasons[code] ?? 'Failed';

const matchText = (state: string | undefined): string =>
  state === rowStates.ok ? 'yes' : state === rowStates.unmatched ? 'no' : '';

/** What the name of a column with results ends with. */
function suffixOf({ plan }: ColumnWork, { content }: Choice): string {
  if (plan.operation === 'mask') return 'masked';
  return yieldsCleartext(plan.operation) ? content : 'token';
}

/** Whether the export's encoding has the characters of a result; what is masked is written in any. */
const canWriteResult = (
  { plan }: ColumnWork,
  result: string,
  { choice, output }: { choice: Choice; output: Pick<RowOutput, 'canHold'> },
): boolean =>
  plan.operation === 'mask' ||
  (yieldsCleartext(plan.operation) && choice.content !== 'cleartext') ||
  output.canHold(result);

/** Null where the export keeps what came in. A mask of the service's is all there is, whatever the export asks for. */
function resultOf({ plan, kind }: ColumnWork, result: string, choice: Choice): string | null {
  if (!yieldsMasks(plan.operation)) return result;
  if (choice.content === 'tokens') return null;
  return plan.operation !== 'mask' && choice.content === 'masked' && result !== ''
    ? mask(kind, result)
    : result;
}

const showsResult = ({ plan }: ColumnWork, { content }: Choice): boolean =>
  content !== 'tokens' || !yieldsMasks(plan.operation);

const hasMatchColumn = ({ plan }: ColumnWork, { rows }: Choice): boolean =>
  plan.operation === 'match' && (rows === 'all' || rows === 'shown');
