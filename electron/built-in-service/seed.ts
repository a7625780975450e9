import { z } from 'zod';
import { grantableOperations } from './operations.ts';

export const objectName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, dot, hyphen or underscore, at most 64');
/** Text for people, in any script: no control or format characters, no space at its ends. */
const text = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine((typed) => typed.isWellFormed() && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(typed));
const label = text(80);
/** The title of an API key (spec §2: entered when the key is created). */
export const keyTitle = text(100);
export const policyPassword = z.string().min(12).max(200);
const character = z.string().length(1).default('*');

/** What a token definition is, in a seed file and in the portal alike. */
export const definitionSchema = z.discriminatedUnion('kind', [
  z.object({
    name: objectName,
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
    name: objectName,
    label,
    kind: z.literal('ssn'),
    masking: z.object({ keepLast: z.int().min(0).max(4).default(4), character }).prefault({}),
  }),
  z.object({
    name: objectName,
    label,
    kind: z.literal('email'),
    masking: z.object({ keepFirst: z.int().min(0).max(3).default(1), character }).prefault({}),
  }),
  z.object({
    name: objectName,
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

export const grantSchema = z.object({
  definitions: z.array(objectName).min(1),
  operations: z.array(z.enum(grantableOperations)).min(1),
});

const isUnique = <T>(items: readonly T[], key: (item: T) => string): boolean =>
  new Set(items.map(key)).size === items.length;

/**
 * The roles of portal users, each with all rights of those before it. The specification shows AccountAdmin and that
 * there is "a higher role" (§2); AccountUser and AccountOwner are this service's.
 */
export const portalRoles = ['AccountUser', 'AccountAdmin', 'AccountOwner'] as const;

/**
 * What a portal would hold (spec §2): the account, its API keys, token definitions, security policies and
 * portal users. Passwords and key values may be given; where they are not, they are derived from the secret.
 */
export const seedSchema = z
  .object({
    account: z.object({ accountId: objectName, tenantId: objectName }),
    apiKeys: z
      .array(
        z
          .object({
            title: keyTitle,
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
      .array(definitionSchema)
      .min(1)
      .refine((all) => isUnique(all, (one) => one.name), { error: 'names must differ' }),
    policies: z
      .array(
        z.object({ name: objectName, password: policyPassword.optional(), grants: z.array(grantSchema) }),
      )
      .min(1)
      .refine((all) => isUnique(all, (one) => one.name), { error: 'names must differ' }),
    portalUsers: z
      .array(z.object({ name: objectName, password: policyPassword.optional(), role: z.enum(portalRoles) }))
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
export type PortalRole = (typeof portalRoles)[number];
