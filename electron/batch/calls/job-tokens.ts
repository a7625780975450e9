import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Job } from '../../contract/models/batch.ts';
import type { JobList } from '../running/job-list.ts';
import { indexOfRow } from '../storing/result-store.ts';
import { tokensOf, workAt } from '../viewing/cell-tokens.ts';
import { lookAtRows } from '../viewing/look-at-rows.ts';
import { fewRows } from '../viewing/result-rows.ts';
import { yieldToOthers } from '../../util/turns.ts';
import { withChunks } from './open-chunks.ts';

/** Which tokens the batches had: for the story of one. */
export interface JobTokens {
  /** All batches that are kept. Failures: those of `JobList.load`. */
  kept(): Promise<Outcome<Job[]>>;
  find(jobId: string): Promise<Outcome<Job>>;
  /** Every token that came, or that was sent and answered, a mapped column of a row at a time. */
  look(
    jobId: string,
    visit: (token: string, row: number, column: number) => void,
    how: { readonly signal: AbortSignal; readonly report: (share: number) => void },
  ): Promise<Outcome<null>>;
  /** Of a cell that the window shows: the one in it, or behind its result. Failure: story.no-token. */
  ofCell(cell: { jobId: string; row: number; column: number }): Promise<Outcome<string>>;
}

export function createJobTokens(jobs: Pick<JobList, 'load' | 'find' | 'views'>): JobTokens {
  return {
    async kept() {
      const loaded = await jobs.load();
      if (!loaded.ok) return loaded;
      const all: Job[] = [];
      for (let page = jobs.views(), last = page.at(-1); last !== undefined; last = page.at(-1)) {
        all.push(...page);
        await yieldToOthers();
        page = jobs.views(last);
      }
      return done(all);
    },
    async find(jobId) {
      const job = await jobs.find(jobId);
      return job.ok ? done(job.value.view()) : job;
    },
    async look(jobId, visit, how) {
      const job = await jobs.find(jobId);
      if (!job.ok) return job;
      const { work } = job.value;
      // Of thousands of batches most have no source any more: their results need not be opened for that.
      const source = await job.value.openSource();
      if (!source.ok) return source;
      await source.value.close();
      return withChunks(job.value, ({ rows }) =>
        lookAtRows(
          rows,
          (loaded, index) => {
            const row = loaded.chunk.start.row + index;
            for (const [at, one] of work.entries()) {
              const { sent, came, isAnswered } = tokensOf(loaded, index, { one, at });
              for (const token of [...(isAnswered ? sent : []), ...came]) visit(token, row, at);
            }
          },
          { ...how, withResults: true, columns: 1 + Math.max(...work.map(({ plan }) => plan.column)) },
        ),
      );
    },
    async ofCell({ jobId, row, column }) {
      const job = await jobs.find(jobId);
      if (!job.ok) return job;
      const { work } = job.value;
      return withChunks(job.value, async ({ rows: { load, view }, store }) => {
        const at = workAt(work, view.width, column);
        const one = work[at];
        if (one === undefined || row > store.tally.rows) return failed('story.no-token');
        const loaded = await load(indexOfRow(store, row), fewRows);
        if (!loaded.ok) return loaded;
        const { sent, came } = tokensOf(loaded.value, row - loaded.value.chunk.start.row, { one, at });
        const isSource = column < view.width && one.plan.into === 'beside';
        const [first, second] = isSource ? [sent, came] : [came, sent];
        const [token, ...others] = first.length > 0 ? first : second;
        // A text may hold several, and none of them is the cell's.
        return token === undefined || others.length > 0 ? failed('story.no-token') : done(token);
      });
    },
  };
}
