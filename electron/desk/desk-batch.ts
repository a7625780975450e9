import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Audit } from '../audit/audit.ts';
import type { Batch } from '../batch/batch.ts';
import { openBatch } from '../batch/open-batch.ts';
import { failed, type Outcome } from '../contract/errors.ts';
import type { Connections } from '../credentials/connections.ts';
import type { Keychain } from '../credentials/keychain.ts';
import type { Clock } from '../privacy/clock.ts';
import type { Reveals } from '../privacy/reveals.ts';
import type { DeskDocument } from '../settings/document.ts';
import type { Store } from '../settings/store.ts';
import type { Shell } from '../shell/shell.ts';
import type { Clients } from './clients.ts';
import { makeSample } from './sample.ts';

export interface DeskBatchParts {
  readonly shell: Shell;
  readonly connections: Connections;
  readonly clients: Clients;
  readonly audit: Audit;
  readonly keychain: Keychain;
  readonly reveals: Reveals;
  readonly store: Store<DeskDocument>;
  readonly clock: Clock;
}

/** The batch room with what this desk has. */
export function openDeskBatch(parts: DeskBatchParts): Batch {
  const { shell, connections, clients, audit, keychain, reveals, store, clock } = parts;

  function active() {
    const chosen = connections.active();
    const connection = chosen === null ? null : connections.find(chosen.connectionId);
    if (chosen === null || connection?.ok !== true) return null;
    return { connection: connection.value, policy: chosen.policy };
  }

  /** Tokens of the sample are the built-in service's own: elsewhere they would mean nothing. */
  async function sampleFile(): Promise<Outcome<string>> {
    const chosen = active();
    if (chosen?.connection.builtIn !== true) return failed('connection.built-in');
    const client = await clients.for(chosen.connection.id);
    if (!client.ok) return client;
    return makeSample({
      source: path.join(shell.resources, 'samples', 'disputes.csv'),
      folder: path.join(shell.home, 'samples'),
      client: client.value,
      policy: 'analyst',
    });
  }

  return openBatch({
    folder: path.join(shell.home, 'jobs'),
    clock,
    newId: randomUUID,
    clientFor: (connectionId) => clients.for(connectionId),
    active,
    audit,
    keychain,
    shell,
    mappings: {
      load: () => store.read('mappings'),
      save: (all) => {
        store.write('mappings', [...all]);
      },
    },
    reveals: { allow: () => reveals.allow(), open: () => reveals.open() },
    caseRequired: () => store.read('settings').caseRequired,
    emit: (event, payload) => shell.send(event, payload),
    sampleFile,
  });
}
