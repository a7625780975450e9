import fs from 'node:fs/promises';
import path from 'node:path';
import type { Audit } from './audit/audit.ts';
import { type Outcome, done, failed } from './contract/errors.ts';
import type { Connection } from './contract/models/connection.ts';
import type { Connections } from './credentials/connections.ts';
import type { Platform } from './platform/platform.ts';
import { systemClock } from './privacy/clock.ts';
import { type CreatedClient, type AuditRequest, createServiceClient } from './service/client.ts';
import {
  createTransport,
  type SharedTransport,
  type TransportOptions,
  trustedCertificates,
} from './service/http/transport.ts';
import { readProfile, type ServiceProfile } from './service/profile.ts';
import type { SettingsDocument } from './settings/settings.ts';
import type { Store } from './settings/store.ts';

export interface ClientParts {
  readonly connections: Pick<Connections, 'find'>;
  readonly audit: Audit;
  readonly create: CreateClient;
  /** Settles when a connection can be used; the built-in one has to be started first. */
  readonly ready: (connection: Connection) => Promise<Outcome<unknown>>;
  readonly onStatus: () => void;
}

/** The clients of this run, one a connection, made at first use and again when the connection changed. */
export interface Clients {
  for(connectionId: string): Promise<Outcome<CreatedClient>>;
  /** The one there is already, for its status. */
  open(connectionId: string): Promise<CreatedClient | null>;
  /** The machine slept: what was under way is tried again on new sockets. */
  wake(): Promise<void>;
  /** After a change of the connection or its secrets. */
  drop(connectionId: string): Promise<void>;
  close(): Promise<void>;
}

export function createClients({ connections, audit, create, ready, onStatus }: ClientParts): Clients {
  const open = new Map<string, Promise<Outcome<CreatedClient>>>();

  async function there(connectionId: string): Promise<CreatedClient | null> {
    const client = await open.get(connectionId);
    return client?.ok === true ? client.value : null;
  }

  async function drop(connectionId: string): Promise<void> {
    const client = await there(connectionId);
    open.delete(connectionId);
    await client?.close();
  }

  async function make(connection: Connection): Promise<Outcome<CreatedClient>> {
    const client = await create(connection, createRequestAudit(audit, connection));
    if (client.ok) client.value.onStatus(onStatus);
    else open.delete(connection.id);
    return client;
  }

  return {
    async for(connectionId) {
      const known = connections.find(connectionId);
      if (!known.ok) return known;
      const usable = await ready(known.value);
      if (!usable.ok) return usable;
      const already = open.get(connectionId);
      if (already) return already;
      // Found again: becoming ready may have changed its address.
      const connection = connections.find(connectionId);
      if (!connection.ok) return connection;
      const made = make(connection.value);
      open.set(connectionId, made);
      return made;
    },
    open: there,
    async wake() {
      for (const connectionId of open.keys()) (await there(connectionId))?.wake();
    },
    drop,
    async close() {
      await Promise.all([...open.keys()].map(drop));
    },
  };
}

export interface CreateClientParts {
  readonly platform: Pick<Platform, 'proxyFor' | 'resources' | 'site'>;
  readonly connections: Pick<Connections, 'secret' | 'certificate'>;
  readonly store: Store<SettingsDocument>;
}

export type CreateClient = (
  connection: Connection,
  auditRequest: AuditRequest,
) => Promise<Outcome<CreatedClient>>;

const profileName = 'service-profile.json';

/** The site's service profile where it has one, else the one that is shipped. Failure: connection.invalid. */
export async function loadProfile(
  platform: Pick<Platform, 'resources' | 'site'>,
): Promise<Outcome<ServiceProfile>> {
  for (const folder of [platform.site, platform.resources]) {
    try {
      return readProfile(await fs.readFile(path.join(folder, profileName), 'utf8'));
    } catch (error) {
      // A file that is there and can't be read must not be passed over: the site meant it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') break;
    }
  }
  return failed('connection.invalid', { subject: profileName });
}

