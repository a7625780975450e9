import path from 'node:path';
import { startBuiltInService } from '../built-in-service/start.ts';
import type { Wire } from '../connections/assistant/try-profile.ts';
import { createBuiltInConnection } from '../connections/built-in.ts';
import { createClientFor, createClients, createRequestAudit } from '../connections/clients.ts';
import { createConnectionProfiles } from '../connections/profiles.ts';
import { createKeyRotation } from '../connections/rotation.ts';
import type { Connections } from '../connections/store.ts';
import { done, type Outcome } from '../contract/errors.ts';
import { builtInId, type Connection } from '../contract/models/connection.ts';
import type { Platform } from '../platform/platform.ts';
import type { ServiceProfile } from '../service/profile.ts';
import { createActivePortal } from '../portal/active-portal.ts';
import type { Foundation } from './foundation.ts';
import type { AppOptions } from './options.ts';

export type Service = ReturnType<typeof composeService>;

/** The ways to the services: clients of the connections, the portal, the built-in one. `changed`: their state did. */
export function composeService(
  platform: Platform,
  options: Pick<AppOptions, 'builtInServiceWorker' | 'profile'>,
  { audit, connections, guesses, keychain, managed, now, seals, store }: Foundation,
  changed: () => void,
) {
  const builtIn = createBuiltInConnection({
    connections,
    keychain,
    start: ({ secret }) =>
      startBuiltInService({
        secret,
        worker: options.builtInServiceWorker,
        dataFolder: path.join(platform.home, 'built-in'),
      }),
    now,
    isAllowed: managed.builtInService !== false,
    onStarted: () => clients.drop(builtInId),
  });
  async function ready(connectionId: string): Promise<Outcome<Connection>> {
    const started = connectionId === builtInId ? await builtIn.start() : done(null);
    return started.ok ? connections.find(connectionId) : started;
  }
  const profiles = createConnectionProfiles({ platform, provided: options.profile, store, seals });
  const clients = createClients({
    audit,
    create: createClientFor({ platform, profiles, connections, managed, store }),
    guesses,
    ready,
    onStatus: changed,
  });
  const portal = createActivePortal({ platform, connections, profiles, managed, ready });
  const rotation = createKeyRotation({
    connections,
    audit,
    ready,
    openClient: (connection, apiKey) =>
      createClientFor({ platform, profiles, connections: withApiKey(connections, apiKey), managed, store })(
        connection,
        // It signs in and asks for a mask; it tokenizes nothing.
        { auditRequest: createRequestAudit(audit, connection), admit: () => Promise.resolve(done(null)) },
      ),
  });

  /** A client of its own that works by a profile that is not stored yet. */
  const openTrial = (connection: Connection, profile: ServiceProfile, wire: Wire) =>
    createClientFor({
      platform,
      profiles: { read: () => Promise.resolve(done(profile)), noteUnread: () => undefined },
      connections,
      managed,
      store,
      watch: (transport) => wire.watch(transport),
    })(connection, {
      auditRequest: createRequestAudit(audit, connection, guesses),
      admit: (definition, values, job) => guesses.admit({ connection, definition }, values, job),
    });

  return { builtIn, clients, openTrial, portal, profiles, ready, rotation };
}

/** The secrets of connections, with another API key. */
function withApiKey(
  connections: Pick<Connections, 'secret' | 'certificate'>,
  apiKey: string,
): Pick<Connections, 'secret' | 'certificate'> {
  return {
    certificate: (id) => connections.certificate(id),
    secret: (id, secret) =>
      secret.kind === 'apiKey' ? Promise.resolve(done(apiKey)) : connections.secret(id, secret),
  };
}
