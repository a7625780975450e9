import { z } from 'zod';
import { failureSchema } from '../errors.ts';
import { type DefinitionKind, definitionKind } from './connection.ts';
import { count, id, instant, operation } from './fields.ts';

/** Text from the portal or for it: names, labels, titles. */
const portalText = z.string().max(200);
const typedText = z.string().trim().min(1).max(200);

/**
 * A token definition as the portal holds it (spec §2). Its fields are not shown by the specification: null is what a
 * service's profile doesn't name or its answer doesn't have.
 */
const portalDefinition = z.strictObject({
  name: portalText,
  label: portalText,
  kind: definitionKind.nullable(),
  enabled: z.boolean(),
  /** What of a value the masking format shows. */
  keepFirst: count.nullable(),
  keepLast: count.nullable(),
  maskCharacter: portalText.nullable(),
  /** Of a card's tokens: pass the Luhn check always, never, or either. */
  luhn: portalText.nullable(),
  /** Of a text, in UTF-8. */
  maxBytes: count.nullable(),
});
export type PortalDefinition = z.infer<typeof portalDefinition>;

/** The most of a card number that a mask may show (PCI DSS 3.4.1): its first and its last digits. */
const shownOfCard = { first: 6, last: 4 } as const;

/** Whatever is typed, no mask of a card shows more than this. */
function showsNoCard({
  kind,
  keepFirst,
  keepLast,
}: {
  readonly kind: DefinitionKind;
  readonly keepFirst: number | null;
  readonly keepLast: number | null;
}): boolean {
  if (kind !== 'card') return true;
  return (keepFirst ?? 0) <= shownOfCard.first && (keepLast ?? 0) <= shownOfCard.last;
}

/** What a person fills in; null leaves the service's default. */
export const definitionDraft = z
  .strictObject({
    name: typedText,
    label: typedText,
    kind: definitionKind,
    enabled: z.boolean(),
    keepFirst: z.int().min(0).max(20).nullable(),
    keepLast: z.int().min(0).max(20).nullable(),
    maskCharacter: z.string().length(1).nullable(),
    luhn: z.enum(['valid', 'invalid', 'any']).nullable(),
    maxBytes: z.int().min(1).max(100_000).nullable(),
  })
  .refine(showsNoCard, { path: ['keepFirst'] });
export type DefinitionDraft = z.infer<typeof definitionDraft>;

export const policyGrant = z.strictObject({
  definition: portalText,
  operations: z.array(operation).max(operation.options.length),
});
export type PolicyGrant = z.infer<typeof policyGrant>;

const portalPolicy = z.strictObject({
  name: portalText,
  revoked: z.boolean(),
  grants: z.array(policyGrant).max(500),
});
export type PortalPolicy = z.infer<typeof portalPolicy>;

/** An API key's record (spec §2); the key itself is never in it. */
const portalKey = z.strictObject({
  title: portalText,
  /** ISO date. */
  expires: z.iso.date().nullable(),
  created: instant.nullable(),
  lastUsed: instant.nullable(),
  revoked: z.boolean(),
});
export type PortalKey = z.infer<typeof portalKey>;

/** What the portal holds. Null where the connection's service profile names no operation for it. */
export const portalConfiguration = z.strictObject({
  definitions: z.array(portalDefinition).max(1_000).nullable(),
  policies: z.array(portalPolicy).max(1_000).nullable(),
  keys: z.array(portalKey).max(1_000).nullable(),
  /** Whether the tool server is enabled. */
  toolServer: z.boolean().nullable(),
});
export type PortalConfiguration = z.infer<typeof portalConfiguration>;

/** How the administrator's sign-in of the active connection stands. Its JWT is in main's memory only, until the app locks. */
export const administrationState = z.strictObject({
  /** Whether the connection's service profile names portal operations. */
  available: z.boolean(),
  signedIn: z.boolean(),
  user: portalText.nullable(),
  roles: z.array(portalText).max(50),
  expires: instant.nullable(),
  /** Signing in to the built-in service asks for the app's passphrase, since main knows the password. */
  asksPassphrase: z.boolean(),
});
export type AdministrationState = z.infer<typeof administrationState>;

/** A key or password that was just made: main holds it until it is copied or used, or the app locks. */
const madeSecret = z.strictObject({
  secretId: id,
  kind: z.enum(['key', 'password']),
  /** Title of the key, or name of the policy. */
  of: portalText,
});
export type MadeSecret = z.infer<typeof madeSecret>;

/** After a change at the service. */
export const administrationChange = z.strictObject({
  configuration: portalConfiguration,
  made: madeSecret.nullable(),
  /** What did not work on this computer afterwards: the change at the service stands. */
  failure: failureSchema.nullable(),
});
export type AdministrationChange = z.infer<typeof administrationChange>;
