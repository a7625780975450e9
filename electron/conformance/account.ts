import { z } from 'zod';
import { operationNames } from '../contract/operations.ts';

/** A value in the form of each kind that the built-in service has. */
export const samples = {
  'card-number': ['4111111111111111', '5555555555554444'],
  ssn: ['123-45-6789', '219-09-9999'],
  email: ['jane.doe@example.com', 'max@example.org'],
  'free-text': ['Jane Doe, 12 High Street', 'Grüße aus Köln'],
} as const;

const text = z.string().min(1);

/**
 * The account that is checked, with all its credentials: a seed file of the built-in service, or a file like it for any
 * other. Keys, passwords and names are whatever that service takes; a definition of a kind that the built-in service
 * has not brings two values of its own.
 */
export const accountSchema = z.object({
  account: z.object({ accountId: z.string(), tenantId: z.string() }),
  apiKeys: z.array(
    z.object({
      value: text.optional(),
      expires: z.string().optional(),
      expiresInDays: z.number().optional(),
    }),
  ),
  definitions: z.array(
    z.object({ name: text, kind: z.string().optional(), samples: z.tuple([text, text]).optional() }),
  ),
  policies: z.array(
    z.object({
      name: text,
      password: text.optional(),
      grants: z.array(z.object({ definitions: z.array(text), operations: z.array(z.enum(operationNames)) })),
    }),
  ),
  portalUsers: z.array(z.object({ name: text, password: text.optional(), role: z.string() })).default([]),
});
export type Account = z.output<typeof accountSchema>;
