import { createHash } from 'node:crypto';
import type { Connection, SecretName } from '../contract/models/connection.ts';

/**
 * Where a connection's secret is kept in the keychain: CONNECTION:ORIGIN:KIND or CONNECTION:ORIGIN:policy-NAME,
 * origin and policy as the head of their SHA-256, since the keychain takes few characters and any policy name must
 * do. The origin is part of the name so that a secret typed for one host is not found for another, not even when the
 * settings file was edited behind the desk's back: an address can't be changed to have the key sent there.
 */
export function secretAccount(connection: Pick<Connection, 'id' | 'baseUrl'>, secret: SecretName): string {
  const place = placeOf(connection);
  return secret.kind === 'policyPassword'
    ? `${place}:policy-${head(secret.policy)}`
    : `${place}:${secret.kind}`;
}

/** Where the key is kept that the client certificate and its passphrase are encrypted with: CONNECTION:ORIGIN:certificate. */
export function certificateAccount(connection: Pick<Connection, 'id' | 'baseUrl'>): string {
  return `${placeOf(connection)}:certificate`;
}

/** Where a connection's portal JWT is kept: CONNECTION:ORIGIN:portal. */
export function portalAccount(connection: Pick<Connection, 'id' | 'baseUrl'>): string {
  return `${placeOf(connection)}:portal`;
}

/** All the secrets a connection can have. */
export function secretsOf(connection: Pick<Connection, 'policies'>): SecretName[] {
  return [
    { kind: 'apiKey' },
    { kind: 'proxyPassword' },
    ...connection.policies.map((policy) => ({ kind: 'policyPassword' as const, policy })),
  ];
}

const placeOf = ({ id, baseUrl }: Pick<Connection, 'id' | 'baseUrl'>) =>
  `${id}:${head(new URL(baseUrl).origin)}`;

const head = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 24);
