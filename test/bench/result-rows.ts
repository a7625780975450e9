import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RowsView } from '../../electron/contract/models/rows.ts';
import { openHarness, untilDone } from './harness.ts';
import { peakMemory } from './figures.ts';
import { settledBytes } from './settled-bytes.ts';

/**
 * What the window asks of a finished job: pages anywhere, the first filter, sort and search, and pages of them. Options
 * as JSON in the first argument; milliseconds as JSON on the last line.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as { input: string; url: string; ca: string };
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const harness = await openHarness({ ...options, home, output: '', inFlight: 8 });
const jobId = await harness.start(await harness.source(options.input), 1);
const { tally } = await untilDone(harness, jobId);
const noView: RowsView = { where: [], sort: null };

async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

/** Of this process, all threads together: what a busy machine does not change. */
async function processorTime(act: () => Promise<unknown>): Promise<number> {
  const started = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

async function page(view: RowsView, from: number, count = 40): Promise<number> {
  const answer = await harness.batch['batch.rows']({ jobId, filter: 'all', view, from, count });
  if (!answer.ok) throw new Error(answer.failure.code);
  return answer.value.total;
}

/** The slowest of pages all over a view. */
async function slowestPage(view: RowsView, total: number): Promise<number> {
  let slowest = 0;
  for (let n = 0; n < 25; n++) {
    const from = Math.floor((((n * 7) % 25) / 25) * total);
    slowest = Math.max(slowest, await timed(() => page(view, from)));
  }
  return slowest;
}

const before = await settledBytes();
const contains: RowsView = { ...noView, where: [{ column: 5, test: 'contains', text: 'angry' }] };
const masked: RowsView = { ...noView, where: [{ column: 1, test: 'begins', text: '•' }] };
const byText: RowsView = { ...noView, sort: { column: 2, descending: false } };
const byNumber: RowsView = { ...noView, sort: { column: 3, descending: true } };
const figures: Record<string, number> = { jump: await slowestPage(noView, tally.rows) };
for (const [name, view] of Object.entries({ contains, masked, byText, byNumber })) {
  let total = 0;
  figures[`${name}Processor`] = await processorTime(async () => {
    figures[name] = await timed(async () => (total = await page(view, 0)));
  });
  figures[`${name}Page`] = await slowestPage(view, total);
}
const query = { jobId, filter: 'all', text: 'D-999999', after: -1, backwards: false } as const;
figures['find'] = await timed(() => harness.batch['batch.find'](query));
figures['findNext'] = await timed(() => harness.batch['batch.find']({ ...query, after: 5 }));
figures['keptBytes'] = (await settledBytes()) - before;
figures['peakRss'] = peakMemory();
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(figures)}\n`);
