import { openHarness, untilDone, type HarnessOptions } from './harness.ts';
import { slowSyncs, type SlowSyncs } from './slow-syncs.ts';

/** Starts a job, or goes on with the one that is there, and exports it. May be killed at any moment. */
const options = JSON.parse(process.argv[2] ?? '{}') as HarnessOptions & {
  input: string;
  operation: 'detokenize' | 'mask';
  syncs?: SlowSyncs;
};
if (options.syncs !== undefined) await slowSyncs(options.syncs);
const harness = await openHarness(options);
const found = await harness.batch['batch.jobs']({});
let job = found.ok ? found.value[0] : undefined;
if (job === undefined) {
  const jobId = await harness.start(await harness.source(options.input), 1, options.operation);
  job = await untilDone(harness, jobId);
} else if (job.state === 'interrupted') {
  const resumed = await harness.batch['batch.resume']({ jobId: job.jobId });
  if (!resumed.ok) throw new Error(resumed.failure.code);
  job = await untilDone(harness, job.jobId);
}
if (job.state !== 'finished') throw new Error(`${job.state} ${JSON.stringify(job.failure ?? job.waiting)}`);
process.stdout.write('exporting\n');
const exported = await harness.batch['batch.export']({
  jobId: job.jobId,
  content: options.operation === 'mask' ? 'masked' : 'cleartext',
  rows: 'all',
  format: 'csv',
  safety: 'source',
  delimiter: ',',
  encoding: 'utf-8',
  byteOrderMark: false,
  newline: '\r\n',
  grounds: { reason: 'torture', caseReference: '' },
  passphrase: null,
});
if (!exported.ok) throw new Error(exported.failure.code);
await harness.close();
process.stdout.write(`${JSON.stringify(job.tally)}\n`);
