import { z } from 'zod';
import { loggedApproval } from './approval.ts';
import { counted } from './disclosures.ts';
import { count, instant } from './fields.ts';

/** What an export's file holds, in the words of the choice. A later version may have other words. */
const exportFacts = z.strictObject({
  content: z.string(),
  rows: z.string(),
  /** `workbook`, or how the CSV was written. */
  format: z.string(),
  encrypted: z.boolean(),
});

/** Under which cases the rows of a file in clear are, where each row has its own. */
export const writtenCases = z.strictObject({
  /** How many different ones. */
  count,
  /** There are more: so many are told apart. */
  atLeast: z.literal(true).optional(),
  /** Rows that have values in clear. */
  rows: count,
  /** SHA-256, hex, of which row is under which case: see `createWrittenCases`. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type WrittenCases = z.infer<typeof writtenCases>;

/** One line of the audit log as the page lists it. It holds no value of the service (PCI DSS 10.2.2's fields, and ours). */
export const auditEntry = z.strictObject({
  sequence: count,
  at: instant,
  /** The operating system's user. */
  actor: z.string(),
  /** A service operation, or an act of the app: Reveal, Copy, Export, Lock, Unlock, StoreSecret … */
  action: z.string(),
  /** `begun` is written before, `ok` and `failed` after; `of` ties the two. */
  phase: z.enum(['begun', 'ok', 'failed']),
  of: count.nullable(),
  connection: z.string().nullable(),
  environment: z.string().nullable(),
  policy: z.string().nullable(),
  definition: z.string().nullable(),
  reason: z.string().nullable(),
  caseReference: z.string().nullable(),
  rows: count.nullable(),
  job: z.string().nullable(),
  requestId: z.string().nullable(),
  code: z.string().nullable(),
  /** Said to a person. Nothing reads it: what is counted or decided by has a member below, absent where it does not apply. */
  note: z.string().nullable(),
  /**
   * Whether the act gives a value in clear, or an answer that tells of one, to a person or into a file. Of one that failed:
   * whether it was to.
   */
  cleartext: z.boolean().optional(),
  /** Of an act that gives cleartext: how many values, at most where it has no end. Lines of earlier versions lack it. */
  values: count.optional(),
  /** The operation whose request this act's line stands for as well. */
  operation: z.string().optional(),
  /** False where the request never left. */
  sent: z.boolean().optional(),
  /** Values of the request that were refused one by one, by failure code. */
  refused: z.record(z.string(), count).optional(),
  export: exportFacts.optional(),
  /** What the act adds to the counts of the day; in the line of its end, what is left of it. */
  counted: counted.optional(),
  /** Of a request to tokenize: the most values of one mask, of its definition, that were tokenized this day. */
  alike: count.optional(),
  /** Of an export of masks or tokens: card numbers, and values that were sent, that stay in clear in its other cells. */
  remaining: z.strictObject({ cards: count, values: count }).optional(),
  /** Of an act on rows that each have their own case: the position of their column, from 1. */
  caseColumn: count.optional(),
  cases: writtenCases.optional(),
  /** Of an act that a second person approved, and of asking for it and answering. */
  approval: loggedApproval.optional(),
  /** Keyed hashes of the tokens that the act was about, where it was about one value: see `TokenHashes`. Not listed. */
  tokens: z
    .array(z.string().regex(/^[0-9a-f]{32}$/))
    .max(2)
    .optional(),
});
export type AuditEntry = z.infer<typeof auditEntry>;

/**
 * `cleartext`: whatever shows a value to a person or writes a file (Reveal, Copy, Match, Export, Evidence …).
 * `changes`: connections, secrets, settings, the lock. `requests`: everything sent to the service or its portal.
 */
const activityKind = z.enum(['cleartext', 'changes', 'requests']);
export type ActivityKind = z.infer<typeof activityKind>;

export const activityQuery = z.strictObject({
  /** Entries older than this sequence; null starts at the newest. */
  before: count.nullable(),
  limit: z.int().min(1).max(500),
  caseReference: z.string().max(100).nullable(),
  kind: activityKind.optional(),
  outcome: z.enum(['ok', 'failed']).optional(),
  actor: z.string().max(200).optional(),
  /** From this instant on, and before the other. */
  from: instant.optional(),
  to: instant.optional(),
  /** Searched in all texts of an entry, upper and lower case alike. */
  text: z.string().max(100).optional(),
  job: z.string().max(200).optional(),
  /** Lists the requests of a batch as its latest one; `batches` counts them. */
  foldBatches: z.boolean().optional(),
});
export type ActivityQuery = z.infer<typeof activityQuery>;

const batchRequests = z.strictObject({
  /** Of the listed entry that stands for them. */
  sequence: count,
  /** Of this page. */
  requests: count,
  failed: count,
  rows: count,
});
export type BatchRequests = z.infer<typeof batchRequests>;

export const auditPage = z.strictObject({
  /** Newest first. */
  entries: z.array(auditEntry),
  batches: z.array(batchRequests),
  /** Entries of the log, or of the case that was asked for; other filters don't count. */
  total: count,
  /** `before` of the next page; null where the log was read to its beginning. A page may be empty and have a next one. */
  next: count.nullable(),
  chain: z.discriminatedUnion('state', [
    z.strictObject({ state: z.literal('intact'), checked: count }),
    z.strictObject({ state: z.literal('broken'), sequence: count }),
  ]),
});
export type AuditPage = z.infer<typeof auditPage>;
