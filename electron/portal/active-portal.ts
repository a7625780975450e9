import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Audit } from '../audit/audit.ts';
import type { Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Connections } from '../connections/store.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { Platform } from '../platform/platform.ts';
import { builtInId, type BuiltInConnection } from '../connections/built-in.ts';
import { openTransport } from '../connections/clients.ts';
import { systemClock } from '../privacy/clock.ts';
import type { ReportedConnection } from './portal.ts';
import { openReports, type ReportsOptions } from '../reports/reports.ts';
import type { ConnectionProfiles } from '../connections/profiles.ts';
import type { Transport } from '../service/http/transport.ts';

export interface AppReportsOptions {
  readonly platform: Platform;
  readonly connections: Connections;
  readonly profiles: Pick<ConnectionProfiles, 'read'>;
  readonly managed: Pick<ManagedSettings, 'allowedHosts'>;
  /** The connection, ready to be used. */
  readonly ready: (connectionId: string) => Promise<Outcome<Connection>>;
  readonly builtIn: Pick<BuiltInConnection, 'portalUser'>;
  readonly audit: Audit;
  readonly keychain: Keychain;
  readonly clipboard: ReportsOptions['clipboard'];
  readonly transfers: ReportsOptions['transfers'];
}

export interface AppReports {
  readonly handlers: Handlers<'reports'>;
  /** The connection in use and the way to its portal. */
  active(): Promise<Outcome<ReportedConnection>>;
  /** A connection or its secrets changed: the next report is asked for over new sockets. */
  reopen(): void;
  close(): Promise<void>;
}

/** Reports over a transport of their own: one that takes long keeps no lookup waiting. */
export function createAppReports(options: AppReportsOptions): AppReports {
  const { platform, connections, profiles, builtIn } = options;
  let open: { connection: Connection; transport: Transport } | null = null;
  let stale = false;

  async function active(): Promise<Outcome<ReportedConnection>> {
    const chosen = connections.active();
    if (chosen === null) return failed('connection.none');
    const connection = await options.ready(chosen.connectionId);
    if (!connection.ok) return connection;
    const profile = await profiles.read(connection.value);
    if (!profile.ok) return profile;
    // Another address, certificate or proxy: the sockets opened before are of no use.
    if (open === null || stale || JSON.stringify(open.connection) !== JSON.stringify(connection.value)) {
      await open?.transport.close();
      open = null;
      stale = false;
      const transport = await openTransport(connection.value, {
        platform,
        connections,
        managed: options.managed,
        profile: profile.value,
      });
      if (!transport.ok) return transport;
      open = { connection: connection.value, transport: transport.value };
    }
    return done({ ...open, profile: profile.value });
  }

  return {
    active,
    handlers: openReports({
      active,
      keychain: options.keychain,
      audit: options.audit,
      auditFolder: path.join(platform.home, 'audit'),
      builtInUser: (id) =>
        id === builtInId ? builtIn.portalUser('AccountUser') : Promise.resolve(failed('portal.credentials')),
      version: platform.version,
      clipboard: options.clipboard,
      chooseTarget: (suggestion) => platform.chooseTarget(suggestion),
      transfers: options.transfers,
      now: () => new Date(systemClock.now()),
      newId: randomUUID,
    }),
    reopen() {
      stale = true;
    },
    async close() {
      await open?.transport.close();
    },
  };
}
