import { z } from 'zod';
import { caseReference, count, id, instant, reason } from './fields.ts';

/* A second person's approval of one act: a request, and the answer that holds it. Both are signed files. */

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const text = z.string().max(1_000);

export const approvalActions = ['Reveal', 'Copy', 'Export', 'Match', 'Guess', 'Move'] as const;

const signature = z.strictObject({
  algorithm: z.literal('Ed25519'),
  publicKey: z.string().max(200),
  value: z.string().max(200),
});

/** Who signs, beside the key: the operating system's user, and the machine. */
const person = z.strictObject({
  user: z.string().min(1).max(200),
  machine: z.string().max(200),
  /** Whether it was signed at the desk of who asks, with a passphrase of the second person. */
  atDesk: z.boolean(),
});
export type ApprovalPerson = z.infer<typeof person>;

/** What is asked for. An answer is good for acts that have all of these members alike, and for no other. */
export const approvalAct = z.strictObject({
  /** Several where one batch does them. */
  actions: z.array(z.enum(approvalActions)).min(1).max(3),
  rows: count,
  /** Values that may be in clear, at most. */
  values: count,
  columns: z.array(z.string().max(200)).max(200),
  connection: text,
  environment: text,
  policy: text.nullable(),
  definition: text.nullable(),
  job: id.nullable(),
  reason,
  caseReference,
  /** What else there is to say of it: the form of the file, an expression, a mask. No value in clear. */
  words: z.array(text).max(30),
  /** The file that the rows are of, so that the other person may compare theirs; null where they are of none. */
  source: z.strictObject({ name: z.string().max(300), bytes: count, sha256 }).nullable(),
  /** The act's fingerprint: of all that decides what is given out, under a key of who asks, since values may be in it. */
  exact: sha256,
});
export type ApprovalAct = z.infer<typeof approvalAct>;

export const approvalRequest = z.strictObject({
  format: z.literal('tokendesk-approval-request'),
  version: z.literal(1),
  id,
  by: person,
  made: instant,
  validUntil: instant,
  act: approvalAct,
  signature,
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

export const approvalAnswer = z.strictObject({
  format: z.literal('tokendesk-approval-answer'),
  version: z.literal(1),
  decision: z.enum(['approved', 'declined']),
  by: person,
  made: instant,
  /** The whole request, with its signature: the answer is to these bytes. */
  request: approvalRequest,
  signature,
});
export type ApprovalAnswer = z.infer<typeof approvalAnswer>;

/** A request of another person's, as the window shows it. */
export const shownRequest = approvalRequest
  .pick({ by: true, made: true, validUntil: true, act: true })
  .extend({
    kind: z.literal('request'),
    /** SHA-256 of all of it: an answer names the request that was shown. */
    request: sha256,
    /** Fingerprint of the key of who asks, and their name where it was introduced here. */
    signer: sha256,
    known: z.string().nullable(),
  });

/** What was opened: a request of another person's, or an answer, which waits for its act from then on. */
export const openedApproval = z.discriminatedUnion('kind', [
  shownRequest,
  z.strictObject({ kind: z.literal('answer'), by: z.string(), act: approvalAct }),
]);
export type OpenedApproval = z.infer<typeof openedApproval>;

/** A person with the fingerprint of their key. */
export const approvalKey = z.strictObject({ fingerprint: sha256, name: z.string().trim().min(1).max(60) });

/** What is asked for, and the answers that wait for their act. */
export const approvalState = z.strictObject({
  wanted: approvalAct.nullable(),
  held: z.array(z.strictObject({ by: z.string(), act: approvalAct })).max(20),
});

/** In a line of the audit log: which request, by its SHA-256; of an act that was approved, the approver's key and who that is. */
export const loggedApproval = z.strictObject({
  request: sha256,
  signer: sha256.optional(),
  by: z.string().max(500).optional(),
});
export type LoggedApproval = z.infer<typeof loggedApproval>;
