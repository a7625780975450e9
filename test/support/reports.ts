import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import { createAudit } from '../../electron/audit/audit.ts';
import { createCheckpointFile } from '../../electron/audit/checkpoint.ts';
import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import type { Keychain } from '../../electron/storage/keychain.ts';
import type { Connection } from '../../electron/contract/models/connection.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { type ReportsOptions, openReports } from '../../electron/reports/reports.ts';
import { runService, type ServiceOptions } from '../../electron/built-in-service/service.ts';
import type { Seed } from '../../electron/built-in-service/seed.ts';
import { createTransport } from '../../electron/service/http/transport.ts';
import { shippedProfile } from '../faults/client-side.ts';
import { connect } from './service-client.ts';

export function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

export const auditKey = new Uint8Array(32).fill(7);

/** A keychain in memory; its entries can be read. */
export function memoryKeychain(longest = 2_560) {
  const entries = new Map<string, string>();
  const keychain: ReportsOptions['keychain'] & Pick<Keychain, 'accounts'> = {
    store: (account, secret) => {
      if (Buffer.byteLength(secret) > longest) return Promise.resolve(failed('credentials.too-long'));
      entries.set(account, secret);
      return Promise.resolve(done('stored'));
    },
    read: (account) => {
      const found = entries.get(account);
      return Promise.resolve(found === undefined ? failed('credentials.missing') : done(found));
    },
    remove: (account) => {
      entries.delete(account);
      return Promise.resolve(done(null));
    },
    peek: (account) => (entries.has(account) ? 'stored' : 'missing'),
    accounts: () => [...entries.keys()],
    key: () => Promise.resolve(done(new Uint8Array(32).fill(9))),
  };
  return { entries, keychain };
}

export async function tempFolder(): Promise<string> {
  const folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'reports-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The reports over a real built-in service, a real log and real files; only the clock is the test's. */
export async function openHarness(options: Partial<ServiceOptions> = {}, over: Partial<ReportsOptions> = {}) {
  const folder = await tempFolder();
  const time = { now: Date.parse('2026-11-20T12:00:00Z') };
  const service = await runService(
    {
      secret: new Uint8Array(32).fill(5),
      seed: defaultSeed as Seed,
      dataFolder: path.join(folder, 'service'),
      ...options,
    },
    { now: () => time.now, monotonic: () => performance.now() },
  );
  const { facts } = service;
  const client = connect(facts);
  const connection: Connection = {
    id: 'built-in',
    name: 'Built-in service',
    environment: 'development',
    baseUrl: facts.baseUrl,
    builtIn: true,
    extraCa: facts.caPem,
    clientCertificate: null,
    proxyUser: '',
    policies: [],
    definitions: [],
    accountId: facts.accountId,
    tenantId: facts.tenantId,
    apiKeyExpires: null,
    requestsPerSecond: 600,
    transfersPerDay: 10_000_000,
  };
  const transport = createTransport({ baseUrl: facts.baseUrl, ca: [facts.caPem], clock: systemClock });
  const auditFolder = path.join(folder, 'audit');
  const audit = createAudit({
    folder: auditFolder,
    key: () => Promise.resolve(done({ bytes: auditKey, persistent: true })),
    actor: 'kim',
    now: () => new Date(time.now),
    checkpoint: createCheckpointFile(path.join(folder, 'checkpoint')),
  });
  onTestFinished(async () => {
    await client.close();
    await transport.close();
    await audit.close();
    await service.stop();
  });
  const { entries, keychain } = memoryKeychain();
  const copied: string[] = [];
  const asked: string[] = [];
  let ids = 0;
  const passwordOf = (name: string) => facts.portalUsers.find((user) => user.name === name)?.password ?? '';
  const reports = openReports({
    active: () => Promise.resolve(done({ connection, transport, profile: shippedProfile() })),
    keychain,
    audit,
    auditFolder,
    builtInUser: () => Promise.resolve(done({ user: 'reporter', password: passwordOf('reporter') })),
    version: '0.1.0',
    transfers: () => [],
    clipboard: {
      epoch: () => 0,
      write: (text) => {
        copied.push(text);
        return Promise.resolve(done({ clearAfterMs: 30_000 }));
      },
    },
    showInFolder: () => true,
    chooseTarget: ({ name }) => {
      asked.push(name);
      return Promise.resolve(path.join(folder, name));
    },
    now: () => new Date(time.now),
    newId: () => `report-${++ids}`,
    ...over,
  });
  return {
    folder,
    auditFolder,
    time,
    facts,
    client,
    connection,
    audit,
    transport,
    entries,
    copied,
    asked,
    passwordOf,
    reports,
  };
}

export const november = { from: '2026-11-01', to: '2026-11-30' } as const;
