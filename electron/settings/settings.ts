import { z } from 'zod';
import { mapping } from '../contract/models/mapping.ts';
import { tableLayout } from '../contract/models/rows.ts';
import { builtInId, connection, givenKind, policyGrants } from '../contract/models/connection.ts';
import { count, id, instant, name } from '../contract/models/fields.ts';
import { defaultSettings, settings } from '../contract/models/app.ts';
import type { Migrations } from './store.ts';

/**
 * Raised with every change of the shape below, by the first version that is published with it: an older version leaves
 * a newer document alone, and would take one of its own number for its own.
 */
export const documentVersion = 4;

/** From version n to n + 1, where more is to be done than to add members that have a default. */
export const documentMigrations: Migrations = {
  /** Connections had no client certificate and no sign-in to a proxy. */
  1: (document) => ({
    ...document,
    ...(Array.isArray(document['connections']) && {
      connections: document['connections'].map((connection: unknown) =>
        typeof connection === 'object' && connection !== null
          ? { clientCertificate: null, proxyUser: '', ...connection }
          : connection,
      ),
    }),
  }),
};

const storedMapping = z.union([
  mapping,
  mapping.pick({ id: true, name: true }).extend({ encrypted: z.base64() }),
]);
export type StoredMapping = z.infer<typeof storedMapping>;

/** A member's schema and its value before the first write. */
function entry<S extends z.ZodType>(schema: S, initial: z.infer<S>) {
  return { schema, initial };
}

/**
 * All that is in the settings file. Nothing here is secret: the keychain's index has names only, and there is no member
 * for a passphrase or key.
 */
export const settingsDocument = {
  settings: entry(settings, defaultSettings),
  /** What has the built-in service's id is its: secrets of that id are made at each start, and not encrypted. */
  connections: entry(z.array(connection.refine(({ id, builtIn }) => id !== builtInId || builtIn)), []),
  active: entry(z.strictObject({ connectionId: id, policy: name }).nullable(), null),
  /** The version of the app that ran last; '' before there was one that noted it. */
  ranVersion: entry(z.string().max(50), ''),
  /** Account names of the secrets in the keychain. */
  keychainIndex: entry(z.array(z.string().regex(/^[A-Za-z0-9:_.-]{1,200}$/)), []),
  /** With their columns encrypted: a header may be the first row of a file without one. Earlier versions had them in clear. */
  mappings: entry(z.array(storedMapping), []),
  /** Tables of results by a keyed hash of their columns' names: what a person made of them. The latest first. */
  layouts: entry(z.array(tableLayout.extend({ shape: z.string().regex(/^[0-9a-f]{32}$/) })).max(100), []),
  /** Transfers counted against the day's limit (spec §8), by connection. */
  quota: entry(
    z.record(
      id,
      z.strictObject({
        hours: z.array(z.strictObject({ hour: z.int(), count })).max(100),
        pausedUntil: z.number().nullable(),
      }),
    ),
    {},
  ),
  /** Service profiles that were imported into connections, and what was fitted to the answers that came. */
  profiles: entry(
    z.record(
      id,
      z.strictObject({
        imported: z.strictObject({ name: z.string().max(300), text: z.string().max(300_000) }).nullable(),
        fitted: z.record(z.string().max(100), z.unknown()),
      }),
    ),
    {},
  ),
  /** What tests of policies found, by connection. */
  grants: entry(z.record(id, z.array(policyGrants).max(100)), {}),
  /** Kinds of definitions that the portal or the administrator gave, by connection. */
  kinds: entry(z.record(id, z.array(givenKind).max(500)), {}),
  /** What proves that this app wrote each record that trust hangs on (`withSeals`). */
  seals: entry(z.record(z.union([id, z.literal('settings.lock')]), z.string().regex(/^[0-9a-f]{64}$/)), {}),
  /** Whether a passphrase is set, for when the keychain has no key. Which one it is, and whether it holds, the keychain says alone. */
  passphrase: entry(z.boolean(), false),
  /** Wrong passphrases in a row, and until when the next attempt has to wait. */
  unlock: entry(
    z.strictObject({ wrong: count, until: instant.nullable(), verifierLost: z.boolean().optional() }),
    { wrong: 0, until: null },
  ),
};
export type SettingsDocument = typeof settingsDocument;
