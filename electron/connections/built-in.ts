import { done, failed, type Outcome } from '../contract/errors.ts';
import {
  builtInId,
  type Connection,
  type DefinitionKind,
  type PolicyGrants,
} from '../contract/models/connection.ts';
import { operationNames } from '../contract/operations.ts';
import type { Connections } from './store.ts';
import { builtInAccount } from '../storage/keychain-accounts.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { startBuiltInService, RunningBuiltInService } from '../built-in-service/start.ts';

const kinds: Record<RunningBuiltInService['definitions'][number]['kind'], DefinitionKind> = {
  'card-number': 'card',
  ssn: 'ssn',
  email: 'email',
  'free-text': 'text',
};

function describeConnection(
  service: RunningBuiltInService,
): Omit<Connection, 'builtIn' | 'clientCertificate'> {
  return {
    id: builtInId,
    name: 'Built-in service',
    environment: 'development',
    baseUrl: service.baseUrl,
    extraCa: service.caPem,
    proxyUser: '',
    policies: service.policies.map(({ name }) => name),
    definitions: service.definitions.map(({ name, label, kind }) => ({ name, label, kind: kinds[kind] })),
    accountId: service.accountId,
    tenantId: service.tenantId,
    apiKeyExpires: service.apiKey.expires.slice(0, 10),
    requestsPerSecond: 600,
    transfersPerDay: 10_000_000,
  };
}

/** As a test would find it, without a request: the service grants what is listed and refuses everything else. */
function describeGrants({ policies, definitions }: RunningBuiltInService, now: Date): PolicyGrants[] {
  return policies.map(({ name, grants }) => ({
    policy: name,
    testedAt: now.toISOString(),
    definitions: definitions.map((definition) => {
      const granted = new Set(
        grants.filter((one) => one.definitions.includes(definition.name)).flatMap((one) => one.operations),
      );
      return {
        definition: definition.name,
        known: true,
        allowed: operationNames.filter((one) => granted.has(one)),
        refused: operationNames.filter((one) => !granted.has(one)),
      };
    }),
  }));
}

interface BuiltInConnectionOptions {
  readonly connections: Pick<Connections, 'saveBuiltIn' | 'storeSecret'>;
  readonly keychain: Pick<Keychain, 'key'>;
  readonly start: (
    options: Pick<Parameters<typeof startBuiltInService>[0], 'secret'>,
  ) => Promise<RunningBuiltInService>;
  readonly now: () => Date;
  /** Whether the administrator allows it. */
  readonly isAllowed?: boolean;
  /** The address and certificate are new: clients of the one before are of no use. */
  readonly onStarted: () => Promise<void>;
}

/** The built-in service and its connection. Its tokens outlive a restart: they depend only on a key in the keychain. */
export interface BuiltInConnection {
  /** Runs from the first call on; calls made meanwhile share it. Answers the connection and its first policy. */
  start(): Promise<Outcome<{ id: string; policy: string }>>;
  /** A user of its portal: who reads the reports, or who administers it. Starts it first. For the main process only. */
  portalUser(role: 'AccountUser' | 'AccountAdmin'): Promise<Outcome<{ user: string; password: string }>>;
  stop(): Promise<void>;
}

export function createBuiltInConnection({
  connections,
  keychain,
  start,
  now,
  isAllowed = true,
  onStarted,
}: BuiltInConnectionOptions): BuiltInConnection {
  let running: Promise<Outcome<RunningBuiltInService>> | undefined;

  async function launch(): Promise<Outcome<RunningBuiltInService>> {
    const secret = await keychain.key(builtInAccount);
    if (!secret.ok) return secret;
    const service = await start({ secret: secret.value });
    const saved = await connections.saveBuiltIn(describeConnection(service), describeGrants(service, now()));
    if (!saved.ok) return saved;
    const secrets = [
      connections.storeSecret(builtInId, { kind: 'apiKey' }, service.apiKey.value),
      ...service.policies.map(({ name, password }) =>
        connections.storeSecret(builtInId, { kind: 'policyPassword', policy: name }, password),
      ),
    ];
    for (const stored of await Promise.all(secrets)) if (!stored.ok) return stored;
    await onStarted();
    // A thread that ended by itself is started again by the next call.
    void service.ended.then(() => {
      running = undefined;
    });
    return done(service);
  }

  async function ensureRunning(): Promise<Outcome<RunningBuiltInService>> {
    if (!isAllowed) return failed('connection.built-in-off');
    running ??= launch().catch(() => failed('service.unreachable', { subject: 'Built-in service' }));
    const service = await running;
    if (!service.ok) running = undefined;
    return service;
  }

  return {
    async start() {
      const service = await ensureRunning();
      if (!service.ok) return service;
      return done({ id: builtInId, policy: service.value.policies[0]?.name ?? '' });
    },
    async portalUser(role) {
      const service = await ensureRunning();
      if (!service.ok) return service;
      const user = service.value.portalUsers.find((one) => one.role === role);
      return user ? done({ user: user.name, password: user.password }) : failed('portal.credentials');
    },
    async stop() {
      const service = await running;
      if (service?.ok) await service.value.stop();
    },
  };
}
