import type { Handlers } from '../../contract/calls.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { BatchOfCase, BatchesOfCase, Job } from '../../contract/models/batch.ts';
import { caseOfRow, loggedCase } from '../planning/row-case.ts';
import type { BatchJob } from '../running/job.ts';
import type { JobList } from '../running/job-list.ts';
import { rowStates } from '../storing/results.ts';
import { lookAtRows } from '../viewing/look-at-rows.ts';
import { withChunks } from './open-chunks.ts';

const maxBatches = 100;
const maxFirst = 10;

/** What was counted of one batch, for as long as its results are the same. */
interface Counted {
  readonly caseReference: string;
  readonly version: string;
  readonly found: Pick<BatchOfCase, 'rows' | 'ok' | 'first'>;
}

/**
 * Which batches have rows of a case. The rows say so themselves: each look reads the column of cases of the batches that have
 * one, in constant memory, and is ended by the next one. What was counted is known until the batch or the case is another.
 */
export function createCaseCalls(
  jobs: Pick<JobList, 'load' | 'find' | 'views'>,
): Pick<Handlers<'batch'>, 'batch.ofCase'> {
  const known = new Map<string, Counted>();
  let running: AbortController | null = null;

  async function withCases(): Promise<Outcome<Job[]>> {
    const loaded = await jobs.load();
    if (!loaded.ok) return loaded;
    const all: Job[] = [];
    for (let page = jobs.views(), last = page.at(-1); last !== undefined; last = page.at(-1)) {
      all.push(...page.filter(({ plan }) => plan.caseColumn !== undefined));
      page = jobs.views(last);
    }
    return done(all);
  }

  async function count(
    job: BatchJob,
    { caseReference, signal }: { readonly caseReference: string; readonly signal: AbortSignal },
  ): Promise<Outcome<Counted['found']>> {
    const { caseColumn } = job.spec.plan;
    const { jobId, endedAt, tally, state } = job.view();
    const version = JSON.stringify([state, endedAt, tally]);
    const before = known.get(jobId);
    if (before?.caseReference === caseReference && before.version === version) return done(before.found);
    const found = { rows: 0, ok: 0, first: [] as number[] };
    const looked = await withChunks(job, ({ rows }) =>
      lookAtRows(
        rows,
        ({ chunk, results }, index) => {
          if (caseColumn === undefined || results.flaws[index] !== undefined) return;
          const own = caseOfRow(chunk.table, index, caseColumn);
          if (!own.ok || loggedCase(own.value) !== caseReference) return;
          found.rows += 1;
          if (results.states[index] === rowStates.ok) found.ok += 1;
          if (found.first.length < maxFirst) found.first.push(chunk.start.row + index);
        },
        { signal, report: () => undefined, withResults: true, columns: (caseColumn ?? 0) + 1 },
      ),
    );
    if (!looked.ok) return looked;
    known.set(jobId, { caseReference, version, found });
    return done(found);
  }

  return {
    async 'batch.ofCase'(asked) {
      const caseReference = loggedCase(asked.caseReference);
      running?.abort();
      const { signal } = (running = new AbortController());
      const all = await withCases();
      if (!all.ok) return all;
      const answer: BatchesOfCase = { batches: [], uncovered: [] };
      for (const { jobId, sourceName, startedAt, environment } of all.value.slice(0, maxBatches)) {
        if (signal.aborted) return failed('service.cancelled');
        const job = await jobs.find(jobId);
        const found = job.ok ? await count(job.value, { caseReference, signal }) : job;
        const about = { jobId, name: sourceName.slice(0, 300), startedAt, environment };
        if (found.ok && found.value.rows > 0) answer.batches.push({ ...about, ...found.value });
        else if (!found.ok && found.failure.code === 'service.cancelled') return found;
        else if (!found.ok) answer.uncovered.push({ ...about, code: found.failure.code });
      }
      return done(answer);
    },
  };
}
