import type { Job } from '../../contract/models/batch.ts';
import { beginning, endOf } from '../reading/read-rows.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { hideAnywhere } from '../reading/fit.ts';
import { isFromSheet, type JobSpec, type StoredState } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';
import type { JobFigures } from './job-figures.ts';
import { createTurn } from '../../util/turns.ts';

/** Rows and bytes a second over the last few seconds. */
export interface Progress {
  add(now: number, rows: number, bytes: number): void;
  rate(now: number): Rate;
}

interface Rate {
  readonly rows: number;
  readonly bytes: number;
}

const spanMs = 10_000;
const stepMs = 250;

export function createProgress(): Progress {
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
    rate(now) {
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
 * The last check before a job is finished: the chunks follow each other without a gap from the first row to the last
 * byte, and every row was counted once. `total`: rows as preflight counted them, if it did.
 */
export function isComplete(
  { format, identity }: Pick<JobSpec, 'format' | 'identity'>,
  { entries, tally }: Pick<ResultStore, 'entries' | 'tally'>,
  total: number | null,
): boolean {
  const first = beginning(format);
  const last = entries.at(-1)?.end ?? first;
  const hasNoGap = entries.every((entry, i) => {
    const before = entries[i - 1]?.end ?? first;
    return entry.start.offset === before.offset && entry.start.row === before.row;
  });
  const reachesEnd = hasWholeSource({ format, identity }, { entries }) && last.row - 1 === tally.rows;
  const sum = tally.ok + tally.failed + tally.unmatched + tally.blank;
  return hasNoGap && reachesEnd && (total ?? tally.rows) === tally.rows && sum === tally.rows;
}

/** Whether there are results up to the last byte of the table. */
export const hasWholeSource = (
  { format, identity }: Pick<JobSpec, 'format' | 'identity'>,
  { entries }: Pick<ResultStore, 'entries'>,
): boolean => (entries.at(-1)?.end ?? beginning(format)).offset === endOf(format, identity);

export interface JobSnapshot {
  readonly spec: JobSpec;
  readonly stored: StoredState;
  /** Null while it is not open. */
  readonly store: Pick<ResultStore, 'entries' | 'tally'> | null;
  readonly figures: JobFigures;
  /** Of the present run; zeros while none is under way. */
  readonly rate: Rate;
  /** Why a run sends nothing at the moment; null where it does, or none is under way. */
  readonly runWaiting: Job['waiting'];
}

/** By the names themselves, which never change: a job is viewed four times a second. */
const shownBefore = new WeakMap<JobSpec['columns'], string[]>();

function shownColumns(columns: JobSpec['columns']): string[] {
  const known = shownBefore.get(columns);
  if (known !== undefined) return known;
  const shown = columns.map(hideAnywhere);
  shownBefore.set(columns, shown);
  return shown;
}

/** What `viewJob` shows of these columns: of a thousand it takes longer than a turn. */
export async function prepareColumns(columns: JobSpec['columns']): Promise<void> {
  const shown: string[] = [];
  const turn = createTurn();
  for (const name of columns) {
    shown.push(hideAnywhere(name));
    if (turn.isOver()) await turn.next();
  }
  shownBefore.set(columns, shown);
}

/** A job as the window sees it. */
export function viewJob({ spec, stored, store, figures, rate, runWaiting }: JobSnapshot): Job {
  const tally = store?.tally ?? stored.tally;
  const end = store?.entries.at(-1)?.end.offset ?? spec.format.markLength;
  const bytesLeft = Math.max(0, endOf(spec.format, spec.identity) - end);
  return {
    jobId: spec.jobId,
    sourceName: maskNumbers(spec.sourceName),
    isWorkbook: isFromSheet(spec),
    ...(spec.packed !== undefined && { packed: spec.packed }),
    connectionId: spec.connectionId,
    connectionName: spec.connectionName,
    environment: spec.environment,
    plan: spec.plan,
    mapping: spec.mapping,
    columns: shownColumns(spec.columns),
    state: stored.state,
    startedAt: spec.startedAt,
    endedAt: stored.endedAt,
    total: stored.total,
    tally,
    values: figures.values,
    failures: [...figures.failures],
    valueless: [...figures.valueless],
    committed: tally.rows,
    unsent: stored.total === null ? null : Math.max(0, stored.total - tally.rows),
    // While it waits, the rate of the last seconds says nothing about the next ones.
    rowsPerSecond: runWaiting === null ? Math.round(rate.rows) : 0,
    secondsLeft:
      rate.bytes > 0 && !stored.retrying && runWaiting === null ? Math.ceil(bytesLeft / rate.bytes) : null,
    waiting: runWaiting ?? stored.waiting,
    braked: stored.braked,
    canary: stored.canary,
    failure: stored.failure,
  };
}
