import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import {
  jobsPerPage,
  plan as planSchema,
  type DamagedJob,
  type Job,
  type Plan,
} from '../../contract/models/batch.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import type { BatchOptions } from '../options.ts';
import { writeFailure } from '../../storage/file-failures.ts';
import { yieldsMasks, type Draft } from '../planning/plan.ts';
import { firstColumns } from '../reading/columns.ts';
import {
  createJobFolder,
  initialState,
  isFolderLocked,
  keyAccount,
  listJobFolders,
  loadJob,
  lockFolder,
  removeUnfinished,
  saveState,
  type JobSpec,
  type StoredState,
} from '../storing/job-files.ts';
import { entriesOf, readJournal } from '../storing/journal.ts';
import { addCounts, emptyTally } from '../storing/results.ts';
import { createFiguresReader, type JobFigures } from './job-figures.ts';
import { BatchJob } from './job.ts';
import { copyName } from './job-source.ts';
import { untilStarted, yieldToOthers } from '../../util/turns.ts';
import { prepareColumns } from './progress.ts';
import type { RunIdentity } from './run-identity.ts';

/** All jobs of this app, those of earlier runs included. */
export interface JobList {
  /**
   * Finds what earlier runs left. A job that was running when its process ended becomes `interrupted`. Failures:
   * file.disk-full, file.unwritable; keychain.*, and the jobs that need the key are then looked for at the next call.
   */
  load(): Promise<Outcome<null>>;
  /** Stores and lists a job; nothing of it runs yet. Failures: keychain.*, file.*; job.busy while the app closes. */
  create(
    draft: Draft,
    plan: Plan,
    begun: Pick<JobSpec, 'mapping' | 'run' | 'queued' | 'accounts'>,
  ): Promise<Outcome<BatchJob>>;
  /**
   * The newest one that such a run began, with this very plan: one whose policy a person changed is that person's. Waits for
   * `load`. Failures: those of `load`.
   */
  findRun(run: RunIdentity, plan: Plan): Promise<Outcome<BatchJob | null>>;
  /** By the file of a queue that they are the batch of. */
  queued(): ReadonlyMap<string, BatchJob>;
  remove(jobId: string): void;
  /**
   * Waits for `load` where the job is not known yet. Failures: job.unknown, those of `load`; job.busy while the app
   * closes.
   */
  find(jobId: string): Promise<Outcome<BatchJob>>;
  /** The newest `jobsPerPage`, or of those that come behind `after` in this order. */
  views(after?: Pick<Job, 'jobId' | 'startedAt'>): Job[];
  /** Of the files that they read, as far as they are loaded. */
  paths(): string[];
  /** What can't be read as a job is listed too. */
  damaged(): DamagedJob[];
  /** Null when there is no damaged job of that ID. Failures: job.elsewhere, file.unwritable. */
  discardDamaged(jobId: string): Promise<Outcome<null>> | null;
  close(): Promise<void>;
}

export type JobListOptions = Pick<
  BatchOptions,
  | 'folder'
  | 'clients'
  | 'clock'
  | 'connections'
  | 'gate'
  | 'guesses'
  | 'keychain'
  | 'managed'
  | 'platform'
  | 'inFlight'
>;

/** Read at the same time when the app starts. */
const foldersAtOnce = 16;

/** The same for two plans that say the same: parsed, its members have one order. */
const textOf = (plan: Plan): string => JSON.stringify(planSchema.parse(plan));

/** The newest first. */
function compareJobs(a: Pick<Job, 'jobId' | 'startedAt'>, b: Pick<Job, 'jobId' | 'startedAt'>): number {
  if (a.startedAt !== b.startedAt) return a.startedAt < b.startedAt ? 1 : -1;
  if (a.jobId !== b.jobId) return a.jobId < b.jobId ? 1 : -1;
  return 0;
}

