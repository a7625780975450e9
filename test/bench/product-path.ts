import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import type { ExportChoice, Reading } from '../../electron/contract/models/batch.ts';
import { obscuredOf } from '../support/obscured-text.ts';
import { cpuMs, peakMemory } from './figures.ts';
import { openHarness, untilDone } from './harness.ts';
import { countSyncs } from './count-syncs.ts';
import { slowSyncs } from './slow-syncs.ts';

/**
 * The whole of the product: parse, check, send with the real client, encrypt, journal, and export. Options as JSON in
 * the first argument; figures as JSON on the last line.
 */
interface Options {
  readonly input: string;
  readonly output: string;
  readonly url: string;
  readonly ca: string;
  readonly inFlight: number;
  readonly audited?: boolean;
  /** What every sync takes longer. */
  readonly syncMs?: number;
  readonly operation?: 'detokenize' | 'tokenize' | 'tokenize inside';
  /** See `Harness.start`. */
  readonly reading?: Partial<Reading>;
  readonly passphrase?: string;
  /** What of the export is other than a plain CSV in the source's own dialect. */
  readonly choice?: Partial<ExportChoice>;
}
const options = JSON.parse(process.argv[2] ?? '{}') as Options;

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return (await Promise.all(sizes)).reduce((all, size) => all + size, 0);
}

const syncs = await countSyncs();
if (options.syncMs !== undefined) await slowSyncs({ ms: options.syncMs });
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const harness = await openHarness({ ...options, home });
const delay = monitorEventLoopDelay({ resolution: 1 });
let collecting = 0;
let longest = 0;
let whole = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    collecting += entry.duration;
    longest = Math.max(longest, entry.duration);
    const { detail } = entry as typeof entry & { readonly detail: { readonly kind: number } };
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) whole += 1;
  }
}).observe({ entryTypes: ['gc'] });

const opening = performance.now();
const sourceId = await harness.source(options.input, options.passphrase);
const started = performance.now();
const syncsBefore = syncs();
const cpuBefore = process.cpuUsage();
const loopBefore = performance.eventLoopUtilization();
delay.enable();
const jobId = await harness.start(sourceId, 1, options.operation, options.reading);
const job = await untilDone(harness, jobId);
const ran = performance.now();
const busy = performance.eventLoopUtilization(loopBefore).utilization;
const p99Run = delay.percentile(99) / 1e6;
const exported = await harness.batch['batch.export']({
  jobId,
  content: 'cleartext',
  rows: 'all',
  format: 'csv',
  safety: 'source',
  delimiter: ',',
  encoding: 'utf-8',
  byteOrderMark: false,
  newline: '\r\n',
  grounds: { reason: 'bench', caseReference: '' },
  passphrase: options.passphrase === undefined ? null : obscuredOf(options.passphrase),
  ...options.choice,
});
const ended = performance.now();
delay.disable();
const figures = {
  syncs: syncs() - syncsBefore,
  diskBytes: await bytesBelow(home),
  state: job.state,
  failure: job.failure ?? job.waiting?.failure ?? null,
  tally: job.tally,
  exported: exported.ok ? exported.value?.rowsWritten : exported.failure.code,
  openMs: started - opening,
  ms: ended - started,
  runMs: ran - started,
  /** Of the run, how much the main thread was not waiting. */
  busy,
  exportMs: ended - ran,
  peakRss: peakMemory(),
  p99Run,
  p99: delay.percentile(99) / 1e6,
  p999: delay.percentile(99.9) / 1e6,
  max: delay.max / 1e6,
  gcMs: collecting,
  longestGc: longest,
  wholeCollections: whole,
  cpuMs: cpuMs(process.cpuUsage(cpuBefore)),
};
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(figures)}\n`);
