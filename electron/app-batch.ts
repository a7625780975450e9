import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import Papa from 'papaparse';
import type { Audit } from './audit/audit.ts';
import { type Batch, openBatch } from './batch/batch.ts';
import type { Clients } from './clients.ts';
import { failed, type Outcome, done } from './contract/errors.ts';
import type { Connections } from './credentials/connections.ts';
import type { Keychain } from './credentials/keychain.ts';
import type { Platform } from './platform/platform.ts';
import type { Clock } from './privacy/clock.ts';
import type { Reveals } from './privacy/reveals.ts';
import type { ServiceClient } from './service/client.ts';
import type { SettingsDocument } from './settings/settings.ts';
import type { Store } from './settings/store.ts';

export interface AppBatchOptions {
  readonly platform: Platform;
  readonly connections: Connections;
  readonly clients: Clients;
  readonly audit: Audit;
  readonly keychain: Keychain;
  readonly reveals: Reveals;
  readonly store: Store<SettingsDocument>;
  readonly clock: Clock;
}

/** The batch room with what this app has. */
export function openAppBatch(parts: AppBatchOptions): Batch {
  const { platform, connections, clients, audit, keychain, reveals, store, clock } = parts;

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
      source: path.join(platform.resources, 'samples', 'disputes.csv'),
      folder: path.join(platform.home, 'samples'),
      client: client.value,
      policy: 'analyst',
    });
  }

  return openBatch({
    folder: path.join(platform.home, 'jobs'),
    clock,
    newId: randomUUID,
    clientFor: (connectionId) => clients.for(connectionId),
    active,
    audit,
    keychain,
    platform,
    mappings: {
      load: () => store.read('mappings'),
      save: (all) => {
        store.write('mappings', [...all]);
      },
    },
    reveals: { allow: () => reveals.allow(), open: () => reveals.open() },
    caseRequired: () => store.read('settings').caseRequired,
    emit: (event, payload) => platform.send(event, payload),
    sampleFile,
  });
}

export interface SampleParts {
  /** A CSV of made-up people with test card numbers, in UTF-8. */
  readonly source: string;
  /** Where the tokenized copy is kept. */
  readonly folder: string;
  readonly client: ServiceClient;
  readonly policy: string;
}

/** Columns of the sample that are protected, and what they are called once they are. */
const protectedColumns = [
  { header: 'card_number', renamed: 'card_token', definition: 'card-number' },
  { header: 'ssn', renamed: 'ssn_token', definition: 'ssn' },
];

/**
 * A sample to practise on: the shipped file with its card numbers and SSNs tokenized by the built-in service, since
 * tokens hang on this workstation's own key. Rows that can't be tokenized keep what they have, on purpose: the
 * sample shows failed rows too.
 */
export async function makeSample({ source, folder, client, policy }: SampleParts): Promise<Outcome<string>> {
  const rows = Papa.parse<string[]>(await fs.readFile(source, 'utf8')).data;
  const [header] = rows;
  if (header === undefined) return failed('file.empty');
  for (const { header: name, renamed, definition } of protectedColumns) {
    const column = header.indexOf(name);
    if (column === -1) continue;
    const elements = rows
      .map((row, index) => ({ ref: `${index}`, value: row[column]?.trim() ?? '' }))
      .slice(1)
      .filter(({ value }) => value !== '');
    const call = { operation: 'BatchTokenize', policy, definition } as const;
    const answer = await client.batch(call, elements, { rows: elements.length });
    if (!answer.ok) return answer;
    for (const element of answer.value.elements) {
      const row = rows[Number(element.ref)];
      if (element.ok && row !== undefined) row[column] = element.value;
    }
    header[column] = renamed;
  }
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, path.basename(source));
  await fs.writeFile(file, Papa.unparse(rows, { newline: '\r\n' }), { mode: 0o600 });
  return done(file);
}
