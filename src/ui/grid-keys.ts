export interface Cell {
  row: number;
  /** In what a page has: a column's `id`, which stays the same when columns are hidden. In a move: its position. */
  column: number;
}

/** The rectangle between two cells, both included. */
export interface CellRange {
  firstRow: number;
  lastRow: number;
  firstColumn: number;
  lastColumn: number;
}

export const rangeOf = (one: Cell, other: Cell): CellRange => ({
  firstRow: Math.min(one.row, other.row),
  lastRow: Math.max(one.row, other.row),
  firstColumn: Math.min(one.column, other.column),
  lastColumn: Math.max(one.column, other.column),
});

export const isInRange = (range: CellRange, row: number, column: number): boolean =>
  row >= range.firstRow && row <= range.lastRow && column >= range.firstColumn && column <= range.lastColumn;

export interface GridExtent {
  rows: number;
  columns: number;
  /** Rows that fit on the screen. */
  screen: number;
}

/** The cell that a key moves to; null for a key that moves nothing. */
export function moveCell(
  cell: Cell,
  key: string,
  control: boolean,
  { rows, columns, screen }: GridExtent,
): Cell | null {
  const lastRow = Math.max(0, rows - 1);
  const lastColumn = Math.max(0, columns - 1);
  const to = (row: number, column: number): Cell => ({
    row: Math.min(Math.max(0, row), lastRow),
    column: Math.min(Math.max(0, column), lastColumn),
  });
  switch (key) {
    case 'ArrowDown':
      return to(control ? lastRow : cell.row + 1, cell.column);
    case 'ArrowUp':
      return to(control ? 0 : cell.row - 1, cell.column);
    case 'ArrowRight':
      return to(cell.row, control ? lastColumn : cell.column + 1);
    case 'ArrowLeft':
      return to(cell.row, control ? 0 : cell.column - 1);
    case 'PageDown':
      return to(cell.row + screen, cell.column);
    case 'PageUp':
      return to(cell.row - screen, cell.column);
    case 'Home':
      return to(control ? 0 : cell.row, 0);
    case 'End':
      return to(control ? lastRow : cell.row, lastColumn);
    default:
      return null;
  }
}
