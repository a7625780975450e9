import { rm } from 'node:fs/promises';
import { done, failed, type Failure, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { CanaryCell, Job, JobState, PolicyChange } from '../../contract/models/batch.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { BatchOptions } from '../options.ts';
import { disclosedRows } from '../planning/disclosed.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { disclosingActs, reasonOf } from '../planning/disclosing-acts.ts';
import { accountsOf, changePolicies, checkAccounts, isMove } from '../planning/plan.ts';
import {
  keyAccount,
  maskedColumnsOf,
  writeSpec,
  type JobSpec,
  type StoredState,
} from '../storing/job-files.ts';
import type { ChunkRange, Position } from '../storing/journal.ts';
import type { MendedRows } from '../storing/mended-rows.ts';
import { indexOfRow, type Commit, type ResultStore, type StoredResults } from '../storing/result-store.ts';
import type { ChunkResults, RetriedCode } from '../storing/results.ts';
import { brakeWindow, chooseCanary, showCanary, type Braked } from './brake.ts';
import { JobRecord } from './job-record.ts';
import { failedChunks, remainingChunks, type JobSource } from './job-source.ts';
import { hasWholeSource, isComplete } from './progress.ts';
import { finalFailures, retryDelay } from './outages.ts';
import { runChunks, type RunControl } from './run-chunks.ts';
import { clientFor } from './moving-client.ts';
import { readStoredAnswers } from './stored-answers.ts';

const defaultInFlight = 8;
/** How long requests in flight may take to end after a stop; after half of it nothing more is sent. */
const drainMs = 4_000;

/** Of a row with a number that can be guessed: nine digits and the line's end. */
const leastBytesOfGuess = 10;

/** What a person or the app asked of a running job. */
type StopRequest = 'pause' | 'cancel' | 'close';

/** What a run works through: what is left of the source, or rows that failed before. */
type RunMode = { readonly mode: 'remaining' } | { readonly mode: 'retry'; readonly code: RetriedCode };

interface StartOptions {
  /** What the person said; for expressions that tell more than the mask. */
  readonly grounds: Grounds | null;
  /** How many rows are sent, at most. */
  readonly rows: number;
  /** Values to be tokenized of masks that too many others have, as far as that is known. */
  readonly guesses?: number;
  /** Whether the row count has to be typed in production. */
  readonly confirmsRows?: boolean;
  /** Done once it may start, and before it does. */
  readonly prepare?: () => Promise<Outcome<null>>;
  /** Merged once nothing else can refuse the start. */
  readonly merged?: MendedRows;
}

/** The rows themselves: a second person approves what is sent. */
const correctedRows = (merged: MendedRows | undefined): unknown =>
  [...(merged?.rows ?? [])].map(([row, bytes]) => [row, bytes.toString('base64')]);

/** See `BatchJob.openResults`. */
export interface JobResults extends StoredResults {
  /** To be put in place of what the source says of them. */
  readonly corrected: Pick<JobSource, 'mended' | 'typed' | 'pending'>;
}

/** One batch job from start to discard, over any number of runs and processes. */
export class BatchJob {
  readonly #folder: string;
  readonly #record: JobRecord;
  readonly #options: Pick<
    BatchOptions,
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
  #run: { control: RunControl; abort: AbortController; ended: Promise<void> } | null = null;
  #starting: Promise<null> | null = null;
  #stopRequest: StopRequest | null = null;
  #starts: readonly Position[] = [];
  /** Why the present run pauses by itself. */
  #braked: Braked | null = null;
  /** Runs in a row that ended with an outage before they committed anything. */
  #attempt = 0;
  /** The same, but a person who resumes does not begin anew. */
  #outages = 0;
  #cancelTimer: (() => void) | null = null;
  /** What a person said last for its disclosing acts: it goes on with that after an outage. */
  #reason: ReturnType<typeof reasonOf> = {};

  constructor(
    options: Pick<
      BatchOptions,
      | 'clients'
      | 'clock'
      | 'connections'
      | 'gate'
      | 'guesses'
      | 'keychain'
      | 'managed'
      | 'platform'
      | 'inFlight'
    >,
    folder: string,
    spec: JobSpec,
    stored: StoredState,
  ) {
    this.#options = options;
    this.#folder = folder;
    this.#record = new JobRecord(options, folder, spec, stored);
  }

  get spec(): JobSpec {
    return this.#record.spec;
  }

  get work(): readonly ColumnWork[] {
    return this.#record.work;
  }

  get state(): JobState {
    return this.#record.stored.state;
  }

  get busy(): boolean {
    return this.#run !== null || this.#starting !== null;
  }

  view(): Job {
    return this.#record.view();
  }

  /** See `JobStore`. */
  openStore(): Promise<Outcome<ResultStore>> {
    return this.#record.files.openStore();
  }

  /**
   * Its results and corrected rows as they are at this moment. Whoever reads many of them reads these: a run that begins
   * meanwhile would put a new result beside an old value, or an old one beside a new value. Failures: as of `JobStore`.
   */
  async openResults(): Promise<Outcome<JobResults>> {
    const opened = await this.openStore();
    if (!opened.ok) return opened;
    const corrected = await this.readMended();
    if (!corrected.ok) return corrected;
    const { rows: mended, typed, pending } = corrected.value;
    return done({ ...opened.value.snapshot(), corrected: { mended, typed, pending: new Set(pending) } });
  }

  /** See `createSourceOpener`. */
  openSource(): Promise<Outcome<JobSource>> {
    return this.#record.openSource();
  }

  /**
   * Begins to run. Answers once it runs. `starts`: where rows begin, spread over the file, for the values that are sent
   * first. Failures: job.busy, and those of the client, store and source; of all that starts to send, with an expression
   * that tells more than the mask, those of the gate.
   */
  start(
    starts: readonly Position[],
    asked: Required<Pick<StartOptions, 'grounds' | 'rows' | 'guesses'>>,
  ): Promise<Outcome<null>> {
    this.#starts = starts;
    return this.#start({ mode: 'remaining' }, { ...asked, confirmsRows: true });
  }

  /**
   * Goes on with whatever it was doing when it stopped; where it paused by itself, without doing so again. One that
   * could not go on tries again: its file may be back.
   */
  resume(grounds: Grounds | null): Promise<Outcome<null>> {
    if (!['paused', 'interrupted', 'cancelled', 'failed'].includes(this.state))
      return Promise.resolve(failed('job.busy'));
    const { total, tally } = this.view();
    const failedRows = this.#record.stored.retrying ? tally.failed : 0;
    const rows = failedRows + Math.max(0, (total ?? tally.rows) - tally.rows);
    const prepare = (): Promise<Outcome<null>> => {
      this.#attempt = 0;
      if (this.#record.stored.braked !== null)
        this.#record.stored = { ...this.#record.stored, brakeOff: true };
      return Promise.resolve(done(null));
    };
    // It stopped since too many of a mask would be tokenized: what is left may all be of them.
    const isGuessing = this.view().waiting?.failure.code === 'guess.reason-required';
    const most = total === null ? Math.ceil(this.spec.identity.size / leastBytesOfGuess) : rows;
    return this.#start(this.#lastMode(), { grounds, rows, prepare, guesses: isGuessing ? most : 0 });
  }

  /** The values that were sent first, as the window may see them. */
  showCanary(): CanaryCell[] {
    const { canary, work, spec } = this.#record;
    return showCanary(canary, { work, masked: maskedColumnsOf(spec) });
  }

  /**
   * Runs under other policies, first the values again that were refused, then the rest. What has a result stays: under
   * another policy it would be the same. Failures: plan.column-unknown; job.busy, and those of `start`.
   */
  async changePolicy(changes: readonly PolicyChange[], grounds: Grounds | null): Promise<Outcome<null>> {
    if (this.busy || this.#record.isDiscarded || this.state === 'running') return failed('job.busy');
    const plan = changePolicies(this.#record.spec.plan, changes);
    if (!plan.ok) return plan;
    const spec = { ...this.#record.spec, plan: plan.value };
    const prepare = async (): Promise<Outcome<null>> => {
      const key = await this.#options.keychain.key(keyAccount);
      if (!key.ok) return key;
      const written = await writeSpec(this.#folder, spec, key.value);
      if (!written.ok) return written;
      this.#record.spec = spec;
      this.#attempt = 0;
      // Its answers are of the policy from before.
      this.#record.canary = null;
      this.#record.stored = { ...this.#record.stored, braked: null, brakeOff: false, canary: null };
      return done(null);
    };
    const { total, tally } = this.view();
    const rows = Math.max(0, (total ?? tally.rows) - tally.rows) + tally.failed;
    return this.#start({ mode: 'retry', code: 'refused' }, { grounds, rows, prepare });
  }

  /** Tries failed rows again: those with one code, or with null all where a retry may help. */
  async retry(code: FailureCode | null, grounds: Grounds | null): Promise<Outcome<null>> {
    if (this.state !== 'finished') return failed('job.busy');
    this.#attempt = 0;
    return this.#start({ mode: 'retry', code }, { grounds, rows: this.view().tally.failed });
  }

  /**
   * Puts rows that a person corrected in place of the source's from now on, and sends those that are pending. Where it
   * fails nothing is merged. Failures: job.busy, those of `start`, file.disk-full, file.unwritable.
   */
  async mend(merged: MendedRows, grounds: Grounds | null): Promise<Outcome<null>> {
    if (this.busy || this.state !== 'finished') return failed('job.busy');
    this.#attempt = 0;
    const rows = merged.pending.size;
    return this.#start({ mode: 'retry', code: 'mended' }, { grounds, rows, merged });
  }

  /** See `JobStore`. */
  readMended(): Promise<Outcome<MendedRows>> {
    return this.#record.files.readMended();
  }

  #lastMode(): RunMode {
    const { retrying, retryCode } = this.#record.stored;
    return retrying ? { mode: 'retry', code: retryCode } : { mode: 'remaining' };
  }

  /** All that sends begins here. `again`: it goes on after an outage, with what was allowed and counted before. */
  async #start(mode: RunMode, asked: StartOptions | 'again'): Promise<Outcome<null>> {
    if (this.busy || this.#record.isDiscarded) return failed('job.busy');
    // Also a batch of earlier, which may be resumed or retried.
    const isForbidden = this.#options.managed.bulkMatch === false;
    if (isForbidden && this.work.some(({ plan }) => plan.operation === 'match'))
      return failed('pattern.forbidden');
    const started = Promise.withResolvers<null>();
    this.#starting = started.promise;
    this.#clearTimer();
    try {
      return await (asked === 'again' ? this.#startRun(mode) : this.#startAllowed(mode, asked));
    } finally {
      this.#starting = null;
      started.resolve(null);
    }
  }

  async #startAllowed(
    mode: RunMode,
    { grounds, rows, guesses = 0, confirmsRows = false, prepare, merged }: StartOptions,
  ): Promise<Outcome<null>> {
    const { jobId, connectionName: connection, environment } = this.spec;
    const start = async (): Promise<Outcome<null>> => {
      const prepared = await (prepare?.() ?? done(null));
      if (!prepared.ok) return prepared;
      if (guesses > 0) this.#options.guesses.allow(jobId, guesses);
      // Nobody guesses with what another service says: the reason for the move is the one for its values.
      const moves = this.work.filter(isMove).length;
      if (moves > 0) this.#options.guesses.allow(jobId, rows * moves);
      return this.#startRun(mode, merged);
    };
    const { columns, connectionId, plan, sourceName: name, spool } = this.spec;
    // Before anybody is asked for it; again when it starts, since that may be much later.
    const moved = checkAccounts(this.spec.accounts ?? [], this.#options.connections);
    if (!moved.ok) return moved;
    const where = { jobId, connection, environment };
    const acts = disclosingActs({
      ...{ work: this.work, ...where, grounds, rows, guesses, confirmsRows, columns },
      caseColumn: plan.caseColumn,
      accounts: accountsOf(connectionId, this.work, this.#options.connections),
      disclosed: (of) =>
        disclosedRows({
          ...{ ...of, name, isFile: spool === null },
          open: () => this.openSource(),
          exact: [connectionId, plan, mode, correctedRows(merged)],
        }),
    });
    // What is counted and asked for goes by the journal.
    const proved = acts.length > 0 ? await this.#proveJournal() : done(null);
    if (!proved.ok) return proved;
    return this.#options.gate.openAll(acts, () => {
      this.#reason = reasonOf(acts);
      return start();
    });
  }

  /** Reads all results: each is bound to its rows, and has to be what the journal counts. Failures: those of the store. */
  async #proveJournal(): Promise<Outcome<null>> {
    const opened = await this.openStore();
    if (!opened.ok) return opened;
    const read = opened.value.createSequentialReader();
    for (const entry of opened.value.entries) {
      const results = await read(entry);
      if (!results.ok) return results;
    }
    return done(null);
  }

  async #startRun(mode: RunMode, merged?: MendedRows): Promise<Outcome<null>> {
    const { spec } = this;
    const moved = checkAccounts(spec.accounts ?? [], this.#options.connections);
    if (!moved.ok) return moved;
    const client = await clientFor(this.#options.clients, spec.connectionId, this.work);
    if (!client.ok) {
      return client.failure.code === 'connection.unknown' && client.failure.subject === undefined
        ? failed('connection.unknown', { ...client.failure, subject: spec.connectionName })
        : client;
    }
    const opened = await this.openStore();
    if (!opened.ok) return opened;
    const store = opened.value;
    const unmerged = await this.openSource();
    if (!unmerged.ok) {
      if (unmerged.failure.code === 'file.changed')
        await this.#record.settle({ state: 'failed', failure: unmerged.failure });
      return unmerged;
    }
    const before = this.#record.stored;
    const saved = await this.#record.save({
      state: 'running',
      endedAt: null,
      waiting: null,
      braked: null,
      failure: null,
      retrying: mode.mode === 'retry',
      retryCode: mode.mode === 'retry' ? mode.code : null,
    });
    // The merge is one write. Killed before it the job has nothing to send, killed behind it all of it is pending.
    const begun = saved.ok && merged !== undefined ? await this.#record.files.writeMended(merged) : saved;
    if (!begun.ok) {
      await unmerged.value.close();
      await this.#record.save(before);
      return begun;
    }
    const source: JobSource = {
      ...unmerged.value,
      ...(merged !== undefined && { mended: merged.rows, typed: merged.typed }),
    };
    // Whatever is tried again, those go with it: their results are of the values before.
    const pending = new Set(merged?.pending ?? source.pending);
    this.#stopRequest = null;
    this.#braked = null;
    if (mode.mode === 'remaining' && store.entries.length === 0 && !this.#record.stored.brakeOff)
      this.#beginCanary(source, client.value.rules.valueLength);
    // Who retries values that failed expects that many fail again.
    const hasBrake = !this.#record.stored.brakeOff && (mode.mode === 'remaining' || mode.code === 'refused');
    const abort = new AbortController();
    const maxInFlight = this.#options.inFlight ?? defaultInFlight;
    const control = runChunks({
      chunks:
        mode.mode === 'retry'
          ? failedChunks(source, spec, store, { code: mode.code, mended: pending })
          : remainingChunks(source, spec, store, client.value.batchSize * maxInFlight),
      columns: this.work,
      client: client.value,
      jobId: spec.jobId,
      reason: this.#reason,
      maxInFlight,
      outages: this.#outages,
      signal: abort.signal,
      sourceBytes: source.identity.size,
      ...(store.entries.length > 0 && {
        stored: readStoredAnswers(source, { ...spec, work: this.work }, store, pending),
      }),
      canary: mode.mode === 'retry' ? null : this.#record.canary,
      ...(hasBrake && { brake: (braked: Braked) => (this.#braked = braked) }),
      ...(mode.mode === 'retry' && {
        retry: {
          read: ({ start }) => store.read(indexOfRow(store, start.row)),
          code: mode.code,
          mended: pending,
        },
      }),
      commit: (range, results) => this.#commit(range, results, store),
      settle: () => store.settled(),
    });
    const ended = control.ended.then(
      (reason) => this.#end(reason, source, store),
      () => this.#end({ code: 'call.failed' }, source, store),
    );
    this.#run = { control, abort, ended };
    this.#record.beginRun(client.value);
    this.#record.emit();
    return done(null);
  }

  /** Those that were answered in an earlier run stay; others are chosen anew. */
  #beginCanary(source: ByteSource, maxLength: number): void {
    if (this.#record.canary !== null && this.#record.canary.answered !== null) return;
    const { format } = this.#record.spec;
    const work = this.#record.work;
    const choose = (): ReturnType<typeof chooseCanary> =>
      chooseCanary({ source, format, work, starts: this.#starts, maxLength });
    this.#record.canary = { choose, answered: null };
  }

  async pause(): Promise<Outcome<null>> {
    if (this.#run === null) {
      if (this.state !== 'paused') return failed('job.busy');
      // It was to go on after an outage; now only the person resumes it.
      this.#clearTimer();
      return this.#record.save({ waiting: null });
    }
    await this.#stop('pause');
    return done(null);
  }

  /** Requests in flight may end, for a few seconds. The results so far stay. */
  async cancel(): Promise<Outcome<null>> {
    this.#clearTimer();
    if (this.#run !== null) {
      await this.#stop('cancel');
      return done(null);
    }
    if (!['paused', 'interrupted', 'failed'].includes(this.state)) return failed('job.busy');
    return this.#record.settle({ state: 'cancelled' });
  }

  /** Removes the job and its results. Failures: job.busy, job.elsewhere, file.unwritable. */
  async discard(): Promise<Outcome<null>> {
    if (this.busy) return failed('job.busy');
    const opened = await this.openStore();
    // A job can be removed with a damaged store or without its key, but not while another process has it open.
    if (!opened.ok && opened.failure.code === 'job.elsewhere') return opened;
    this.#record.isDiscarded = true;
    this.#clearTimer();
    await this.#record.files.refuse('job.unknown');
    await this.#record.release();
    try {
      await rm(this.#folder, { recursive: true, force: true });
    } catch {
      return failed('file.unwritable');
    }
    return done(null);
  }

  /** Pauses the run at the end of a chunk, and releases files and lock. */
  async close(): Promise<void> {
    this.#clearTimer();
    // A run that is starting uses the store: it is stopped once it runs.
    await this.#starting;
    if (this.#run !== null) await this.#stop('close');
    await this.#record.files.refuse('job.busy');
    await this.#record.release();
  }

  async #stop(request: StopRequest): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    this.#stopRequest ??= request;
    const reason: Failure = { code: 'service.cancelled' };
    if (request === 'cancel') run.control.stopSending(reason);
    else run.control.stopReading(reason);
    const { clock } = this.#options;
    const timers = [
      clock.after(drainMs / 2, () => run.control.stopSending(reason)),
      clock.after(drainMs, () => run.abort.abort()),
    ];
    await run.ended;
    for (const clear of timers) clear();
  }

  #commit(range: ChunkRange, results: ChunkResults, store: ResultStore): Commit {
    const index = this.#record.stored.retrying ? indexOfRow(store, range.start.row) : null;
    const commit = store.commit(index, range, results);
    if (index !== null) {
      void commit.synced.then(({ ok }) => {
        this.#record.figures.reset();
        if (ok) this.#record.files.markSent(range);
      });
    }
    this.#count(commit.synced, results.states.length, range.end.offset - range.start.offset);
    return commit;
  }

  /** Apart from `#commit`, whose results would stay in memory until the sync. */
  #count(synced: Commit['synced'], rows: number, bytes: number): void {
    void synced.then(({ ok }) => {
      if (!ok) return;
      this.#attempt = 0;
      this.#outages = 0;
      this.#record.addProgress(rows, bytes);
    });
  }

  /** `reason`: why the run ended before its time; null when it is complete. */
  async #end(reason: Failure | null, source: ByteSource, store: ResultStore): Promise<void> {
    const request = this.#stopRequest;
    this.#record.isEnding = true;
    this.#record.endRun();
    await source.close();
    const goesOn =
      reason === null && this.#record.stored.retrying && !hasWholeSource(this.#record.spec, store);
    if (goesOn && request === null) {
      this.#run = null;
      this.#record.isEnding = false;
      await this.#continue();
      return;
    }
    if (goesOn)
      await this.#record.settle({ state: request === 'cancel' ? 'cancelled' : 'paused', retrying: false });
    else if (reason === null) await this.#finish(store);
    else if (reason.code === 'job.braked' && this.#braked !== null) await this.#pauseBraked(this.#braked);
    else if (request === 'cancel') await this.#record.settle({ state: 'cancelled' });
    else if (request !== null && reason.code === 'service.cancelled')
      await this.#record.settle({ state: 'paused' });
    else if (finalFailures.includes(reason.code))
      await this.#record.settle({ state: 'failed', failure: reason });
    else await this.#wait(reason);
    // After a failed write the store takes nothing more; the next run opens it again.
    if (reason?.code.startsWith('file.') === true) await this.#record.release();
    this.#run = null;
    this.#record.isEnding = false;
    this.#record.emit();
  }

  /** After a retry, with what is left of the source. */
  async #continue(): Promise<void> {
    const started = await this.#start({ mode: 'remaining' }, 'again');
    // No call is there to answer: the job shows why it did not go on.
    if (!started.ok && this.state === 'running')
      await this.#record.save({ state: 'paused', waiting: { failure: started.failure, until: null } });
  }

  /** A pause that a person asked for meanwhile is that person's. */
  async #pauseBraked({ index, failed, of, sameRows }: Braked): Promise<void> {
    const column = this.#record.spec.plan.columns[index]?.column ?? 0;
    await this.#record.settle({
      state: 'paused',
      braked: { column, failed, of, isCanary: of < brakeWindow, sameRows },
    });
  }

  async #finish(store: ResultStore): Promise<void> {
    if (isComplete(this.spec, store, this.#record.stored.total)) {
      await this.#record.settle({ state: 'finished', total: store.tally.rows, retrying: false });
    } else await this.#record.settle({ state: 'failed', failure: { code: 'job.sum' } });
  }

  /** Pauses after a failure, and goes on by itself when the failure is an outage. */
  async #wait(failure: Failure): Promise<void> {
    const { clock } = this.#options;
    const delayMs = retryDelay(failure, this.#attempt);
    const until = delayMs === null ? null : new Date(clock.now() + delayMs).toISOString();
    this.#attempt += 1;
    this.#outages += 1;
    await this.#record.save({ state: 'paused', waiting: { failure, until } });
    if (delayMs === null) return;
    this.#cancelTimer = clock.after(delayMs, () => {
      if (this.state !== 'paused' || this.#record.stored.waiting === null || this.#record.isDiscarded) return;
      void this.#start(this.#lastMode(), 'again').then((outcome) => {
        // No call is there to answer: the job shows why it did not go on.
        if (!outcome.ok && this.state === 'paused')
          void this.#record.save({ waiting: { failure: outcome.failure, until: null } });
      });
    });
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }
}
