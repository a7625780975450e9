import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import type { Seed } from '../../electron/built-in-service/seed.ts';

const base = '/api/services/evtservice';
const batchSize = 1_000;

export interface ServiceProcess {
  readonly baseUrl: string;
  readonly ca: string;
  readonly apiKey: string;
  readonly password: string;
  readonly tokenize: (values: readonly string[]) => Promise<string[]>;
  readonly detokenize: (tokens: readonly string[]) => Promise<(string | null)[]>;
  readonly close: () => Promise<void>;
}

/** A service in a process of its own, and a client of it that shares nothing with the app's. */
export async function startServiceProcess(folder: string): Promise<ServiceProcess> {
  fs.mkdirSync(folder, { recursive: true });
  const seedFile = path.join(folder, 'seed.json');
  const script = path.resolve(import.meta.dirname, '../../scripts/built-in-service.ts');
  const data = path.join(folder, 'data');
  const child = spawn(process.execPath, [script, '--data', data, '--write-seed', seedFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let baseUrl = '';
  for await (const line of createInterface(child.stdout)) {
    baseUrl ||= /^Base URL\s+(\S+)$/.exec(line)?.[1] ?? '';
    if (line === 'Ctrl+C stops it.') break;
  }
  child.stdout.resume();
  const seed = JSON.parse(fs.readFileSync(seedFile, 'utf8')) as Seed;
  const apiKey = String(seed.apiKeys.find(({ title }) => title === 'desk')?.value);
  const password = String(seed.policies.find(({ name }) => name === 'analyst')?.password);
  const ca = fs.readFileSync(path.join(data, 'ca.pem'), 'utf8');
  const pool = new Pool(baseUrl, { connect: { ca } });
  async function ask<T>(operation: string, body: object): Promise<T> {
    const answer = await pool.request({
      ...{ method: 'POST', path: `${base}/${operation}`, body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    });
    if (answer.statusCode !== 200) throw new Error(`${operation}: ${await answer.body.text()}`);
    return (await answer.body.json()) as T;
  }
  async function convert(operation: string, values: readonly string[]): Promise<(string | null)[]> {
    const given = { apiKey, policy: 'analyst', policyPassword: password };
    const { sessionToken } = await ask<{ sessionToken: string }>('createsession', given);
    const results: (string | null)[] = [];
    for (let at = 0; at < values.length; at += batchSize) {
      const part = values.slice(at, at + batchSize);
      const elements = part.map((value, n) => ({ RefId: String(at + n), Value: value }));
      const answer = await ask<{ elements: { RefId: string; Value?: string }[] }>(operation, {
        ...{ sessionToken, tokenName: 'card-number', elements },
      });
      for (const { RefId, Value } of answer.elements) results[Number(RefId)] = Value ?? null;
    }
    return results;
  }
  return {
    ...{ baseUrl, ca, apiKey, password },
    tokenize: async (values) => (await convert('batchtokenize', values)).map(String),
    detokenize: (tokens) => convert('batchdetokenize', tokens),
    async close() {
      await pool.close();
      child.kill('SIGTERM');
      await ended;
    },
  };
}
