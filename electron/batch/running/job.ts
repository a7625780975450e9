import { rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { done, failed, type Failure, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Job, JobState, Tally } from '../../contract/models/batch.ts';
import { defaultInFlight, type BatchParts } from '../batch.ts';
import { workFor, type ColumnWork } from '../planning/plan.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { type ChunkPlace, saveCondition, type Condition, type Description } from '../storing/job-files.ts';
import { type Commit, indexOfRow, type ResultStore } from '../storing/result-store.ts';
import type { ChunkResults } from '../storing/results.ts';
import { openAhead, openFailed, type JobInput } from './job-input.ts';
import { openJob, openJobSource, type Opened } from './open-job.ts';
import { sumAgrees, createPace, viewJob } from './progress.ts';
import { runChunks, type RunControl } from './run-chunks.ts';

const drainMs = 4_000;
const emitEveryMs = 250;

type Wish = 'pause' | 'cancel' | 'close';

/** One batch job from start to discard, over any number of runs and processes. */
export class BatchJob {
  readonly what: Description;
  readonly folder: string;
  readonly work: readonly ColumnWork[];
  readonly #parts: BatchParts;
  #how: Condition;
  #opened: Opened | null = null;
  #opening: Promise<Outcome<Opened>> | null = null;
  #run: { control: RunControl; abort: AbortController; ended: Promise<void> } | null = null;
  #starting: Promise<null> | null = null;
  #wish: Wish | null = null;
  #attempt = 0;
  #cancelTimers: (() => void)[] = [];
  #pace = createPace();
  #emittedAt = 0;
  #ending = false;
  #gone = false;
  #closed = false;

  constructor(parts: BatchParts, folder: string, what: Description, how: Condition) {
    this.#parts = parts;
    this.folder = folder;
    this.what = what;
    this.#how = how;
    this.work = what.plan.columns.map((column, i) => workFor(column, what.kinds[i] ?? 'text'));
  }

  get state(): JobState {
    return this.#how.state;
  }

  get busy(): boolean {
    return this.#run !== null || this.#starting !== null;
  }

  view(): Job {
    const idle = { rows: 0, bytes: 0 };
    const rate = this.state === 'running' ? this.#pace.rates(this.#parts.clock.now()) : idle;
    return viewJob(this.what, this.#how, this.#opened?.store ?? null, rate);
  }

  /** Opens the result store, as its one owner. Failures: job.elsewhere, job.damaged, keychain.*, file.unwritable. */
  open(): Promise<Outcome<Opened>> {
    if (this.#opened !== null) return Promise.resolve(done(this.#opened));
    this.#opening ??= this.#openNow().finally(() => (this.#opening = null));
    return this.#opening;
  }

  async #openNow(): Promise<Outcome<Opened>> {
    if (this.#gone) return failed('job.unknown');
    if (this.#closed) return failed('job.busy');
    const opened = await openJob(this.#parts, this.folder, this.what);
    if (!opened.ok) return opened;
    if (!isWhole(opened.value.store.tally, this.#how)) {
      await opened.value.store.close();
      await opened.value.owner.release();
      return failed('job.damaged');
    }
    this.#opened = opened.value;
    return opened;
  }

  /** The source as it was when the job began. Failures: file.gone, file.changed, file.unreadable, job.damaged. */
  openSource(): Promise<Outcome<ByteSource>> {
    return openJobSource(this.#parts, this.folder, this.what);
  }

  /**
   * Begins, goes on after a pause or crash, or tries failed rows again: those of one reason, or all that a retry may
   * mend. Answers once it runs.
   */
  async go(mode: 'forward' | 'retry', only: FailureCode | null = null): Promise<Outcome<null>> {
    if (this.busy || this.#gone) return failed('job.busy');
    const started = Promise.withResolvers<null>();
    this.#starting = started.promise;
    this.#clearTimers();
    try {
      const client = await this.#parts.clientFor(this.what.connectionId);
      if (!client.ok) return this.#without(client.failure);
      const opened = await this.open();
      if (!opened.ok) return opened;
      const { store } = opened.value;
      const input =
        mode === 'retry'
          ? await openFailed(this.#parts, this.folder, this.what, store, only)
          : await openAhead(this.#parts, this.folder, this.what, store);
      if (!input.ok) {
        if (input.failure.code === 'file.changed')
          await this.#settle({ state: 'failed', failure: input.failure });
        return input;
      }
      const retrying = mode === 'retry';
      const saved = await this.#save({
        state: 'running',
        endedAt: null,
        waiting: null,
        failure: null,
        retrying,
        retryCode: only,
      });
      if (!saved.ok) {
        await input.value.close();
        return saved;
      }
      this.#wish = null;
      this.#pace = createPace();
      const abort = new AbortController();
      const control = runChunks({
        chunks: input.value.chunks,
        columns: this.work,
        client: client.value,
        job: this.what.jobId,
        inFlight: this.#parts.inFlight ?? defaultInFlight,
        signal: abort.signal,
        ...(retrying && { prior: ({ start }) => store.read(indexOfRow(store, start.row)), only }),
        commit: (chunk, results) => this.#commit(chunk, results, store),
        settle: () => store.settled(),
      });
      const ended = control.ended.then(
        (stop) => this.#end(stop, input.value, store),
        () => this.#end({ code: 'call.failed' }, input.value, store),
      );
      this.#run = { control, abort, ended };
      this.#emit();
      return done(null);
    } finally {
      this.#starting = null;
      started.resolve(null);
    }
  }

  /** Goes on with whatever it was doing when it stopped. */
  resume(): Promise<Outcome<null>> {
    if (!['paused', 'interrupted', 'cancelled'].includes(this.state))
      return Promise.resolve(failed('job.busy'));
    this.#attempt = 0;
    return this.#goOn();
  }

  async retry(only: FailureCode | null): Promise<Outcome<null>> {
    if (this.state !== 'finished') return failed('job.busy');
    this.#attempt = 0;
    return this.go('retry', only);
  }

  #without(failure: Failure): Outcome<null> {
    const named = failure.code === 'connection.unknown' ? { subject: this.what.connectionName } : {};
    return { ok: false, failure: { ...failure, ...named } };
  }

  #goOn(): Promise<Outcome<null>> {
    return this.#how.retrying ? this.go('retry', this.#how.retryCode) : this.go('forward');
  }

  async pause(): Promise<Outcome<null>> {
    if (this.#run === null) {
      if (this.state !== 'paused') return failed('job.busy');
      // Waiting for an outage to end; from now on only the person resumes it.
      this.#clearTimers();
      return this.#save({ waiting: null });
    }
    await this.#stop('pause');
    return done(null);
  }

  /** What is in flight may still come home, for a few seconds; what is done is kept. */
  async cancel(): Promise<Outcome<null>> {
    this.#clearTimers();
    if (this.#run !== null) {
      await this.#stop('cancel');
      return done(null);
    }
    if (!['paused', 'interrupted', 'failed'].includes(this.state)) return failed('job.busy');
    return this.#settle({ state: 'cancelled' });
  }

  async discard(): Promise<Outcome<null>> {
    if (this.busy) return failed('job.busy');
    const opened = await this.open();
    // A damaged store or a lost key must not keep a job from being removed; another owner must.
    if (!opened.ok && opened.failure.code === 'job.elsewhere') return opened;
    this.#gone = true;
    this.#clearTimers();
    await this.#release();
    try {
      await rm(this.folder, { recursive: true, force: true });
    } catch {
      return failed('file.unwritable');
    }
    return done(null);
  }

  async close(): Promise<void> {
    this.#clearTimers();
    // What is only starting has to run before it can stop: its store must not be taken from under it.
    await this.#starting;
    if (this.#run !== null) await this.#stop('close');
    // The window may still ask for rows: what is being opened for it is let go as well, and nothing is opened after.
    this.#closed = true;
    await this.#opening;
    await this.#release();
  }

  /** Resolves when the present run, if any, has ended. */
  async ended(): Promise<void> {
    await this.#run?.ended;
  }

  async #stop(wish: Wish): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    this.#wish ??= wish;
    const stop: Failure = { code: 'service.cancelled' };
    if (wish === 'cancel') run.control.halt(stop);
    else run.control.wind(stop);
    const { clock } = this.#parts;
    const timers = [
      clock.after(drainMs / 2, () => run.control.halt(stop)),
      clock.after(drainMs, () => run.abort.abort()),
    ];
    await run.ended;
    for (const clear of timers) clear();
  }

  #commit(chunk: ChunkPlace, results: ChunkResults, store: ResultStore): Commit {
    const index = this.#how.retrying ? indexOfRow(store, chunk.start.row) : null;
    const commit = store.commit(index, chunk, results);
    this.#count(commit.synced, results.states.length, chunk.end.offset - chunk.start.offset);
    return commit;
  }

  #count(synced: Commit['synced'], rows: number, bytes: number): void {
    void synced.then(({ ok }) => {
      if (!ok) return;
      this.#attempt = 0;
      const now = this.#parts.clock.now();
      this.#pace.add(now, rows, bytes);
      if (now - this.#emittedAt >= emitEveryMs) this.#emit();
    });
  }

  async #end(stop: Failure | null, input: JobInput, store: ResultStore): Promise<void> {
    const wish = this.#wish;
    this.#ending = true;
    await input.close();
    if (stop === null) await this.#settle(this.#sum(store));
    else if (wish === 'cancel') await this.#settle({ state: 'cancelled' });
    else if (wish !== null && stop.code === 'service.cancelled') await this.#settle({ state: 'paused' });
    else {
      const judged = judgeStop(stop, this.#attempt);
      if (judged.state === 'failed') await this.#settle(judged);
      else await this.#wait(judged.failure, judged.retryMs);
    }
    // A store that failed to write takes nothing more; the next run opens it anew.
    if (stop !== null && stop.code.startsWith('file.')) await this.#release();
    this.#run = null;
    this.#ending = false;
    this.#emit();
  }

  #sum({ entries, tally }: ResultStore): Partial<Condition> & { state: JobState } {
    if (!sumAgrees(this.what, { entries, tally }, this.#how.total)) {
      return { state: 'failed', failure: { code: 'job.sum' } };
    }
    return { state: 'finished', total: tally.rows, retrying: false };
  }

  async #wait(failure: Failure, retryMs: number | null): Promise<void> {
    const { clock } = this.#parts;
    const until = retryMs === null ? null : new Date(clock.now() + retryMs).toISOString();
    this.#attempt += 1;
    await this.#save({ state: 'paused', waiting: { failure, until } });
    if (retryMs === null) return;
    const again = (): void => {
      if (this.state !== 'paused' || this.#how.waiting === null || this.#gone) return;
      void this.#goOn().then((outcome) => {
        // Nobody asked, so nobody gets the answer: the job says why it did not go on.
        if (!outcome.ok && this.state === 'paused')
          void this.#save({ waiting: { failure: outcome.failure, until: null } });
      });
    };
    this.#cancelTimers.push(clock.after(retryMs, again));
  }

  async #settle(change: Partial<Condition> & { state: JobState }): Promise<Outcome<null>> {
    const ends = change.state === 'finished' || change.state === 'cancelled' || change.state === 'failed';
    const endedAt = ends ? new Date(this.#parts.clock.now()).toISOString() : null;
    return this.#save({ endedAt, waiting: null, failure: null, ...change });
  }

  async #save(change: Partial<Condition>): Promise<Outcome<null>> {
    const tally = this.#opened?.store.tally ?? this.#how.tally;
    this.#how = { ...this.#how, ...change, tally, committed: tally.rows };
    const saved = await saveCondition(this.folder, this.#how);
    // While a run ends its job is still busy: who is told of the new state too early asks in vain.
    if (!this.#ending) this.#emit();
    return saved;
  }

  #emit(): void {
    if (this.#gone) return;
    this.#emittedAt = this.#parts.clock.now();
    this.#parts.emit('batch.job', this.view());
  }

  #clearTimers(): void {
    for (const clear of this.#cancelTimers) clear();
    this.#cancelTimers = [];
  }

  async #release(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened === null) return;
    this.#how = { ...this.#how, tally: opened.store.tally, committed: opened.store.tally.rows };
    await opened.store.close();
    await opened.owner.release();
  }
}

/** What was counted when a run ended was synced; only one that was cut off may have lost some. */
function isWhole(found: Tally, { state, tally }: Condition): boolean {
  if (state === 'running' || state === 'interrupted') return true;
  // A retry replaces what is there: cut short, it would leave as many rows, and the failures of before.
  return state === 'finished' ? isDeepStrictEqual(found, tally) : found.rows >= tally.rows;
}

/** Outages that end by themselves: a paused job tries again without being asked. */
const passing: readonly FailureCode[] = [
  'service.unreachable',
  'service.timeout',
  'service.failing',
  'service.busy',
  'service.quota',
];

/** Nothing the job waits for can mend these. */
const final: readonly FailureCode[] = ['file.changed', 'row.field-too-long', 'job.damaged', 'job.sum'];

const firstWaitMs = 15_000;
const longestWaitMs = 5 * 60_000;
/** The day's transfers come back within a day; a reset further away is a wrong clock. */
const farthestMs = 24 * 60 * 60_000;

export type Stop =
  | { readonly state: 'failed'; readonly failure: Failure }
  /** `retryMs`: when to try again by itself; null waits for the person. */
  | { readonly state: 'paused'; readonly failure: Failure; readonly retryMs: number | null };

/** What a failure that stopped a run means for its job. `attempt` counts tries that got nowhere, from 0. */
export function judgeStop(failure: Failure, attempt: number): Stop {
  if (final.includes(failure.code)) return { state: 'failed', failure };
  if (!passing.includes(failure.code)) return { state: 'paused', failure, retryMs: null };
  const wait = failure.retryAfterMs ?? Math.min(firstWaitMs * 2 ** Math.min(attempt, 10), longestWaitMs);
  return { state: 'paused', failure, retryMs: Math.min(wait, farthestMs) };
}
