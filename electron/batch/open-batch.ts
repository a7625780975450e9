import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Plan } from '../contract/models/batch.ts';
import type { Connection, DefinitionKind } from '../contract/models/connection.ts';
import type { Reveal } from '../contract/models/lookup.ts';
import type { Source } from '../contract/models/source.ts';
import type { Batch } from './batch.ts';
import type { ByteSource } from './reading/bytes.ts';
import { checkPlan } from './planning/check-plan.ts';
import { deliver } from './output/deliver.ts';
import { BatchJob, indexOfRow, keyAccount } from './running/job.ts';
import {
  createJobFolder,
  listJobFolders,
  loadJob,
  saveCondition,
  type Condition,
  type Description,
} from './storing/job-files.ts';
import { readJournal } from './storing/journal.ts';
import { isOwned } from './storing/owner.ts';
import type { BatchParts } from './parts.ts';
import { saveSealedBlock } from './reading/paste-file.ts';
import { describeColumns, preview } from './reading/preview.ts';
import { readChunk } from './reading/read-chunk.ts';
import { beginning, readRows, type Format } from './reading/read-rows.ts';
import { addCounts, emptyTally, isRetriable } from './running/results.ts';
import { revealCell } from './output/reveal-cell.ts';
import { runPreflight } from './planning/run-preflight.ts';
import { sealFor } from '../privacy/seal.ts';
import { groupFailures, pageOf, type View } from './output/shown-rows.ts';
import { createSources, type OpenSource } from './reading/sources.ts';
import { tryRows } from './planning/try-rows.ts';
import { yieldsCleartext, type ColumnWork } from './planning/work.ts';

interface Ready {
  readonly opened: OpenSource;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly connection: Connection;
}

const totalKey = (sourceId: string, { reading }: Plan): string => `${sourceId} ${JSON.stringify(reading)}`;

const nothing = (): Outcome<Record<string, never>> => done({});

/**
 * The batch room. Paths and cleartext stay inside: the window gets handles, masked rows and counts. Call `start`
 * once, before anything else; `close` at the end.
 */
