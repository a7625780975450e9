import { z } from 'zod';
import { failureSchema } from '../errors.ts';
import { columnPlan, reading } from './batch.ts';
import { count, id } from './fields.ts';

/** An open file as the window reads it, with what is planned of it; or files or a folder that are chosen now. */
export const inventorySource = z.discriminatedUnion('of', [
  z.strictObject({
    of: z.literal('source'),
    sourceId: id,
    reading: reading.partial(),
    plan: z.array(columnPlan).max(20),
  }),
  z.strictObject({ of: z.literal('files') }),
  z.strictObject({ of: z.literal('folder') }),
  /** The files of a draft of a queue. */
  z.strictObject({ of: z.literal('queue'), queueId: id }),
]);

/** Dropped at once: files, and folders, at which the person is asked. */
export const droppedForInventory = z.strictObject({
  references: z.array(z.string().max(4_096)).min(1).max(1_000),
});

const foundValues = z.strictObject({
  /** Cells that are one such value, with nothing but signs beside it. */
  are: count,
  /** Cells that hold one within more. */
  contain: count,
  /** Numbers of the first rows with one, as the file counts them below its header. */
  first: z.array(count).max(5),
});
export type FoundValues = z.infer<typeof foundValues>;

const ofKinds = z.strictObject({
  card: foundValues,
  ssn: foundValues,
  iban: foundValues,
  email: foundValues,
});

const inventoryColumn = z.strictObject({
  /** From 0. */
  index: count,
  name: z.string().max(1_000),
  blank: count,
  /** Cells of a column that is taken for tokens, by its name, its values or what the app exported, and hold nothing of the kinds. */
  tokens: count,
  found: ofKinds,
  /** Cells whose value would be sent by the plan; null where it has no operation for the column. */
  leaves: count.nullable(),
});
export type InventoryColumn = z.infer<typeof inventoryColumn>;

const inventoryFile = z.strictObject({
  /** As the window may see it, below the folder that was chosen. */
  name: z.string().max(1_000),
  sheet: z.string().max(300).nullable(),
  /** Why it could not be read to its end: then the counts are of what was read. */
  failure: failureSchema.nullable(),
  /** The asked reading divides what is hidden: it was counted as main reads it, and without what was planned. */
  ownReading: z.boolean(),
  /** Of the table. Each column has a cell of every row that is not left out. */
  rows: count,
  /** Rows that can't be taken apart. */
  leftOut: count,
  columns: z.array(inventoryColumn).max(1_000),
  /**
   * What is in no column: lines above and below the table, rows that are left out, records of other types, and what stands
   * between fields. Lines, not cells; `first` is empty for them, since they have no number as rows.
   */
  outside: z.strictObject({ lines: count, found: ofKinds }),
});
export type InventoryFile = z.infer<typeof inventoryFile>;

export const inventory = z.strictObject({
  files: z.array(inventoryFile).max(10_000),
  /** Files of the folder that are beyond the limit. */
  more: count,
});
export type Inventory = z.infer<typeof inventory>;

export const inventoryForm = z.enum(['csv', 'html']);
