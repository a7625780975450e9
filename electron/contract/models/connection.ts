import { z } from 'zod';
import { id, instant, name, operation } from './fields.ts';

export const environment = z.enum(['development', 'test', 'production']);
export type Environment = z.infer<typeof environment>;

/** What a definition protects; drives grouping of digits, masks made locally, and the check before a batch. */
export const definitionKind = z.enum(['card', 'ssn', 'email', 'text']);
export type DefinitionKind = z.infer<typeof definitionKind>;

/** A token definition as the app knows it: `name` is the service's tokenName, `label` is for people (spec §2). */
const tokenDefinition = z.strictObject({ name, label: name, kind: definitionKind });
export type TokenDefinition = z.infer<typeof tokenDefinition>;

/** What the portal or the administrator says that a definition protects. */
export const givenKind = tokenDefinition.omit({ label: true });
export type GivenKind = z.infer<typeof givenKind>;

/** A client certificate as the screen names it; the file is stored encrypted, its key in the keychain. */
export const clientCertificate = z.strictObject({
  subject: z.string().max(300),
  /** The last day it holds, in UTC. */
  expires: z.iso.date(),
});
export type ClientCertificate = z.infer<typeof clientCertificate>;

/** What is stored about a connection outside of the keychain: nothing here is secret. */
export const connection = z.strictObject({
  id,
  name,
  environment,
  /** HTTPS origin, with an optional path prefix and no trailing slash (spec §4, {base_url}). */
  baseUrl: z.url({ protocol: /^https$/ }).max(500),
  builtIn: z.boolean(),
  /** PEM certificates trusted by this connection in addition to the system's. */
  extraCa: z.string().max(100_000).nullable(),
  clientCertificate: clientCertificate.nullable(),
  /** Signs in to the system's proxy; empty for none. Basic authentication (RFC 7617) allows no colon in it. */
  proxyUser: z
    .string()
    .regex(/^[^:\p{Cc}]*$/u)
    .max(200),
  policies: z.array(name).max(100),
  definitions: z.array(tokenDefinition).max(500),
  /** For the reporting operations (spec §4). */
  accountId: z.string().max(200),
  tenantId: z.string().max(200),
  /** ISO date, as entered; after it no session is tried (spec §3). */
  apiKeyExpires: z.iso.date().nullable(),
  /** Limits of this environment (spec §8); 600 a second and 10,000,000 a day unless set lower. */
  requestsPerSecond: z.int().min(1).max(10_000),
  transfersPerDay: z.int().min(1).max(1_000_000_000),
});
export type Connection = z.infer<typeof connection>;

/** What a person edits. The secrets and the client certificate go separately, once, inward. */
export const connectionDraft = connection
  .omit({ id: true, builtIn: true, clientCertificate: true })
  .extend({ id: id.nullable() });
export type ConnectionDraft = z.infer<typeof connectionDraft>;

/** Of the built-in service's connection. */
export const builtInId = 'built-in';

/** `memory`: for this run only, since the machine has no keyring. `locked`: stored, but the keyring is locked. */
const secretState = z.enum(['stored', 'memory', 'missing', 'locked']);
export type SecretState = z.infer<typeof secretState>;

/** What a connection's service profile differs in from that of the others. */
export const profileView = z.strictObject({
  /** File name of the imported one; null where there is none. */
  name: z.string().max(300).nullable(),
  /** Operations whose answers were fitted by a person. */
  fitted: z.array(z.string().max(60)).max(20),
});
export type ProfileView = z.infer<typeof profileView>;

/** The way to a member of an answer; `[]` stands for the elements of a list. */
export const memberPath = z.array(z.string().min(1).max(100)).min(1).max(4);

/** An answer that the profile could not read: names of members, never what they held. */
export const unreadAnswer = z.strictObject({
  operation: z.enum(['CreateSession', ...operation.options]),
  members: z
    .array(
      z.strictObject({
        path: memberPath,
        /** `sent`: a text that was sent, and came back. Told of PatternMatch only. */
        kind: z.enum(['text', 'sent', 'number', 'list', 'object', 'other']),
      }),
    )
    .max(60),
});
export type UnreadAnswer = z.infer<typeof unreadAnswer>;
/**
 * What a policy may do, as a test found it: an operation in neither list is unknown, and is offered like one that is
 * allowed. `known`: whether the service has a definition of this name.
 */
export const policyGrants = z.strictObject({
  policy: name,
  testedAt: instant,
  definitions: z
    .array(
      z.strictObject({
        definition: name,
        known: z.boolean(),
        allowed: z.array(operation).max(operation.options.length),
        refused: z.array(operation).max(operation.options.length),
        /** Answered with 404: as it seems nothing lives at the address that the profile has. Absent where there is none. */
        missing: z.array(operation).max(operation.options.length).optional(),
      }),
    )
    .max(500),
});
export type PolicyGrants = z.infer<typeof policyGrants>;

export const connectionView = connection.extend({
  /** Its record was changed outside of the app: its secrets are gone, and it is used again once it is saved. */
  changedOutside: z.literal(true).optional(),
  profile: profileView,
  apiKey: secretState,
  /** Of the key that takes over once it has opened a session; none where it is absent. */
  nextApiKey: secretState.optional(),
  /** A list: as the members of an object, policies called `__proto__` or `constructor` would be lost or found there. */
  policyPasswords: z.array(z.strictObject({ policy: name, state: secretState })).max(100),
  /** Of the key that the client certificate and its passphrase are encrypted with. */
  certificateKey: secretState,
  proxyPassword: secretState,
  /** What the service signs its events with, where the administrator switched their receiver on. */
  webhookSecret: secretState,
  /** Of the policies that were tested since the address last changed. */
  grants: z.array(policyGrants).max(100),
  /** Names of the definitions whose kind is the portal's or the administrator's word, and not the person's. */
  kindsGiven: z.array(name).max(500),
});
export type ConnectionView = z.infer<typeof connectionView>;

/** Which secret of a connection is meant. */
export const secretName = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('apiKey') }),
  z.strictObject({ kind: z.literal('policyPassword'), policy: name }),
  z.strictObject({ kind: z.literal('proxyPassword') }),
  z.strictObject({ kind: z.literal('webhookSecret') }),
  /** Goes in through `connections.rotateKey`, together with its expiration date. */
  z.strictObject({ kind: z.literal('nextApiKey') }),
]);
export type SecretName = z.infer<typeof secretName>;
