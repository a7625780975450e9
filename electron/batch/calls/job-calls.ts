import { dirname } from 'node:path';
import type { Handlers } from '../../contract/calls.ts';
import type { ExportChoice } from '../../contract/models/batch.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { WrittenReceipt } from '../../evidence/receipt.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { sha256Of } from '../../storage/byte-source.ts';
import type { MappingCalls, Mappings } from '../mappings.ts';
import type { BatchOptions } from '../options.ts';
import { checkExport, exportJob, type ReceiptParts } from '../output/export.ts';
import { accountsOfMove, isMove } from '../planning/plan.ts';
import { createRemainingChecks } from '../output/remaining.ts';
import type { OwnTokens } from '../output/own-tokens.ts';
import type { UnfinishedExports } from '../output/unfinished-exports.ts';
import { createExportedFiles } from '../../storage/exported-files.ts';
import { fewRows } from '../viewing/result-rows.ts';
import type { JobRows } from '../viewing/look-at-rows.ts';
import { createRowsViews, formatCells, formatTable } from '../viewing/rows-view.ts';
import { readLayout, saveLayout } from '../viewing/table-layouts.ts';
import { revealCell } from '../viewing/reveal-cell.ts';
import type { JobList } from '../running/job-list.ts';
import type { BatchJob } from '../running/job.ts';
import { isFromSheet } from '../storing/job-files.ts';
import { indexOfRow } from '../storing/result-store.ts';
import { createCaseCalls } from './case-calls.ts';
import { createCorrectionCalls } from './correction-calls.ts';
import type { DraftCalls, Drafts } from './draft-calls.ts';
import { withChunks } from './open-chunks.ts';
import type { JobActs } from './job-acts.ts';
import type { QueueCalls } from './queue-calls.ts';

const reportEveryMs = 100;

type JobCalls = Omit<Handlers<'batch'>, keyof DraftCalls | keyof MappingCalls | keyof QueueCalls>;

