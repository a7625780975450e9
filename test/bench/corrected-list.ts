import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openHarness, untilDone } from './harness.ts';
import { correctRefused } from './refused-rows.ts';

/**
 * A run that refuses four rows of ten, and all of them corrected in one list: from the opened list until they are being
 * sent. Options as JSON in the first argument; what it measured as JSON on the last line.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as { input: string; url: string; ca: string };
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const output = join(home, 'list.csv');
const harness = await openHarness({ ...options, home, output, inFlight: 8 });
const { jobId, rows } = await correctRefused(harness, { input: options.input, output });

const sourceId = await harness.source(output);
const delay = monitorEventLoopDelay({ resolution: 10 });
const before = process.memoryUsage.rss();
let most = before;
const watching = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
const cpu = process.cpuUsage();
const started = performance.now();
delay.enable();
const compared = await harness.batch['batch.compare']({ jobId, sourceId });
const comparedMs = performance.now() - started;
if (!compared.ok) throw new Error(compared.failure.code);
const mended = await harness.batch['batch.mend']({ jobId, taken: { doubts: [], except: [] } });
const ms = performance.now() - started;
delay.disable();
const { user, system } = process.cpuUsage(cpu);
clearInterval(watching);
if (!mended.ok) throw new Error(mended.failure.code);
await untilDone(harness, jobId);
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(
  `${JSON.stringify({
    rows,
    corrected: mended.value.changed,
    comparedMs,
    ms,
    processorMs: (user + system) / 1_000,
    addedBytes: most - before,
    longest: delay.max / 1e6,
  })}\n`,
);
