import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { detokenize, openApp, planOf, valueOf } from '../support/batch-app.ts';

/**
 * `node test/bench/recall-answers.ts [rows]`: how long it takes until a batch of tokens that was paused near its end sends
 * again, after the app was opened anew. Before it does, the table of all answers is made again from what is stored.
 */
const rows = Number(process.argv[2] ?? 5_000_000);
const valueOfRow = (row: number): string => String(4_000_000_000_000_000 + row * 7);

async function writeSource(path: string): Promise<void> {
  const out = createWriteStream(path);
  out.write('value,n\n');
  for (let row = 1; row <= rows; row += 1_000) {
    const lines = Array.from({ length: 1_000 }, (_, at) => `${valueOfRow(row + at)},${row + at}\n`);
    if (!out.write(lines.join(''))) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

let app = await openApp();
try {
  const path = join(app.folder, 'in.csv');
  await writeSource(path);
  let pauseAt = rows * 0.95;
  let sent = 0;
  let first: (at: number) => void = () => undefined;
  app.service.answer = (_, elements) => {
    first(performance.now());
    sent += elements.length;
    // What the fake keeps of each request would be more than all the job holds.
    for (const kept of [app.service.sent, app.service.sizes, app.service.calls, app.service.contexts])
      kept.length = 0;
    if (sent >= pauseAt) {
      pauseAt = Infinity;
      void app.batch['batch.pause']({ jobId });
    }
    return null;
  };
  let jobId = '';
  const sourceId = await app.open(path);
  const plan = planOf([detokenize(0, { operation: 'tokenize', definition: 'text' })]);
  const began = performance.now();
  jobId = valueOf(await app.batch['batch.start']({ sourceId, plan, grounds: null })).jobId;
  const paused = await app.until(jobId, 'paused', 'failed', 'finished');
  const ranMs = performance.now() - began;
  app = await app.again();
  const from = performance.now();
  const sentAgain = new Promise<number>((resolve) => (first = resolve));
  valueOf(await app.batch['batch.resume']({ jobId, grounds: null }));
  const seconds = ((await sentAgain) - from) / 1_000;
  const { rss } = process.memoryUsage();
  await app.until(jobId, 'finished', 'failed');
  process.stdout.write(
    `${paused.tally.rows} of ${rows} rows were sent in ${(ranMs / 1_000).toFixed(1)} s; resumed, the first request left after ${seconds.toFixed(1)} s, with ${Math.round(rss / 2 ** 20)} MiB in use\n`,
  );
} finally {
  await app.close();
}
