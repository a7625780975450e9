import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHarness, untilDone } from './harness.ts';

/**
 * A run of which most values are refused: from its start until it has paused by itself. Options as JSON in the first
 * argument; what it measured as JSON on the last line.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as { input: string; url: string; ca: string };
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const harness = await openHarness({ ...options, home, output: '', inFlight: 8 });
const sourceId = await harness.source(options.input);
const started = performance.now();
const cpu = process.cpuUsage();
const jobId = await harness.start(sourceId, 1);
const job = await untilDone(harness, jobId);
const ms = performance.now() - started;
const { user, system } = process.cpuUsage(cpu);
if (job.braked === null) throw new Error(`it did not pause by itself: ${JSON.stringify(job)}`);
const sent = (job.canary?.values ?? 0) + job.tally.ok + job.tally.failed;
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(
  `${JSON.stringify({ ms, processorMs: (user + system) / 1_000, sent, failed: job.braked.failed, of: job.braked.of })}\n`,
);
