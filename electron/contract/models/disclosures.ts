import { z } from 'zod';
import { count } from './fields.ts';

/** What is counted by day of what left the main process in clear, or tells of it. */
const disclosureCounts = z.strictObject({
  reveals: count,
  /** Cleartext put on the clipboard. */
  copies: count,
  /** Rows of exports in cleartext. */
  exportedRows: count,
  /** Values that were asked about with a typed expression. */
  matchAnswers: count,
  /** Different typed expressions. */
  expressions: count,
  /** Values tokenized of a mask that many others of the day have: one of them may be a number seen masked. */
  guesses: count,
  /** Values moved from one connection to another: main holds them in clear in between. */
  moved: count,
});
export type DisclosureCounts = z.infer<typeof disclosureCounts>;
export type DisclosureKind = keyof DisclosureCounts;

/** Null is no limit. */
const disclosureLimits = z.record(disclosureCounts.keyof(), count.nullable());
export type DisclosureLimits = z.infer<typeof disclosureLimits>;

/** `day`: the local day as YYYY-MM-DD. */
export const disclosureFigures = disclosureCounts.extend({
  day: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  limits: disclosureLimits,
});
export type DisclosureFigures = z.infer<typeof disclosureFigures>;

/** What one act adds, as its line in the audit log says it: expressions by their fingerprints. */
export const counted = disclosureCounts
  .extend({ expressions: z.array(z.string().regex(/^[0-9a-f]{16}$/)) })
  .partial();
export type Counted = z.infer<typeof counted>;
