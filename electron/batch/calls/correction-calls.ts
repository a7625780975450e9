import type { EventPayload, Handlers } from '../../contract/calls.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import {
  changeDoubt,
  type ChangedCell,
  type MendResult,
  type TakenChanges,
} from '../../contract/models/batch.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import { cleartext } from '../../util/cleartext.ts';
import { compareList, forEachRow, type ComparedList } from '../mending/compare-list.ts';
import { mergeChanges } from '../mending/merge-changes.ts';
import type { BatchOptions } from '../options.ts';
import { columnNames } from '../output/output-rows.ts';
import type { Sources } from '../reading/sources.ts';
import type { BatchJob } from '../running/job.ts';
import { showAs } from '../viewing/result-rows.ts';
import { withChunks } from './open-chunks.ts';

type CorrectionCalls = Pick<
  Handlers<'batch'>,
  'batch.compare' | 'batch.dropComparison' | 'batch.changes' | 'batch.mend'
>;

interface CorrectionOptions {
  readonly withJob: <T>(jobId: string, act: (job: BatchJob) => Promise<Outcome<T>>) => Promise<Outcome<T>>;
  readonly onMerged: (jobId: string) => void;
}

const reportEveryMs = 100;
const maxShownLeftOut = 100;

/** A list of failed rows that a person corrected: compared with its job, shown, and taken in. */
export function createCorrectionCalls(
  { audit, platform }: Pick<BatchOptions, 'audit' | 'platform'>,
  sources: Pick<Sources, 'find'>,
  { withJob, onMerged }: CorrectionOptions,
): CorrectionCalls {
  /** One at a time. What was found stays until it is taken in, dropped, or another list is compared. */
  let current: { jobId: string; abort: AbortController; list: ComparedList | null } | null = null;

  function reporter(jobId: string): (share: number) => void {
    let reportedAt = -Infinity;
    return (share) => {
      const now = performance.now();
      if (now - reportedAt < reportEveryMs) return;
      reportedAt = now;
      platform.send('batch.comparing', { jobId, share } satisfies EventPayload<'batch.comparing'>);
    };
  }

  function begin(jobId: string): NonNullable<typeof current> {
    current?.abort.abort();
    return (current = { jobId, abort: new AbortController(), list: null });
  }

  /** Failure: mend.outdated. */
  const found = (jobId: string): Outcome<ComparedList> =>
    current?.jobId === jobId && current.list !== null ? done(current.list) : failed('mend.outdated');

  async function compare(job: BatchJob, sourceId: string) {
    if (job.busy || job.state !== 'finished') return failed('job.busy');
    const opened = sources.find(sourceId);
    if (!opened.ok) return opened;
    const { bytes, fixed, path } = opened.value;
    const { jobId, format } = job.spec;
    const isPasted = path === null;
    const own = begin(jobId);
    const compared = await withChunks(job, async ({ rows, source: { pending } }) => {
      const { signal } = own.abort;
      const list = { list: bytes, fixed, isPasted, format, rows, pending, signal, report: reporter(jobId) };
      const result = await compareList(list);
      if (!result.ok) return result;
      const isSame = await bytes.check();
      return isSame.ok ? done({ list: result.value, pending: pending.size }) : isSame;
    });
    if (!compared.ok) return compared;
    if (current !== own) return failed('service.cancelled');
    const { list, pending } = compared.value;
    own.list = list;
    return done(summaryOf(list, pending));
  }

  async function mend(
    job: BatchJob,
    taken: TakenChanges,
    grounds: Grounds | null,
  ): Promise<Outcome<MendResult>> {
    if (job.busy || job.state !== 'finished') return failed('job.busy');
    const { jobId, connectionName, environment, format } = job.spec;
    const comparing = found(jobId);
    if (!comparing.ok) return comparing;
    const comparison = comparing.value;
    const before = await job.readMended();
    if (!before.ok) return before;
    const [doubts, except] = [new Set(taken.doubts), new Set(taken.except)];
    const merge = await withChunks(job, ({ rows }) => {
      if (rows.version !== comparison.version) return Promise.resolve(failed('mend.outdated'));
      return mergeChanges({
        format,
        rows,
        before: before.value,
        comparison,
        isTaken: ({ doubt }, position) => (doubt === null || doubts.has(doubt)) !== except.has(position),
        signal: new AbortController().signal,
        report: reporter(jobId),
      });
    });
    if (!merge.ok) return merge;
    const { mended, changed } = merge.value;
    const leftOut = [...comparison.leftOut, ...merge.value.leftOut];
    const untouched = countRows(comparison) - changed - merge.value.leftOut.length;
    const result = {
      changed,
      unchanged: comparison.unchanged + untouched,
      leftOut: leftOut.slice(0, maxShownLeftOut),
      leftOutRows: leftOut.length,
    };
    if (mended.pending.size > 0) {
      const rows = mended.pending.size;
      const intent = { action: 'Mend', connection: connectionName, environment, job: jobId, rows } as const;
      const started = await audit.record(intent, () => job.mend(mended, grounds));
      if (!started.ok) return started;
    }
    current = null;
    onMerged(jobId);
    return done(result);
  }

  return {
    'batch.compare': ({ jobId, sourceId }) => withJob(jobId, (job) => compare(job, sourceId)),
    'batch.dropComparison'({ jobId }) {
      if (current?.jobId === jobId) {
        current.abort.abort();
        current = null;
      }
      return Promise.resolve(done({}));
    },
    'batch.changes': ({ jobId, from, count }) =>
      withJob(jobId, (job) =>
        withChunks(job, async ({ rows }) => {
          const list = found(jobId);
          if (!list.ok) return list;
          const wanted = list.value.changes.slice(from, from + count);
          const names = columnNames(job.spec.format);
          const cells: ChangedCell[] = [];
          const { signal } = new AbortController();
          const looked = await forEachRow(rows, wanted, { signal }, ({ chunk, results }, index, change) => {
            const { row, column, to, doubt } = change;
            const isFlawed = chunk.flaws.has(index) || results.flaws[index] !== undefined;
            const show = (text: Parameters<typeof showAs>[0]): string =>
              showAs(text, rows.view, { column, isFlawed });
            const name = names[column] ?? `Column ${column + 1}`;
            cells.push({
              row,
              column,
              name,
              before: show(chunk.table.value(index, column)),
              after: show(cleartext(to)),
              doubt,
            });
          });
          return looked.ok ? done({ from, cells }) : looked;
        }),
      ),
    'batch.mend': ({ jobId, taken, grounds = null }) => withJob(jobId, (job) => mend(job, taken, grounds)),
  };
}

const countRows = ({ changes }: Pick<ComparedList, 'changes'>): number =>
  changes.filter(({ row }, position) => changes[position - 1]?.row !== row).length;

function summaryOf(list: ComparedList, pending: number) {
  const { changes, unchanged, leftOut } = list;
  const counts = new Map<string | null, number>();
  for (const { doubt } of changes) counts.set(doubt, (counts.get(doubt) ?? 0) + 1);
  const doubts = changeDoubt.options.flatMap((doubt) => {
    const cells = counts.get(doubt) ?? 0;
    return cells > 0 ? [{ doubt, cells }] : [];
  });
  return {
    cells: changes.length,
    rows: countRows(list),
    correctedRows: countRows({ changes: changes.filter(({ doubt }) => doubt === null) }),
    doubts,
    unchanged,
    leftOutRows: leftOut.length,
    leftOut: leftOut.slice(0, maxShownLeftOut),
    pending,
  };
}
