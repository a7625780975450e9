import type { ResultRow } from '../../../../electron/contract/models/rows.ts';

export type ResultCell = ResultRow['cells'][number];

/** A row as far as it is here: a cell is null where the row has no such field, and undefined until it was fetched. */
export interface TableRow extends Pick<ResultRow, 'row' | 'state' | 'code'> {
  readonly cells: readonly (ResultCell | null | undefined)[];
}

/** A row that came whole. One that could not be sent may have fewer fields than there are columns, or more. */
export const allCells = ({ cells }: ResultRow, width: number): TableRow['cells'] =>
  cells.length >= width ? cells : Array.from({ length: width }, (_, column) => cells[column] ?? null);

/** A row that came with these columns only. */
export function cellsAt({ cells }: ResultRow, columns: readonly number[]): TableRow['cells'] {
  const placed: (ResultCell | null | undefined)[] = [];
  columns.forEach((column, at) => (placed[column] = cells[at] ?? null));
  return placed;
}

/** A row with the columns that came later. */
export function joinCells(row: TableRow, more: TableRow): TableRow {
  const cells = [...row.cells];
  more.cells.forEach((cell, column) => {
    if (cell !== undefined) cells[column] = cell;
  });
  return { ...more, cells };
}
