import { done, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { CellState, ResultRow, RowFilter, RowsPage } from '../../contract/models/batch.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import { mask } from '../../privacy/masking.ts';
import { looksLike } from '../reading/fit.ts';
import type { Entry } from '../storing/journal.ts';
import type { Chunk } from '../reading/read-rows.ts';
import { codeOfRow, stateNames, type ChunkResults, type State } from '../storing/results.ts';
import { yieldsCleartext, type ColumnWork } from '../planning/plan.ts';

export interface View {
  /** Columns of the source. */
  readonly width: number;
  readonly work: readonly ColumnWork[];
  /** Unmapped columns that hold cleartext. */
  readonly masked: ReadonlyMap<number, DefinitionKind>;
}

const longest = 500;

/**
 * One row for the window: the source's columns, then the results that go beside theirs. Cleartext is masked wherever
 * it may be.
 */
export function showRow(chunk: Chunk, results: ChunkResults, index: number, view: View): ResultRow {
  const row = chunk.rows[index] ?? [];
  const shown = {
    row: chunk.start.row + index,
    state: stateNames[(results.states[index] ?? 'k') as State],
    code: codeOfRow(results, index),
  };
  if (results.flaws[index] !== undefined) {
    const text = (field: string): string => clip(hasHidden(view) ? hideAnywhere(field) : field);
    return { ...shown, cells: row.slice(0, 1_100).map((field) => ({ text: text(field), state: 'kept' })) };
  }
  const cells = Array.from({ length: view.width }, (_, column): { text: string; state: CellState } => {
    const field = row[column] ?? '';
    const kind = view.masked.get(column);
    return { text: clip(kind === undefined || field === '' ? field : mask(kind, field)), state: 'kept' };
  });
  view.work.forEach(({ plan, kind }, i) => {
    const column = results.columns[i];
    const input = row[plan.column] ?? '';
    const state = (column?.states[index] ?? 'k') as State;
    const result = state === 'o' ? (column?.values[index] ?? '') : null;
    const before = plan.operation === 'tokenize' && input !== '' ? mask(kind, input) : input;
    const after =
      result !== null && result !== '' && yieldsCleartext(plan.operation) ? mask(kind, result) : result;
    if (plan.into === 'replace') {
      cells[plan.column] = { text: clip(after ?? before), state: stateNames[state] };
    } else {
      cells[plan.column] = { text: clip(before), state: 'kept' };
      cells.push({ text: clip(after ?? ''), state: stateNames[state] });
    }
  });
  return { ...shown, cells };
}

/** Whether the source itself holds cleartext that is hidden. */
export const hasHidden = ({ work, masked }: Pick<View, 'work' | 'masked'>): boolean =>
  masked.size > 0 || work.some(({ plan }) => plan.operation === 'tokenize');

/** A malformed row's columns can't be told apart, so each field is masked by what it looks like. */
export function hideAnywhere(field: string): string {
  const like = looksLike([field]);
  if (like !== null && like !== 'text') return mask(like, field);
  return /\d{9}|\d[\d -]{10,}\d|@/.test(field) ? mask('text', field) : field;
}

function clip(text: string): string {
  return (text.length > longest ? `${text.slice(0, longest)}…` : text).toWellFormed();
}

const letters = { ok: 'o', failed: 'f', unmatched: 'u', blank: 'b' } as const;

/** How many rows of a chunk a filter keeps; known from the journal alone. */
export const keptBy = (filter: RowFilter, { counts }: Pick<Entry, 'counts'>): number =>
  filter === 'all' ? counts.rows : counts[filter];

/** Any page of any filter in the time of the few chunks it touches. */
export async function pageOf(
  entries: readonly Entry[],
  query: { filter: RowFilter; from: number; count: number },
  view: View,
  load: (index: number) => Promise<Outcome<{ chunk: Chunk; results: ChunkResults }>>,
): Promise<Outcome<RowsPage>> {
  const { filter, from, count } = query;
  const total = entries.reduce((sum, entry) => sum + keptBy(filter, entry), 0);
  const rows: ResultRow[] = [];
  let before = 0;
  for (const [index, entry] of entries.entries()) {
    const here = keptBy(filter, entry);
    if (before + here > from && rows.length < count) {
      const loaded = await load(index);
      if (!loaded.ok) return loaded;
      const { chunk, results } = loaded.value;
      let nth = before;
      for (let i = 0; i < results.states.length && rows.length < count; i++) {
        if (filter !== 'all' && results.states[i] !== letters[filter]) continue;
        if (nth >= from) rows.push(showRow(chunk, results, i, view));
        nth += 1;
      }
    }
    before += here;
    if (rows.length >= count) break;
  }
  return done({ total, from, rows });
}

/** Failed rows by reason, the most frequent first; from the journal alone. */
export function groupFailures(
  entries: readonly Entry[],
): { code: FailureCode; count: number; firstRow: number }[] {
  const groups = new Map<FailureCode, { code: FailureCode; count: number; firstRow: number }>();
  for (const { start, counts } of entries) {
    for (const [code, [count, first]] of Object.entries(counts.codes) as [FailureCode, [number, number]][]) {
      const group = groups.get(code);
      if (group === undefined) groups.set(code, { code, count, firstRow: start.row + first });
      else group.count += count;
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || a.firstRow - b.firstRow);
}
