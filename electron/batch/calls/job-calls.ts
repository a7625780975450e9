import { dirname } from 'node:path';
import { maskedColumnsOf } from '../storing/job-files.ts';
import type { Handlers } from '../../contract/calls.ts';
import type { MendResult } from '../../contract/models/batch.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { BatchOptions } from '../options.ts';
import { exportJob } from '../output/export.ts';
import type { UnfinishedExports } from '../output/unfinished-exports.ts';
import { createExportedFiles } from '../output/exported-files.ts';
import { fewRows, type LoadedChunk, type Needed, type View } from '../viewing/result-rows.ts';
import type { JobRows } from '../viewing/look-at-rows.ts';
import { createRowsViews, formatCells } from '../viewing/rows-view.ts';
import { readLayout, saveLayout } from '../viewing/table-layouts.ts';
import { readMendedList } from '../output/mended-list.ts';
import { revealCell } from '../viewing/reveal-cell.ts';
import { hasDisclosingMatch } from '../planning/disclosing-match.ts';
import { readChunk } from '../reading/read-rows.ts';
import type { JobList } from '../running/job-list.ts';
import type { OpenSource } from '../reading/sources.ts';
import type { BatchJob } from '../running/job.ts';
import { indexOfRow, type ResultStore } from '../storing/result-store.ts';
import { readAhead, type ByteSource } from '../../storage/byte-source.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { ReadRecord } from '../storing/records.ts';
import type { ChunkResults } from '../storing/results.ts';
import type { DraftCalls, Drafts } from './draft-calls.ts';

type JobCalls = Omit<Handlers<'batch'>, keyof DraftCalls>;

