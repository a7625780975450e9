import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calls } from '../../electron/contract/calls.ts';
import type { Encoding, ExportChoice, Reading } from '../../electron/contract/models/batch.ts';
import { openHarness, untilDone } from './harness.ts';
import { createSteps } from './steps.ts';
import { endingOf, writeWorst, type WorstInput } from './worst-inputs.ts';

/**
 * One worst input, opened, shown, read wrongly, looked through, run, searched and exported as the window does it. Options as JSON in the
 * first argument; on the last line its steps.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as { input: WorstInput; url: string; ca: string };
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const file = join(home, `worst${endingOf(options.input)}`);
await writeWorst(options.input, file);
const open = (): ReturnType<typeof openHarness> =>
  openHarness({ ...options, home, output: join(home, 'out.csv'), inFlight: 8, audited: true });
let harness = await open();

const { step, done } = await createSteps(() => harness.reveal());

let sourceId = '';
let reading: Reading | null = null;
const look = async (asked: Partial<Reading>): Promise<void> => {
  const shown = await harness.batch['batch.preview']({ sourceId, reading: asked, masked: null });
  if (!shown.ok) throw new Error(shown.failure.code);
  reading ??= shown.value.reading;
  // What the router and the bridge do besides.
  structuredClone(calls['batch.preview'].output.parse(shown.value));
};

await step('opened', async () => {
  sourceId = await harness.source(file);
});
await step('shown', () => look({}));
/** One of each kind: they are read by the same code. */
const encodings: readonly Encoding[] = ['utf-16le', 'windows-1252', 'ibm037', 'gb18030', 'shift_jis'];
await step('read wrongly', async () => {
  for (const encoding of encodings) await look({ encoding }).catch(() => undefined);
  for (const delimiter of [';', '"', '4']) await look({ delimiter }).catch(() => undefined);
});
await step('looked through', async () => {
  const looked = await harness.batch['inventory.look']({
    source: { of: 'source', sourceId, reading: {}, plan: [] },
  });
  if (!looked.ok) throw new Error(looked.failure.code);
});
const ofJob = reading as Reading | null;
if (ofJob !== null) {
  let jobId = '';
  await step('run', async () => {
    const operation = options.input === 'texts' ? 'tokenize inside' : 'detokenize';
    const startAt = (column: number): Promise<string> => harness.start(sourceId, column, operation, ofJob);
    // What can't be told from its first lines is one column.
    jobId = await startAt(1).catch(() => startAt(0));
    await untilDone(harness, jobId);
  });
  const view = { where: [], sort: null };
  const firstPage = async (): Promise<void> => {
    const page = await harness.batch['batch.rows']({ jobId, filter: 'all', view, from: 0, count: 40 });
    if (!page.ok) throw new Error(page.failure.code);
    structuredClone(calls['batch.rows'].output.parse(page.value));
  };
  await step('first page', firstPage);
  await step('found', async () => {
    const found = await harness.batch['batch.find']({
      jobId,
      filter: 'all',
      text: 'zz',
      after: -1,
      backwards: false,
    });
    if (!found.ok) throw new Error(found.failure.code);
  });
  const exportIt = async (choice: Pick<ExportChoice, 'safety' | 'encoding'>): Promise<void> => {
    const exported = await harness.batch['batch.export']({
      jobId,
      content: 'tokens',
      rows: 'all',
      format: 'csv',
      ...choice,
      delimiter: ',',
      byteOrderMark: false,
      newline: '\r\n',
      grounds: null,
      passphrase: null,
      leavesEmpty: true,
    });
    if (!exported.ok) throw new Error(exported.failure.code);
  };
  await step('exported', () => exportIt({ safety: 'source', encoding: 'utf-8' }));
  await step('written anew', () => exportIt({ safety: 'spreadsheet', encoding: 'gb18030' }));
  await harness.close();
  harness = await open();
  await step('first page after a start', firstPage);
}
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(done)}\n`);
