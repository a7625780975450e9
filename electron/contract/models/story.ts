import { z } from 'zod';
import { failureCodes } from '../errors.ts';
import { columnOperationNames } from '../operations.ts';
import { auditEntry } from './activity.ts';
import { caseReference, count, id, instant } from './fields.ts';

/** Of which token a story is: main has it, the window names where it stands. */
export const storyQuery = z.strictObject({
  of: z.discriminatedUnion('in', [
    z.strictObject({ in: z.literal('lookup'), lookupId: id }),
    /** `column`: as the window counts them. */
    z.strictObject({ in: z.literal('batch'), jobId: id, row: z.int().positive(), column: count }),
  ]),
  /** For which case it is looked at. */
  caseReference,
});
export type StoryQuery = z.infer<typeof storyQuery>;

/** What one column of a batch did with the token. */
const storyColumn = z.strictObject({
  /** As the window may see it. */
  name: z.string().max(300),
  operation: z.enum(columnOperationNames),
  policy: z.string(),
  definition: z.string(),
  rows: count,
  /** The first ones. */
  first: z.array(count).max(10),
});

export const storyEntry = z.discriminatedUnion('kind', [
  /** A line of the log: an act on the token, or an export of a batch that has it. */
  z.strictObject({ kind: z.literal('act'), at: instant, entry: auditEntry }),
  z.strictObject({
    kind: z.literal('batch'),
    at: instant,
    jobId: id,
    name: z.string().max(300),
    actor: z.string(),
    connection: z.string(),
    environment: z.string(),
    /** False where its results were removed. */
    isKept: z.boolean(),
    columns: z.array(storyColumn).max(20),
  }),
]);
export type StoryEntry = z.infer<typeof storyEntry>;

export const story = z.strictObject({
  /** The newest first. */
  entries: z.array(storyEntry).max(2_100),
  /** There are more lines than are listed. */
  isCut: z.boolean(),
  /** What was done before may not be in it. */
  since: instant,
  /** Batches that may have the token, and why they could not be looked through. */
  uncovered: z
    .array(
      z.strictObject({
        jobId: id,
        name: z.string().max(300),
        startedAt: instant,
        code: z.enum(failureCodes),
      }),
    )
    .max(100),
});
export type Story = z.infer<typeof story>;
