import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { StoredAccount } from './account-file.ts';
import { createCardNumber } from './engine/card-number.ts';
import { createEmail } from './engine/email.ts';
import { expandAesKey } from './engine/ff1.ts';
import type { Format } from './engine/format.ts';
import { createFreeText } from './engine/free-text.ts';
import { createSsn } from './engine/ssn.ts';
import type { GrantableOperation } from './operations.ts';
import type { DefinitionKind, DefinitionSeed, ParsedSeed, PortalRole } from './seed.ts';

export interface Definition {
  readonly name: string;
  readonly label: string;
  readonly kind: DefinitionKind;
  readonly format: Format;
  readonly settings: DefinitionSeed;
  /** A disabled definition is not used by any operation. Its tokens are good again once it is enabled. */
  readonly enabled: boolean;
}

export interface Policy {
  readonly name: string;
  readonly password: string;
  readonly grants: readonly {
    readonly definitions: readonly string[];
    readonly operations: readonly GrantableOperation[];
  }[];
  /** For good: the name stays taken. */
  readonly revoked: boolean;
}

export const isGranted = (policy: Policy, operation: GrantableOperation, definition: string): boolean =>
  policy.grants.some((one) => one.definitions.includes(definition) && one.operations.includes(operation));

export interface ApiKey {
  /** No two keys of an account have the same, revoked ones included. */
  readonly title: string;
  readonly value: string;
  /** Milliseconds since 1970; from then on the key opens no session (spec §3). */
  readonly expires: number;
  /** Null for a key of the seed. */
  readonly created: number | null;
  readonly revoked: boolean;
  /** When it opened a session last. */
  lastUsed: number | null;
}

export interface PortalUser {
  readonly name: string;
  readonly password: string;
  readonly role: PortalRole;
}

export interface Account {
  readonly accountId: string;
  readonly tenantId: string;
  readonly definitions: Map<string, Definition>;
  readonly policies: Map<string, Policy>;
  readonly portalUsers: ReadonlyMap<string, PortalUser>;
  readonly apiKeys: ApiKey[];
}

/** What the portal changed in an account since its seed was read. */
export type AccountChanges = Pick<StoredAccount, 'definitions' | 'policies' | 'apiKeys' | 'lastUsed'>;

const noChanges: AccountChanges = { definitions: [], policies: [], apiKeys: [], lastUsed: [] };

/**
 * Creates the account of a seed. The same secret gives the same keys, passwords and tokens each time. What the portal
 * created or changed takes the place of what the seed has under the same name or title.
 */
export function createAccount(
  seed: ParsedSeed,
  secret: Uint8Array,
  startedAt: number,
  changes: AccountChanges = noChanges,
): Account {
  const byName = <T extends { readonly name: string }>(items: readonly T[]): Map<string, T> =>
    new Map(items.map((item) => [item.name, item]));
  const lastUsed = new Map(changes.lastUsed);
  const apiKeys = seed.apiKeys.map(({ title, value, expires, expiresInDays = 0 }) => ({
    title,
    value: value ?? deriveApiKey(secret, title),
    expires: expires === undefined ? startedAt + expiresInDays * 86_400_000 : Date.parse(expires),
    created: null,
    revoked: false,
  }));
  const keysByTitle = new Map([...apiKeys, ...changes.apiKeys].map((key) => [key.title, key]));
  return {
    ...seed.account,
    definitions: byName([
      ...seed.definitions.map((settings) => createDefinition(secret, settings, true)),
      ...changes.definitions.map(({ settings, enabled }) => createDefinition(secret, settings, enabled)),
    ]),
    policies: byName([
      ...seed.policies.map((policy) => ({
        ...policy,
        password: policy.password ?? derivePassword(secret, `policy/${policy.name}`),
        revoked: false,
      })),
      ...changes.policies,
    ]),
    portalUsers: byName(
      seed.portalUsers.map((user) => ({
        ...user,
        password: user.password ?? derivePassword(secret, `portal-user/${user.name}`),
      })),
    ),
    apiKeys: [...keysByTitle.values()].map((key) => ({ ...key, lastUsed: lastUsed.get(key.title) ?? null })),
  };
}

export function createDefinition(secret: Uint8Array, settings: DefinitionSeed, enabled: boolean): Definition {
  const { name, label, kind } = settings;
  return { name, label, kind, settings, enabled, format: createFormat(secret, settings) };
}

/** The format of a definition under the key of its kind and name. */
export function createFormat(secret: Uint8Array, seed: DefinitionSeed): Format {
  // The key depends on kind and name alone: tokens stay the same when a mask or label changes.
  const key = expandAesKey(deriveKey(secret, `definition/${seed.kind}/${seed.name}`));
  switch (seed.kind) {
    case 'card-number':
      return createCardNumber(key, { luhn: seed.luhn, mask: seed.masking });
    case 'ssn':
      return createSsn(key, { keepFirst: 0, ...seed.masking });
    case 'email':
      return createEmail(key, { mask: seed.masking });
    case 'free-text':
      return createFreeText(key, { maxBytes: seed.maxBytes, mask: seed.masking });
  }
}

const salt = 'tokendesk embedded service v1';

/**
 * A key for one purpose, from the service's secret (32 bytes or more). The same secret and purpose always give the
 * same bytes: tokens and credentials survive a restart, and nothing secret is shipped.
 */
export function deriveKey(secret: Uint8Array, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, bytes));
}

/** A password that a person can copy: 120 bits in letters, digits, `-` and `_`. */
function derivePassword(secret: Uint8Array, purpose: string): string {
  return deriveKey(secret, `password/${purpose}`, 15).toString('base64url');
}

const deriveApiKey = (secret: Uint8Array, title: string): string =>
  `tdk_${derivePassword(secret, `api-key/${title}`)}`;

/** Compares in a time that does not depend on how much of the two is the same. */
export function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}
