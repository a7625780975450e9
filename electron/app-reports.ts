import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Audit } from './audit/audit.ts';
import { done, failed, type Outcome } from './contract/errors.ts';
import type { Connection } from './contract/models/connection.ts';
import type { Connections } from './credentials/connections.ts';
import type { Keychain } from './credentials/keychain.ts';
import { systemClock } from './privacy/clock.ts';
import { openPortalHttp } from './reports/portal-http.ts';
import {
  type ReportedConnection,
  type ReportParts,
  openReports,
  type ReportsCalls,
} from './reports/reports.ts';
import { defaultReporting } from './service/profile.ts';
import type { SharedTransport } from './service/http/transport.ts';
import type { Platform } from './platform/platform.ts';
import { builtInId, type BuiltInConnection } from './built-in-connection.ts';
import { loadProfile, openTransport } from './clients.ts';

export interface AppReportsOptions {
  readonly platform: Platform;
  readonly connections: Connections;
  readonly builtIn: Pick<BuiltInConnection, 'start' | 'portalUser'>;
  readonly audit: Audit;
  readonly keychain: Keychain;
  readonly clipboard: ReportParts['clipboard'];
}

export interface AppReports {
  readonly handlers: ReportsCalls;
  /** A connection or its secrets changed: the next report is asked for over new sockets. */
  reopen(): void;
  close(): Promise<void>;
}

/** The reports room over sockets of its own: a report that takes long keeps no lookup waiting. */
export async function openAppReports(parts: AppReportsOptions): Promise<AppReports> {
  const { platform, connections, builtIn } = parts;
  const profile = await loadProfile(platform);
  let open: { of: Connection; transport: SharedTransport } | null = null;
  let stale = false;

  async function transportFor(connection: Connection): Promise<Outcome<SharedTransport>> {
    // Another address, certificate or host: the sockets of before are of no use.
    if (open !== null && !stale && JSON.stringify(open.of) === JSON.stringify(connection))
      return done(open.transport);
    await open?.transport.close();
    open = null;
    stale = false;
    const transport = await openTransport(platform, connections, connection);
    if (transport.ok) open = { of: connection, transport: transport.value };
    return transport;
  }

  async function active(): Promise<Outcome<ReportedConnection>> {
    const chosen = connections.active();
    if (chosen === null) return failed('connection.none');
    if (!profile.ok) return profile;
    if (chosen.connectionId === builtInId) {
      const started = await builtIn.start();
      if (!started.ok) return started;
    }
    const connection = connections.find(chosen.connectionId);
    if (!connection.ok) return connection;
    const transport = await transportFor(connection.value);
    if (!transport.ok) return transport;
    const { baseUrl } = connection.value;
    const dispatcher = () => transport.value.dispatcher();
    return done({
      connection: connection.value,
      http: openPortalHttp({ baseUrl, dispatcher, clock: systemClock }),
    });
  }

  return {
    handlers: openReports({
      active,
      keychain: parts.keychain,
      audit: parts.audit,
      auditFolder: path.join(platform.home, 'audit'),
      profile: (profile.ok ? profile.value.reporting : undefined) ?? defaultReporting,
      builtInUser: (id) =>
        id === builtInId ? builtIn.portalUser() : Promise.resolve(failed('portal.credentials')),
      version: platform.version,
      clipboard: parts.clipboard,
      chooseTarget: (suggestion) => platform.chooseTarget(suggestion),
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
