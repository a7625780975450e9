import fs from 'node:fs/promises';
import path from 'node:path';
import { failed, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Connections } from '../credentials/connections.ts';
import type { Witness } from '../service/client.ts';
import { systemClock } from '../service/clock.ts';
import { createServiceClient, type CreatedClient } from '../service/create-client.ts';
import { readProfile } from '../service/profile.ts';
import { createTransport } from '../service/transport.ts';
import { trustedCertificates } from '../service/trusted-certificates.ts';
import type { DeskDocument } from '../settings/document.ts';
import type { Store } from '../settings/store.ts';
import type { Shell } from '../shell/shell.ts';

export interface CreateClientParts {
  readonly shell: Pick<Shell, 'proxyFor' | 'trustedCertificates' | 'resources'>;
  readonly connections: Pick<Connections, 'secret'>;
  readonly store: Store<DeskDocument>;
}

export type CreateClient = (connection: Connection, witness: Witness) => Promise<Outcome<CreatedClient>>;

/** Makes the client of a connection with the host's proxy and certificates and the site's service profile. */
export function createClientFor({ shell, connections, store }: CreateClientParts): CreateClient {
  return async (connection, witness) => {
    const { id, baseUrl, extraCa, builtIn } = connection;
    let text: string;
    try {
      text = await fs.readFile(path.join(shell.resources, 'service-profile.json'), 'utf8');
    } catch {
      return failed('connection.invalid', { subject: 'service-profile.json' });
    }
    const profile = readProfile(text);
    if (!profile.ok) return profile;
    const ca = trustedCertificates(extraCa, await shell.trustedCertificates(), builtIn);
    if (!ca.ok) return ca;
    // The built-in service is on this machine: a proxy could only be in the way.
    const proxy = builtIn ? null : await shell.proxyFor(baseUrl);
    const transport = createTransport({
      baseUrl,
      ca: ca.value,
      clock: systemClock,
      ...(proxy !== null && { proxy: { url: proxy } }),
    });
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