export function createJobList(options: JobListOptions): JobList {
  const jobs = new Map<string, BatchJob>();
  /** The same, the newest first; null where it is to be sorted anew. */
  let ordered: BatchJob[] | null = null;
  /** Names of folders that were not looked at yet; null before the first load. */
  let pending: string[] | null = null;
  let loading: Promise<Outcome<null>> | null = null;
  const damaged = new Map<string, { folder: string; changedAt: string | null }>();
  let closed = false;

  function add(job: BatchJob): void {
    jobs.set(job.spec.jobId, job);
    ordered = null;
  }

  async function removeDamaged(jobId: string, folder: string): Promise<Outcome<null>> {
    const lock = lockFolder(folder);
    if (!lock.ok && lock.failure.code === 'job.elsewhere') return lock;
    try {
      await rm(folder, { recursive: true, force: true });
    } catch {
      return failed('file.unwritable');
    }
    damaged.delete(jobId);
    return done(null);
  }

  async function load(): Promise<Outcome<null>> {
    if (pending === null) {
      try {
        await mkdir(options.folder, { recursive: true, mode: 0o700 });
      } catch (error) {
        return writeFailure(error);
      }
      await removeUnfinished(options.folder);
      pending = await listJobFolders(options.folder);
    }
    // What is listed was there before anything of this run: only to read it can wait.
    await untilStarted();
    let locked: Outcome<null> = done(null);
    const left: string[] = [];
    for (let at = 0; at < pending.length && !closed; at += foldersAtOnce) {
      const names = pending.slice(at, at + foldersAtOnce);
      const loaded = await Promise.all(
        names.map(async (name) => ({ name, outcome: await loadFolder(name) })),
      );
      for (const { name, outcome } of loaded) {
        if (outcome.ok) continue;
        locked = outcome;
        left.push(name);
      }
      await yieldToOthers();
    }
    pending = left;
    return locked;
  }

  /** Failures: keychain.*. */
  async function loadFolder(name: string): Promise<Outcome<null>> {
    const folder = join(options.folder, name);
    const loaded = await loadJob(folder, () => options.keychain.key(keyAccount));
    if (!loaded.ok && loaded.failure.code !== 'job.damaged') return loaded;
    if (!loaded.ok || loaded.value.spec.jobId !== name) {
      damaged.set(randomUUID(), { folder, changedAt: await modifiedAt(folder) });
      return done(null);
    }
    const { spec, cipher } = loaded.value;
    // Of a state that nobody vouches for not even the end is known: its results are kept no longer for that.
    let state = loaded.value.state ?? {
      ...initialState,
      endedAt: spec.startedAt,
      ...(await countJournal(folder, spec)),
    };
    if (state.state === 'running' && !isFolderLocked(folder)) {
      state = { ...state, state: 'interrupted', ...(await countJournal(folder, spec)) };
      await saveState(folder, state, cipher);
    }
    await prepareColumns(spec.columns);
    add(new BatchJob(options, folder, spec, state));
    return done(null);
  }

  const loadOnce = (): Promise<Outcome<null>> => (loading ??= load().finally(() => (loading = null)));

  return {
    load: loadOnce,
    async create(draft, plan, begun) {
      const key = await options.keychain.key(keyAccount);
      if (!key.ok) return key;
      const spec = await createSpec(draft, {
        ...{ plan, ...begun, now: options.clock.now() },
      });
      const folder = join(options.folder, spec.jobId);
      const { copy } = draft.opened;
      const created = await createJobFolder(folder, {
        spec,
        masterKey: key.value,
        fill: (unfinished) =>
          copy === null ? Promise.resolve(done(null)) : copy.linkTo(join(unfinished, copyName)),
      });
      if (!created.ok) return created;
      await prepareColumns(spec.columns);
      // Nothing is waited for from here on: a job that is listed after the last look would run on.
      if (closed) {
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
        return failed('job.busy');
      }
      const job = new BatchJob(options, folder, spec, {
        ...initialState,
        total: draft.counted?.rows ?? null,
      });
      add(job);
      return done(job);
    },
    queued: () =>
      new Map(
        [...jobs.values()].flatMap((job) => (job.spec.queued === null ? [] : [[job.spec.queued, job]])),
      ),
    remove(jobId) {
      jobs.delete(jobId);
      ordered = null;
    },
    async findRun({ identity }, plan) {
      const loaded = await loadOnce();
      if (!loaded.ok) return loaded;
      const asked = textOf(plan);
      const [newest] = [...jobs.values()]
        .filter(({ spec }) => spec.run?.identity === identity && textOf(spec.plan) === asked)
        .sort((a, b) => compareJobs(a.spec, b.spec));
      return done(newest ?? null);
    },
    async find(jobId) {
      const known = jobs.get(jobId);
      if (known !== undefined) return done(known);
      const loaded = await loadOnce();
      const job = jobs.get(jobId);
      if (job !== undefined) return done(job);
      if (!loaded.ok) return loaded;
      return failed(closed ? 'job.busy' : 'job.unknown');
    },
    views(after) {
      ordered ??= [...jobs.values()].sort((a, b) => compareJobs(a.spec, b.spec));
      const from = after === undefined ? 0 : ordered.findIndex(({ spec }) => compareJobs(after, spec) < 0);
      return from === -1 ? [] : ordered.slice(from, from + jobsPerPage).map((job) => job.view());
    },
    paths: () => [...jobs.values()].flatMap(({ spec: { sourcePath } }) => sourcePath ?? []),
    damaged: () => [...damaged].map(([jobId, { changedAt }]) => ({ jobId, changedAt })),
    discardDamaged(jobId) {
      const found = damaged.get(jobId);
      return found === undefined ? null : removeDamaged(jobId, found.folder);
    },
    async close() {
      closed = true;
      await loading;
      await Promise.all([...jobs.values()].map((job) => job.close()));
    },
  };
}

