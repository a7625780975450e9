import type { Job } from '../../contract/models/batch.ts';
import type { Condition, Description } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';

/** A job as the window sees it. `rate` by the second, of a run that is under way. */
export function viewJob(
  what: Description,
  how: Condition,
  store: Pick<ResultStore, 'entries' | 'tally'> | null,
  rate: { readonly rows: number; readonly bytes: number },
): Job {
  const tally = store?.tally ?? how.tally;
  const end = store?.entries.at(-1)?.end.offset ?? what.format.markLength;
  const bytesLeft = Math.max(0, what.identity.size - end);
  return {
    jobId: what.jobId,
    sourceName: what.sourceName,
    connectionId: what.connectionId,
    connectionName: what.connectionName,
    environment: what.environment,
    plan: what.plan,
    columns: what.columns,
    state: how.state,
    startedAt: what.startedAt,
    endedAt: how.endedAt,
    total: how.total,
    tally,
    committed: tally.rows,
    rowsPerSecond: Math.round(rate.rows),
    secondsLeft: rate.bytes > 0 && !how.retrying ? Math.ceil(bytesLeft / rate.bytes) : null,
    waiting: how.waiting,
    failure: how.failure,
  };
}
