import { z } from 'zod';
import { settings } from './app.ts';
import { connectionDraft } from './connection.ts';
import { id, instant } from './fields.ts';
import { importItem } from './import-item.ts';
import { mapping } from './mapping.ts';

/** What a connection's service profile differs in: the file that was imported into it, and what was fitted above it. */
const carriedProfile = z.strictObject({
  /** Of the file; empty where there is none. */
  name: z.string().max(300),
  content: z.record(z.string(), z.unknown()).nullable(),
  fitted: z.record(z.string().max(100), z.unknown()),
});
export type CarriedProfile = z.infer<typeof carriedProfile>;

/**
 * What can be carried from one workstation to another: connections with their service profiles, mappings and reasons.
 * Strict, so there is no member that could hold a secret; those are entered on each workstation.
 */
export const deployment = z.strictObject({
  /** What an editor takes its help from. */
  $schema: z.string().max(1_000).optional(),
  format: z.literal('tokendesk-connections'),
  version: z.literal(1),
  connections: z
    .array(
      connectionDraft
        .omit({ id: true })
        /** Absent where that of the workstation stays. */
        .extend({ profile: carriedProfile.optional() }),
    )
    .max(200),
  mappings: z.array(mapping.omit({ id: true })).max(500),
  /** Absent where those of the workstation stay. */
  reasons: settings.shape.reasons.optional(),
  /** When it was signed. An administrator's file that was issued before the one taken last is refused. */
  issued: instant.optional(),
  /** Over the compact JSON of all the other members, in their order. Looked at where a policy names the signers. */
  signature: z
    .strictObject({ algorithm: z.literal('Ed25519'), publicKey: z.base64(), value: z.base64() })
    .optional(),
});
export type Deployment = z.infer<typeof deployment>;

export const importPlan = z.strictObject({
  importId: id,
  file: z.string().max(300),
  items: z.array(importItem).max(701),
});
export type ImportPlan = z.infer<typeof importPlan>;
