import { z } from 'zod';
import { areColumns, maxRecordBytes, maxRecordColumns } from '../record-columns.ts';

/**
 * A column of records of fixed width: bytes that are the same in each record, counted from 1; in UTF-16 its units. What
 * fills the field up is no part of its value.
 */
const recordColumn = z.strictObject({
  name: z.string().min(1).max(100),
  start: z.int().min(1).max(maxRecordBytes),
  width: z.int().min(1).max(maxRecordBytes),
  /**
   * Where a value stands that is shorter, and what fills the field up: blanks behind it, blanks before it, or zeros before
   * it. Absent: as the field itself has it.
   */
  fill: z.enum(['left', 'right', 'zeros']).optional(),
  /** A packed or binary number, or one with its sign in the last digit: no text, and never changed. */
  packed: z.literal(true).optional(),
});
export type RecordColumn = z.infer<typeof recordColumn>;

/** How records of fixed width are taken apart. Columns in their order, none over another; what is between them stays. */
export const recordLayout = z
  .strictObject({
    /** Whether each line is a record; otherwise one follows the other. */
    lines: z.boolean(),
    /** What every record has; absent: lines may be shorter, where what fills them up was cut off. */
    bytes: z.int().min(1).max(maxRecordBytes).optional(),
    /** Only records with one of these texts there are rows; the others go out as they are and are never sent. */
    only: z
      .strictObject({
        start: z.int().min(1).max(maxRecordBytes),
        texts: z.array(z.string().min(1).max(40)).min(1).max(20),
      })
      .optional(),
    columns: z.array(recordColumn).min(1).max(maxRecordColumns),
  })
  .refine((layout) => areColumns(layout), 'columns stand in their order within the record');
export type RecordLayout = z.infer<typeof recordLayout>;
