import { z } from 'zod';
import { count, instant } from './fields.ts';

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
  note: z.string().nullable(),
});
export type AuditEntry = z.infer<typeof auditEntry>;

export const auditPage = z.strictObject({
  /** Newest first. */
  entries: z.array(auditEntry),
  total: count,
  chain: z.discriminatedUnion('state', [
    z.strictObject({ state: z.literal('intact'), checked: count }),
    z.strictObject({ state: z.literal('broken'), sequence: count }),
  ]),
});
export type AuditPage = z.infer<typeof auditPage>;
