import type { Audit } from '../audit/audit.ts';
import { type Outcome, done, failed } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Connection } from '../contract/models/connection.ts';
import { operationInfo } from '../contract/operations.ts';
import type { Connections } from './store.ts';
import type { Platform } from '../platform/platform.ts';
import type { Guesses } from '../privacy/guesses.ts';
import { systemClock } from '../util/clock.ts';
import type { ConnectionProfiles } from './profiles.ts';
import { createServiceClient } from '../service/client.ts';
import type { AuditRequest, ClientHooks, ServiceClient } from '../service/service-client.ts';
import type { Transport, TransportOptions } from '../service/http/transport.ts';
import { pinsFor } from '../service/pins.ts';
import type { ServiceProfile } from '../service/profile.ts';
import { isAllowedHost } from '../settings/managed-settings.ts';
import type { SettingsDocument } from '../settings/settings.ts';
import type { Store } from '../settings/store.ts';

export interface ClientsOptions {
  readonly audit: Pick<Audit, 'begin' | 'hurry'>;
  readonly create: CreateClient;
  readonly guesses: Pick<Guesses, 'admit' | 'alike'>;
  /** The connection, ready to be used: the built-in service is started first, which may change its address. */
  readonly ready: (connectionId: string) => Promise<Outcome<Connection>>;
  readonly onStatus: () => void;
}

/** The clients of this run, one a connection, made at first use and again when the connection changed. */
export interface Clients {
  for(connectionId: string): Promise<Outcome<ServiceClient>>;
  /** The one there is already, for its status. */
  open(connectionId: string): Promise<ServiceClient | null>;
  /** The app was locked, or the machine slept: no session outlives that. */
  dropSessions(): Promise<void>;
  /** The machine slept: what was under way is tried again on new sockets. */
  wake(): Promise<void>;
  /** After a change of the connection or its secrets. */
  drop(connectionId: string): Promise<void>;
  close(): Promise<void>;
}

export function createClients({ audit, create, guesses, ready, onStatus }: ClientsOptions): Clients {
  const clients = new Map<string, Promise<Outcome<ServiceClient>>>();

  async function open(connectionId: string): Promise<ServiceClient | null> {
    // Making one that failed is its caller's to hear of.
    const client = await clients.get(connectionId)?.catch(() => null);
    return client?.ok === true ? client.value : null;
  }

  async function drop(connectionId: string): Promise<void> {
    const client = await open(connectionId);
    clients.delete(connectionId);
    await client?.close();
  }

  async function make(connection: Connection): Promise<Outcome<ServiceClient>> {
    let made = false;
    try {
      const client = await create(connection, {
        auditRequest: createRequestAudit(audit, connection, guesses),
        admit: (definition, values, job) => guesses.admit({ connection, definition }, values, job),
      });
      made = client.ok;
      if (client.ok) client.value.onStatus(onStatus);
      return client;
    } finally {
      if (!made) clients.delete(connection.id);
    }
  }

  return {
    async for(connectionId) {
      const connection = await ready(connectionId);
      if (!connection.ok) return connection;
      const existing = clients.get(connectionId);
      if (existing) return existing;
      const made = make(connection.value);
      clients.set(connectionId, made);
      return made;
    },
    open,
    async dropSessions() {
      for (const connectionId of clients.keys()) (await open(connectionId))?.dropSessions();
    },
    async wake() {
      for (const connectionId of clients.keys()) (await open(connectionId))?.wake();
    },
    drop,
    async close() {
      await Promise.all([...clients.keys()].map(drop));
    },
  };
}

interface CreateClientOptions {
  readonly platform: Pick<Platform, 'proxyFor'>;
  readonly profiles: Pick<ConnectionProfiles, 'read' | 'noteUnread'>;
  readonly connections: Pick<Connections, 'secret' | 'certificate'>;
  readonly managed: Pick<ManagedSettings, 'allowedHosts'>;
  readonly store: Store<SettingsDocument>;
  /** Puts something before the transport. */
  readonly watch?: (transport: Transport) => Transport;
}

type CreateClient = (connection: Connection, hooks: ClientHooks) => Promise<Outcome<ServiceClient>>;

/**
 * A transport to a connection's address, where the administrator allows its host, with the platform's proxy and certificates, the sign-in to that proxy, the
 * client certificate and the profile's pins. Failures: connection.host, service.proxy (`subject` is the scheme of a proxy that can't be
 * used, such as `socks4://`; the rest may hold a password), certificate.invalid, credentials.missing (the proxy's password, `subject` is
 * its user), keychain.*.
 */