/** What a person does with a job and its results. */
export function createJobCalls(
  options: BatchOptions & {
    readonly unfinished: Pick<UnfinishedExports, 'during'>;
    readonly own: Pick<OwnTokens, 'remember'>;
    readonly mappings: Pick<Mappings, 'exported' | 'rememberExport'>;
  },
  drafts: Pick<Drafts, 'check' | 'checkTokens' | 'count' | 'identify' | 'sources'>,
  jobs: JobList,
): JobActs & { readonly calls: JobCalls } {
  async function withJob<T>(jobId: string, act: (job: BatchJob) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const job = await jobs.find(jobId);
    return job.ok ? act(job.value) : job;
  }

  const views = createRowsViews((progress) => {
    options.platform.send('batch.viewing', progress);
  });

  const exportedFiles = createExportedFiles((file) => options.platform.showInFolder(file));
  const checks = createRemainingChecks();
  /** Of each job, what ends the look at its rows that is under way. */
  const looks = new Map<string, AbortController>();

  /** Of each job, what ends the export that is being written. */
  const exports = new Map<string, AbortController>();

  const exportReporter = (jobId: string) => {
    let reportedAt = -Infinity;
    return (share: number, rows: number): void => {
      const now = performance.now();
      if (now - reportedAt < reportEveryMs) return;
      reportedAt = now;
      options.platform.send('batch.exporting', { jobId, share, rows });
    };
  };

  /** While the job's source and results are open. */
  const withRows = <T>(jobId: string, act: (rows: JobRows) => Promise<Outcome<T>>): Promise<Outcome<T>> =>
    withJob(jobId, (job) => withChunks(job, ({ rows }) => act(rows)));

  /** With the numbers of the rows that the table shows, where these are exported. */
  async function withShownRows<T extends Pick<ExportChoice, 'jobId' | 'rows' | 'shown'>>(
    choice: T,
  ): Promise<Outcome<T & { readonly shownRows?: Uint32Array }>> {
    const { jobId, shown } = choice;
    if (choice.rows !== 'shown' || shown === undefined) return done(choice);
    const numbers = await withRows(jobId, (rows) => views.numbers(jobId, rows, shown));
    return numbers.ok ? done({ ...choice, shownRows: numbers.value }) : numbers;
  }

  /** For calls that answer nothing. */
  async function command(
    jobId: string,
    act: (job: BatchJob) => Promise<Outcome<null>>,
  ): Promise<Outcome<Record<string, never>>> {
    const outcome = await withJob(jobId, act);
    return outcome.ok ? done({}) : outcome;
  }

  const corrections = createCorrectionCalls(options, drafts.sources, {
    withJob,
    onMerged: (jobId) => {
      views.forget(jobId);
      checks.forget(jobId);
    },
  });

  /** Of what is about to get its name. Failures: those of `WriteReceipt`. */
  async function signReceipt(
    job: Pick<BatchJob, 'spec' | 'openSource'>,
    { target, content, tally, rowsWritten, remaining, cases }: ReceiptParts,
  ): Promise<Outcome<WrittenReceipt>> {
    const { run, sourceName, jobId, connectionName, environment, startedAt } = job.spec;
    const file = run === null ? await hashSource(job) : done(run.file);
    if (!file.ok) return file;
    return options.receipt({
      target,
      content,
      startedAt,
      mapping: run?.mapping ?? null,
      connection: connectionName,
      environment,
      job: jobId,
      source: file.value === null ? null : { name: maskNumbers(sourceName), ...file.value },
      sum: tally,
      rowsWritten,
      remaining: remaining === null ? null : { cards: remaining.cards, values: remaining.values },
      ...(cases !== undefined && { cases }),
    });
  }

  function forget(jobId: string): void {
    views.forget(jobId);
    checks.forget(jobId);
  }

  const start: JobActs['start'] = async ({ sourceId, plan, grounds, queued = null, where, ...asked }) => {
    const { mayBeTokens, mapping, takesUp } = asked;
    const checked = await drafts.check(sourceId, plan);
    if (!checked.ok) return checked;
    const draft = checked.value;
    const { id, environment } = draft.connection;
    if (where !== undefined && (where.id !== id || where.environment !== environment))
      return failed('queue.elsewhere', { subject: where.name });
    const meant = await drafts.checkTokens(draft, mayBeTokens);
    if (!meant.ok) return meant;
    // Without a reason nothing is counted or stored.
    const isDisclosing = draft.work.some((column) => column.isDisclosing || isMove(column));
    if (isDisclosing && grounds === null) return failed('reveal.reason-required');
    const counted = isDisclosing ? await drafts.count(draft) : done(draft.counted);
    if (!counted.ok) return counted;
    const isFoundAgain = mapping !== undefined && takesUp === true;
    const run = isFoundAgain ? await drafts.identify(draft, mapping) : done(null);
    if (!run.ok) return run;
    const accounts = where?.accounts ?? accountsOfMove(draft, options.connections);
    const begun = { mapping: mapping ?? null, run: run.value, queued, accounts };
    const job = await jobs.create({ ...draft, counted: counted.value }, plan, begun);
    if (!job.ok) return job;
    const { jobId } = job.value.spec;
    const { rows, guesses } = counted.value ?? { rows: 0, guesses: 0 };
    const started = await job.value.start(draft.starts, { grounds, rows, guesses });
    if (started.ok) return done({ jobId });
    jobs.remove(jobId);
    await job.value.discard();
    return started;
  };

  const write: JobActs['write'] = async (
    choice,
    { target: chooseTarget, stop = new AbortController() } = {},
  ) => {
    const { jobId } = choice;
    const request = await withShownRows(choice);
    if (!request.ok) return request;
    exports.set(jobId, stop);
    const platform = { ...options.platform, ...(chooseTarget !== undefined && { chooseTarget }) };
    const writing = { ...options, platform, checks, signal: stop.signal, report: exportReporter(jobId) };
    const exported = await withJob(jobId, async (job) => {
      const { mapping } = job.spec;
      const { folder = null } = (await options.mappings.exported(mapping)) ?? {};
      const sign = (parts: ReceiptParts) => signReceipt(job, parts);
      const receipt = choice.receipt === true ? sign : null;
      const written = await exportJob({ ...writing, folder, receipt }, job, request.value);
      // A command writes as it was told: what a person chose stays.
      if (written.ok && written.value !== null && choice.receipt !== true)
        await options.mappings.rememberExport(job.view(), choice, dirname(written.value.target));
      return written;
    });
    if (exports.get(jobId) === stop) exports.delete(jobId);
    if (!exported.ok || exported.value === null) return exported as Outcome<null>;
    const { target, ...sum } = exported.value;
    return done({
      ...sum,
      exportId: exportedFiles.add(target),
      folder: dirname(target),
    });
  };

  const calls: JobCalls = {
    ...corrections,
    ...createCaseCalls(jobs),
    async 'batch.takeUp'({ sourceId, plan, mapping }) {
      const checked = await drafts.check(sourceId, plan);
      if (!checked.ok) return checked;
      const run = await drafts.identify(checked.value, mapping);
      if (!run.ok) return run;
      const job = await jobs.findRun(run.value, plan);
      return job.ok ? done(job.value?.view() ?? null) : job;
    },
    'batch.start': (asked) => start(asked),
    'batch.pause': ({ jobId }) => command(jobId, (job) => job.pause()),
    'batch.resume': ({ jobId, grounds = null }) => command(jobId, (job) => job.resume(grounds)),
    'batch.cancel': ({ jobId }) => command(jobId, (job) => job.cancel()),
    'batch.retry': ({ jobId, code, grounds = null }) => command(jobId, (job) => job.retry(code, grounds)),
    'batch.canary': ({ jobId }) => withJob(jobId, (job) => Promise.resolve(done(job.showCanary()))),
    'batch.changePolicy': ({ jobId, changes, grounds = null }) =>
      command(jobId, async (job) => {
        const connection = options.connections.find(job.spec.connectionId);
        if (!connection.ok) return connection;
        const policiesOf = (id: string | undefined): readonly string[] => {
          const found = id === undefined ? connection : options.connections.find(id);
          return found.ok ? found.value.policies : [];
        };
        const unknown = changes
          .flatMap(({ column, policy, targetPolicy }) => {
            const planned = job.spec.plan.columns.find((one) => one.column === column);
            const isKnown = policiesOf(undefined).includes(policy);
            if (!isKnown || targetPolicy === null) return isKnown ? [] : [policy];
            return policiesOf(planned?.target?.connection).includes(targetPolicy) ? [] : [targetPolicy];
          })
          .at(0);
        return unknown === undefined
          ? job.changePolicy(changes, grounds)
          : failed('plan.policy-unknown', { policy: unknown });
      }),
    'batch.reopen': ({ jobId }) =>
      withJob(jobId, async (job) => {
        const { sourcePath, sourceName, spool, plan } = job.spec;
        if (spool === null)
          return sourcePath === null ? failed('job.damaged') : drafts.sources.openPath(sourcePath);
        const stored = await job.openSource();
        if (!stored.ok) return stored;
        try {
          const { reading } = plan;
          const kind = { isSheet: isFromSheet(job.spec), packed: job.spec.packed ?? null };
          const rows = { name: sourceName, path: sourcePath, reading, bytes: stored.value, ...kind };
          return await drafts.sources.openStored(rows);
        } finally {
          await stored.value.close();
        }
      }),
    async 'batch.discard'({ jobId }) {
      const damaged = await jobs.discardDamaged(jobId);
      if (damaged !== null) return damaged.ok ? done({}) : damaged;
      return command(jobId, async (job) => {
        const discarded = await job.discard();
        if (discarded.ok) {
          jobs.remove(jobId);
          forget(jobId);
        }
        return discarded;
      });
    },
    async 'batch.jobs'({ after }) {
      const loaded = await jobs.load();
      return loaded.ok ? done(jobs.views(after)) : loaded;
    },
    async 'batch.damaged'() {
      await jobs.load();
      return done(jobs.damaged());
    },
    'batch.rows': ({ jobId, ...query }) => withRows(jobId, (rows) => views.page(jobId, rows, query)),
    'batch.find': ({ jobId, ...query }) => withRows(jobId, (rows) => views.find(jobId, rows, query)),
    'batch.stopViewing'({ jobId }) {
      views.stop(jobId);
      return Promise.resolve(done({}));
    },
    'batch.copy': ({ jobId, columns, ...query }) => {
      const epoch = options.clipboard.epoch();
      return withRows(jobId, async (rows) => {
        const page = await views.page(jobId, rows, query);
        if (!page.ok) return page;
        const { rows: shown } = page.value;
        return options.clipboard.write(formatCells(shown, columns), epoch, formatTable(shown, columns));
      });
    },
    'batch.profile': ({ jobId, column }) => withRows(jobId, (rows) => views.profile(jobId, rows, column)),
    'batch.layout': ({ jobId }) => withJob(jobId, (job) => readLayout(options, job.spec.columns)),
    'batch.saveLayout': ({ jobId, layout }) =>
      withJob(jobId, (job) => saveLayout(options, job.spec.columns, layout)),
    'batch.reveal': ({ jobId, row, column, xorKey, ...grounds }) =>
      withJob(jobId, (job) =>
        withChunks(job, async ({ rows: { load, view }, store }) => {
          if (row > store.tally.rows) return failed('reveal.gone');
          const loaded = await load(indexOfRow(store, row), fewRows);
          if (!loaded.ok) return loaded;
          const cell = { ...loaded.value, index: row - loaded.value.chunk.start.row, column };
          return revealCell({ ...options, spec: job.spec, view, cell, grounds }, xorKey);
        }),
      ),
    'batch.checkExport': async (choice) => {
      const { jobId } = choice;
      looks.get(jobId)?.abort();
      const look = new AbortController();
      looks.set(jobId, look);
      const { signal } = look;
      const request = await withShownRows(choice);
      const remaining = request.ok
        ? await withJob(jobId, (job) => checkExport(checks, job, { ...request.value, signal }))
        : request;
      if (looks.get(jobId) === look) looks.delete(jobId);
      return remaining;
    },
    'batch.export': (choice) => write(choice),
    'batch.stopExport'({ jobId }) {
      exports.get(jobId)?.abort();
      return Promise.resolve(done({}));
    },
    'batch.showExport': ({ exportId }) => exportedFiles.show(exportId),
  };
  return { calls, start, write, forget };
}

/** Of a batch that the window began: null where its rows are a copy, which no file has the hash of. */
async function hashSource(
  job: Pick<BatchJob, 'spec' | 'openSource'>,
): Promise<Outcome<{ readonly bytes: number; readonly sha256: string } | null>> {
  if (job.spec.spool !== null) return done(null);
  const source = await job.openSource();
  if (!source.ok) return source;
  const hash = await sha256Of(source.value);
  await source.value.close();
  return hash.ok ? done({ bytes: source.value.identity.size, sha256: hash.value }) : hash;
}
