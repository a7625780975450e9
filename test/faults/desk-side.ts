import { readFileSync } from 'node:fs';
import { createServiceClient } from '../../electron/service/create-client.ts';
import type { CreatedClient, ServiceClientOptions } from '../../electron/service/create-client.ts';
import { systemClock } from '../../electron/privacy/clock.ts';
import type { Intent, Verdict } from '../../electron/service/client.ts';
import { readProfile } from '../../electron/service/profile.ts';
import type { ServiceProfile } from '../../electron/service/profile.ts';
import { createTransport } from '../../electron/service/transport.ts';
import type { TransportOptions } from '../../electron/service/transport.ts';
import type { QuotaStore, TransfersRecord } from '../../electron/service/transfers.ts';
import { done } from '../../electron/contract/errors.ts';
import { API_KEY, PASSWORD } from './model-service.ts';
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

export interface DeskSide {
  readonly client: CreatedClient;
  /** What the witness was told, in order. */
  readonly witnessed: { readonly intent: Intent; verdict: Verdict | null }[];
}

export type DeskOptions = Partial<Omit<ServiceClientOptions, 'connection'>> & {
  readonly connection?: Partial<ServiceClientOptions['connection']>;
};

export function createDeskSide({
  connection,
  ...options
}: DeskOptions & Pick<ServiceClientOptions, 'transport'>): DeskSide {
  const witnessed: DeskSide['witnessed'] = [];
  const client = createServiceClient({
    connection: {
      id: 'connection-1',
      apiKeyExpires: null,
      requestsPerSecond: 600,
      transfersPerDay: 10_000_000,
      ...connection,
    },
    profile: shippedProfile(),
    secrets: {
      apiKey: () => Promise.resolve(done(API_KEY)),
      policyPassword: () => Promise.resolve(done(PASSWORD)),
    },
    witness(intent) {
      const entry: DeskSide['witnessed'][number] = { intent, verdict: null };
      witnessed.push(entry);
      return Promise.resolve(done((verdict: Verdict) => void (entry.verdict = verdict)));
    },
    quota: memoryQuota(),
    ...options,
  });
  return { client, witnessed };
}

/** A client that reaches a fault server over real HTTPS. */
export function connectTo(
  server: FaultServer,
  {
    transport = {},
    ...options
  }: Omit<DeskOptions, 'transport'> & { transport?: Partial<TransportOptions> } = {},
): DeskSide {
  return createDeskSide({
    ...options,
    transport: createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: options.clock ?? systemClock,
      ...transport,
    }),
  });
}