/**
 * Sockets of their own to a connection's address, with the host's proxy and certificates, its sign-in to that proxy
 * and its client certificate. Failures: certificate.invalid, credentials.missing (the proxy's password, `subject` is
 * its user), keychain.*.
 */
export async function openTransport(
  platform: Pick<Platform, 'proxyFor'>,
  connections: Pick<Connections, 'secret' | 'certificate'>,
  connection: Connection,
): Promise<Outcome<SharedTransport>> {
  const { id, baseUrl, extraCa, builtIn } = connection;
  const ca = trustedCertificates(extraCa, builtIn);
  if (!ca.ok) return ca;
  // The built-in service is on this machine: a proxy could only be in the way.
  const url = builtIn ? null : await platform.proxyFor(baseUrl);
  const proxy = url === null ? done(null) : await signInTo(url, connections, connection);
  if (!proxy.ok) return proxy;
  const certificate = await connections.certificate(id);
  if (!certificate.ok) return certificate;
  return done(
    createTransport({
      baseUrl,
      ca: ca.value,
      clock: systemClock,
      ...(proxy.value !== null && { proxy: proxy.value }),
      ...(certificate.value !== null && { clientCertificate: certificate.value }),
    }),
  );
}

async function signInTo(
  url: string,
  connections: Pick<Connections, 'secret'>,
  { id, proxyUser }: Connection,
): Promise<Outcome<NonNullable<TransportOptions['proxy']>>> {
  if (proxyUser === '') return done({ url });
  const password = await connections.secret(id, { kind: 'proxyPassword' });
  if (password.ok) return done({ url, username: proxyUser, password: password.value });
  const { code } = password.failure;
  return code === 'credentials.missing' ? failed(code, { subject: proxyUser }) : password;
}

/** Makes the client of a connection with the host's proxy and certificates and the site's service profile. */
export function createClientFor({ platform, connections, store }: CreateClientParts): CreateClient {
  return async (connection, auditRequest) => {
    const { id } = connection;
    const profile = await loadProfile(platform);
    if (!profile.ok) return profile;
    const opened = await openTransport(platform, connections, connection);
    if (!opened.ok) return opened;
    const transport = opened.value;
    const client = createServiceClient({
      connection,
      profile: profile.value,
      transport,
      auditRequest,
      secrets: {
        apiKey: () => connections.secret(id, { kind: 'apiKey' }),
        policyPassword: (policy) => connections.secret(id, { kind: 'policyPassword', policy }),
      },
      quota: {
        load: () => Promise.resolve(store.read('quota')[id] ?? null),
        save: (record) => {
          const kept = { hours: [...record.hours], pausedUntil: record.pausedUntil };
          store.write('quota', { ...store.read('quota'), [id]: kept });
          return Promise.resolve();
        },
      },
    });
    return { ok: true, value: client };
  };
}

/**
 * Lets a request leave only when its line is in the audit log and synced. The first request of a recorded act has its
 * line already: the act's.
 */
export function createRequestAudit(
  audit: Pick<Audit, 'begin'>,
  connection: { name: string; environment: string },
): AuditRequest {
  return async ({ operation, policy, definition, context }) => {
    if (context.act?.sent === false && operation !== 'CreateSession') {
      context.act.sent = true;
      return done(() => undefined);
    }
    const begun = await audit.begin({
      action: operation,
      connection: connection.name,
      environment: connection.environment,
      policy,
      ...(definition !== null && { definition }),
      ...(context.reason !== undefined && { reason: context.reason }),
      ...(context.caseReference !== undefined && { caseReference: context.caseReference }),
      ...(context.rows !== undefined && { rows: context.rows }),
      ...(context.job !== undefined && { job: context.job }),
    });
    if (!begun.ok) return begun;
    return done(({ ok, code, requestId }) => {
      begun.value({ ok, ...(code !== null && { code }), ...(requestId !== null && { requestId }) });
    });
  };
}
