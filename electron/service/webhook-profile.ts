import { z } from 'zod';
import { members } from './profile-fields.ts';

/** A header's name. */
const header = z.string().regex(/^[A-Za-z0-9-]{1,60}$/);
const kindNames = z.array(z.string().min(1).max(100)).max(40);

/**
 * How the service signs its events and what their members are called: the specification names webhooks, and shows neither
 * kinds, nor members, nor signatures (spec §6).
 */
export const webhookProfile = z.strictObject({
  signature: z.strictObject({
    header: header.describe('Header that carries the HMAC-SHA256 of an event'),
    prefix: z
      .string()
      .max(20)
      .regex(/^[\x21-\x7e]*$/)
      .describe('What stands before the signature in that header, such as sha256='),
    encoding: z.enum(['hex', 'base64']).describe('How the signature is written'),
    /** Null: the event's own time, which is in the signed body. */
    timestamp: header
      .nullable()
      .describe(
        'Header with the time of sending, in seconds since 1970, signed as TIME.BODY; null where the body alone is signed',
      ),
  }),
  id: members.describe('Accepted members of an event: its ID, by which one that comes twice is known'),
  at: members.describe('Accepted members of an event: when it was, ISO 8601 or seconds since 1970'),
  kind: members.describe('Accepted members of an event: its kind'),
  subject: members.describe('Accepted members of an event: the policy or token definition it is about'),
  kinds: z.strictObject({
    keyExpiring: kindNames.describe('Kinds that mean: an API key is about to expire'),
    keyRevoked: kindNames.describe('Kinds that mean: an API key was revoked'),
    policyRevoked: kindNames.describe('Kinds that mean: a security policy was revoked'),
  }),
});
export type WebhookProfile = z.infer<typeof webhookProfile>;
