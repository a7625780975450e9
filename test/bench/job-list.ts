import fs from 'node:fs';
import path from 'node:path';
import { calls } from '../../electron/contract/calls.ts';
import type { Job } from '../../electron/contract/models/batch.ts';
import {
  initialState,
  sealState,
  type JobSpec,
  type StoredState,
} from '../../electron/batch/storing/job-files.ts';
import { createRecordCipher } from '../../electron/storage/encryption.ts';
import { type Harness, openHarness } from './harness.ts';
import { timed } from './timed.ts';

/**
 * A start with many stored jobs, and their list as the window gets it. Options as JSON in the first argument;
 * milliseconds as JSON on the last line.
 */
const { home, jobs } = JSON.parse(process.argv[2] ?? '{}') as { home: string; jobs: number };
const masterKey = new Uint8Array(32).fill(9);
const folder = path.join(home, 'jobs');

const spec = (jobId: string, at: number): JobSpec => ({
  version: 1,
  jobId,
  sourceName: `disputes-${at}.csv`,
  sourcePath: `/home/kim/disputes-${at}.csv`,
  spool: null,
  identity: { size: 1, modifiedMs: 1 },
  crc: 1,
  format: {
    encoding: 'utf-8',
    delimiter: ',',
    header: true,
    newline: '\n',
    markLength: 0,
    names: ['case', 'card'],
    width: 2,
  },
  connectionId: 'bench',
  connectionName: 'Bench',
  environment: 'test',
  plan: {
    reading: { encoding: 'utf-8', delimiter: ',', header: true },
    columns: [
      {
        column: 1,
        operation: 'detokenize',
        policy: 'bench',
        definition: 'card',
        target: null,
        parts: null,
        pattern: null,
        into: 'beside',
      },
    ],
  },
  kinds: ['card'],
  maskedColumns: [],
  columns: ['case', 'card', 'card_token'],
  startedAt: new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString(),
  mapping: null,
  queued: null,
  run: null,
});

const idOf = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
/** As the app stores them, but without a sync for each. */
function writeJob(at: number): void {
  const jobId = idOf(at);
  const job = path.join(folder, jobId);
  fs.mkdirSync(job, { recursive: true });
  const cleartext = Buffer.from(JSON.stringify(spec(jobId, at)));
  const cipher = createRecordCipher(masterKey, jobId);
  const encrypted = cipher.encrypt(cleartext, 'job.json').toString('base64');
  fs.writeFileSync(path.join(job, 'job.json'), JSON.stringify({ version: 2, jobId, spec: encrypted }));
  const endedAt = new Date().toISOString();
  const state: StoredState = { ...initialState, state: 'finished', total: 1_000, endedAt };
  fs.writeFileSync(path.join(job, 'state.json'), JSON.stringify(sealState(state, cipher)));
}

for (let at = 0; at < jobs; at++) writeJob(at);

let harness: Harness | undefined;
const url = 'https://127.0.0.1:9';
const started = await timed(async () => {
  harness = await openHarness({ home, url, ca: '', inFlight: 8, output: '' });
});
/** With what the router and the bridge do besides. */
async function list(): Promise<void> {
  const found: Job[] = [];
  for (;;) {
    const last = found.at(-1);
    const after = last && { jobId: last.jobId, startedAt: last.startedAt };
    const answer = await harness?.batch['batch.jobs']({ after });
    if (answer?.ok !== true) throw new Error('no list');
    if (answer.value.length === 0) break;
    found.push(...structuredClone(calls['batch.jobs'].output.parse(answer.value)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (found.length !== jobs) throw new Error(`${found.length} jobs are listed`);
}

// The first one waits until all of them are read.
const first = await timed(list);
const again = await timed(list);
await harness?.close();
const listed = { ...again, turn: Math.max(first.turn, again.turn) };
process.stdout.write(`${JSON.stringify({ started, listed })}\n`);
