import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHarness, untilDone } from './harness.ts';
import { correctRefused } from './refused-rows.ts';
import { createSteps } from './steps.ts';
import { writeTable } from './table.ts';

/**
 * A list of refused rows, all of them corrected, taken in at once and sent. The service refuses some. Options as JSON in the
 * first argument; on the last line its steps.
 */
const { rows, ...options } = JSON.parse(process.argv[2] ?? '{}') as {
  rows: number;
  url: string;
  ca: string;
};
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const [input, output] = [join(home, 'input.csv'), join(home, 'list.csv')];
await writeTable(input, rows);
const harness = await openHarness({ ...options, home, output, inFlight: 8, audited: true });
const { jobId } = await correctRefused(harness, { input, output });
const { step, done } = await createSteps(() => harness.reveal());

let sourceId = '';
await step('opened', async () => {
  sourceId = await harness.source(output);
});
await step('compared', async () => {
  const compared = await harness.batch['batch.compare']({ jobId, sourceId });
  if (!compared.ok) throw new Error(compared.failure.code);
});
await step('mended and sent', async () => {
  const mended = await harness.batch['batch.mend']({ jobId, taken: { doubts: [], except: [] } });
  if (!mended.ok) throw new Error(mended.failure.code);
  await untilDone(harness, jobId);
});
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(done)}\n`);