/** What a person does with a job and its results. */
export function createJobCalls(
  options: BatchOptions & { readonly unfinished: Pick<UnfinishedExports, 'during'> },
  drafts: Pick<Drafts, 'check' | 'count' | 'sources'>,
  jobs: JobList,
): JobCalls {
  async function withJob<T>(jobId: string, act: (job: BatchJob) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const job = await jobs.find(jobId);
    return job.ok ? act(job.value) : job;
  }

  const views = createRowsViews((progress) => {
    options.platform.send('batch.viewing', progress);
  });

  const exportedFiles = createExportedFiles(options.platform);

  /** While the job's source and results are open. */
  const withRows = <T>(jobId: string, act: (rows: JobRows) => Promise<Outcome<T>>): Promise<Outcome<T>> =>
    withJob(jobId, (job) =>
      withChunks(job, (load, { entries, tally }, loadNext) =>
        act({ entries, version: tally, isRunning: job.busy, view: viewOf(job), load, loadNext }),
      ),
    );

  /**
   * Takes in a list of failed rows that a person corrected. Where nothing in it is changed nothing is done.
   * Failures: job.*, mend.*, audit.*, those of reading either file, file.disk-full, file.unwritable.
   */
  async function mend(
    job: BatchJob,
    { bytes: list }: Pick<OpenSource, 'bytes'>,
    grounds: Grounds | null,
  ): Promise<Outcome<MendResult>> {
    if (job.busy || job.state !== 'finished') return failed('job.busy');
    const before = await job.readMended();
    if (!before.ok) return before;
    const { format } = job.spec;
    const read = await withChunks(job, (load, store) =>
      readMendedList({
        list,
        format,
        work: job.work,
        load: (row) => load(indexOfRow(store, row), { withResults: true }),
        rows: store.tally.rows,
        before: before.value,
      }),
    );
    if (!read.ok) return read;
    const { mended, changed, unchanged, leftOut } = read.value;
    const result = { changed, unchanged, leftOut: leftOut.slice(0, 100), leftOutRows: leftOut.length };
    if (mended.pending.size === 0) return done(result);
    const { jobId, connectionName, environment } = job.spec;
    const rows = mended.pending.size;
    const intent = { action: 'Mend', connection: connectionName, environment, job: jobId, rows };
    const started = await options.audit.record(intent, () => job.mend(mended, grounds));
    views.forget(jobId);
    return started.ok ? done(result) : started;
  }

  /** For calls that answer nothing. */
  async function command(
    jobId: string,
    act: (job: BatchJob) => Promise<Outcome<null>>,
  ): Promise<Outcome<Record<string, never>>> {
    const outcome = await withJob(jobId, act);
    return outcome.ok ? done({}) : outcome;
  }

  return {
    async 'batch.start'({ sourceId, plan, grounds }) {
      const checked = await drafts.check(sourceId, plan);
      if (!checked.ok) return checked;
      const draft = checked.value;
      // Without a reason nothing is counted or stored.
      const isDisclosing = hasDisclosingMatch(draft.work);
      if (isDisclosing && grounds === null) return failed('reveal.reason-required');
      const counted = isDisclosing ? await drafts.count(draft) : done(draft.counted);
      if (!counted.ok) return counted;
      const job = await jobs.create({ ...draft, counted: counted.value }, plan);
      if (!job.ok) return job;
      const { jobId } = job.value.spec;
      const rows = counted.value?.rows ?? 0;
      const started = await job.value.start(draft.starts, grounds, rows);
      if (started.ok) return done({ jobId });
      jobs.remove(jobId);
      await job.value.discard();
      return started;
    },
    'batch.pause': ({ jobId }) => command(jobId, (job) => job.pause()),
    'batch.resume': ({ jobId, grounds = null }) => command(jobId, (job) => job.resume(grounds)),
    'batch.cancel': ({ jobId }) => command(jobId, (job) => job.cancel()),
    'batch.retry': ({ jobId, code, grounds = null }) => command(jobId, (job) => job.retry(code, grounds)),
    'batch.canary': ({ jobId }) => withJob(jobId, (job) => Promise.resolve(done(job.showCanary()))),
    'batch.changePolicy': ({ jobId, changes, grounds = null }) =>
      command(jobId, async (job) => {
        const connection = options.connections.find(job.spec.connectionId);
        if (!connection.ok) return connection;
        const { policies } = connection.value;
        const unknown = changes
          .flatMap(({ policy, targetPolicy }) => [policy, targetPolicy ?? policy])
          .find((policy) => !policies.includes(policy));
        return unknown === undefined
          ? job.changePolicy(changes, grounds)
          : failed('plan.policy-unknown', { policy: unknown });
      }),
    'batch.mend': ({ jobId, sourceId, grounds = null }) =>
      withJob(jobId, (job) => {
        const opened = drafts.sources.find(sourceId);
        return opened.ok ? mend(job, opened.value, grounds) : Promise.resolve(opened);
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
          const rows = { name: sourceName, path: sourcePath, reading, bytes: stored.value };
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
          views.forget(jobId);
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
    'batch.copy': ({ jobId, columns, ...query }) => {
      const epoch = options.clipboard.epoch();
      return withRows(jobId, async (rows) => {
        const page = await views.page(jobId, rows, query);
        return page.ok ? options.clipboard.write(formatCells(page.value.rows, columns), epoch) : page;
      });
    },
    'batch.profile': ({ jobId, column }) => withRows(jobId, (rows) => views.profile(jobId, rows, column)),
    'batch.layout': ({ jobId }) => withJob(jobId, (job) => readLayout(options, job.spec.columns)),
    'batch.saveLayout': ({ jobId, layout }) =>
      withJob(jobId, (job) => saveLayout(options, job.spec.columns, layout)),
    'batch.reveal': ({ jobId, row, column, xorKey, ...grounds }) =>
      withJob(jobId, (job) =>
        withChunks(job, async (load, store) => {
          if (row > store.tally.rows) return failed('reveal.gone');
          const loaded = await load(indexOfRow(store, row), fewRows);
          if (!loaded.ok) return loaded;
          const cell = { ...loaded.value, index: row - loaded.value.chunk.start.row, column };
          return revealCell({ ...options, spec: job.spec, view: viewOf(job), cell, grounds }, xorKey);
        }),
      ),
    'batch.export': async (choice) => {
      const { jobId, shown } = choice;
      const numbers =
        choice.rows === 'shown' && shown !== undefined
          ? await withRows(jobId, (rows) => views.numbers(jobId, rows, shown))
          : done(undefined);
      if (!numbers.ok) return numbers;
      const shownRows = numbers.value;
      const request = shownRows === undefined ? choice : { ...choice, shownRows };
      const exported = await withJob(jobId, (job) => exportJob(options, job, request));
      if (!exported.ok || exported.value === null) return exported as Outcome<null>;
      const { target, ...sum } = exported.value;
      return done({ ...sum, exportId: exportedFiles.add(target), folder: dirname(target) });
    },
    'batch.showExport': ({ exportId }) => exportedFiles.show(exportId),
  };
}

const viewOf = ({ spec, work }: BatchJob): View => ({
  width: spec.format.width,
  work,
  masked: maskedColumnsOf(spec),
});

const noResults: ChunkResults = { states: '', flaws: {}, columns: [] };

/** Runs `act` while the job's source and results are open. */
async function withChunks<T>(
  job: BatchJob,
  act: (load: JobRows['load'], store: ResultStore, loadNext: JobRows['loadNext']) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const opened = await job.openStore();
  if (!opened.ok) return opened;
  const store = opened.value;
  const source = await job.openSource();
  if (!source.ok) return source;
  try {
    const { identity, mended } = source.value;
    const loader =
      (
        read: ByteSource['read'],
        readResults: (entry: JournalEntry, index: number) => ReturnType<ReadRecord>,
      ) =>
      async (index: number, { withResults, columns }: Needed): Promise<Outcome<LoadedChunk>> => {
        const entry = store.entries[index];
        if (entry === undefined) return failed('job.damaged');
        const hasFlaws = Object.keys(entry.counts.codes).some((code) => code.startsWith('row.'));
        const maxFields = hasFlaws ? undefined : columns;
        const [chunk, results] = await Promise.all([
          readChunk({ identity, read, mended }, job.spec.format, entry, maxFields),
          withResults ? readResults(entry, index) : done(noResults),
        ]);
        if (!chunk.ok) return chunk;
        if (!withResults) {
          const flaws = Object.fromEntries(chunk.value.flaws);
          return done({ chunk: chunk.value, results: { ...noResults, flaws } });
        }
        return results.ok ? done({ chunk: chunk.value, results: results.value }) : results;
      };
    const read: ByteSource['read'] = (offset, length) => source.value.read(offset, length);
    return await act(
      loader(read, (_, index) => store.read(index)),
      store,
      loader(readAhead(read, identity.size), store.createSequentialReader()),
    );
  } finally {
    await source.value.close();
  }
}
