import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { noHashes } from '../support/token-hashes.ts';
import { join } from 'node:path';
import { type Audit, createAudit } from '../../electron/audit/audit.ts';
import { createCheckpointFile } from '../../electron/audit/checkpoint.ts';
import { createBatch, type Batch } from '../../electron/batch/batch.ts';
import { done, failed } from '../../electron/contract/errors.ts';
import type { Job, Reading } from '../../electron/contract/models/batch.ts';
import type { Connection } from '../../electron/contract/models/connection.ts';
import { newXorKey } from '../../electron/contract/obscured.ts';
import { usualMarks } from '../../electron/contract/value-kinds.ts';
import { createRequestAudit } from '../../electron/connections/clients.ts';
import { openLookup } from '../../electron/lookup/lookup.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { createGuesses } from '../../electron/privacy/guesses.ts';
import { createServiceClient } from '../../electron/service/client.ts';
import { createTransport } from '../../electron/service/http/transport.ts';
import { memoryQuota, shippedProfile } from '../faults/client-side.ts';
import { connectionsOf, memoryStore } from '../support/batch-app.ts';
import { obscuredOf } from '../support/obscured-text.ts';
import { testParser } from '../support/parser.ts';
import { gateWith } from '../support/cleartext-gate.ts';
import { auditWith } from '../support/fake-audit.ts';

export interface HarnessOptions {
  readonly home: string;
  readonly url: string;
  readonly ca: string;
  readonly inFlight: number;
  readonly output: string;
  /** Whether each request is written to a real audit log before it leaves; else that costs nothing. */
  readonly audited?: boolean;
}

export interface Harness {
  readonly batch: Batch;
  source(path: string, passphrase?: string): Promise<string>;
  /** A file is read as the app finds that it is to be read, but for what `reading` has of it; without it as a CSV. */
  start(
    sourceId: string,
    column: number,
    operation?: 'detokenize' | 'mask' | 'tokenize' | 'tokenize inside',
    reading?: Partial<Reading>,
  ): Promise<string>;
  onJob(listener: (job: Job) => void): void;
  /** One value of a lookup in clear, asked as the window asks, through log and service. */
  reveal(): Promise<void>;
  close(): Promise<void>;
}

