import { z } from 'zod';
import { maxComparedFiles } from '../compared-limits.ts';
import { reading } from './batch.ts';
import { count, id } from './fields.ts';

/** One side of a comparison: a column of an open file, or the tokens of a mapped column of a finished batch. */
export const comparedSide = z.discriminatedUnion('of', [
  z.strictObject({ of: z.literal('file'), sourceId: id, reading: reading.partial(), column: count }),
  z.strictObject({ of: z.literal('batch'), jobId: id, column: count }),
]);
export type ComparedSide = z.infer<typeof comparedSide>;

const comparedFile = z.strictObject({
  /** As the window may see it. */
  name: z.string().max(300),
  /** rows = blank + left out + the rows of all groups. */
  rows: count,
  blank: count,
  /** Rows that can't be read, values that are no text, and rows of a batch without a token. */
  leftOut: count,
  /** Values that the file has more than once, and the rows that have them. */
  repeated: z.strictObject({ values: count, rows: count }),
});

export const comparison = z.strictObject({
  files: z.array(comparedFile).min(2).max(maxComparedFiles),
  groups: z
    .array(
      z.strictObject({
        /** Which files have these values, by their position. */
        files: z.array(count).min(1).max(maxComparedFiles),
        values: count,
        /** By file; 0 for one that has none of them. */
        rows: z.array(count).min(2).max(maxComparedFiles),
      }),
    )
    .max(255),
  /** Name of the file that was written. */
  written: z.string().max(300).nullable(),
});
export type Comparison = z.infer<typeof comparison>;

/** Rows of the comparison that was made last, file after file; null and false ask for all. */
export const comparedRowsQuery = z.strictObject({
  /** By its position in the comparison. */
  file: count.nullable(),
  group: count.nullable(),
  /** Those alone whose value their own file has more than once. */
  repeated: z.boolean(),
  from: count,
  count: z.int().min(1).max(500),
});
export type ComparedRowsQuery = z.infer<typeof comparedRowsQuery>;

export const comparedRows = z.strictObject({
  total: count,
  from: count,
  rows: z
    .array(
      z.strictObject({
        file: count,
        /** From 1, header not counted. */
        row: z.int().positive(),
        /** Files that have its value; none where it was not compared: blank, or left out. */
        inFiles: z.array(count).max(maxComparedFiles),
        repeated: z.boolean(),
      }),
    )
    .max(500),
});
export type ComparedRows = z.infer<typeof comparedRows>;
