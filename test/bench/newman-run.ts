import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type NewmanRun =
  | { readonly ok: true; readonly rows: number; readonly ms: number }
  | { readonly ok: false; readonly why: string };

/** What a person without this product would do: one request a row, from the same CSV, in Postman's runner. */
export async function runNewman(
  folder: string,
  input: string,
  url: string,
  rows: number,
): Promise<NewmanRun> {
  const newman = await install(folder);
  if (newman === null) return { ok: false, why: 'newman could not be installed' };
  const data = join(folder, 'newman.csv');
  const lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(input) })) {
    lines.push(line.split(',').slice(0, 2).join(','));
    if (lines.length > rows) break;
  }
  await writeFile(data, lines.join('\n'));
  const collection = join(folder, 'collection.json');
  const raw = '{"sessionToken":"bench","tokenName":"card","elements":[{"RefId":"0","Value":"{{token}}"}]}';
  const request = {
    method: 'POST',
    header: [{ key: 'content-type', value: 'application/json' }],
    body: { mode: 'raw', raw },
    url: `${url}/api/services/evtservice/batchdetokenize`,
  };
  await writeFile(
    collection,
    JSON.stringify({
      info: { name: 'bench', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
      item: [{ name: 'row', request }],
    }),
  );
  const started = performance.now();
  try {
    await promisify(execFile)(
      process.execPath,
      [newman, 'run', collection, '-d', data, '--insecure', '--silent', '--suppress-exit-code'],
      { timeout: 300_000 },
    );
  } catch {
    return { ok: false, why: 'newman did not run to its end' };
  }
  return { ok: true, rows, ms: performance.now() - started };
}

async function install(folder: string): Promise<string | null> {
  try {
    const options = { timeout: 180_000, env: { ...process.env, npm_config_update_notifier: 'false' } };
    await promisify(execFile)(
      'npm',
      ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, 'newman@6'],
      options,
    );
    return join(folder, 'node_modules/newman/bin/newman.js');
  } catch {
    return null;
  }
}
