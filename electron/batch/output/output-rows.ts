import type { FailureCode } from '../../contract/errors.ts';
import type { ExportChoice } from '../../contract/models/batch.ts';
import { rowReasons } from '../../contract/row-reasons.ts';
import { cleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { mask, maskAgain, maskReason } from '../../masking/masking.ts';
import { isInside, tokensIn, withoutTokens } from '../planning/inside-cells.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { caseOfRow } from '../planning/row-case.ts';
import { hideCell, replacesCells, yieldsCleartext, yieldsMasks } from '../planning/plan.ts';
import { hideFlawed } from '../reading/fit.ts';
import type { Chunk, Format } from '../reading/read-rows.ts';
import type { Table } from '../reading/table.ts';
import { isDelimited } from '../../contract/row-kinds.ts';
import { headerIndex } from '../../contract/table-place.ts';
import {
  areAllOk,
  asCode,
  codeOfRow,
  rowStates,
  type ChunkResults,
  type ColumnResults,
} from '../storing/results.ts';
import { kindsSent } from '../viewing/result-rows.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import { isLongText } from '../../masking/text-parts.ts';
import { madeInTurns } from '../../util/turns.ts';
import type { ChunkRange } from '../storing/journal.ts';
import type { LeakCheck } from './leak-check.ts';
import type { RowOutput } from './row-output.ts';
import { createWrittenCases, type WrittenCases } from './written-cases.ts';

/** An export with the rows it asks for. */
export interface ExportRequest extends ExportChoice {
  /** With `rows: 'shown'`: their numbers, ascending. */
  readonly shownRows?: Uint32Array;
}

/** What of it says which cells are written. */
export type ExportContent = Pick<ExportRequest, 'content' | 'rows' | 'shownRows'>;

export interface OutputRowsOptions {
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly choice: ExportContent;
  /** Whether the rows have an `error` column; the list of failed rows has columns of its own. */
  readonly withError: boolean;
  readonly output: RowOutput;
  /** Told of every cell that goes out as it came in; null for an export in clear. */
  readonly leaks: LeakCheck | null;
}

/** Units of a field that is longer than any that is sent, whatever its encoding is: it is hidden and not decoded for that. */
const maxRead = tableLimits.field * 4;
const hiddenUnread = mask('text', 'x'.repeat(maxRead));

/** Joins the source's rows with their results, as chosen for one export. */
export interface OutputRows {
  /**
   * The rows above the first one of data, the header among them; null where there are none. Those that are no header go
   * out with all rows only.
   */
  writeAbove(above: Table | null): Promise<void>;
  /** Rows below the table; they go out with all rows only. */
  writeBelow(below: Table): Promise<void>;
  /** Whether the row is written, or left out. A promise, to be awaited before the next one, where it takes several turns. */
  write(chunk: Chunk, results: ChunkResults, index: number): boolean | Promise<boolean>;
  /** Awaited behind the rows of a chunk: what of them takes a while to look at. */
  rest(): Promise<void>;
  /** The same for all rows of a chunk at once, by its bytes. False where they are not all alike: then none is written. */
  writeAll(range: ChunkRange, bytes: Buffer, results: ChunkResults): boolean;
  /** Whether `writeAll` may do it. */
  mayWriteAll(results: ChunkResults): boolean;
  /** Cells that could not be written in the encoding, and the rows that need an `error` column to say so. */
  readonly lost: { readonly cells: number; readonly rows: number };
  /** Values of mapped columns that were written in clear. */
  readonly clearValues: number;
  /** Under which cases they are; null where rows have none of their own, or nothing is in clear. */
  readonly cases: Pick<WrittenCases, 'sum'> | null;
}

/**
 * New cells stand behind the column they belong to, and `error` behind the header's last column: a row with fewer fields
 * is filled up to there, and what a row has more stands behind it, so that no field comes under another's head.
 */
export function createOutputRows({
  format,
  work,
  choice,
  withError,
  output,
  leaks,
}: OutputRowsOptions): OutputRows {
  const failedOnly = choice.rows === 'failed';
  const lost = { cells: 0, rows: 0 };
  let clearValues = 0;
  const isClear = choice.content === 'cleartext';
  const caseColumn = isClear ? work[0]?.caseColumn : undefined;
  const cases = caseColumn === undefined ? null : createWrittenCases();
  let lastRow = 0;
  const shownRows = choice.rows === 'shown' ? (choice.shownRows ?? new Uint32Array(0)) : null;
  let nextShown = 0;
  const hideInputs = choice.content !== 'cleartext';
  // Nobody knows the case of a row whose columns are not known: nothing of it goes out in clear.
  const flawedKinds = hideInputs || cases !== null ? kindsSent(work) : [];
  const hidesFlawed = flawedKinds.length > 0;
  const mapped = work
    .map((one, i) => {
      const { plan } = one;
      return {
        one,
        i,
        column: plan.column,
        isText: isInside(one),
        takesClear: takesCleartext(one),
        givesClear: yieldsCleartext(plan.operation),
        hidesInput: hideInputs && takesCleartext(one),
        replaces: plan.into === 'replace',
        hasResult: !failedOnly && plan.into === 'beside' && showsResult(one, choice),
        hasMatch: hasMatchColumn(one, choice),
      };
    })
    .sort((a, b) => a.column - b.column);
  const lastColumn = format.width - 1;
  const names = columnNames(format);
  /** Whether a row in which each cell has its result differs from the source in these cells alone. */
  const isReplaced =
    isClear &&
    choice.rows === 'all' &&
    leaks === null &&
    cases === null &&
    !withError &&
    work.every(replacesCells);

  /** The columns of such a row are not known, so each field is taken by itself. Of a long row that may take several turns. */
  function* writeFlawed(chunk: Chunk, results: ChunkResults, index: number): Generator<void> {
    const { table } = chunk;
    if (!hidesFlawed) leaks?.copied(table.rowStart(index), table.rowEnd(index));
    let column = 0;
    function* hideUntil(end: number): Generator<void> {
      for (; hidesFlawed && column < Math.min(end, table.width(index)); column++) {
        hideField(table, index, column);
        yield;
      }
    }
    for (const one of mapped) {
      yield* hideUntil(one.column + 1);
      if (one.hasResult) output.insertAfter(one.column, '');
      if (one.hasMatch) output.insertAfter(one.column, '');
    }
    yield* hideUntil(format.width);
    if (isClear && cases === null) clearValues += mapped.filter(({ one }) => takesCleartext(one)).length;
    writeError(results, index, output.lost.length);
    yield* hideUntil(Infinity);
    output.end();
  }

  function hideField(table: Table, index: number, column: number): void {
    const length = table.fieldEnd(index, column) - table.fieldStart(index, column);
    const hidden = length > maxRead ? hiddenUnread : hideFlawed(table.value(index, column), flawedKinds);
    output.replace(column, hidden);
    leaks?.copiedField(cleartext(hidden), column);
  }

  /** Which cells of a failed row are left empty: not those that a mask stands in place of. */
  function lostOf(
    table: Table,
    index: number,
    isFlawed: boolean,
  ): { codes: FailureCode[]; reasons: string[] } {
    const isMasked = (column: number): boolean =>
      isFlawed
        ? hidesFlawed
        : mapped.some(
            (one) =>
              one.hidesInput && one.column === column && openCleartext(table.value(index, column)) !== '',
          );
    const columns = output.lost.filter((column) => !isMasked(column));
    return columns.length === 0
      ? { codes: [], reasons: [] }
      : { codes: ['value.unencodable'], reasons: [formatLostCells(columns)] };
  }

  /** A row may have several failed cells. */
  function errorOf({ start, table }: Chunk, results: ChunkResults, index: number): string[] {
    const row = String(start.row + index);
    const flaw = results.flaws[index];
    const { codes: lostCodes, reasons: lostReasons } = lostOf(table, index, flaw !== undefined);
    if (flaw !== undefined) {
      return [row, '', join([reasonOf(flaw), ...lostReasons]), join([flaw, ...lostCodes])];
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
      join([...failedCells.map(({ reason }) => reason), ...lostReasons]),
      join([...new Set([...failedCells.map(({ code }) => code), ...lostCodes])]),
    ];
  }

  /** The row's own code is said before one of the encoding. */
  function writeError(results: ChunkResults, index: number, lostCells: number): void {
    lost.cells += lostCells;
    if (lostCells > 0) lost.rows += 1;
    if (!withError) return;
    const code = codeOfRow(results, index) ?? (lostCells > 0 ? 'value.unencodable' : '');
    output.insertAfter(lastColumn, code);
  }

  /** What is left of a text beside its tokens goes out in clear. */
  function lookInside(
    one: ColumnWork,
    cells: ColumnResults | undefined,
    { chunk: { table }, index }: { chunk: Chunk; index: number },
  ): void {
    if (leaks === null || !isInside(one)) return;
    const { column, operation, into } = one.plan;
    const isOk = cells?.states[index] === rowStates.ok;
    const input = table.value(index, column);
    const look = (text: Cleartext): void => leaks.copiedField(withoutTokens(text, one.inside), column);
    const isTokenized = operation === 'tokenize';
    if (isOk && isTokenized) look(cells.values[index] ?? input);
    if (!(isOk && isTokenized && into === 'replace' && !failedOnly))
      look(isTokenized ? cleartext(hideCell(one, input)) : input);
  }

  const isLongRow = (table: Table, row: number): boolean =>
    isLongText(table.rowEnd(row) - table.rowStart(row));
  async function prepare(table: Table, row: number): Promise<void> {
    if (isLongRow(table, row)) await output.prepare?.(table, row);
  }

  async function writeHeader(above: Table, row: number): Promise<void> {
    await prepare(above, row);
    output.begin(above, row);
    leaks?.row(above, row, 0);
    leaks?.copied(above.rowStart(row), above.rowEnd(row));
    if (failedOnly) output.prepend(errorColumns);
    for (const { one, column, hasResult, hasMatch } of mapped) {
      const name = openCleartext(above.value(row, column));
      if (hasResult) output.insertAfter(column, `${name}_${suffixOf(one, choice)}`);
      if (hasMatch) output.insertAfter(column, `${name}_match`);
    }
    if (withError) output.insertAfter(lastColumn, 'error');
    output.end();
  }

  function writeNames(): void {
    const cells = names.flatMap((name, column) => [
      name,
      ...mapped
        .filter((one) => one.column === column)
        .flatMap(({ one, hasResult, hasMatch }) => [
          ...(hasResult ? [`${name}_${suffixOf(one, choice)}`] : []),
          ...(hasMatch ? [`${name}_match`] : []),
        ]),
    ]);
    output.line(withError ? [...cells, 'error'] : cells);
  }

  const rest = async (): Promise<void> => leaks?.rest();

  async function copyRow(table: Table, row: number, number: number): Promise<void> {
    await prepare(table, row);
    output.begin(table, row);
    leaks?.row(table, row, number);
    leaks?.copied(table.rowStart(row), table.rowEnd(row));
    output.end();
  }

  function writeRow(chunk: Chunk, results: ChunkResults, index: number): true | Promise<true> {
    const { table } = chunk;
    const state = results.states[index];
    const hasCells = table.has(index, 0);
    output.begin(table, index);
    leaks?.row(table, index, lastRow, chunk.typed.has(lastRow));
    if (failedOnly) output.prepend(errorOf(chunk, results, index));
    if (state === rowStates.failed && results.flaws[index] !== undefined) {
      const written = writeFlawed(chunk, results, index);
      if (hidesFlawed && isLongRow(table, index)) return madeInTurns(written).then(() => true);
      Array.from(written);
      return true;
    }
    // An empty line stays one.
    if (!hasCells || (format.width > 1 && table.isEmptyLine(index))) {
      leaks?.copied(table.rowStart(index), table.rowEnd(index));
      output.end();
      return true;
    }
    let lostResults = 0;
    const ofRow = caseColumn === undefined ? null : caseOfRow(table, index, caseColumn);
    const valuesBefore = clearValues;
    /** What lies behind is copied, or is a cell that was not looked at yet. */
    let looked = table.rowStart(index);
    for (const planned of table.inOrder(index, mapped)) {
      const { one, i, column, replaces, takesClear } = planned;
      // A value leaves under a case or not at all.
      const hidesInput = planned.hidesInput || (ofRow?.ok === false && takesClear);
      const cells = results.columns[i];
      const cellState = cells?.states[index];
      const answer = openCleartext(cells?.values[index] ?? '');
      if (leaks !== null && (hidesInput || !inputMayBeClear(cellState, answer))) {
        leaks.copied(looked, table.fieldStart(index, column));
        looked = table.fieldEnd(index, column);
        lookInside(one, cells, { chunk, index });
      }
      let result: string | null = null;
      if (cellState === rowStates.ok && !failedOnly) {
        if (canWriteResult(one, answer, { choice, output, column })) result = resultOf(one, answer, choice);
        else lostResults += 1;
      }
      if (isClear && (takesClear || planned.givesClear)) {
        const keepsInput = !hidesInput && takesClear && !(replaces && result !== null);
        const givesClear = planned.givesClear && (result ?? '') !== '';
        if (givesClear || (keepsInput && openCleartext(table.value(index, column)) !== ''))
          clearValues += cells?.sizes?.[index] ?? 1;
      }
      // A text without values goes out in its own bytes.
      const isSame = planned.isText && result === openCleartext(table.value(index, column));
      if (replaces && result !== null) {
        if (!isSame) output.replace(column, result);
      } else if (hidesInput) {
        const input = table.value(index, column);
        if (openCleartext(input) !== '') output.replace(column, hideCell(one, input));
      }
      if (planned.hasResult) output.insertAfter(column, result ?? '');
      if (planned.hasMatch) output.insertAfter(column, matchText(cellState));
    }
    if (ofRow?.ok === true && clearValues > valuesBefore)
      cases?.add(lastRow, ofRow.value, clearValues - valuesBefore);
    leaks?.copied(looked, table.rowEnd(index));
    writeError(results, index, lostResults + output.lost.length);
    output.end();
    return true;
  }

  return {
    async writeAbove(above) {
      const header = headerIndex(format);
      if (header === null && failedOnly) output.line([...errorColumns, ...names]);
      else if (!isDelimited(format) && !output.keepsDelimiter) writeNames();
      for (let row = 0; row < (above?.count ?? 0); row++) {
        if (above === null) break;
        if (row === header) await writeHeader(above, row);
        else if (choice.rows !== 'all') continue;
        else if (output.keepsDelimiter || row > 0 || !tellsDelimiter(above)) await copyRow(above, row, 0);
      }
      await rest();
    },
    async writeBelow(below) {
      if (choice.rows !== 'all') return;
      for (let row = 0; row < below.count; row++) await copyRow(below, row, lastRow + 1);
      await rest();
    },
    rest,
    write(chunk, results, index) {
      const { table } = chunk;
      const state = results.states[index];
      lastRow = chunk.start.row + index;
      if (failedOnly && state !== rowStates.failed) return false;
      if (choice.rows === 'matches' && state !== rowStates.ok) return false;
      if (shownRows !== null) {
        // Rows come in the order of the source.
        if (shownRows[nextShown] !== chunk.start.row + index) return false;
        nextShown += 1;
      }
      const hasCells = table.has(index, 0);
      // A record of another type has none that could stand in a table of another form.
      if (!hasCells && !output.keepsDelimiter) return false;
      if (output.prepare === undefined || !isLongRow(table, index)) return writeRow(chunk, results, index);
      return output.prepare(table, index).then(() => writeRow(chunk, results, index));
    },
    mayWriteAll: ({ places, states, columns }) =>
      isReplaced &&
      places !== undefined &&
      areAllOk(states) &&
      columns.every((cells) => cells.stored !== undefined && cells.states === states),
    writeAll({ end }, bytes, { places, states, columns }) {
      const values = mapped.flatMap(({ i }) => columns[i]?.stored ?? []);
      if (places === undefined || !output.splice(bytes, { places, values })) return false;
      clearValues += states.length * mapped.filter(({ givesClear }) => givesClear).length;
      lastRow = end.row - 1;
      return true;
    },
    lost,
    get clearValues() {
      return clearValues;
    },
    cases,
  };
}

const takesCleartext = ({ plan }: ColumnWork): boolean => plan.operation === 'tokenize';

/** Whether an export in clear may have values of it in clear: what came in, or what came back. */
export const mayBeClear = (one: ColumnWork): boolean =>
  takesCleartext(one) || yieldsCleartext(one.plan.operation);

/** Tells what the tokens of a job are: those the service gave, and those it took. */
export function createTokenRows(
  work: readonly ColumnWork[],
  leaks: Pick<LeakCheck, 'token'>,
): Pick<OutputRows, 'write' | 'rest'> {
  return {
    write({ table }, results, index) {
      work.forEach((one, i) => {
        const { plan } = one;
        const cells = results.columns[i];
        if (cells?.states[index] !== rowStates.ok) return;
        const tell = (cell: Cleartext): void =>
          (isInside(one) ? tokensIn(cell, one.inside) : [cell]).forEach((token) => leaks.token(token));
        if (plan.operation !== 'tokenize') tell(table.value(index, plan.column));
        const answer = cells.values[index];
        if (!yieldsMasks(plan.operation) && answer !== undefined) tell(answer);
      });
      return true;
    },
    rest: () => Promise.resolve(),
  };
}

/** A first line `sep=;`, which is two cells. */
const tellsDelimiter = (above: Table): boolean =>
  /^sep=.?$/i.test(above.fields(0).map(openCleartext).join(''));

export const columnNames = ({ names, width }: Pick<Format, 'names' | 'width'>): string[] =>
  Array.from({ length: width }, (_, column) => names?.[column] ?? `Column ${column + 1}`);

/** What stands first in the list of failed rows. */
export const errorColumns = ['source_row', 'column', 'reason', 'code'];

/**
 * Says in the list of failed rows which cells it left empty, by their columns in the source: once the list comes back, in
 * whatever encoding, only that tells them from cells that a person emptied.
 */
const formatLostCells = (columns: readonly number[]): string =>
  `${reasonOf('value.unencodable')} (source columns ${columns.map((column) => column + 1).join(', ')})`;

/** The columns of `formatLostCells`; null where the list no longer says which they are. */
export function readLostCells({ reason, code }: { reason: string; code: string }): number[] | null {
  const columns = /\(source columns ([0-9]+(?:, [0-9]+)*)\)/.exec(reason)?.[1];
  if (columns !== undefined) return columns.split(', ').map((column) => Number(column) - 1);
  return code === '' || code.includes('value.unencodable') ? null : [];
}

const join = (texts: readonly string[]): string => texts.join('; ');

const reasonOf = (code: FailureCode): string => rowReasons[code] ?? 'Failed';

const matchText = (state: string | undefined): string =>
  state === rowStates.ok || state === rowStates.matched ? 'yes' : state === rowStates.unmatched ? 'no' : '';

/** Codes of a value that the service looked at, or that can be no token. */
const refusedValues: readonly string[] = [
  'service.value-invalid',
  'service.value-too-long',
  'service.token-invalid',
  'service.invalid-input',
  'service.element-refused',
  'service.echoed-value',
] satisfies FailureCode[];

/**
 * Whether what came in as a token may be a value in clear. One that the service took, or did not find a match in, is a
 * token; so is one it was not asked about, as far as anybody knows: after an outage one in ten would look like a card.
 */
const inputMayBeClear = (state: string | undefined, code: string): boolean =>
  state !== rowStates.ok &&
  state !== rowStates.unmatched &&
  (state !== rowStates.failed || code.startsWith('value.') || refusedValues.includes(code));

/** What the name of a column with results ends with. */
function suffixOf({ plan }: ColumnWork, { content }: ExportContent): string {
  if (plan.operation === 'mask') return 'masked';
  return yieldsCleartext(plan.operation) ? content : 'token';
}

/** Whether the export's encoding has the characters of a result; what is masked is written in any. */
const canWriteResult = (
  { plan }: ColumnWork,
  result: string,
  { choice, output, column }: { choice: ExportContent; output: Pick<RowOutput, 'canHold'>; column: number },
): boolean =>
  plan.operation === 'mask' ||
  (yieldsCleartext(plan.operation) && choice.content !== 'cleartext') ||
  output.canHold(result, column);

/** Null where the export keeps what came in. A mask of the service's is all there is, whatever the export asks for. */
function resultOf({ plan, kind }: ColumnWork, result: string, choice: ExportContent): string | null {
  if (!yieldsMasks(plan.operation)) return result;
  if (choice.content === 'tokens') return null;
  if (plan.operation === 'mask') return maskAgain(result, kind).masked;
  return choice.content === 'masked' && result !== '' ? mask(kind, result) : result;
}

const showsResult = ({ plan }: ColumnWork, { content }: ExportContent): boolean =>
  content !== 'tokens' || !yieldsMasks(plan.operation);

/** Whether an export has columns that its source has not. */
export const addsColumns = (work: readonly ColumnWork[], choice: ExportContent): boolean =>
  work.some((one) => (one.plan.into === 'beside' && showsResult(one, choice)) || hasMatchColumn(one, choice));

const hasMatchColumn = ({ plan }: ColumnWork, { rows }: ExportContent): boolean =>
  plan.operation === 'match' && (rows === 'all' || rows === 'shown');
