import { createHash, timingSafeEqual } from 'node:crypto';
import { createCardNumber } from './engine/card-number.ts';
import { createEmail } from './engine/email.ts';
import { expandAesKey } from './engine/ff1.ts';
import { type Format, derive, derivePassword } from './engine/format.ts';
import { createFreeText } from './engine/free-text.ts';
import { createSsn } from './engine/ssn.ts';
import type { GrantableOperation } from './operations.ts';
import type { DefinitionKind, DefinitionSeed, PortalRole, ReadSeed } from './seed.ts';

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

export interface ApiKey {
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

function createFormat(secret: Uint8Array, seed: DefinitionSeed): Format {
  // The key depends on kind and name alone: a changed mask or label leaves every token what it was.
  const key = expandAesKey(derive(secret, `definition/${seed.kind}/${seed.name}`));
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

export const apiKeyValue = (secret: Uint8Array, title: string): string =>
  `tdk_${derivePassword(secret, `api-key/${title}`)}`;

/** Brings a seed to life. The same secret gives the same keys, passwords and tokens each time. */
export function createAccount(seed: ReadSeed, secret: Uint8Array, startedAt: number): Account {
  const byName = <T extends { readonly name: string }>(items: readonly T[]): Map<string, T> =>
    new Map(items.map((item) => [item.name, item]));
  return {
    ...seed.account,
    definitions: byName(
      seed.definitions.map((one) => ({
        name: one.name,
        label: one.label,
        kind: one.kind,
        format: createFormat(secret, one),
      })),
    ),
    policies: byName(
      seed.policies.map((one) => ({
        ...one,
        password: one.password ?? derivePassword(secret, `policy/${one.name}`),
      })),
    ),
    portalUsers: byName(
      seed.portalUsers.map((one) => ({
        ...one,
        password: one.password ?? derivePassword(secret, `portal-user/${one.name}`),
      })),
    ),
    apiKeys: seed.apiKeys.map(({ title, value, expires, expiresInDays = 0 }) => ({
      title,
      value: value ?? apiKeyValue(secret, title),
      expires: expires === undefined ? startedAt + expiresInDays * 86_400_000 : Date.parse(expires),
    })),
  };
}

/** Compares in a time that tells nothing of either side. */
export function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}

export const grants = (policy: Policy, operation: GrantableOperation, definition: string): boolean =>
  policy.grants.some((one) => one.definitions.includes(definition) && one.operations.includes(operation));