export async function openTransport(
  connection: Connection,
  {
    platform,
    connections,
    managed,
    profile,
  }: {
    platform: Pick<Platform, 'proxyFor'>;
    connections: Pick<Connections, 'secret' | 'certificate'>;
    managed: Pick<ManagedSettings, 'allowedHosts'>;
    profile: Pick<ServiceProfile, 'pins' | 'headers'>;
  },
): Promise<Outcome<Transport>> {
  const { id, baseUrl, extraCa, builtIn, accountId, tenantId } = connection;
  const { hostname } = new URL(baseUrl);
  // The flag alone stands in a file that the person can write.
  const isOwn = builtIn && hostname === '127.0.0.1';
  if (!isOwn && !isAllowedHost(baseUrl, managed)) return failed('connection.host', { subject: hostname });
  const { createTransport, trustedCertificates } = await loadTransport();
  const ca = trustedCertificates(extraCa, builtIn);
  if (!ca.ok) return ca;
  // The built-in service is on this machine: a proxy could only be in the way.
  const url = builtIn ? null : await platform.proxyFor(baseUrl);
  const unusable = url === null ? null : unusableScheme(url);
  if (unusable !== null) return failed('service.proxy', { subject: unusable });
  const proxy = url === null ? done(null) : await signInTo(url, connections, connection);
  if (!proxy.ok) return proxy;
  const certificate = await connections.certificate(id);
  if (!certificate.ok) return certificate;
  const pins = pinsFor(profile.pins, baseUrl);
  return done(
    createTransport({
      baseUrl,
      ca: ca.value,
      clock: systemClock,
      headers: Object.fromEntries(
        Object.entries(profile.headers).map(([name, text]) => [
          name,
          text.replaceAll('{accountId}', () => accountId).replaceAll('{tenantId}', () => tenantId),
        ]),
      ),
      ...(pins !== null && { pins }),
      ...(proxy.value !== null && { proxy: proxy.value }),
      ...(certificate.value !== null && { clientCertificate: certificate.value }),
    }),
  );
}

/** Half of the code of the main process, most of it undici's. No window waits for it. */
export const loadTransport = () => import('../service/http/transport.ts');

const proxySchemes = ['http:', 'https:', 'socks5:'];

/** The scheme of a proxy that the transport would throw at, `://` where there is none; null for one it can use. */
function unusableScheme(url: string): string | null {
  const scheme = /^[a-z][a-z0-9+.-]{0,20}(?=:\/\/)/i.exec(url)?.[0].toLowerCase() ?? '';
  if (!URL.canParse(url)) return `${scheme}://`;
  const { protocol, hostname, username, password } = new URL(url);
  try {
    decodeURIComponent(username + password);
  } catch {
    return `${scheme}://`;
  }
  return proxySchemes.includes(protocol) && hostname !== '' ? null : `${scheme}://`;
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

/** Makes the client of a connection, with the service profile and what `openTransport` adds. */
export function createClientFor({
  platform,
  profiles,
  connections,
  managed,
  store,
  watch = (transport) => transport,
}: CreateClientOptions): CreateClient {
  return async (connection, hooks) => {
    const { id } = connection;
    const profile = await profiles.read(connection);
    if (!profile.ok) return profile;
    const opened = await openTransport(connection, {
      platform,
      connections,
      managed,
      profile: profile.value,
    });
    if (!opened.ok) return opened;
    const transport = watch(opened.value);
    const client = createServiceClient({
      connection,
      profile: profile.value,
      transport,
      ...hooks,
      secrets: {
        apiKey: () => connections.secret(id, { kind: 'apiKey' }),
        policyPassword: (policy) => connections.secret(id, { kind: 'policyPassword', policy }),
      },
      quota: {
        load: () => Promise.resolve(store.read('quota')[id] ?? null),
        save: (record) => {
          const stored = { hours: [...record.hours], pausedUntil: record.pausedUntil };
          store.write('quota', { ...store.read('quota'), [id]: stored });
          return Promise.resolve();
        },
      },
      onUnreadable: (operation, json, submitted) => profiles.noteUnread(id, { operation, json, submitted }),
    });
    return done(client);
  };
}

/**
 * Lets a request leave only when its line is in the audit log and synced. The first request of a recorded act has its
 * line already: the act's.
 */
export function createRequestAudit(
  audit: Pick<Audit, 'begin' | 'hurry'>,
  connection: { name: string; environment: string },
  guesses?: Pick<Guesses, 'alike'>,
): AuditRequest {
  return async ({ operation, policy, definition, context, later }) => {
    const { act } = context;
    if (act?.sent === false && operation !== 'CreateSession') {
      act.sent = true;
      if (act.line === undefined) return done(() => undefined);
      if (act.isWritten !== true) audit.hurry();
      return act.line;
    }
    const tokenizes = operation !== 'CreateSession' && operationInfo[operation].takes === 'cleartext';
    const alike = tokenizes && definition !== null ? guesses?.alike(definition) : undefined;
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
      ...(later === true && { later }),
      ...(alike !== undefined && alike > 0 && { alike }),
      // A session is opened for others too.
      ...(operation !== 'CreateSession' && { tokens: context.tokens }),
      ...(operation !== 'CreateSession' && context.note !== undefined && { note: context.note }),
    });
    if (!begun.ok) return begun;
    return done(({ ok, code, requestId, refused, sent }) => {
      begun.value({
        ok,
        ...(code !== null && { code }),
        ...(requestId !== null && { requestId }),
        ...(refused !== undefined && { refused: Object.fromEntries(refused) }),
        ...(sent === false && { sent }),
      });
    });
  };
}
