import { join } from 'node:path';
import type { Measure } from './figures.ts';
import { runPart } from './parts.ts';
import { type Timed, timedFigures } from './timed.ts';

const jobs = 10_000;
const entries = 1_000_000;

const jobSteps = { listed: 'all pages of the list, checked and copied' } as const;

/**
 * As of every input that is made to be slow: what is kept of ten thousand batches outlives the collections while they are read,
 * of which each then takes 20 to 30 ms.
 */
const maxReadingTurnMs = 100;

const auditSteps = {
  verified: 'first verification',
  firstPage: 'first page',
  cleartext: 'first page of acts that yield cleartext',
  middle: 'page in the middle',
  day: 'page of a day long ago',
  text: 'a text that is nowhere, until its page ends',
  case: 'entries of a case, counted',
  cases: 'newest cases',
} as const;

/** What the window asks of stores that years have filled. Times are printed; what is held is that nothing blocks. */
export const measureLists: Measure = async (folder) => {
  const jobList = await runPart<Record<'started' | keyof typeof jobSteps, Timed>>(
    'job-list.ts',
    JSON.stringify({ home: join(folder, 'many-jobs'), jobs }),
  );
  const log = await runPart<Record<keyof typeof auditSteps, Timed>>(
    'audit-log.ts',
    JSON.stringify({ folder: join(folder, 'long-log'), entries }),
  );
  return [
    // Before any call of the window is answered, so that there is nothing it could hold up.
    { name: '10,000 jobs: app start', value: jobList.started.ms, unit: 'ms' },
    ...timedFigures('10,000 jobs', jobSteps, jobList, maxReadingTurnMs),
    ...timedFigures('1,000,000 audit entries', auditSteps, log),
  ];
};
