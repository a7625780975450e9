export interface Cell {
  row: number;
  column: number;
}

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
      return to(cell.row, cell.column + 1);
    case 'ArrowLeft':
      return to(cell.row, cell.column - 1);
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
