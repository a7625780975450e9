import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openHarness, untilDone } from './harness.ts';

/**
 * A run that refuses four rows of ten, and all of them corrected in one list: from the opened list until they are being
 * sent. Options as JSON in the first argument; what it measured as JSON on the last line.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as { input: string; url: string; ca: string };
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const output = join(home, 'list.csv');
const harness = await openHarness({ ...options, home, output, inFlight: 8 });
const jobId = await harness.start(await harness.source(options.input), 1);
const { tally } = await untilDone(harness, jobId);
const exported = await harness.batch['batch.export']({
  jobId,
  content: 'tokens',
  rows: 'failed',
  format: 'csv',
  safety: 'source',
  delimiter: ',',
  encoding: 'utf-8',
  byteOrderMark: false,
  newline: '\r\n',
  grounds: null,
  passphrase: null,
});
if (!exported.ok) throw new Error(exported.failure.code);
const listed = await readFile(output, 'utf8');
const [header = '', ...rows] = listed.trimEnd().split('\n');
const corrected = rows.map((row) => row.replace(/(?<=,)\d{16}(?=,)/, (token) => String(BigInt(token) + 1n)));
await writeFile(output, [header, ...corrected, ''].join('\n'));

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
    rows: tally.rows,
    corrected: mended.value.changed,
    comparedMs,
    ms,
    processorMs: (user + system) / 1_000,
    addedBytes: most - before,
    longest: delay.max / 1e6,
  })}\n`,
);
