import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { RowsQuery } from '../../contract/models/rows.ts';
import { rowStates } from '../storing/results.ts';
import { createNumberList, inSlices, lookAtRows, type JobRows, type LookOptions } from './look-at-rows.ts';
import { answerOf, needsResults, sourceOf, type Needed } from './result-rows.ts';
import { compileConditions, findTest, type RowTest } from './row-conditions.ts';
import { createColumnSorter } from './row-order.ts';

/** Row numbers in the order they are shown. */
export interface RowList {
  readonly key: string;
  readonly version: object;
  readonly rows: Uint32Array;
  /** Chunks that were looked at. */
  readonly chunks: number;
}

/**
 * The rows that a filter and conditions leave, in an order. `known`: of a job that ran on, read on from there. Failures: those of
 * `loadNext`; service.cancelled.
 */
export async function buildList(
  rows: JobRows,
  { filter, view }: Pick<RowsQuery, 'filter' | 'view'>,
  { key, known, ...look }: Omit<LookOptions, keyof Needed> & { key: string; known: RowList | null },
): Promise<Outcome<RowList>> {
  const meets: RowTest = compileConditions(view?.where ?? [], rows.view);
  const sort = view?.sort ?? null;
  const sortColumn = sort?.column ?? null;
  const sorter = sortColumn === null ? null : createColumnSorter(rows.view, sortColumn);
  // Of all rows the number is told by the position.
  const hasAll = filter === 'all' && (view?.where.length ?? 0) === 0;
  const list = createNumberList(known?.rows);
  const seen = [...(view?.where ?? []), ...(sort === null ? [] : [{ column: sort.column ?? 0, test: null }])];
  const withResults =
    filter !== 'all' || seen.some(({ column, test }) => test === 'failed' || needsResults(rows.view, column));
  const columns = 1 + Math.max(-1, ...seen.map(({ column }) => sourceOf(rows.view, column)));
  const answers = seen.map(({ column }) => answerOf(rows.view, column)).filter((answer) => answer !== null);
  const needed = { withResults, columns, answers: answers.length === seen.length ? answers : undefined };
  const chunks = rows.entries.length;
  const { version } = rows;
  // Their numbers alone: nothing is read for them.
  if (filter === 'all' && seen.length === 0) {
    const numbers = await allNumbers(rows);
    return done({ key, version, rows: numbers, chunks });
  }
  const looked = await lookAtRows(
    rows,
    (loaded, index) => {
      if (filter !== 'all' && loaded.results.states[index] !== rowStates[filter]) return;
      if (!meets(loaded, index)) return;
      if (!hasAll) list.add(loaded.chunk.start.row + index);
      sorter?.add(loaded, index);
    },
    { ...look, ...needed, first: known?.chunks ?? 0 },
  );
  if (!looked.ok) return looked;
  const inSourceOrder = hasAll ? null : await list.values();
  const firstRow = rows.entries[0]?.start.row ?? 0;
  const order = await sorter?.order(sort?.descending ?? false, look.signal);
  if (order !== undefined) {
    await inSlices(order.length, (from, to) => {
      for (let at = from; at < to; at++) {
        const position = order[at] ?? 0;
        order[at] = inSourceOrder === null ? firstRow + position : (inSourceOrder[position] ?? 0);
      }
    });
  }
  if (look.signal.aborted) return failed('service.cancelled');
  look.report(1);
  return done({ key, version, rows: order ?? inSourceOrder ?? (await allNumbers(rows)), chunks });
}

async function allNumbers({ entries }: Pick<JobRows, 'entries'>): Promise<Uint32Array> {
  const first = entries[0]?.start.row ?? 0;
  const numbers = new Uint32Array((entries.at(-1)?.end.row ?? first) - first);
  await inSlices(numbers.length, (from, to) => {
    for (let at = from; at < to; at++) numbers[at] = first + at;
  });
  return numbers;
}

/** The positions in a list of the rows in which some cell contains a text. The same failures. */
export async function findAll(
  rows: JobRows,
  list: RowList,
  text: string,
  look: LookOptions,
): Promise<Outcome<RowList>> {
  const meets = findTest(rows.view, text);
  const hits = new Uint8Array(Math.ceil(((rows.entries.at(-1)?.end.row ?? 0) + 1) / 8));
  const looked = await lookAtRows(
    rows,
    (loaded, index) => {
      if (!meets(loaded, index)) return;
      const row = loaded.chunk.start.row + index;
      hits[row >> 3] = (hits[row >> 3] ?? 0) | (1 << (row & 7));
    },
    look,
  );
  if (!looked.ok) return looked;
  const positions = createNumberList();
  await inSlices(list.rows.length, (from, to) => {
    for (let position = from; position < to; position++) {
      const row = list.rows[position] ?? 0;
      if (((hits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0) positions.add(position);
    }
  });
  const rowsFound = await positions.values();
  if (look.signal.aborted) return failed('service.cancelled');
  look.report(1);
  return done({ key: text, version: list, rows: rowsFound, chunks: list.chunks });
}
