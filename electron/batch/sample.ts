import fs from 'node:fs/promises';
import path from 'node:path';
import Papa from 'papaparse';
import { createBatch, type Batch } from './batch.ts';
import { openCleartext } from '../util/cleartext.ts';
import type { BatchOptions } from './options.ts';
import { failed, type Outcome, done } from '../contract/errors.ts';
import type { Platform } from '../platform/platform.ts';
import type { ServiceClient } from '../service/service-client.ts';

export interface AppBatchOptions extends Omit<BatchOptions, 'folder' | 'platform' | 'sampleFile'> {
  readonly platform: Platform;
}

/** The batch calls of this app: jobs and sample in its home folder. */
export function createAppBatch(options: AppBatchOptions): Batch {
  const { platform, connections, clients } = options;
  return createBatch({
    ...options,
    folder: path.join(platform.home, 'jobs'),
    async sampleFile() {
      const active = connections.active();
      const connection = active === null ? null : connections.find(active.connectionId);
      // Tokens of the sample are the built-in service's own: elsewhere they would mean nothing.
      if (connection?.ok !== true || !connection.value.builtIn) return failed('connection.built-in');
      const client = await clients.for(connection.value.id);
      if (!client.ok) return client;
      return createSample({
        source: path.join(platform.resources, 'samples', 'disputes.csv'),
        folder: path.join(platform.home, 'samples'),
        client: client.value,
        policy: 'analyst',
      });
    },
  });
}

interface SampleOptions {
  /** A CSV of made-up people with test card numbers, in UTF-8. */
  readonly source: string;
  /** Where the tokenized copy is stored. */
  readonly folder: string;
  readonly client: ServiceClient;
  readonly policy: string;
}

/**
 * Columns of the sample that are protected, and what they are called once they are. SSNs stay as they came: their tokens
 * look like SSNs, and who is new would be told to tokenize them once more.
 */
const protectedColumns = [{ header: 'card_number', renamed: 'card_token', definition: 'card-number' }];

/**
 * A sample to practise on: the shipped file with its card numbers tokenized by the built-in service, since
 * tokens depend on this workstation's own key. Values that can't be tokenized stay, so that the sample has failed rows.
 */
async function createSample({ source, folder, client, policy }: SampleOptions): Promise<Outcome<string>> {
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
      if (element.ok && element.value !== null && row !== undefined)
        row[column] = openCleartext(element.value);
    }
    header[column] = renamed;
  }
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, path.basename(source));
  await fs.writeFile(file, Papa.unparse(rows, { newline: '\r\n' }), { mode: 0o600 });
  return done(file);
}
