import { z } from 'zod';
import { caseReference, count, id, instant, name, reason } from './fields.ts';

/* A second person's approval of one act: a request, and the answer that holds it. Both are signed files. */

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const signature = z.strictObject({
  algorithm: z.literal('Ed25519'),
  publicKey: z.string().max(200),
  value: z.string().max(200),
});

/** What is asked for. An answer is good for an act that has all of these members alike, and for no other. */
export const approvalAct = z.strictObject({
  action: z.enum(['Reveal', 'Copy', 'Export', 'Match', 'Guess']),
  rows: count,
  /** Values that may be in clear, at most. */
  values: count,
  columns: z.array(name).max(100),
  connection: name,
  environment: z.string().max(40),
  policy: name.nullable(),
  definition: name.nullable(),
  job: id.nullable(),
  /** Of the job's source file and plan: neither may change between question and act. */
  jobFingerprint: sha256.nullable(),
  reason,
  caseReference,
});
export type ApprovalAct = z.infer<typeof approvalAct>;

export const approvalRequest = z.strictObject({
  format: z.literal('tokendesk-approval-request'),
  version: z.literal(1),
  id,
  /** The operating system's user who asks. */
  by: name,
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
  made: instant,
  /** The whole request, with its signature: the answer is to these bytes. */
  request: approvalRequest,
  signature,
});
export type ApprovalAnswer = z.infer<typeof approvalAnswer>;
