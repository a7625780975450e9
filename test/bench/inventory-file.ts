import { join } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openHarness } from './harness.ts';

/** One file looked through. Options as JSON in the first argument; what it measured as JSON on the last line. */
const options = JSON.parse(process.argv[2] ?? '{}') as { file: string; url: string; ca: string };
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const harness = await openHarness({ ...options, home, output: join(home, 'none.csv'), inFlight: 1 });
const sourceId = await harness.source(options.file);
let peakRss = process.memoryUsage.rss();
let longest = 0;
let before = performance.now();
/** How long the app would not have answered its window. */
const watching = setInterval(() => {
  peakRss = Math.max(peakRss, process.memoryUsage.rss());
  const now = performance.now();
  longest = Math.max(longest, now - before - 10);
  before = now;
}, 10);
const started = performance.now();
before = started;
const looked = await harness.batch['inventory.look']({
  source: { of: 'source', sourceId, reading: {}, plan: [] },
});
const ms = performance.now() - started;
clearInterval(watching);
if (!looked.ok) throw new Error(looked.failure.code);
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify({ ms, peakRss, longest, file: looked.value?.files[0] })}\n`);
