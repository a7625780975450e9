import { join } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openHarness } from './harness.ts';

/** Two files compared by one column. Options as JSON in the first argument; what it measured as JSON on the last line. */
const options = JSON.parse(process.argv[2] ?? '{}') as { files: string[]; url: string; ca: string };
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const harness = await openHarness({ ...options, home, output: join(home, 'compared.csv'), inFlight: 1 });
const sides = [];
for (const file of options.files)
  sides.push({ of: 'file', sourceId: await harness.source(file), reading: {}, column: 1 } as const);
let peakRss = process.memoryUsage.rss();
const watching = setInterval(() => (peakRss = Math.max(peakRss, process.memoryUsage.rss())), 10);
const started = performance.now();
const compared = await harness.batch['compare.files']({ sides, write: true });
const ms = performance.now() - started;
clearInterval(watching);
if (!compared.ok) throw new Error(compared.failure.code);
if (compared.value === null) throw new Error('No target');
await harness.close();
await rm(home, { recursive: true, force: true });
const { files, groups } = compared.value;
process.stdout.write(`${JSON.stringify({ ms, peakRss, files, groups })}\n`);
