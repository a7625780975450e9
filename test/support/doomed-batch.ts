import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Outcome } from '../../electron/contract/errors.ts';
import type { Job } from '../../electron/contract/models/batch.ts';
import { detokenize, openApp, plainExport, planOf, takeIn } from './batch-app.ts';
import { faultyDisk, type DiskFault } from './faulty-disk.ts';

/**
 * The life of one process: it reads a file, runs it, exports, corrects the rows that failed and exports again, or goes on
 * with what an earlier one began. It may end at any change to the disk, or find the disk full from there on. Its last line
 * is "done", or the code of what it could not do; the lines before are the phases it came to.
 */
interface Options {
  readonly home: string;
  /** The file to be read. */
  readonly source: string;
  readonly fault: DiskFault | null;
}
const { home, source, fault } = JSON.parse(process.argv[2] ?? '{}') as Options;
const app = await openApp({ home });
app.service.refuses = (value) => value.startsWith('BAD');
const changes = await faultyDisk(fault);

const tell = (line: string): void => void process.stdout.write(`${line}\n`);
/** With the changes before it. */
const tellPhase = (phase: string): void => {
  tell(`${phase} ${changes()}`);
};
function expectDone<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  tell(outcome.failure.code);
  process.exit(0);
}

async function untilStopped(jobId: string): Promise<Job> {
  for (;;) {
    const job = expectDone(await app.batch['batch.jobs']({})).find((one) => one.jobId === jobId);
    if (job === undefined) throw new Error('the job is gone');
    if (job.state !== 'running') {
      if (job.state === 'finished') return job;
      tell((job.failure ?? job.waiting?.failure)?.code ?? job.state);
      process.exit(0);
    }
    await pause(2);
  }
}

let [job] = expectDone(await app.batch['batch.jobs']({}));
if (job === undefined) {
  tellPhase('reading');
  const sourceId = await app.open(source).catch((error: unknown) => {
    tell(error instanceof Error ? error.message : String(error));
    process.exit(0);
  });
  const shown = expectDone(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  const plan = { ...planOf([detokenize(0, { definition: 'text' })]), reading: shown.reading };
  const started = expectDone(await app.batch['batch.start']({ sourceId, plan, grounds: null }));
  tellPhase('running');
  job = await untilStopped(started.jobId);
} else if (job.state !== 'finished') {
  tellPhase('running');
  expectDone(await app.batch['batch.resume']({ jobId: job.jobId }));
  job = await untilStopped(job.jobId);
}
const { jobId } = job;
if (job.tally.failed > 0) {
  tellPhase('mending');
  const list = expectDone(
    await app.batch['batch.export']({ ...plainExport, jobId, rows: 'failed', content: 'tokens' }),
  );
  const listed = await readFile(join(home, list?.name ?? ''), 'utf8');
  const corrected = join(home, 'corrected.csv');
  await writeFile(corrected, listed.replaceAll('BAD', 'good')).catch(() => {
    tell('file.disk-full');
    process.exit(0);
  });
  const sourceId = await app.open(corrected).catch((error: unknown) => {
    tell(error instanceof Error ? error.message : String(error));
    process.exit(0);
  });
  expectDone(await takeIn(app, { jobId, sourceId }));
  await untilStopped(jobId);
}
tellPhase('exporting');
expectDone(await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId, rows: 'all' }));
tell(`changes ${changes()}`);
tell('done');
process.exit(0);
