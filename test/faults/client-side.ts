import { admitsAll } from '../support/disclosures.ts';
import { readFileSync } from 'node:fs';
import { createServiceClient, type ServiceClientOptions } from '../../electron/service/client.ts';
import type { RequestOutcome, ServiceClient, Intent } from '../../electron/service/service-client.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { readProfile, type ServiceProfile } from '../../electron/service/profile.ts';
import { createTransport, type TransportOptions } from '../../electron/service/http/transport.ts';
import type { QuotaStore, TransfersRecord } from '../../electron/service/limits/transfers.ts';
import { done } from '../../electron/contract/errors.ts';
import { modelApiKey, modelPassword } from './model-service.ts';
import type { FaultServer } from './fault-server.ts';

export function shippedProfile(): ServiceProfile {
  const text = readFileSync(new URL('../../resources/service-profile.json', import.meta.url), 'utf8');
  const profile = readProfile(text);
  if (!profile.ok) throw new Error(profile.failure.subject);
  return profile.value;
}

export interface MemoryQuota extends QuotaStore {
  record: TransfersRecord | null;
}

export function memoryQuota(record: TransfersRecord | null = null): MemoryQuota {
  const store: MemoryQuota = {
    record,
    load: () => Promise.resolve(store.record),
    save(saved) {
      store.record = saved;
      return Promise.resolve();
    },
  };
  return store;
}

export interface ClientSide {
  readonly client: ServiceClient;
  /** The requests that were audited, in order, each with its outcome. */
  readonly audited: { readonly intent: Intent; outcome: RequestOutcome | null }[];
}

export type AppTestOptions = Partial<Omit<ServiceClientOptions, 'connection'>> & {
  readonly connection?: Partial<ServiceClientOptions['connection']>;
};

export function createClientSide({
  connection,
  ...options
}: AppTestOptions & Pick<ServiceClientOptions, 'transport'>): ClientSide {
  const audited: ClientSide['audited'] = [];
  const client = createServiceClient({
    connection: {
      id: 'connection-1',
      name: 'Connection 1',
      environment: 'test',
      apiKeyExpires: null,
      requestsPerSecond: 600,
      transfersPerDay: 10_000_000,
      ...connection,
    },
    profile: shippedProfile(),
    admit: admitsAll,
    secrets: {
      apiKey: () => Promise.resolve(done(modelApiKey)),
      policyPassword: () => Promise.resolve(done(modelPassword)),
    },
    auditRequest(intent) {
      const entry: ClientSide['audited'][number] = { intent, outcome: null };
      audited.push(entry);
      return Promise.resolve(done((outcome: RequestOutcome) => void (entry.outcome = outcome)));
    },
    quota: memoryQuota(),
    ...options,
  });
  return { client, audited };
}

/** A client that reaches a fault server over real HTTPS. */
export function connectTo(
  server: FaultServer,
  {
    transport = {},
    ...options
  }: Omit<AppTestOptions, 'transport'> & { transport?: Partial<TransportOptions> } = {},
): ClientSide {
  return createClientSide({
    ...options,
    transport: createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: options.clock ?? systemClock,
      ...transport,
    }),
  });
}
