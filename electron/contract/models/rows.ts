import { z } from 'zod';
import { failureCodes } from '../errors.ts';
import { count, id } from './fields.ts';

/** `matched`: a cell that matches, and that the service gave no value for. */
export const cellState = z.enum(['kept', 'ok', 'failed', 'unmatched', 'matched', 'blank']);
export type CellState = z.infer<typeof cellState>;

/** One row as the window gets it: results masked, source columns as they are unless they hold cleartext. */
const resultRow = z.strictObject({
  /** Position in the source from 1, header not counted. */
  row: z.int().positive(),
  state: cellState,
  code: z.enum(failureCodes).nullable(),
  /** `code`: why this cell failed; `reason`: the same in the service's own words, masked. */
  cells: z.array(
    z.strictObject({
      text: z.string(),
      state: cellState,
      code: z.enum(failureCodes).optional(),
      /** The service's mask showed a whole number, and was masked again. */
      maskedAgain: z.boolean().optional(),
      reason: z.string().optional(),
    }),
  ),
});
export type ResultRow = z.infer<typeof resultRow>;

export const rowFilter = z.enum(['all', 'ok', 'failed', 'unmatched', 'blank']);
export type RowFilter = z.infer<typeof rowFilter>;

/** Counted as the window shows them: the source's, then the results beside theirs. */
export const someColumns = z
  .array(count)
  .min(1)
  .max(1_100)
  .refine((columns) => columns.every((column, at) => at === 0 || column > (columns[at - 1] ?? 0)), {
    error: 'columns ascend',
  });

/** A condition on one column, which is counted as the window shows them: the source's, then the results beside theirs. */
const rowCondition = z.strictObject({
  column: count,
  /**
   * The text of `brand` is the card scheme's name, of `length` a number of characters, of `failed` a code or empty for
   * any. A row that could not be sent has failed in every mapped column.
   */
  test: z.enum(['contains', 'equals', 'begins', 'ends', 'length', 'brand', 'failed']),
  text: z.string().max(200),
});
export type RowCondition = z.infer<typeof rowCondition>;

/** Which rows of a filter are shown, in which order. Both see what the window sees: masks, never what is behind them. */
export const rowsView = z.strictObject({
  /** A row has to meet all of them. */
  where: z.array(rowCondition).max(50),
  /** `column` null: by row. Numbers as numbers, other text by its first 32 bytes; equal ones as in the source. */
  sort: z.strictObject({ column: count.nullable(), descending: z.boolean() }).nullable(),
});
export type RowsView = z.infer<typeof rowsView>;

export const rowsQuery = z.strictObject({ jobId: id, filter: rowFilter, view: rowsView.optional() });
export type RowsQuery = z.infer<typeof rowsQuery>;

/**
 * Where the next cell with a text is, in the order of the view; `count` is of rows, `ordinal` from 1. `column` null: in a field
 * that its row has beyond the columns.
 */
export const foundCell = z.strictObject({
  count,
  ordinal: count,
  position: count,
  column: count.nullable(),
});
export type FoundCell = z.infer<typeof foundCell>;

/** What a column holds, told by masks and counts alone. */
export const columnProfile = z.strictObject({
  column: count,
  rows: count,
  /** Of what the source has in it; a lower bound where not exact. */
  distinct: count,
  distinctExact: z.boolean(),
  blank: count,
  failed: count,
  unmatched: count,
  /** The most frequent of each kind, each a condition that shows its rows. */
  bars: z
    .array(
      z.strictObject({
        test: z.enum(['brand', 'begins', 'ends', 'length']),
        text: z.string().max(200),
        count,
      }),
    )
    .max(40),
});
export type ColumnProfile = z.infer<typeof columnProfile>;

/** What a person changed of a table, remembered by the columns of the file. */
export const tableLayout = z.strictObject({
  widths: z.array(z.strictObject({ column: count, width: z.int().min(40).max(2_000) })).max(1_100),
  hidden: z.array(count).max(1_100),
});
export type TableLayout = z.infer<typeof tableLayout>;

export const rowsPage = z.strictObject({
  /** How many rows pass the filter at this moment. */
  total: count,
  from: count,
  rows: z.array(resultRow),
});
export type RowsPage = z.infer<typeof rowsPage>;