async function createSpec(
  { opened, format, work, connection, counted }: Draft,
  {
    plan,
    now,
    ...begun
  }: Pick<JobSpec, 'plan' | 'mapping' | 'run' | 'queued' | 'accounts'> & { readonly now: number },
): Promise<JobSpec> {
  const columns = await firstColumns(opened.bytes, format);
  return {
    version: 1,
    jobId: randomUUID(),
    sourceName:
      opened.path === null ? opened.source.name : basename(opened.path).slice(0, 300).toWellFormed(),
    sourcePath: opened.path,
    spool: opened.copy?.subject ?? null,
    isSheet: opened.isSheet,
    ...(opened.packed !== null && { packed: opened.packed }),
    identity: opened.bytes.identity,
    crc: counted?.crc ?? null,
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
      ...plan.columns.flatMap(({ column, operation, into }) => {
        const name = columns[column]?.name ?? '';
        return into === 'replace' ? [] : [`${name}_${yieldsMasks(operation) ? 'masked' : 'token'}`];
      }),
    ],
    startedAt: new Date(now).toISOString(),
    ...begun,
  };
}

const modifiedAt = (folder: string): Promise<string | null> =>
  stat(folder).then(
    ({ mtime }) => mtime.toISOString(),
    () => null,
  );

/** The counts in the journal are not encrypted: no key is needed. */
async function countJournal(
  folder: string,
  { plan }: JobSpec,
): Promise<Pick<StoredState, 'tally' | 'committed'> & JobFigures> {
  const text = await readFile(join(folder, 'journal'), 'latin1').catch(() => '');
  const entries = entriesOf((await readJournal(text)).map(({ entry }) => entry));
  const tally = entries.reduce((sum, entry) => addCounts(sum, entry.counts), emptyTally);
  const figures = createFiguresReader(plan.columns.map(({ column }) => column)).read(entries);
  return { tally, committed: tally.rows, ...figures };
}
