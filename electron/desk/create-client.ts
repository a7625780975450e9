import fs from 'node:fs/promises';
import path from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Connections } from '../credentials/connections.ts';
import type { Witness } from '../service/client.ts';
import { systemClock } from '../privacy/clock.ts';
import { createServiceClient, type CreatedClient } from '../service/create-client.ts';
import { readProfile, type ServiceProfile } from '../service/profile.ts';
import { createTransport, type SharedTransport, type TransportOptions } from '../service/transport.ts';
import { trustedCertificates } from '../service/trusted-certificates.ts';
import type { DeskDocument } from '../settings/document.ts';
import type { Store } from '../settings/store.ts';
import type { Shell } from '../shell/shell.ts';

export interface CreateClientParts {
  readonly shell: Pick<Shell, 'proxyFor' | 'trustedCertificates' | 'resources' | 'site'>;
  readonly connections: Pick<Connections, 'secret' | 'certificate'>;
  readonly store: Store<DeskDocument>;
}

export type CreateClient = (connection: Connection, witness: Witness) => Promise<Outcome<CreatedClient>>;

const profileName = 'service-profile.json';

/** The site's service profile where it has one, else the one that is shipped. Failure: connection.invalid. */
export async function loadProfile(
  shell: Pick<Shell, 'resources' | 'site'>,
): Promise<Outcome<ServiceProfile>> {
  for (const folder of [shell.site, shell.resources]) {
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
  shell: Pick<Shell, 'proxyFor' | 'trustedCertificates'>,
  connections: Pick<Connections, 'secret' | 'certificate'>,
  connection: Connection,
): Promise<Outcome<SharedTransport>> {
  const { id, baseUrl, extraCa, builtIn } = connection;
  const ca = trustedCertificates(extraCa, await shell.trustedCertificates(), builtIn);
  if (!ca.ok) return ca;
  // The built-in service is on this machine: a proxy could only be in the way.
  const url = builtIn ? null : await shell.proxyFor(baseUrl);
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
export function createClientFor({ shell, connections, store }: CreateClientParts): CreateClient {
  return async (connection, witness) => {
    const { id } = connection;
    const profile = await loadProfile(shell);
    if (!profile.ok) return profile;
    const opened = await openTransport(shell, connections, connection);
    if (!opened.ok) return opened;
    const transport = opened.value;
    const client = createServiceClient({
      connection,
      profile: profile.value,
      transport,
      witness,
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
