import { done, type Outcome } from '../../contract/errors.ts';
import type { ColumnPlan } from '../../contract/models/batch.ts';
import type { ResultRow, RowFilter, RowsPage } from '../../contract/models/rows.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import { givenBy } from '../../contract/operations.ts';
import { cleartext, noteCleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { freeMemory } from '../../util/free-memory.ts';
import { createTurn } from '../../util/turns.ts';
import { maskAgain, maskReason } from '../../masking/masking.ts';
import { hideFlawed } from '../reading/fit.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { Chunk } from '../reading/read-rows.ts';
import type { Table } from '../reading/table.ts';
import { asCode, codeOfRow, rowStates, stateOf, type ChunkResults } from '../storing/results.ts';
import type { ColumnWork, InsideWork } from '../planning/column-work.ts';
import { inputMask, showInput, showResult, type MaskedColumns } from '../planning/plan.ts';

export interface View {
  /** Columns of the source. */
  readonly width: number;
  readonly work: readonly ColumnWork[];
  /** Columns that hold cleartext. */
  readonly masked: MaskedColumns;
}

/** What a look needs of each chunk; the less, the faster. */
export interface Needed {
  /** Without them a chunk has its rows and their flaws only. */
  readonly withResults: boolean;
  /** As many of the source's first columns; all of them, if absent. */
  readonly columns?: number | undefined;
  /** All that is looked at where each row has these results: then the source is not read. Absent where it is needed anyway. */
  readonly answers?: readonly number[] | undefined;
}

/** Of a cell the window shows so much. */
export const maxLength = 500;
const maxCellsOfFlawedRow = 1_100;

type Cell = ResultRow['cells'][number];

/** One column as the window shows it: the source's, then the results that go beside theirs. */
export interface ShownColumn {
  readonly source: number;
  /** Of what the source has, all of it; null where a cell says itself what to hide. */
  readonly maskedAs: DefinitionKind | null;
  /** The result that tells that the source has a token: the service took it for one. */
  readonly tokenOf: number | null;
  /** The result that stands here; null where none does. */
  readonly work: {
    readonly index: number;
    readonly kind: DefinitionKind;
    readonly operation: ColumnPlan['operation'];
    readonly inside?: InsideWork | undefined;
  } | null;
  readonly inside?: InsideWork | undefined;
  /** Whether the source's value stands where there is no result. */
  readonly fallsBack: boolean;
}

const shownColumns = new WeakMap<View, readonly ShownColumn[]>();

export function columnsOf(view: View): readonly ShownColumn[] {
  const known = shownColumns.get(view);
  if (known !== undefined) return known;
  const columns = Array.from({ length: view.width }, (_, source): ShownColumn => {
    const maskedAs = view.masked.get(source) ?? null;
    return { source, maskedAs, tokenOf: null, work: null, fallsBack: true };
  });
  view.work.forEach((one, index) => {
    const { plan, kind, inside } = one;
    const { column: source, operation, into } = plan;
    const tokenOf = operation === 'tokenize' ? null : index;
    const shown = { source, maskedAs: inputMask(one, view.masked), tokenOf, inside };
    const work = { index, kind, operation, inside };
    columns[source] = { ...shown, work: into === 'replace' ? work : null, fallsBack: true };
    if (into === 'beside') columns.push({ ...shown, work, fallsBack: false });
  });
  shownColumns.set(view, columns);
  return columns;
}

/** Whether results stand in a column, or tell how the source's cells are shown. */
export function needsResults(view: View, column: number): boolean {
  const shown = columnsOf(view)[column];
  return shown !== undefined && (shown.work !== null || shown.tokenOf !== null);
}

/** The result that is all that a shown column shows where there is one; null where the source is needed too. */
export function answerOf(view: View, column: number): number | null {
  const work = columnsOf(view)[column]?.work ?? null;
  // Of texts the journal counts values, and not cells.
  return work === null || work.inside !== undefined ? null : work.index;
}

/** The column of the source that a shown column is of. */
export const sourceOf = (view: View, column: number): number => columnsOf(view)[column]?.source ?? column;

/** How many columns the window shows. */
export const countColumns = (view: View): number => columnsOf(view).length;

/** How many cells the window shows of a row: of one that could not be sent the fields it has. */
export const countCells = ({ chunk, results }: LoadedChunk, index: number, view: View): number =>
  results.flaws[index] === undefined
    ? countColumns(view)
    : Math.min(chunk.table.width(index), maxCellsOfFlawedRow);

/**
 * One cell for the window; cleartext is masked wherever it may be. Whoever filters, sorts, searches or counts rows for
 * the window does so by this text and nothing else: an answer that depends on what is behind a mask tells it, one
 * question at a time.
 */
export function showCell({ chunk, results }: LoadedChunk, index: number, view: View, column: number): Cell {
  const { table } = chunk;
  if (results.flaws[index] !== undefined) {
    const field = table.beginning(index, column);
    return { text: clip(showFlawed(field, view)), state: 'kept' };
  }
  const shown = columnsOf(view)[column];
  if (shown === undefined) return { text: '', state: 'kept' };
  const { maskedAs, tokenOf, work, fallsBack, inside } = shown;
  const answers = work === null ? undefined : results.columns[work.index];
  const letter = answers?.states[index];
  if (work !== null && letter === rowStates.ok) {
    const result = answers?.values[index];
    if (result === undefined) return { text: '', state: 'ok' };
    const isAgain = givenBy(work.operation) === 'mask' && maskAgain(result, work.kind).again;
    return { text: clip(showResult(result, work)), state: 'ok', ...(isAgain && { maskedAgain: true }) };
  }
  const field = table.beginning(index, shown.source);
  const tokenState = tokenOf === null ? undefined : results.columns[tokenOf]?.states[index];
  const isToken = tokenState === rowStates.ok || tokenState === rowStates.matched;
  const shownField = showInput(field, { maskedAs, isToken, inside });
  const text = fallsBack ? clip(shownField) : '';
  if (work === null) return { text, state: 'kept' };
  if (letter !== rowStates.failed) return { text, state: stateOf(letter) };
  const reason = answers?.reasons[index];
  return {
    text,
    state: 'failed',
    code: asCode(answers?.values[index] ?? ''),
    // The service may repeat the value.
    ...(reason !== undefined && {
      reason: clip(
        maskReason(reason, maskedAs === null ? '' : sentOf(table, index, shown.source), work.kind),
      ),
    }),
  };
}

const sentOf = (table: Table, row: number, column: number): string => openCleartext(table.value(row, column));

/** A text that is in a cell of the source, or may come there, as hidden as that cell. */
export function showAs(
  text: Cleartext,
  view: View,
  { column, isFlawed }: { column: number; isFlawed: boolean },
): string {
  if (isFlawed || column >= view.width) return clip(showFlawed(text, view));
  const maskedAs = columnsOf(view)[column]?.maskedAs ?? null;
  return clip(showInput(text, { maskedAs, isToken: false }));
}

const showFlawed = (field: Cleartext, { work, masked }: View): string =>
  hideFlawed(field, [...masked.values(), ...kindsSent(work)]);

/** One row for the window, all of it or some columns. A row that could not be sent has the fields it has. */
export function showRow(
  loaded: LoadedChunk,
  index: number,
  view: View,
  columns?: readonly number[],
): ResultRow {
  const { chunk, results } = loaded;
  const isFlawed = results.flaws[index] !== undefined;
  const length = countCells(loaded, index, view);
  const shown = columns?.filter((column) => column < length) ?? Array.from({ length }, (_, column) => column);
  for (const column of shown)
    noteCleartext(chunk.table.beginning(index, isFlawed ? column : sourceOf(view, column)));
  for (const { values } of results.columns) noteCleartext(values[index] ?? cleartext(''));
  return {
    row: chunk.start.row + index,
    state: stateOf(results.states[index]),
    code: codeOfRow(results, index),
    cells: shown.map((column) => showCell(loaded, index, view, column)),
  };
}

/** Of which kinds the values in clear are that a job sends. */
export const kindsSent = (work: readonly ColumnWork[]): DefinitionKind[] =>
  work.flatMap(({ plan, values }) => (plan.operation === 'tokenize' ? values.map(({ kind }) => kind) : []));

function clip(text: string): string {
  return (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text).toWellFormed();
}

/** How many rows of a chunk pass a filter; known from the journal alone. */
export const countRows = (filter: RowFilter, { counts }: Pick<JournalEntry, 'counts'>): number =>
  filter === 'all' ? counts.rows : counts[filter];

/** A chunk's rows with their results. */
export interface LoadedChunk {
  readonly chunk: Chunk;
  readonly results: ChunkResults;
}

export interface PageOptions {
  readonly entries: readonly JournalEntry[];
  readonly view: View;
  readonly load: (index: number, needed: Needed) => Promise<Outcome<LoadedChunk>>;
}

/** For a few rows of a chunk: their fields are found one row after the other, when they are asked for. */
export const fewRows: Needed = { withResults: true, columns: 0 };

/** Once its rows are shown. V8 looks at all that the app has where it is to find such memory itself. */
export function freeChunk({ chunk, results }: LoadedChunk): void {
  chunk.table.free();
  if (results.memory !== undefined) freeMemory(results.memory);
}

/** Loads only the chunks that have rows of the page. Failures: those of `load`. */
export async function pageOf(
  {
    filter,
    from,
    count,
    columns,
  }: { filter: RowFilter; from: number; count: number; columns?: readonly number[] | undefined },
  { entries, view, load }: PageOptions,
): Promise<Outcome<RowsPage>> {
  const total = entries.reduce((sum, entry) => sum + countRows(filter, entry), 0);
  const rows: ResultRow[] = [];
  const turn = createTurn();
  let before = 0;
  for (const [index, entry] of entries.entries()) {
    const here = countRows(filter, entry);
    if (before + here > from && rows.length < count) {
      const loaded = await load(index, fewRows);
      if (!loaded.ok) return loaded;
      const { results } = loaded.value;
      let position = before;
      for (let i = 0; i < results.states.length && rows.length < count; i++) {
        if (filter !== 'all' && results.states[i] !== rowStates[filter]) continue;
        if (position >= from) {
          // A row may have a thousand cells.
          if (turn.isOver()) await turn.next();
          rows.push(showRow(loaded.value, i, view, columns));
        }
        position += 1;
      }
      freeChunk(loaded.value);
    }
    before += here;
    if (rows.length >= count) break;
  }
  return done({ total, from, rows });
}
