import { done } from '../../../electron/contract/errors.ts';
import type { Job } from '../../../electron/contract/models/batch.ts';
import type { Queue, QueuedFile } from '../../../electron/contract/models/queue.ts';
import { inProduction } from './batch-scenes.ts';
import type { FakeOptions } from './fake-bridge.ts';
import * as data from './fake-data.ts';

const running = { connectionName: data.production.name, environment: 'production' };

const nameOf = (n: number): string => `disputes-${String(n + 1).padStart(2, '0')}.csv`;
const namesOf = (count: number): string[] => Array.from({ length: count }, (_, n) => nameOf(n));

/** The finished batch of a file: some of its rows failed. */
const finished = (n: number): Job => {
  const rows = 12_400 + n * 311;
  const failed = n % 7 === 3 ? 4 + n : 0;
  return data.job({
    ...{ jobId: `job-q${n}`, sourceName: nameOf(n), state: 'finished', endedAt: data.at(360 + n) },
    ...{ startedAt: data.at(n), total: rows, committed: rows, secondsLeft: null, rowsPerSecond: 0 },
    tally: { rows, ok: rows - failed - 2, failed, unmatched: 0, blank: 2 },
    values: { all: rows - 2, failed },
    failures: [],
  });
};

const begun = (file: QueuedFile, n: number): QueuedFile => ({ ...file, state: 'begun', jobId: `job-q${n}` });

const others: Queue['others'] = [
  {
    fileId: 'other-1',
    name: 'merchants-2026.csv',
    failure: { code: 'queue.columns', subject: 'missing: card_token, ssn_token; 4 others' },
  },
];
const unfit: Queue['others'] = [
  { fileId: 'other-2', name: 'disputes-archive', failure: { code: 'queue.folder' } },
  { fileId: 'other-3', name: 'disputes-01 (2).csv', failure: { code: 'queue.twice' } },
];

function queued(count: number, done_: number, over: Partial<Queue>): Queue {
  const whole = data.queueOf(namesOf(count), { ...running, others, ...over });
  return { ...whole, files: whole.files.map((file, n) => (n < done_ ? begun(file, n) : file)) };
}

const withJobs = (queue: Queue, jobs: readonly Job[]): FakeOptions => ({
  unparsed: ['batch.rows'],
  state: inProduction,
  jobs: [...jobs],
  queues: [queue],
});
const jobsOf = (count: number): Job[] => Array.from({ length: count }, (_, n) => finished(n));

const current = data.job({
  ...{ jobId: 'job-q2', sourceName: nameOf(2), startedAt: data.at(2) },
  ...{ total: 500_000, failures: [] },
});
const askingQueue = queued(5, 2, { state: 'stopped', current: 'file-3' });

export const queueScenes: Record<string, FakeOptions> = {
  'queue-draft': {
    state: inProduction,
    answers: {
      'batch.chooseFiles': () =>
        done({
          source: { ...data.preview.source, name: nameOf(0) },
          queue: data.queueOf(namesOf(3), { others: [...others, ...unfit] }),
        }),
      'batch.preview': () => done({ ...data.preview, source: { ...data.preview.source, name: nameOf(0) } }),
      'batch.compareQueue': () => done({}),
    },
  },
  'queue-running': withJobs(queued(5, 3, { state: 'running', current: 'file-3' }), [...jobsOf(2), current]),
  'queue-asking': withJobs(
    {
      ...askingQueue,
      files: askingQueue.files.map((file) =>
        file.fileId === 'file-3'
          ? {
              ...file,
              state: 'asking',
              asks: { rows: 12_422, notices: data.preview.notices, doubt: null, failure: null },
            }
          : file,
      ),
    },
    jobsOf(2),
  ),
  'queue-finished': withJobs(
    queued(40, 40, { state: 'finished', others: [...others, ...unfit] }),
    jobsOf(40),
  ),
};
