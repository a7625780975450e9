import type { Job } from '../../contract/models/batch.ts';
import { beginning } from '../reading/read-rows.ts';
import type { Description, Condition } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { agrees } from '../storing/results.ts';

/** Rows and bytes a second over the last few seconds. */
export interface Pace {
  add(now: number, rows: number, bytes: number): void;
  rates(now: number): { rows: number; bytes: number };
}

const spanMs = 10_000;
const stepMs = 250;

export function createPace(): Pace {
  let steps: { at: number; rows: number; bytes: number }[] = [];
  return {
    add(now, rows, bytes) {
      const last = steps.at(-1);
      if (last !== undefined && now - last.at < stepMs) {
        last.rows += rows;
        last.bytes += bytes;
      } else steps.push({ at: now, rows, bytes });
      if (steps.length > spanMs / stepMs) steps.shift();
    },
    rates(now) {
      steps = steps.filter(({ at }) => now - at <= spanMs);
      const [first] = steps;
      if (first === undefined) return { rows: 0, bytes: 0 };
      const seconds = Math.max(now - first.at, stepMs) / 1_000;
      return {
        rows: steps.reduce((sum, step) => sum + step.rows, 0) / seconds,
        bytes: steps.reduce((sum, step) => sum + step.bytes, 0) / seconds,
      };
    },
  };
}

/**
 * The last check before a job may call itself done: the chunks follow each other without a gap from the first row to
 * the last byte, and every row was counted once. `total`: rows as preflight counted them, if it did.
 */
export function sumAgrees(
  { format, identity }: Pick<Description, 'format' | 'identity'>,
  { entries, tally }: Pick<ResultStore, 'entries' | 'tally'>,
  total: number | null,
): boolean {
  const first = beginning(format);
  const last = entries.at(-1)?.end ?? first;
  const inOrder = entries.every((entry, i) => {
    const before = entries[i - 1]?.end ?? first;
    return entry.start.offset === before.offset && entry.start.row === before.row;
  });
  const whole = last.offset === identity.size && last.row - 1 === tally.rows;
  return inOrder && whole && (total ?? tally.rows) === tally.rows && agrees(tally);
}

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
