import path from 'node:path';
import { calls } from '../../electron/contract/calls.ts';
import type { Job } from '../../electron/contract/models/batch.ts';
import { type Harness, openHarness } from './harness.ts';
import { writeJobs } from './many-jobs.ts';
import { timed } from './timed.ts';

/**
 * A start with many stored jobs, and their list as the window gets it. Options as JSON in the first argument;
 * milliseconds as JSON on the last line.
 */
const { home, jobs } = JSON.parse(process.argv[2] ?? '{}') as { home: string; jobs: number };

writeJobs(path.join(home, 'jobs'), new Uint8Array(32).fill(9), jobs);

let harness: Harness | undefined;
const url = 'https://127.0.0.1:9';
const started = await timed(async () => {
  harness = await openHarness({ home, url, ca: '', inFlight: 8, output: '' });
});
/** With what the router and the bridge do besides. What is copied for the window is kept there, and not in this process. */
async function list(): Promise<void> {
  let listed = 0;
  let last: Job | undefined;
  for (;;) {
    const after = last && { jobId: last.jobId, startedAt: last.startedAt };
    const answer = await harness?.batch['batch.jobs']({ after });
    if (answer?.ok !== true) throw new Error('no list');
    if (answer.value.length === 0) break;
    const page = structuredClone(calls['batch.jobs'].output.parse(answer.value));
    listed += page.length;
    last = page.at(-1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (listed !== jobs) throw new Error(`${listed} jobs are listed`);
}

// The first one waits until all of them are read.
const first = await timed(list);
const again = await timed(list);
await harness?.close();
const listed = { ...again, turn: Math.max(first.turn, again.turn) };
process.stdout.write(`${JSON.stringify({ started, listed })}\n`);
