import { randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import type { Job, Plan, Preflight, Reading, Source } from '../../contract/models/batch.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import type { OpenedFiles, Queue, QueuedFile } from '../../contract/models/queue.ts';
import { newNotices } from '../../contract/saved-mapping.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { createSerialQueue } from '../../util/serial-queue.ts';
import type { BatchOptions } from '../options.ts';
import { accountsOfMove, type Draft } from '../planning/plan.ts';
import { type KindOptions, knowFile, openOfKind } from '../planning/same-kind.ts';
import type { Sources } from '../reading/sources.ts';
import { keyAccount } from '../storing/job-files.ts';
import { readQueues, writeQueues, type KnownFile } from '../storing/queue-file.ts';
import type { JobList } from './job-list.ts';
import {
  currentOf,
  type FileState,
  isSettled,
  type QueuePlace,
  type QueueState,
  storedOf,
  viewOf,
} from './queue-state.ts';

/** A file that a person named; `path` null where it is not one that may be opened. */
export interface NamedFile {
  readonly path: string | null;
  /** Name without its folder. */
  readonly name: string;
}

/** What begins a batch, as `batch.start` has it. */
export interface QueueStart {
  readonly sourceId: string;
  readonly plan: Plan;
  readonly grounds: Grounds | null;
  readonly mapping?: string | undefined;
  readonly mayBeTokens?: boolean | undefined;
}

export interface QueueOptions
  extends KindOptions, Pick<BatchOptions, 'clock' | 'connections' | 'keychain' | 'platform'> {
  /** Where they are stored. */
  readonly file: string;
  readonly sources: Pick<Sources, 'openPath' | 'openSheet' | 'close' | 'find'>;
  readonly jobs: Pick<JobList, 'load' | 'find' | 'queued'>;
  readonly check: (sourceId: string, plan: Plan) => Promise<Outcome<Draft>>;
  /** Counts the whole file. Failures: those of a preflight; service.cancelled once `signal` is aborted. */
  readonly count: (sourceId: string, plan: Plan, signal: AbortSignal) => Promise<Outcome<Preflight>>;
  /** Begins the batch of a file at this connection, and at no other. Failure: queue.elsewhere, those of `batch.start`. */
  readonly start: (
    asked: QueueStart & { readonly queued: string; readonly where: QueuePlace },
  ) => Promise<Outcome<{ readonly jobId: string }>>;
  /** What a person has accepted with this saved mapping. */
  readonly accepted: (mapping: string | null) => Promise<KnownFile['notices']>;
}

/**
 * Files of one kind that are run with one plan, one after the other: each becomes a batch like any other when its turn comes.
 * What a person has to decide about a file stops the queue there, and so does a batch that does not come to its end; the
 * files behind it wait. The queue is on the disk before its first batch begins, and after a start of the app it waits for a
 * person.
 */
export interface Queues {
  /** Failures: those of `JobList.load`, keychain.*. */
  all(): Promise<Outcome<Queue[]>>;
  /** Opens the first that can be read, and names those that can't. Failures: that of the file where it is one. */
  collect(
    files: readonly NamedFile[],
    /** Whether one file is a draft too. */
    how?: { readonly together: boolean },
  ): Promise<Outcome<OpenedFiles>>;
  /** Of all files of all of them, as far as they are loaded. */
  allPaths(): string[];
  /** Those that can be looked through. Failure: queue.unknown. */
  paths(queueId: string): Outcome<{ readonly path: string; readonly name: string }[]>;
  /** Compares the files of a draft with the first, read like this. Events say what came of it. Failures: queue.*, file.*. */
  compare(queueId: string, sourceId: string, reading: Reading): Promise<Outcome<Record<string, never>>>;
  /** Begins with the first file. Failures: queue.*, file.*, keychain.*, those of `start`. */
  begin(queueId: string, asked: QueueStart): Promise<Outcome<{ readonly jobId: string }>>;
  /** About a file that waits for a person: it is begun all the same, or the queue goes on without it. Failures: queue.*. */
  decide(
    queueId: string,
    fileId: string,
    decision: { readonly what: 'run'; readonly grounds: Grounds | null } | { readonly what: 'skip' },
  ): Promise<Outcome<Record<string, never>>>;
  /** Pauses the batch that runs, and begins no other. Failures: queue.unknown. */
  pause(queueId: string): Promise<Outcome<Record<string, never>>>;
  /** Goes on with the batch that is paused, or the next file. Failures: queue.unknown, those of `BatchJob.resume`. */
  resume(queueId: string, grounds: Grounds | null): Promise<Outcome<Record<string, never>>>;
  /** Forgets it; its batches stay. Failures: queue.busy, queue.unknown, file.*. */
  remove(queueId: string): Promise<Outcome<Record<string, never>>>;
  /** Opens a file by itself. Failures: queue.unknown, file.*. */
  openFile(queueId: string, fileId: string): Promise<Outcome<Source>>;
  /** The batches of these files that are finished, in the order of the queue. Failures: queue.unknown. */
  finished(queueId: string, files: readonly string[]): Outcome<{ fileId: string; jobId: string }[]>;
  /** To be told of every change of a job. */
  update(job: Pick<Job, 'jobId' | 'state'>): void;
  forget(jobId: string): void;
  /** Begins nothing more. */
  close(): Promise<void>;
}

const sendEveryMs = 200;

/** A failure of the file, and of no other: it is named, and the queue goes on. */
const isOfFile = ({ code }: Failure): boolean =>
  /^(file|row)\./.test(code) ? code !== 'file.disk-full' : ['queue.columns', 'queue.sheet'].includes(code);

export function createQueues(options: QueueOptions): Queues {
  const { clock, jobs, platform, sources } = options;
  const queues = new Map<string, QueueState>();
  const saving = createSerialQueue();
  let loaded = false;
  let closed = false;
  const working = new Set<Promise<void>>();

  function find(queueId: string): Outcome<QueueState> {
    const found = queues.get(queueId);
    return found === undefined ? failed('queue.unknown') : done(found);
  }

  const send = (queue: QueueState): void => {
    if (queues.has(queue.queueId)) platform.send('batch.queue', viewOf(queue));
  };

  /** Failures: keychain.*, file.disk-full, file.unwritable. */
  const save = (): Promise<Outcome<null>> =>
    saving(async () => {
      const key = await options.keychain.key(keyAccount);
      if (!key.ok) return key;
      const stored = [...queues.values()].flatMap(({ queueId, createdAt, begun, files }) =>
        begun === null ? [] : [{ queueId, createdAt, ...begun, files: files.map(storedOf) }],
      );
      return writeQueues(options.file, key.value, stored);
    });

  async function load(): Promise<Outcome<null>> {
    const listed = await jobs.load();
    if (!listed.ok || loaded) return listed;
    const key = await options.keychain.key(keyAccount);
    if (!key.ok) return key;
    const stored = await readQueues(options.file, key.value);
    loaded = true;
    const known = jobs.queued();
    for (const { queueId, createdAt, files, ...begun } of stored) {
      const queue: QueueState = {
        ...{ queueId, createdAt, begun, isHeld: true, grounds: null, comparing: null, checking: null },
        files: files.map((file) => {
          const job = known.get(file.fileId);
          const { jobId = null } = job?.spec ?? {};
          return { ...file, isRefused: false, jobId, jobState: job?.state ?? null, asks: null };
        }),
      };
      // One that is over, and whose results were all removed, has nothing more to show.
      const isOver = queue.files.every((file) => isSettled(file) && file.jobId === null);
      if (!isOver) queues.set(queueId, queue);
    }
    return done(null);
  }

  const loadOnce = (): Promise<Outcome<null>> => saving(load);

  async function named({ path, name }: NamedFile, seen: Set<string>): Promise<FileState> {
    const file = {
      ...{ fileId: randomUUID(), path, name: maskNumbers(name.slice(0, 300).toWellFormed()), bytes: 0 },
      ...{ failure: null, isSkipped: false, isPassed: false, isRefused: false },
      ...{ jobId: null, jobState: null, asks: null },
    };
    const refuse = (code: 'file.refused' | 'queue.folder' | 'queue.twice'): FileState => ({
      ...file,
      failure: { code },
      isRefused: true,
    });
    if (path === null) return refuse('file.refused');
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() === true) return refuse('queue.folder');
    const real = await realpath(path).catch(() => path);
    if (seen.has(real)) return refuse('queue.twice');
    seen.add(real);
    return { ...file, bytes: found?.size ?? 0 };
  }

  async function collect(
    given: readonly NamedFile[],
    { together } = { together: false },
  ): Promise<Outcome<OpenedFiles>> {
    const sorted = [...given].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
    const seen = new Set<string>();
    const files: FileState[] = [];
    for (const one of sorted) files.push(await named(one, seen));
    let source: Source | null = null;
    for (const file of files) {
      if (source !== null || file.failure !== null || file.path === null) continue;
      const opened = await sources.openPath(file.path);
      if (!opened.ok && opened.failure.code === 'service.cancelled') return opened;
      if (opened.ok) source = opened.value;
      else Object.assign(file, { failure: opened.failure, isRefused: true });
    }
    const [only, ...others] = files;
    if (only !== undefined && others.length === 0 && !(together && source !== null))
      return only.failure === null || source !== null
        ? done({ source, queue: null })
        : { ok: false, failure: only.failure };
    const queue: QueueState = {
      ...{ queueId: randomUUID(), createdAt: new Date(clock.now()).toISOString(), begun: null, files },
      ...{ isHeld: false, grounds: null, comparing: null, checking: null },
    };
    queues.set(queue.queueId, queue);
    return done({ source, queue: viewOf(queue) });
  }

  /** Puts the file of this source first. */
  function lead(queue: QueueState, sourceId: string): Outcome<FileState> {
    const source = sources.find(sourceId);
    if (!source.ok) return source;
    const head = queue.files.find(({ path, isRefused }) => path === source.value.path && !isRefused);
    if (head === undefined) return failed('queue.unknown');
    head.failure = null;
    queue.files = [head, ...queue.files.filter((file) => file !== head)];
    return done(head);
  }

  async function compareFiles(
    queue: QueueState,
    known: KnownFile,
    { signal }: AbortController,
  ): Promise<void> {
    let sentAt = clock.now();
    for (const file of queue.files.slice(1)) {
      if (file.isRefused || file.path === null) continue;
      const opened = await openOfKind(options, file.path, known, signal);
      if (opened.ok) sources.close(opened.value.sourceId);
      if (signal.aborted) return;
      file.failure = opened.ok ? null : opened.failure;
      if (clock.now() - sentAt < sendEveryMs) continue;
      sentAt = clock.now();
      send(queue);
    }
    queue.comparing = null;
    send(queue);
  }

  /** Begins the next file, where nothing is waited for. */
  function advance(queue: QueueState): void {
    const file = currentOf(queue);
    const isReady = queue.begun !== null && !queue.isHeld && queue.checking === null;
    if (!closed && isReady && file?.jobId === null && file.asks === null) beginFile(queue, file, null);
    else send(queue);
  }

  function beginFile(queue: QueueState, file: FileState, agreed: Agreed | null): void {
    const abort = new AbortController();
    queue.checking = { file, abort };
    file.asks = null;
    send(queue);
    const beginning = startFile(queue, file, { agreed, signal: abort.signal })
      .catch(() => failed('call.failed'))
      .then((outcome) => settleFile(queue, file, outcome));
    working.add(beginning);
    void beginning.finally(() => working.delete(beginning));
  }

  async function settleFile(
    queue: QueueState,
    file: FileState,
    outcome: Awaited<ReturnType<typeof startFile>>,
  ): Promise<void> {
    if (outcome.ok) {
      if ('asks' in outcome.value) file.asks = outcome.value.asks;
      else await adopt(file, outcome.value.jobId);
    } else if (isOfFile(outcome.failure)) {
      file.failure = outcome.failure;
      await save();
    } else if (queue.checking?.abort.signal.aborted !== true)
      file.asks = { rows: 0, notices: [], doubt: null, failure: outcome.failure };
    queue.checking = null;
    advance(queue);
  }

  async function startFile(
    { begun, grounds }: QueueState,
    { fileId, path }: FileState,
    { agreed, signal }: { readonly agreed: Agreed | null; readonly signal: AbortSignal },
  ): Promise<Outcome<{ readonly jobId: string } | { readonly asks: NonNullable<QueuedFile['asks']> }>> {
    if (begun === null || path === null) return failed('queue.unknown');
    const { known, connection: where, mapping } = begun;
    const opened = await openOfKind(options, path, known, signal);
    if (!opened.ok) return opened;
    const { sourceId, plan, doubt } = opened.value;
    try {
      const counted = await options.count(sourceId, plan, signal);
      if (!counted.ok) return counted;
      const { rows, notices: all } = counted.value;
      const notices = newNotices(known, all);
      if (agreed === null && (notices.length > 0 || doubt !== null))
        return done({ asks: { rows, notices, doubt, failure: null } });
      const started = await options.start({
        ...{ sourceId, plan, where, queued: fileId, grounds: agreed?.grounds ?? grounds },
        ...(agreed?.mayBeTokens === true && { mayBeTokens: true }),
        ...(mapping !== null && { mapping }),
      });
      if (started.ok || isOfFile(started.failure)) return started;
      return done({ asks: { rows, notices: [], doubt: null, failure: started.failure } });
    } finally {
      sources.close(sourceId);
    }
  }

  /** Whatever became of the batch since it was begun. */
  async function adopt(file: FileState, jobId: string): Promise<void> {
    file.jobId = jobId;
    const job = await jobs.find(jobId);
    file.jobState = job.ok ? job.value.state : 'failed';
  }

  return {
    async all() {
      const found = await loadOnce();
      return found.ok ? done([...queues.values()].map(viewOf)) : found;
    },
    collect,
    allPaths: () => [...queues.values()].flatMap(({ files }) => files.flatMap(({ path }) => path ?? [])),
    paths(queueId) {
      const found = find(queueId);
      if (!found.ok) return found;
      const files = found.value.files.filter(({ isRefused }) => !isRefused);
      return done(files.flatMap(({ path, name }) => (path === null ? [] : [{ path, name }])));
    },
    async compare(queueId, sourceId, reading) {
      const found = find(queueId);
      if (!found.ok) return found;
      const queue = found.value;
      if (queue.begun !== null) return failed('queue.busy');
      queue.comparing?.abort();
      const head = lead(queue, sourceId);
      if (!head.ok) return head;
      const own = new AbortController();
      queue.comparing = own;
      const known = await knowFile(options, sourceId, { reading });
      if (own.signal.aborted) return done({});
      if (!known.ok) {
        queue.comparing = null;
        return known;
      }
      const comparing = compareFiles(queue, known.value, own).catch(() => undefined);
      working.add(comparing);
      void comparing.finally(() => working.delete(comparing));
      send(queue);
      return done({});
    },
    async begin(queueId, asked) {
      // What is saved is all there is: a queue of before must be known by then.
      const listed = await loadOnce();
      const found = listed.ok ? find(queueId) : listed;
      if (!found.ok) return found;
      const queue = found.value;
      const { sourceId, plan, mapping = null } = asked;
      const draft = await options.check(sourceId, plan);
      if (!draft.ok) return draft;
      const accepted = [
        ...((await options.accepted(mapping)) ?? []),
        ...(draft.value.counted === null ? [] : draft.value.counted.notices),
      ];
      const known = await knowFile(options, sourceId, { ...plan, accepted });
      if (!known.ok) return known;
      const head = lead(queue, sourceId);
      if (!head.ok) return head;
      if (queue.begun !== null) return failed('queue.busy');
      const { id, name, environment } = draft.value.connection;
      const accounts = accountsOfMove(draft.value, options.connections);
      const connection = { id, name, environment, accounts };
      queue.begun = { known: known.value, plan, connection, mapping };
      // Until it is begun, nothing else begins it.
      queue.checking = { file: head.value, abort: new AbortController() };
      queue.comparing?.abort();
      queue.comparing = null;
      const saved = await save();
      const started = saved.ok
        ? await options.start({ ...asked, queued: head.value.fileId, where: connection })
        : saved;
      if (!started.ok) {
        queue.checking = null;
        queue.begun = null;
        if (saved.ok) await save();
        return started;
      }
      await adopt(head.value, started.value.jobId);
      queue.checking = null;
      queue.grounds = withoutCount(asked.grounds);
      advance(queue);
      return started;
    },
    async decide(queueId, fileId, decision) {
      const found = find(queueId);
      if (!found.ok) return found;
      const queue = found.value;
      const file = queue.files.find((one) => one.fileId === fileId);
      if (file === undefined) return failed('queue.unknown');
      const isFree = queue.begun !== null && queue.checking === null && !isSettled(file);
      if (!isFree || file.jobState === 'running') return failed('queue.busy');
      if (decision.what === 'run') {
        if (file.asks === null || file !== currentOf(queue)) return failed('queue.busy');
        const { grounds } = decision;
        queue.grounds = withoutCount(grounds) ?? queue.grounds;
        queue.isHeld = false;
        const mayBeTokens = file.asks.failure?.code === 'plan.tokens-again';
        beginFile(queue, file, { grounds: grounds ?? queue.grounds, mayBeTokens });
        return done({});
      }
      file.asks = null;
      if (file.jobId === null) file.isSkipped = true;
      else file.isPassed = true;
      const saved = await save();
      queue.isHeld = false;
      advance(queue);
      return saved.ok ? done({}) : saved;
    },
    async pause(queueId) {
      const found = find(queueId);
      if (!found.ok) return found;
      const queue = found.value;
      queue.isHeld = true;
      queue.checking?.abort.abort();
      const { jobId = null, jobState } = currentOf(queue) ?? {};
      const job = jobId !== null && jobState === 'running' ? await jobs.find(jobId) : null;
      if (job?.ok === true) await job.value.pause();
      send(queue);
      return done({});
    },
    async resume(queueId, grounds) {
      const found = find(queueId);
      if (!found.ok) return found;
      const queue = found.value;
      queue.isHeld = false;
      const { jobId = null, jobState } = currentOf(queue) ?? {};
      const job = jobId !== null && jobState !== 'running' ? await jobs.find(jobId) : null;
      if (job?.ok === false) return job;
      // What was refused is looked at where the batch is shown.
      if (job !== null && job.value.view().braked !== null) return failed('job.braked');
      const resumed = await (job?.value.resume(grounds) ?? done(null));
      advance(queue);
      return resumed.ok ? done({}) : resumed;
    },
    async remove(queueId) {
      const found = find(queueId);
      if (!found.ok) return found;
      const queue = found.value;
      if (viewOf(queue).state === 'running') return failed('queue.busy');
      queue.comparing?.abort();
      queues.delete(queueId);
      if (queue.begun === null) return done({});
      const saved = await save();
      if (saved.ok) return done({});
      queues.set(queueId, queue);
      return saved;
    },
    async openFile(queueId, fileId) {
      const found = find(queueId);
      if (!found.ok) return found;
      const file = found.value.files.find((one) => one.fileId === fileId);
      if (file === undefined) return failed('queue.unknown');
      return file.path === null ? failed('file.refused') : sources.openPath(file.path);
    },
    finished(queueId, files) {
      const found = find(queueId);
      if (!found.ok) return found;
      return done(
        found.value.files.flatMap(({ fileId, jobId, jobState }) =>
          jobId !== null && jobState === 'finished' && files.includes(fileId) ? [{ fileId, jobId }] : [],
        ),
      );
    },
    update({ jobId, state }) {
      for (const queue of queues.values()) {
        const file = queue.files.find((one) => one.jobId === jobId);
        if (file === undefined || file.jobState === state) continue;
        file.jobState = state;
        advance(queue);
      }
    },
    forget(jobId) {
      for (const queue of queues.values()) {
        const file = queue.files.find((one) => one.jobId === jobId);
        if (file === undefined) continue;
        // Otherwise it would be begun again.
        Object.assign(file, { jobId: null, jobState: null, isPassed: true });
        void save();
        advance(queue);
      }
    },
    async close() {
      closed = true;
      for (const { comparing, checking } of queues.values()) {
        comparing?.abort();
        checking?.abort.abort();
      }
      await Promise.all(working);
      await saving(() => Promise.resolve());
    },
  };
}

/** What a person said of a file that asked. */
interface Agreed {
  readonly grounds: Grounds | null;
  readonly mayBeTokens: boolean;
}

/** The number that was typed is that of one file. */
function withoutCount(grounds: Grounds | null): Grounds | null {
  if (grounds === null) return null;
  const { confirmRows: _, ...said } = grounds;
  return said;
}
