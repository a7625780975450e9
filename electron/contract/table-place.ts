import type { TablePlace } from './models/batch.ts';

/*
 * Where a table is in its file. Rows are counted from 1, and those of the table from its own first one.
 */

/** Rows of the file above the first one of data, the header's among them. */
export const rowsAbove = ({ header, headerRow = 1, firstRow = 1 }: TablePlace): number =>
  Math.max(firstRow, header ? headerRow + 1 : 1) - 1;

/** The header's row among those above, from 0; null where there is none. */
export const headerIndex = ({ header, headerRow = 1 }: TablePlace): number | null =>
  header ? headerRow - 1 : null;

/** Of what a person chose or a reading says, without what is so in any other file: two that mean the same are the same. */
export function placeOf({ rowsBelow = 0, ...place }: TablePlace): TablePlace {
  const { header, headerRow = 1, firstRow = 1 } = place;
  const above = rowsAbove({ header, headerRow, firstRow });
  return {
    header,
    ...(header && headerRow > 1 && { headerRow }),
    ...(above !== (header ? headerRow : 0) && { firstRow: above + 1 }),
    ...(rowsBelow > 0 && { rowsBelow }),
  };
}
