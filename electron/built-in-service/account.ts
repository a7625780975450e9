import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto';
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
}

export interface Policy {
  readonly name: string;
  readonly password: string;
  readonly grants: readonly {
    readonly definitions: readonly string[];
    readonly operations: readonly GrantableOperation[];
  }[];
}

export const isGranted = (policy: Policy, operation: GrantableOperation, definition: string): boolean =>
  policy.grants.some((one) => one.definitions.includes(definition) && one.operations.includes(operation));

interface ApiKey {
  readonly title: string;
  readonly value: string;
  /** Milliseconds since 1970; from then on the key opens no session (spec §3). */
  readonly expires: number;
}

export interface PortalUser {
  readonly name: string;
  readonly password: string;
  readonly role: PortalRole;
}

export interface Account {
  readonly accountId: string;
  readonly tenantId: string;
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly policies: ReadonlyMap<string, Policy>;
  readonly portalUsers: ReadonlyMap<string, PortalUser>;
  readonly apiKeys: ApiKey[];
}

/** Creates the account of a seed. The same secret gives the same keys, passwords and tokens each time. */
export function createAccount(seed: ParsedSeed, secret: Uint8Array, startedAt: number): Account {
  const byName = <T extends { readonly name: string }>(items: readonly T[]): Map<string, T> =>
    new Map(items.map((item) => [item.name, item]));
  return {
    ...seed.account,
    definitions: byName(
      seed.definitions.map((definition) => {
        const { name, label, kind } = definition;
        return { name, label, kind, format: createFormat(secret, definition) };
      }),
    ),
    policies: byName(
      seed.policies.map((policy) => ({
        ...policy,
        password: policy.password ?? derivePassword(secret, `policy/${policy.name}`),
      })),
    ),
    portalUsers: byName(
      seed.portalUsers.map((user) => ({
        ...user,
        password: user.password ?? derivePassword(secret, `portal-user/${user.name}`),
      })),
    ),
    apiKeys: seed.apiKeys.map(({ title, value, expires, expiresInDays = 0 }) => ({
      title,
      value: value ?? deriveApiKey(secret, title),
      expires: expires === undefined ? startedAt + expiresInDays * 86_400_000 : Date.parse(expires),
    })),
  };
}

function createFormat(secret: Uint8Array, seed: DefinitionSeed): Format {
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

export const deriveApiKey = (secret: Uint8Array, title: string): string =>
  `tdk_${derivePassword(secret, `api-key/${title}`)}`;

/** Compares in a time that does not depend on how much of the two is the same. */
export function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}
