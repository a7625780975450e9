import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Connection } from '../contract/models/connection.ts';
import { openTransport } from '../connections/clients.ts';
import type { ConnectionProfiles } from '../connections/profiles.ts';
import type { Connections } from '../connections/store.ts';
import type { Platform } from '../platform/platform.ts';
import type { Transport } from '../service/http/transport.ts';
import type { ReportedConnection } from './portal.ts';

export interface ActivePortalOptions {
  readonly platform: Pick<Platform, 'proxyFor'>;
  readonly connections: Connections;
  readonly profiles: Pick<ConnectionProfiles, 'read'>;
  readonly managed: Pick<ManagedSettings, 'allowedHosts'>;
  /** The connection, ready to be used. */
  readonly ready: (connectionId: string) => Promise<Outcome<Connection>>;
}

export interface ActivePortal {
  /** The connection in use and the way to its portal. */
  open(): Promise<Outcome<ReportedConnection>>;
  /** A connection or its secrets changed: the next report is asked for over new sockets. */
  reopen(): void;
  close(): Promise<void>;
}

/** The portal has a transport of its own: a report that takes long keeps no lookup waiting. */
export function createActivePortal(options: ActivePortalOptions): ActivePortal {
  const { platform, connections, profiles, managed } = options;
  let opened: { connection: Connection; transport: Transport } | null = null;
  let stale = false;

  return {
    async open() {
      const chosen = connections.active();
      if (chosen === null) return failed('connection.none');
      const connection = await options.ready(chosen.connectionId);
      if (!connection.ok) return connection;
      const profile = await profiles.read(connection.value);
      if (!profile.ok) return profile;
      // Another address, certificate or proxy: the sockets opened before are of no use.
      if (
        opened === null ||
        stale ||
        JSON.stringify(opened.connection) !== JSON.stringify(connection.value)
      ) {
        await opened?.transport.close();
        opened = null;
        stale = false;
        const transport = await openTransport(connection.value, {
          platform,
          connections,
          managed,
          profile: profile.value,
        });
        if (!transport.ok) return transport;
        opened = { connection: connection.value, transport: transport.value };
      }
      return done({ ...opened, profile: profile.value });
    },
    reopen() {
      stale = true;
    },
    async close() {
      await opened?.transport.close();
    },
  };
}
