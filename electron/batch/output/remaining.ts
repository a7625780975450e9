import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Remaining, Tally } from '../../contract/models/batch.ts';
import { readAbove, readBelow } from '../reading/read-rows.ts';
import type { BatchJob } from '../running/job.ts';
import type { JobSource } from '../running/job-source.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { lastMapped } from '../planning/plan.ts';
import { groupChunks, joinRows, openJoin, writtenEntries } from './join.ts';
import { createLeakCheck, type LeakCheck } from './leak-check.ts';
import { createOutputRows, createTokenRows, type ExportContent } from './output-rows.ts';
import { noOutput } from './row-output.ts';
import { collectSentValues, type SentValues } from './sent-values.ts';
import { yieldToOthers } from '../../util/turns.ts';

/** A job whose store and source are open. */
export interface OpenJob {
  readonly job: Pick<BatchJob, 'spec' | 'work'>;
  readonly store: Pick<ResultStore, 'entries' | 'tally' | 'createSequentialReader'>;
  readonly source: JobSource;
}

/** What stays in clear in exports of masks and tokens. */
export interface RemainingChecks {
  /** By a look at all rows of an export, which is remembered. Failures: file.*, job.damaged, service.cancelled. */
  look(open: OpenJob, choice: ExportContent, signal: AbortSignal): Promise<Outcome<Remaining>>;
  /**
   * What such a look found. It holds for the export as well: that refuses a source which has other bytes than the job was
   * run with. Null where there was none.
   */
  known(open: OpenJob, choice: ExportContent): Remaining | null;
  /** For an export that counts itself. Failures: file.*, job.damaged. */
  begin(open: OpenJob, holds?: (cell: string) => boolean): Promise<Outcome<LeakCheck>>;
  /** Its rows are not what they were. */
  forget(jobId: string): void;
}

/** Remembers the values of one job, until it runs again or another is asked for. */
export function createRemainingChecks(): RemainingChecks {
  let last: {
    readonly jobId: string;
    readonly tally: Tally;
    readonly sent: SentValues;
    readonly looks: (ExportContent & { readonly remaining: Remaining })[];
  } | null = null;

  const recall = ({ job, store }: OpenJob): typeof last =>
    last?.jobId === job.spec.jobId && last.tally === store.tally ? last : null;

  async function sentValues(open: OpenJob): Promise<Outcome<SentValues>> {
    const known = recall(open);
    if (known !== null) return done(known.sent);
    last = null;
    const { job, store, source } = open;
    const { jobId, format } = job.spec;
    const { tally } = store;
    const sent = await collectSentValues({ source, format, work: job.work, store });
    if (sent.ok) last = { jobId, tally, sent: sent.value, looks: [] };
    return sent;
  }

  async function begin(open: OpenJob, holds?: (cell: string) => boolean): Promise<Outcome<LeakCheck>> {
    const sent = await sentValues(open);
    return sent.ok ? done(createLeakCheck(open.job.spec.format, sent.value, holds)) : sent;
  }

  return {
    begin,
    known: (open, choice) =>
      recall(open)?.looks.find(
        ({ content, rows, shownRows }) =>
          content === choice.content && rows === choice.rows && isSame(shownRows, choice.shownRows),
      )?.remaining ?? null,
    async look(open, { content, rows, shownRows }, signal) {
      const choice = { content, rows, ...(shownRows !== undefined && { shownRows }) };
      const leaks = await begin(open);
      if (!leaks.ok) return leaks;
      const remaining = await lookThrough(open, { leaks: leaks.value, choice, signal });
      if (remaining.ok) recall(open)?.looks.push({ ...choice, remaining: remaining.value });
      return remaining;
    },
    forget(jobId) {
      if (last?.jobId === jobId) last = null;
    },
  };
}

/**
 * The old tokens that stand in a file of the new ones, and card numbers, since an old token may look like one: of values that failed, and where a token stands in a column that was
 * not mapped. Null where none were translated. Failures: those of `look`.
 */
export async function oldTokensLeft(open: OpenJob, signal: AbortSignal): Promise<Outcome<number | null>> {
  const { job, store, source } = open;
  const { format } = job.spec;
  if (job.work.every(({ plan }) => plan.operation !== 'translate')) return done(null);
  const old = await collectSentValues({ source, format, work: job.work, store, operation: 'translate' });
  if (!old.ok) return old;
  const choice: ExportContent = { content: 'tokens', rows: 'all' };
  const looked = await lookThrough(open, { leaks: createLeakCheck(format, old.value), choice, signal });
  return looked.ok ? done(looked.value.cards + looked.value.values) : looked;
}

/** What a file that is written so would leave. */
async function lookThrough(
  open: OpenJob,
  {
    leaks,
    choice,
    signal,
  }: { readonly leaks: LeakCheck; readonly choice: ExportContent; readonly signal: AbortSignal },
): Promise<Outcome<Remaining>> {
  const { job, source } = open;
  const { format } = job.spec;
  const written = createOutputRows({
    ...{ format, work: job.work, choice, withError: false, output: noOutput, leaks },
  });
  const above = await readAbove(source, format);
  if (!above.ok) return above;
  await written.writeAbove(above.value);
  const looked = await joinAll(open, { rows: written, entries: writtenEntries(open.store, choice), signal });
  if (!looked.ok) return looked;
  for await (const below of readBelow(source, format)) {
    if (!below.ok) return below;
    await written.writeBelow(below.value);
  }
  return remainingOf(leaks, open, signal);
}

const isSame = (one?: Uint32Array, other?: Uint32Array): boolean =>
  one === other ||
  (one?.length === other?.length && one?.every((row, index) => row === other?.[index]) === true);

/** What was counted. Where that are card numbers, another look says which of them are tokens: most files have none. */
export async function remainingOf(
  leaks: LeakCheck,
  open: OpenJob,
  signal?: AbortSignal,
): Promise<Outcome<Remaining>> {
  if (!leaks.asksForTokens) return done(leaks.remaining());
  const rows = createTokenRows(open.job.work, leaks);
  const looked = await joinAll(open, { rows, entries: open.store.entries, signal });
  return looked.ok ? done(leaks.remaining()) : looked;
}

async function joinAll(
  { job, store, source }: OpenJob,
  {
    rows,
    entries,
    signal,
  }: {
    rows: Parameters<typeof joinRows>[0]['rows'];
    entries: OpenJob['store']['entries'];
    signal: AbortSignal | undefined;
  },
): Promise<Outcome<null>> {
  const { format } = job.spec;
  const maxFields = lastMapped(job.work) + 1;
  const join = { ...openJoin(source, store), format, rows, output: noOutput, maxFields };
  for (const group of groupChunks(entries)) {
    if (signal?.aborted === true) return failed('service.cancelled');
    const joined = await joinRows(join, group);
    if (!joined.ok) return joined;
    await yieldToOthers();
  }
  return done(null);
}
