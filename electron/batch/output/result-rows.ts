import { done, type Outcome } from '../../contract/errors.ts';
import type { CellState, ResultRow, RowFilter, RowsPage } from '../../contract/models/batch.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import { mask } from '../../privacy/masking.ts';
import { hideAnywhere } from '../reading/fit.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { Chunk } from '../reading/read-rows.ts';
import { codeOfRow, rowStates, stateOf, type ChunkResults } from '../storing/results.ts';
import { yieldsCleartext, type ColumnWork } from '../planning/plan.ts';

export interface View {
  /** Columns of the source. */
  readonly width: number;
  readonly work: readonly ColumnWork[];
  /** Unmapped columns that hold cleartext. */
  readonly masked: ReadonlyMap<number, DefinitionKind>;
}

const maxLength = 500;
const maxCellsOfFlawedRow = 1_100;

/**
 * One row for the window: the source's columns, then the results that go beside theirs. Cleartext is masked wherever
 * it may be.
 */
export function showRow(chunk: Chunk, results: ChunkResults, index: number, view: View): ResultRow {
  const row = chunk.table.fields(index);
  const shown = {
    row: chunk.start.row + index,
    state: stateOf(results.states[index]),
    code: codeOfRow(results, index),
  };
  if (results.flaws[index] !== undefined) {
    const text = (field: string): string => clip(hasHidden(view) ? hideAnywhere(field) : field);
    return {
      ...shown,
      cells: row.slice(0, maxCellsOfFlawedRow).map((field) => ({ text: text(field), state: 'kept' })),
    };
  }
  const cells = Array.from({ length: view.width }, (_, column): { text: string; state: CellState } => {
    const field = row[column] ?? '';
    const kind = view.masked.get(column);
    return { text: clip(kind === undefined || field === '' ? field : mask(kind, field)), state: 'kept' };
  });
  view.work.forEach(({ plan, kind }, i) => {
    const column = results.columns[i];
    const input = row[plan.column] ?? '';
    const letter = column?.states[index];
    const state = stateOf(letter);
    const result = letter === rowStates.ok ? (column?.values[index] ?? '') : null;
    const shownInput = plan.operation === 'tokenize' && input !== '' ? mask(kind, input) : input;
    const shownResult =
      result !== null && result !== '' && yieldsCleartext(plan.operation) ? mask(kind, result) : result;
    if (plan.into === 'replace') {
      cells[plan.column] = { text: clip(shownResult ?? shownInput), state };
    } else {
      cells[plan.column] = { text: clip(shownInput), state: 'kept' };
      cells.push({ text: clip(shownResult ?? ''), state });
    }
  });
  return { ...shown, cells };
}

/** Whether the source itself holds cleartext that is hidden. */
export const hasHidden = ({ work, masked }: Pick<View, 'work' | 'masked'>): boolean =>
  masked.size > 0 || work.some(({ plan }) => plan.operation === 'tokenize');

function clip(text: string): string {
  return (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text).toWellFormed();
}

/** How many rows of a chunk pass a filter; known from the journal alone. */
const countRows = (filter: RowFilter, { counts }: Pick<JournalEntry, 'counts'>): number =>
  filter === 'all' ? counts.rows : counts[filter];

/** A chunk's rows with their results. */
export interface LoadedChunk {
  readonly chunk: Chunk;
  readonly results: ChunkResults;
}

export interface PageOptions {
  readonly entries: readonly JournalEntry[];
  readonly view: View;
  readonly load: (index: number) => Promise<Outcome<LoadedChunk>>;
}

/** Loads only the chunks that have rows of the page. Failures: those of `load`. */
export async function pageOf(
  { filter, from, count }: { filter: RowFilter; from: number; count: number },
  { entries, view, load }: PageOptions,
): Promise<Outcome<RowsPage>> {
  const total = entries.reduce((sum, entry) => sum + countRows(filter, entry), 0);
  const rows: ResultRow[] = [];
  let before = 0;
  for (const [index, entry] of entries.entries()) {
    const here = countRows(filter, entry);
    if (before + here > from && rows.length < count) {
      const loaded = await load(index);
      if (!loaded.ok) return loaded;
      const { chunk, results } = loaded.value;
      let position = before;
      for (let i = 0; i < results.states.length && rows.length < count; i++) {
        if (filter !== 'all' && results.states[i] !== rowStates[filter]) continue;
        if (position >= from) rows.push(showRow(chunk, results, i, view));
        position += 1;
      }
    }
    before += here;
    if (rows.length >= count) break;
  }
  return done({ total, from, rows });
}
