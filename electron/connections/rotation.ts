import type { Audit } from '../audit/audit.ts';
import { failed, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Connections } from './store.ts';
import type { ServiceClient } from '../service/service-client.ts';

interface KeyRotationOptions {
  readonly connections: Pick<
    Connections,
    'active' | 'configure' | 'storeSecret' | 'secret' | 'views' | 'forgetNextKey'
  >;
  readonly audit: Pick<Audit, 'record'>;
  /** The connection, ready to be used. */
  readonly ready: (connectionId: string) => Promise<Outcome<Connection>>;
  /** A client of the connection that signs in with another API key. */
  readonly openClient: (
    connection: Connection,
    apiKey: string,
  ) => Promise<Outcome<Pick<ServiceClient, 'openSession' | 'close'>>>;
}

/**
 * Replaces a connection's API key without a time in which there is none (spec §2: keys should be rotated frequently).
 * The new key is stored beside the old one, which stays in use until the new one has opened a session.
 */
export interface KeyRotation {
  /** Failures: those of storing the key and of opening a session; the old key stays in use and the new one stored. */
  rotate(connectionId: string, key: string, expires: string | null): Promise<Outcome<null>>;
  /** Tries the stored one again. Failures: credentials.missing, and as `rotate`. */
  retry(connectionId: string): Promise<Outcome<null>>;
  /** Drops the stored one; the old key stays in use. */
  forget(connectionId: string): Promise<Outcome<null>>;
}

export function createKeyRotation({
  connections,
  audit,
  ready,
  openClient,
}: KeyRotationOptions): KeyRotation {
  async function recorded(
    action: string,
    connectionId: string,
    run: (connection: Connection) => Promise<Outcome<null>>,
  ): Promise<Outcome<null>> {
    const connection = await ready(connectionId);
    if (!connection.ok) return connection;
    const { name, environment } = connection.value;
    return audit.record({ action, connection: name, environment }, () => run(connection.value));
  }

  async function takeOver(connection: Connection): Promise<Outcome<null>> {
    const { id } = connection;
    const stored = await connections.secret(id, { kind: 'nextApiKey' });
    if (!stored.ok) return stored;
    const { key, expires } = JSON.parse(stored.value) as { key: string; expires: string | null };
    const policy = policyToTry(connections, id);
    if (policy === null) return failed('connection.invalid', { subject: 'policies' });
    const client = await openClient({ ...connection, apiKeyExpires: expires }, key);
    if (!client.ok) return client;
    const session = await client.value.openSession(policy);
    await client.value.close();
    if (!session.ok) return session;
    const replaced = await connections.storeSecret(id, { kind: 'apiKey' }, key);
    if (!replaced.ok) return replaced;
    const dated = await connections.configure(id, { apiKeyExpires: expires });
    return dated.ok ? connections.forgetNextKey(id) : dated;
  }

  return {
    rotate: (connectionId, key, expires) =>
      recorded('RotateKey', connectionId, async (connection) => {
        const next = JSON.stringify({ key, expires });
        const stored = await connections.storeSecret(connectionId, { kind: 'nextApiKey' }, next);
        return stored.ok ? takeOver(connection) : stored;
      }),
    retry: (connectionId) => recorded('RotateKey', connectionId, takeOver),
    forget: (connectionId) =>
      recorded('ForgetNextKey', connectionId, () => connections.forgetNextKey(connectionId)),
  };
}

/** The policy in use, or the first one whose password is stored. */
function policyToTry(connections: Pick<Connections, 'active' | 'views'>, id: string): string | null {
  const active = connections.active();
  if (active?.connectionId === id) return active.policy;
  const view = connections.views().find((connection) => connection.id === id);
  const stored = view?.policyPasswords.find(({ state }) => state !== 'missing');
  return stored?.policy ?? view?.policies[0] ?? null;
}