/** The batch module with the real client, without the rest of the app. */
export async function openHarness(options: HarnessOptions): Promise<Harness> {
  const connection: Connection = {
    id: 'bench',
    name: 'Bench',
    environment: 'test',
    baseUrl: options.url,
    builtIn: false,
    extraCa: options.ca,
    clientCertificate: null,
    proxyUser: '',
    policies: ['bench'],
    definitions: [
      { name: 'card', label: 'Card', kind: 'card' },
      { name: 'text', label: 'Text', kind: 'text' },
    ],
    accountId: '',
    tenantId: '',
    apiKeyExpires: null,
    requestsPerSecond: 10_000,
    transfersPerDay: 1_000_000_000,
  };
  const audit = options.audited === true ? await openLog(options.home) : noLog;
  const guesses = createGuesses({
    logged: () => Promise.resolve(done(new Map())),
    now: () => new Date(),
  });
  const client = createServiceClient({
    connection,
    profile: shippedProfile(),
    secrets: {
      apiKey: () => Promise.resolve(done('key')),
      policyPassword: () => Promise.resolve(done('password')),
    },
    auditRequest: createRequestAudit(audit, connection, guesses),
    admit: (definition, values, job) => guesses.admit({ connection, definition }, values, job),
    transport: createTransport({ baseUrl: options.url, ca: [options.ca], clock: systemClock }),
    quota: memoryQuota(),
  });
  const lookup = openLookup({
    active: () => Promise.resolve(done({ ...connection, connectionId: connection.id, client })),
    gate: gateWith({ audit, caseRequired: () => false }),
    reveals: {
      open: () => ({ revealId: 'r', hideAfterMs: 1 }),
      hide: () => undefined,
      hidden: () => undefined,
    },
    clipboard: {
      epoch: () => 0,
      write: () => Promise.resolve(done({ clearAfterMs: 1 })),
      clear: () => Promise.resolve(),
    },
    hashes: noHashes,
    now: () => new Date(),
    newId: randomUUID,
  });
  const listeners: ((job: Job) => void)[] = [];
  let path = '';
  await mkdir(options.home, { recursive: true });
  const batch = createBatch({
    hashes: noHashes,
    folder: join(options.home, 'jobs'),
    clock: systemClock,
    clients: { for: () => Promise.resolve(done(client)) },
    connections: connectionsOf(connection),
    guesses,
    audit,
    keychain: { key: () => Promise.resolve(done(new Uint8Array(32).fill(9))) },
    parser: testParser,
    platform: {
      chooseFile: () => Promise.resolve(path),
      chooseFiles: () => Promise.resolve(null),
      chooseFolder: () => Promise.resolve(null),
      chooseTarget: () => Promise.resolve(options.output),
      droppedFolder: () => Promise.resolve(null),
      droppedFile: () => Promise.resolve(null),
      showInFolder: () => false,
      send(event, payload) {
        if (event === 'batch.job') for (const listener of listeners) listener(payload as Job);
      },
    },
    store: memoryStore(),
    clipboard: { epoch: () => 0, write: () => Promise.resolve(done({ clearAfterMs: 1 })) },
    managed: {},
    gate: gateWith({ caseRequired: () => false }),
    reveals: { open: () => ({ revealId: 'r', hideAfterMs: 1 }) },
    sampleFile: () => Promise.resolve(done('')),
    receipt: () => Promise.resolve(failed('evidence.none')),
    inFlight: options.inFlight,
  });
  await batch.start();
  return {
    batch,
    async source(from, passphrase) {
      path = from;
      const chosen = await batch['batch.choose']({});
      const source =
        !chosen.ok && chosen.failure.code === 'file.passphrase-needed' && passphrase !== undefined
          ? await batch['batch.openEncrypted']({ passphrase: obscuredOf(passphrase) })
          : chosen;
      if (!source.ok) throw new Error(source.failure.code);
      if (source.value === null) throw new Error('no source');
      return source.value.sourceId;
    },
    async start(sourceId, column, asked = 'detokenize', reading) {
      const operation = asked === 'tokenize inside' ? 'tokenize' : asked;
      const kinds = { card: 'card', ssn: 'text', iban: 'text', email: 'text' };
      const preview = reading
        ? await batch['batch.preview']({ sourceId, reading, masked: null })
        : done({ reading: { encoding: 'utf-8', delimiter: ',', header: true } as const });
      if (!preview.ok) throw new Error(preview.failure.code);
      const started = await batch['batch.start']({
        sourceId,
        grounds: null,
        plan: {
          reading: preview.value.reading,
          columns: [
            {
              column,
              operation,
              policy: 'bench',
              definition: asked === 'tokenize' ? 'text' : 'card',
              ...(asked === 'tokenize inside' && { inside: { ...usualMarks, definitions: kinds } }),
              target: null,
              parts: null,
              pattern: null,
              into: 'replace',
            },
          ],
        },
      });
      if (!started.ok) throw new Error(started.failure.code);
      return started.value.jobId;
    },
    async reveal() {
      const token = '4000000000000000';
      const about = { policy: 'bench', definition: 'card', token, caseReference: '' };
      const known = await lookup['lookup.recent']({});
      const [looked] = known.ok ? known.value : [];
      const masked = looked === undefined ? await lookup['lookup.mask'](about) : done(looked);
      if (!masked.ok) throw new Error(masked.failure.code);
      const revealed = await lookup['lookup.reveal']({
        lookupId: masked.value.id,
        xorKey: newXorKey(),
        reason: 'bench',
        caseReference: '',
      });
      if (!revealed.ok) throw new Error(revealed.failure.code);
    },
    onJob: (listener) => void listeners.push(listener),
    async close() {
      await batch.close();
      await client.close();
      await audit.close();
    },
  };
}

const noLog = {
  ...auditWith(() => Promise.resolve(done(() => undefined))),
  hurry: () => undefined,
  close: () => Promise.resolve(),
};

export async function openLog(home: string): Promise<Audit> {
  const audit = createAudit({
    folder: join(home, 'audit'),
    checkpoint: createCheckpointFile(join(home, 'checkpoints', 'audit')),
    key: () => Promise.resolve(done({ bytes: new Uint8Array(32).fill(7), persistent: true })),
    actor: 'bench',
    now: () => new Date(),
  });
  await audit.opened;
  return audit;
}

export function untilDone(harness: Harness, jobId: string): Promise<Job> {
  return new Promise((resolve) => {
    const look = (job: Job): void => {
      if (job.jobId === jobId && job.state !== 'running') resolve(job);
    };
    harness.onJob(look);
    void harness.batch['batch.jobs']({}).then((jobs) => {
      if (jobs.ok) jobs.value.forEach(look);
    });
  });
}
