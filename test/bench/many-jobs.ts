import fs from 'node:fs';
import path from 'node:path';
import {
  initialState,
  sealState,
  type JobSpec,
  type StoredState,
} from '../../electron/batch/storing/job-files.ts';
import { createRecordCipher } from '../../electron/storage/encryption.ts';

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

/** Finished jobs as the app stores them, but without a sync for each. */
export function writeJobs(folder: string, masterKey: Uint8Array, count: number): void {
  for (let at = 0; at < count; at++) {
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
}
