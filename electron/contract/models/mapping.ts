import { z } from 'zod';
import { failureCodes } from '../errors.ts';
import { columnPlan, exportForm, notice, reading } from './batch.ts';
import { count, id, name } from './fields.ts';

/** A plan stored under a name; columns are found again by their header. */
export const mapping = z.strictObject({
  id,
  name,
  /** Of the file it was saved for, whole; absent where an earlier version saved it. */
  header: z.array(z.string().max(1_000)).max(1_000).optional(),
  /** Where it was saved; absent where an earlier version did. */
  origin: z.strictObject({ connectionId: id, environment: z.string().max(100) }).optional(),
  /** How its file was read: what is a guess in the next one is taken to be so again. */
  reading: reading.omit({ rowsBelow: true }).optional(),
  /** What the person knew of its file when they saved it, with its numbers. */
  notices: z
    .array(notice.pick({ kind: true, count: true }).extend({ column: z.string().max(1_000).nullable() }))
    .max(1_000)
    .optional(),
  /** Of a workbook, the sheet that it was saved for. */
  sheet: z.string().max(100).optional(),
  /** What the last of its files was like, counted before anything was sent: the next one is compared with it. */
  normal: z.strictObject({ name: z.string().max(300), rows: count, notValid: count }).optional(),
  /** How the last of its results was written by hand: the next one is offered so, and a command writes it so. */
  exported: exportForm
    .extend({
      /** For which reasons its values failed: another one is looked at by a person before a command writes its result. */
      failures: z.array(z.enum(failureCodes)).max(failureCodes.length).optional(),
      /** Main's own: from the window only one that main gave it is taken. */
      folder: z.string().max(4_096).optional(),
    })
    .optional(),
  /** The name of the column that has each row's case; absent where it has none. */
  caseColumn: z.string().max(1_000).optional(),
  columns: z.array(columnPlan.omit({ column: true }).extend({ header: z.string().max(1_000) })).max(20),
});
export type Mapping = z.infer<typeof mapping>;
