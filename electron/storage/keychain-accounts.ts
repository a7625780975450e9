import { createHash } from 'node:crypto';
import { builtInId, type Connection, type SecretName } from '../contract/models/connection.ts';

/** An account that all folders of this user share on this machine. Its entry in the keychain has no folder's identity. */
export const machineAccount = (name: string): string => `machine:${name}`;
const isMachineAccount = (account: string): boolean => account.startsWith('machine:');

/** The name that an account has in the operating system's keychain, for the folder with this identity. */
export const entryName = (id: string, account: string): string =>
  isMachineAccount(account) ? account : `${id}:${account}`;

export const isHomeId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

export type ConnectionOrigin = Pick<Connection, 'id' | 'baseUrl'>;

/**
 * The account of a connection's secret in the keychain: CONNECTION:ORIGIN:KIND or CONNECTION:ORIGIN:policy-NAME.
 * Origin and policy are shortened SHA-256, since accounts allow few characters. The origin is part of the account so
 * that a secret typed for one host is not found for another: editing the address in the settings file does not send the
 * key there.
 */
export function secretAccount(connection: ConnectionOrigin, secret: SecretName): string {
  const prefix = accountPrefix(connection);
  return secret.kind === 'policyPassword'
    ? `${prefix}:policy-${shortHash(secret.policy)}`
    : `${prefix}:${secret.kind}`;
}

/** The account of the key that encrypts the client certificate and its passphrase: CONNECTION:ORIGIN:certificate. */
export function certificateAccount(connection: ConnectionOrigin): string {
  return `${accountPrefix(connection)}:certificate`;
}

/** The account of a connection's portal JWT: CONNECTION:ORIGIN:portal. */
export function portalAccount(connection: ConnectionOrigin): string {
  return `${accountPrefix(connection)}:portal`;
}

/** The account of the key of a connection's secrets: the same whatever its address. */
export const connectionKeyAccount = (id: string): string => `connection-key:${id}`;

/** All accounts a connection can have in the keychain for its address. */
export function accountsOf(connection: ConnectionOrigin & Pick<Connection, 'policies'>): string[] {
  const secrets: SecretName[] = [
    { kind: 'apiKey' },
    { kind: 'nextApiKey' },
    { kind: 'proxyPassword' },
    { kind: 'webhookSecret' },
    ...connection.policies.map((policy) => ({ kind: 'policyPassword' as const, policy })),
  ];
  return [
    ...secrets.map((secret) => secretAccount(connection, secret)),
    portalAccount(connection),
    certificateAccount(connection),
  ];
}

/** The person's key of approvals: as secret as a connection's, so that nobody approves with it while the app is locked. */
export const approvalKeyAccount = 'approval:signing';
/** Public keys of people who may approve, and keys under a passphrase of theirs: named so that they outlive a reset, as the log does. */
export const approversAccount = 'evidence:approvers';
export const deskAccount = 'evidence:desk';

/**
 * Whether an account's secret is encrypted: those of connections, and the key of results. The built-in service's are made
 * at each start, before anybody unlocks; what belongs to the log has to be read while the app is locked.
 */
export const holdsSecret = (account: string): boolean =>
  account === 'batch-results' ||
  account === approvalKeyAccount ||
  (connectionOf(account) ?? builtInId) !== builtInId;

/** The connection whose secret an account has; null where it is no connection's. */
export const connectionOf = (account: string): string | null =>
  /^(.+?):[0-9a-f]{24}:/.exec(account)?.[1] ?? null;

/** What the built-in service makes its secrets from. */
export const builtInAccount = 'built-in.service';

/** Accounts that are no connection's: known where the index was lost, too. */
const fixedAccounts = [
  'audit:key',
  'audit:anchor',
  'evidence:signing',
  approvalKeyAccount,
  approversAccount,
  deskAccount,
  'lock:verifier',
  'lock:attempts',
  'secrets:key',
  'disclosures',
  'story:0',
  'story:1',
  'batch-results',
  builtInAccount,
  'probe',
];

/** All accounts that a folder can have in the keychain, as its index and its connections tell. */
export function accountsOfHome(
  index: readonly string[],
  connections: readonly Parameters<typeof accountsOf>[0][],
): string[] {
  const keys = connections.map(({ id }) => connectionKeyAccount(id));
  return [...new Set([...index, ...connections.flatMap(accountsOf), ...fixedAccounts, ...keys])];
}

const accountPrefix = ({ id, baseUrl }: ConnectionOrigin) => `${id}:${shortHash(new URL(baseUrl).origin)}`;

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 24);
