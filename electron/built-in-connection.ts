import { done, failed, type Outcome } from './contract/errors.ts';
import type { Connection, DefinitionKind } from './contract/models/connection.ts';
import type { Connections } from './credentials/connections.ts';
import type { Keychain } from './credentials/keychain.ts';
import type { RunningBuiltInService, BuiltInServiceOptions } from './built-in-service/start.ts';

export const builtInId = 'built-in';

export interface BuiltInParts {
  readonly connections: Connections;
  readonly keychain: Pick<Keychain, 'key'>;
  readonly start: (options: Pick<BuiltInServiceOptions, 'secret'>) => Promise<RunningBuiltInService>;
  /** The address and certificate are new: clients of the former one are of no use. */
  readonly onStarted: () => Promise<void>;
}

/** The embedded service and its connection. Its tokens outlive a restart: they hang on a key in the keychain alone. */
export interface BuiltIn {
  /** Runs from the first call on; those that ask meanwhile share it. */
  start(): Promise<Outcome<{ id: string }>>;
  /** Who may read the reports in its portal; starts it first. For the main process alone. */
  portalUser(): Promise<Outcome<{ user: string; password: string }>>;
  stop(): Promise<void>;
}

const kinds: Record<RunningBuiltInService['definitions'][number]['kind'], DefinitionKind> = {
  'card-number': 'card',
  ssn: 'ssn',
  email: 'email',
  'free-text': 'text',
};

function describe(sandbox: RunningBuiltInService): Omit<Connection, 'builtIn' | 'clientCertificate'> {
  return {
    id: builtInId,
    name: 'Built-in service',
    environment: 'development',
    baseUrl: sandbox.baseUrl,
    extraCa: sandbox.caPem,
    proxyUser: '',
    policies: sandbox.policies.map(({ name }) => name),
    definitions: sandbox.definitions.map(({ name, label, kind }) => ({ name, label, kind: kinds[kind] })),
    accountId: sandbox.accountId,
    tenantId: sandbox.tenantId,
    apiKeyExpires: sandbox.apiKey.expires.slice(0, 10),
    requestsPerSecond: 600,
    transfersPerDay: 10_000_000,
  };
}

export function createBuiltIn({ connections, keychain, start, onStarted }: BuiltInParts): BuiltIn {
  let running: Promise<Outcome<RunningBuiltInService>> | undefined;

  async function launch(): Promise<Outcome<RunningBuiltInService>> {
    const secret = await keychain.key('built-in.service');
    if (!secret.ok) return secret;
    const sandbox = await start({ secret: secret.value });
    const saved = await connections.saveBuiltIn(describe(sandbox));
    if (!saved.ok) return saved;
    const secrets = [
      connections.storeSecret(builtInId, { kind: 'apiKey' }, sandbox.apiKey.value),
      ...sandbox.policies.map(({ name, password }) =>
        connections.storeSecret(builtInId, { kind: 'policyPassword', policy: name }, password),
      ),
    ];
    for (const stored of await Promise.all(secrets)) if (!stored.ok) return stored;
    await onStarted();
    // A thread that ended unasked is started again by whoever needs it next.
    void sandbox.ended.then(() => {
      running = undefined;
    });
    return done(sandbox);
  }

  async function started(): Promise<Outcome<RunningBuiltInService>> {
    running ??= launch().catch(() => failed('service.unreachable', { subject: 'Built-in service' }));
    const sandbox = await running;
    if (!sandbox.ok) running = undefined;
    return sandbox;
  }

  return {
    async start() {
      const sandbox = await started();
      return sandbox.ok ? done({ id: builtInId }) : sandbox;
    },
    async portalUser() {
      const sandbox = await started();
      if (!sandbox.ok) return sandbox;
      const user = sandbox.value.portalUsers.find(({ role }) => role === 'AccountUser');
      return user ? done({ user: user.name, password: user.password }) : failed('portal.credentials');
    },
    async stop() {
      const sandbox = await running;
      if (sandbox?.ok) await sandbox.value.stop();
    },
  };
}
