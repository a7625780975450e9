import { z } from 'zod';
import { grantableOperations } from './operations.ts';

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, dot, hyphen or underscore, at most 64');
const label = z.string().min(1).max(80);
const password = z.string().min(12).max(200);
const character = z.string().length(1).default('*');

const definition = z.discriminatedUnion('kind', [
  z.object({
    name,
    label,
    kind: z.literal('card-number'),
    luhn: z.enum(['valid', 'invalid', 'any']).default('invalid'),
    masking: z
      .object({
        keepFirst: z.int().min(0).max(6).default(6),
        keepLast: z.int().min(0).max(4).default(4),
        character,
      })
      .prefault({}),
  }),
  z.object({
    name,
    label,
    kind: z.literal('ssn'),
    masking: z.object({ keepLast: z.int().min(0).max(4).default(4), character }).prefault({}),
  }),
  z.object({
    name,
    label,
    kind: z.literal('email'),
    masking: z.object({ keepFirst: z.int().min(0).max(3).default(1), character }).prefault({}),
  }),
  z.object({
    name,
    label,
    kind: z.literal('free-text'),
    maxBytes: z.int().min(1).max(4096).default(512),
    masking: z
      .object({
        keepFirst: z.int().min(0).max(3).default(0),
        keepLast: z.int().min(0).max(3).default(0),
        character,
      })
      .prefault({}),
  }),
]);

const grant = z.object({
  definitions: z.array(name).min(1),
  operations: z.array(z.enum(grantableOperations)).min(1),
});

const isUnique = <T>(items: readonly T[], key: (item: T) => string): boolean =>
  new Set(items.map(key)).size === items.length;

/**
 * What a portal would hold (spec §2): the account, its API keys, token definitions, security policies and
 * portal users. Passwords and key values may be given; where they are not, they are derived from the secret.
 */
export const seedSchema = z
  .object({
    account: z.object({ accountId: name, tenantId: name }),
    apiKeys: z
      .array(
        z
          .object({
            title: name,
            value: z.string().min(16).max(200).optional(),
            expires: z.iso.datetime().optional(),
            expiresInDays: z.number().positive().max(3650).optional(),
          })
          .refine((key) => (key.expires === undefined) !== (key.expiresInDays === undefined), {
            error: 'either expires or expiresInDays',
          }),
      )
      .min(1)
      .refine((keys) => isUnique(keys, (key) => key.title), { error: 'titles must differ' }),
    definitions: z
      .array(definition)
      .min(1)
      .refine((all) => isUnique(all, (one) => one.name), { error: 'names must differ' }),
    policies: z
      .array(z.object({ name, password: password.optional(), grants: z.array(grant) }))
      .min(1)
      .refine((all) => isUnique(all, (one) => one.name), { error: 'names must differ' }),
    portalUsers: z
      .array(z.object({ name, password: password.optional(), role: z.enum(['AccountAdmin', 'AccountUser']) }))
      .default([])
      .refine((all) => isUnique(all, (one) => one.name), { error: 'names must differ' }),
  })
  .superRefine((seed, context) => {
    const known = new Set(seed.definitions.map((one) => one.name));
    for (const policy of seed.policies) {
      for (const definition of policy.grants.flatMap((grant) => grant.definitions)) {
        if (known.has(definition)) continue;
        const message = `policy ${policy.name} grants ${definition}, which is not defined`;
        context.addIssue({ code: 'custom', message });
      }
    }
  });

/** A seed as it is written in a file. */
export type Seed = z.input<typeof seedSchema>;
/** A seed with its defaults filled in. */
export type ParsedSeed = z.output<typeof seedSchema>;
export type DefinitionSeed = ParsedSeed['definitions'][number];
export type DefinitionKind = DefinitionSeed['kind'];
export type PortalRole = ParsedSeed['portalUsers'][number]['role'];