export function openBatch(parts: BatchParts): Batch {
  const sources = createSources(parts.newId);
  const jobs = new Map<string, BatchJob>();
  const preflights = new Map<string, AbortController>();
  /** Rows as preflight counted them, by source and reading: what a run must come to as well. */
  const totals = new Map<string, number>();

  function find(jobId: string): Outcome<BatchJob> {
    const job = jobs.get(jobId);
    return job === undefined ? failed('job.unknown') : done(job);
  }

  async function ready(sourceId: string, plan: Plan): Promise<Outcome<Ready>> {
    const active = parts.active();
    if (active === null) return failed('connection.none');
    const opened = sources.find(sourceId);
    if (!opened.ok) return opened;
    const format = await sources.format(sourceId, plan.reading);
    if (!format.ok) return format;
    const work = checkPlan(plan, format.value.width, active.connection);
    if (!work.ok) return work;
    return done({
      opened: opened.value,
      format: format.value,
      work: work.value,
      connection: active.connection,
    });
  }

  const viewOf = (job: BatchJob): View => ({
    width: job.what.format.width,
    work: job.work,
    masked: new Map(job.what.maskedColumns.map(({ column, kind }) => [column, kind])),
    mask: parts.mask,
  });

  /** Runs `act` with the chunk of a job's source and its results at hand. */
  async function withRows<T>(
    job: BatchJob,
    act: (load: (index: number) => Promise<Outcome<LoadedChunk>>, store: OpenedStore) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const opened = await job.open();
    if (!opened.ok) return opened;
    const { store } = opened.value;
    const source = await job.openSource();
    if (!source.ok) return source;
    try {
      return await act(async (index) => {
        const entry = store.entries[index];
        if (entry === undefined) return failed('job.damaged');
        const [chunk, results] = await Promise.all([
          readChunk(source.value, job.what.format, entry),
          store.read(index),
        ]);
        if (!chunk.ok) return chunk;
        if (!results.ok) return results;
        return done({ chunk: chunk.value, results: results.value });
      }, store);
    } finally {
      await source.value.close();
    }
  }

  async function create(at: Ready, plan: Plan): Promise<Outcome<BatchJob>> {
    const { opened, format, work, connection } = at;
    const key = await parts.keychain.key(keyAccount);
    if (!key.ok) return key;
    const jobId = parts.newId();
    const folder = join(parts.folder, jobId);
    const columns = await firstColumns(opened.bytes, format);
    const what: Description = {
      version: 1,
      jobId,
      sourceName: opened.source.name,
      sourcePath: opened.path,
      identity: opened.bytes.identity,
      format: { ...format, names: format.names === null ? null : [...format.names] },
      connectionId: connection.id,
      connectionName: connection.name,
      environment: connection.environment,
      plan,
      kinds: work.map(({ kind }) => kind),
      maskedColumns: columns.flatMap(
        ({ index, masked, looksLike }): { column: number; kind: DefinitionKind }[] =>
          masked ? [{ column: index, kind: looksLike ?? 'text' }] : [],
      ),
      columns: [
        ...columns.map(({ name }) => name),
        ...plan.columns.flatMap((column) => {
          const name = columns[column.column]?.name ?? '';
          return column.into === 'replace'
            ? []
            : [`${name}_${yieldsCleartext(column.operation) ? 'masked' : 'token'}`];
        }),
      ],
      startedAt: new Date(parts.clock.now()).toISOString(),
    };
    const made = await createJobFolder(folder, what);
    if (!made.ok) return made;
    if (opened.path === null) {
      const saved = await saveSealedBlock(folder, sealFor(key.value, jobId), opened.bytes);
      if (!saved.ok) return saved;
    }
    const total = totals.get(totalKey(opened.source.sourceId, plan)) ?? null;
    return done(new BatchJob(parts, folder, what, { ...freshCondition, total }));
  }

  const onJob = async (jobId: string, act: (job: BatchJob) => Promise<Outcome<null>>) => {
    const job = find(jobId);
    if (!job.ok) return job;
    const outcome = await act(job.value);
    return outcome.ok ? nothing() : outcome;
  };

  return {
    async start() {
      await mkdir(parts.folder, { recursive: true, mode: 0o700 });
      for (const name of await listJobFolders(parts.folder)) {
        const folder = join(parts.folder, name);
        const loaded = await loadJob(folder);
        if (!loaded.ok || loaded.value.what.jobId !== name) continue;
        const { what, how } = loaded.value;
        let condition = how ?? freshCondition;
        if (condition.state === 'running' && !(await isOwned(folder))) {
          condition = { ...condition, state: 'interrupted', ...(await countJournal(folder)) };
          await saveCondition(folder, condition);
        }
        jobs.set(what.jobId, new BatchJob(parts, folder, what, condition));
      }
    },
    async close() {
      for (const preflight of preflights.values()) preflight.abort();
      await Promise.all([...jobs.values()].map((job) => job.close()));
      await sources.close();
    },

    async 'batch.choose'() {
      const path = await parts.shell.chooseFile('table');
      return path === null ? done(null) : sources.openPath(path);
    },
    async 'batch.drop'({ reference }) {
      const path = await parts.shell.droppedFile(reference);
      return path === null ? failed('file.unknown') : sources.openPath(path);
    },
    'batch.paste': ({ text }): Promise<Outcome<Source>> => Promise.resolve(sources.openText(text)),
    async 'batch.sample'() {
      const file = await parts.sampleFile();
      return file.ok ? sources.openPath(file.value) : file;
    },
    async 'batch.preview'({ sourceId, reading, masked }) {
      const opened = sources.find(sourceId);
      if (!opened.ok) return opened;
      const format = await sources.format(sourceId, reading);
      if (!format.ok) return format;
      return preview(opened.value.source, opened.value.bytes, format.value, masked, parts.mask);
    },
    async 'batch.preflight'({ sourceId, plan }) {
      const at = await ready(sourceId, plan);
      if (!at.ok) return at;
      const { opened, format, work, connection } = at.value;
      const client = await parts.clientFor(connection.id);
      if (!client.ok) return client;
      const rates = {
        batchSize: client.value.batchSize,
        requestsPerSecond: connection.requestsPerSecond,
        transfersPerDay: connection.transfersPerDay,
      };
      preflights.get(sourceId)?.abort();
      const abort = new AbortController();
      preflights.set(sourceId, abort);
      const report = (counts: Parameters<typeof parts.emit<'batch.preflight'>>[1]): void => {
        if (!abort.signal.aborted) parts.emit('batch.preflight', counts);
      };
      const counting = runPreflight(sourceId, opened.bytes, format, work, rates, report, abort.signal);
      void counting.then(
        (outcome) => {
          if (!outcome.ok) return;
          if (outcome.value.done) totals.set(totalKey(sourceId, plan), outcome.value.rows);
          report(outcome.value);
        },
        () => undefined,
      );
      return done({
        sourceId,
        done: false,
        rows: 0,
        blank: 0,
        malformed: 0,
        unfit: 0,
        distinct: 0,
        distinctExact: true,
        requests: 0,
        seconds: 0,
        dayShare: 0,
        notices: [],
      });
    },
    async 'batch.try'({ sourceId, plan }) {
      const at = await ready(sourceId, plan);
      if (!at.ok) return at;
      const { opened, format, work, connection } = at.value;
      const client = await parts.clientFor(connection.id);
      if (!client.ok) return client;
      const columns = await firstColumns(opened.bytes, format);
      const masked = new Map(
        columns.flatMap((one) => (one.masked ? [[one.index, one.looksLike ?? 'text']] : [])),
      );
      const view = { width: format.width, work, masked, mask: parts.mask };
      return tryRows(opened.bytes, format, work, client.value, parts.newId(), view);
    },
    async 'batch.start'({ sourceId, plan }) {
      const at = await ready(sourceId, plan);
      if (!at.ok) return at;
      const job = await create(at.value, plan);
      if (!job.ok) return job;
      const { jobId } = job.value.what;
      const begun = await job.value.go('forward');
      if (!begun.ok) {
        await job.value.discard();
        return begun;
      }
      jobs.set(jobId, job.value);
      return done({ jobId });
    },
    'batch.pause': ({ jobId }) => onJob(jobId, (job) => job.pause()),
    'batch.resume': ({ jobId }) => onJob(jobId, (job) => job.resume()),
    'batch.cancel': ({ jobId }) => onJob(jobId, (job) => job.cancel()),
    'batch.retry': ({ jobId }) => onJob(jobId, (job) => job.retry()),
    'batch.discard': ({ jobId }) =>
      onJob(jobId, async (job) => {
        const outcome = await job.discard();
        if (outcome.ok) jobs.delete(jobId);
        return outcome;
      }),
    'batch.jobs': () =>
      Promise.resolve(
        done(
          [...jobs.values()].map((job) => job.view()).sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)),
        ),
      ),
    async 'batch.rows'({ jobId, ...query }) {
      const job = find(jobId);
      if (!job.ok) return job;
      return withRows(job.value, (load, { entries }) => pageOf(entries, query, viewOf(job.value), load));
    },
    async 'batch.failures'({ jobId }) {
      const job = find(jobId);
      if (!job.ok) return job;
      const opened = await job.value.open();
      if (!opened.ok) return opened;
      const groups = groupFailures(opened.value.store.entries);
      return done(groups.map((group) => ({ ...group, retriable: isRetriable(group.code) })));
    },
    async 'batch.reveal'({ jobId, row, column, ...justification }): Promise<Outcome<Reveal>> {
      const job = find(jobId);
      if (!job.ok) return job;
      return withRows(job.value, async (load, store) => {
        if (row > store.tally.rows) return failed('reveal.gone');
        const loaded = await load(indexOfRow(store, row));
        if (!loaded.ok) return loaded;
        const place = { ...loaded.value, index: row - loaded.value.chunk.start.row, column };
        return revealCell(parts, job.value, viewOf(job.value), place, justification);
      });
    },
    async 'batch.export'(choice) {
      const job = find(choice.jobId);
      if (!job.ok) return job;
      return deliver(parts, job.value, viewOf(job.value), choice);
    },
    'batch.mappings': () => Promise.resolve(done([...parts.mappings.load()])),
    async 'batch.saveMapping'({ name, columns }) {
      const id = parts.newId();
      // A mapping saved under a name that is there takes its place.
      const others = parts.mappings.load().filter((one) => one.name !== name);
      await parts.mappings.save([...others, { id, name, columns }]);
      return done({ id });
    },
    async 'batch.removeMapping'({ id }) {
      await parts.mappings.save(parts.mappings.load().filter((one) => one.id !== id));
      return nothing();
    },
  };
}

type OpenedStore = Extract<Awaited<ReturnType<BatchJob['open']>>, { ok: true }>['value']['store'];
interface LoadedChunk {
  readonly chunk: Extract<Awaited<ReturnType<typeof readChunk>>, { ok: true }>['value'];
  readonly results: Extract<Awaited<ReturnType<OpenedStore['read']>>, { ok: true }>['value'];
}

const freshCondition: Condition = {
  state: 'interrupted',
  endedAt: null,
  total: null,
  failure: null,
  waiting: null,
  tally: emptyTally,
  committed: 0,
  retrying: false,
};

async function firstColumns(source: ByteSource, format: Format): Promise<ReturnType<typeof describeColumns>> {
  for await (const read of readRows(source, format, beginning(format))) {
    return describeColumns(format, read.ok ? read.value.rows : []);
  }
  return describeColumns(format, []);
}

/** What a process that ended left behind, without the key: the journal has counts in clear. */
async function countJournal(folder: string): Promise<Pick<Condition, 'tally' | 'committed'>> {
  const text = await readFile(join(folder, 'journal'), 'latin1').catch(() => '');
  const tally = readJournal(text).entries.reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  return { tally, committed: tally.rows };
}
