import { openHarness, untilDone } from './harness.ts';

/**
 * Runs a table to its end and leaves the job in `home`. In a process of its own, so that another one begins with it as
 * after a start of the app. Options as JSON in the first argument; the job's ID as JSON on the last line.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as {
  input: string;
  home: string;
  url: string;
  ca: string;
  /** The column that is sent. */
  column?: number;
};
const harness = await openHarness({ ...options, output: '', inFlight: 8 });
const jobId = await harness.start(await harness.source(options.input), options.column ?? 1);
const { state } = await untilDone(harness, jobId);
await harness.close();
if (state !== 'finished') throw new Error(`the job is ${state}`);
process.stdout.write(`${JSON.stringify({ jobId })}\n`);
