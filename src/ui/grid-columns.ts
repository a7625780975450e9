/** A column of a DataGrid, in the order it is shown. */
export interface GridColumn {
  /** Which of the page's columns it is; the row's head is `rowHead`. */
  id: number;
  name: string;
  width: number;
  /** Stays in view while the others scroll. Such columns come first. */
  frozen?: boolean;
  /** Numbers, which are set at the end. */
  end?: boolean;
  /** Marks columns of results. */
  tint?: boolean;
  /** A second line of the tooltip. */
  note?: string;
}

export const rowHead = -1;
export const minWidth = 64;
export const maxWidth = 320;
export const minDraggedWidth = 40;
export const maxDraggedWidth = 2_000;

const cellPadding = 17;
/** Of the monospaced face at 12 px. */
const characterWidth = 7.25;
const headCharacterWidth = 6.8;
const headExtra = 18;
/** A long name is shortened in the middle: it is not what makes a column wide. */
const maxHeadWidth = 184;

/** Wide enough for nine tenths of the texts that are not empty; all of them for `share` 1. */
export function fitWidth(name: string, texts: readonly string[], share = 0.9): number {
  const lengths = texts.flatMap(({ length }) => (length === 0 ? [] : [length])).sort((a, b) => a - b);
  const length = lengths[Math.max(0, Math.ceil(lengths.length * share) - 1)] ?? 0;
  const head = Math.min(maxHeadWidth, name.length * headCharacterWidth + headExtra);
  const content = length * characterWidth;
  return Math.round(Math.min(maxWidth, Math.max(minWidth, Math.max(head, content) + cellPadding)));
}

/** Whether all texts that are not empty are numbers, one of them at least with cents: these are set at the end. */
export const areAmounts = (texts: readonly string[]): boolean =>
  texts.some((text) => /\d[.,]\d\d$/.test(text)) &&
  texts.every((text) => /^([-+]?\d[\d.,’' ]*)?$/.test(text));

/** A name in two parts, of which the second is never cut: names of a file often differ in their ends only. */
export function splitName(name: string): [start: string, end: string] {
  const tail = name.length > 14 ? 6 : 0;
  return [name.slice(0, name.length - tail), name.slice(name.length - tail)];
}

/** How many columns from the first on may stay in view without leaving the others too little room. */
export function countFrozen(columns: readonly GridColumn[], view: number): number {
  let width = 0;
  let count = 0;
  for (const column of columns) {
    width += column.width;
    if (column.frozen !== true || (count > 0 && width > view * 0.6)) break;
    count += 1;
  }
  return count;
}

/** Where each column begins, and at the end where the last one ends. */
export function positionsOf(columns: readonly Pick<GridColumn, 'width'>[]): number[] {
  const positions = [0];
  for (const { width } of columns) positions.push((positions.at(-1) ?? 0) + width);
  return positions;
}

/** The first and the last column that are in view, and one more on each side. */
export function columnsInView(
  positions: readonly number[],
  left: number,
  width: number,
): { first: number; last: number } {
  const count = positions.length - 1;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((positions[middle] ?? 0) <= left) low = middle;
    else high = middle - 1;
  }
  let last = low;
  while (last < count - 1 && (positions[last + 1] ?? 0) < left + width) last += 1;
  return { first: Math.max(0, low - 1), last: Math.min(count - 1, last + 1) };
}

/** The smallest move that brings a column wholly into view. */
export function scrollShowing(
  positions: readonly number[],
  column: number,
  left: number,
  width: number,
): number {
  const start = positions[column] ?? 0;
  const end = positions[column + 1] ?? start;
  if (start < left || end - start > width) return start;
  return end > left + width ? end - width : left;
}
