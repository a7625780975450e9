import type { Outcome } from '../../contract/errors.ts';
import type { Job, JobState } from '../../contract/models/batch.ts';
import type { ServiceClient } from '../../service/service-client.ts';
import type { BatchOptions } from '../options.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { workFor } from '../planning/plan.ts';
import { saveState, type JobSpec, type StoredState } from '../storing/job-files.ts';
import { createJobStore, type JobStore } from '../storing/job-store.ts';
import { isRefused, type Canary } from './brake.ts';
import { createFiguresReader, type FiguresReader, type JobFigures } from './job-figures.ts';
import { createSourceOpener, type JobSource } from './job-source.ts';
import { pauseCodes } from './outages.ts';
import { createProgress, viewJob } from './progress.ts';

const emitEveryMs = 250;
/** A running job is reported at least so often. */
const silentForMs = 1_000;

/** What is known of a job: on disk, in memory, and as the window is told. `BatchJob` decides what happens to it. */
export class JobRecord {
  readonly files: JobStore;
  readonly figures: FiguresReader;
  stored: StoredState;
  canary: Canary | null = null;
  /** From the end of a run until its files are closed. */
  isEnding = false;
  /** The window is told no more of it. */
  isDiscarded = false;
  readonly #options: Pick<BatchOptions, 'clock' | 'keychain' | 'platform'>;
  readonly #folder: string;
  readonly #openSource: (spec: JobSpec) => Promise<Outcome<JobSource>>;
  #spec: JobSpec;
  #work: readonly ColumnWork[];
  #progress = createProgress();
  #client: Pick<ServiceClient, 'status'> | null = null;
  #emittedAt = 0;
  #stopReporting: () => void = () => undefined;

  constructor(
    options: Pick<BatchOptions, 'clock' | 'keychain' | 'platform'>,
    folder: string,
    spec: JobSpec,
    stored: StoredState,
  ) {
    this.#options = options;
    this.#folder = folder;
    this.#spec = spec;
    this.#work = workOf(spec);
    this.stored = stored;
    this.figures = createFiguresReader(spec.plan.columns.map(({ column }) => column));
    this.files = createJobStore({
      keychain: options.keychain,
      folder,
      jobId: spec.jobId,
      stored: () => this.stored,
    });
    this.#openSource = createSourceOpener(options.keychain, folder, this.files);
  }

  get spec(): JobSpec {
    return this.#spec;
  }

  /** With other policies. */
  set spec(spec: JobSpec) {
    this.#spec = spec;
    this.#work = workOf(spec);
  }

  get work(): readonly ColumnWork[] {
    return this.#work;
  }

  /** See `createSourceOpener`. */
  openSource(): Promise<Outcome<JobSource>> {
    return this.#openSource(this.#spec);
  }

  view(): Job {
    const isRunning = this.stored.state === 'running';
    return viewJob({
      spec: this.spec,
      stored: {
        ...this.stored,
        canary: this.#readCanary(),
        // Until it has closed its files, calls made because of the new state would be refused.
        ...(this.isEnding && { state: 'running' }),
      },
      store: this.files.store,
      figures: this.#readFigures(),
      rate: isRunning ? this.#progress.rate(this.#options.clock.now()) : { rows: 0, bytes: 0 },
      runWaiting: isRunning ? this.#runWaiting() : null,
    });
  }

  #readCanary(): Job['canary'] {
    const answered = this.canary?.answered ?? [];
    if (answered.length === 0) return this.stored.canary;
    return { values: answered.length, failed: answered.filter(({ slot }) => isRefused(slot)).length };
  }

  #readFigures(): JobFigures {
    return this.files.store === null ? this.stored : this.figures.read(this.files.store.entries);
  }

  /** What the requests of the run wait for: they wait in the client, and the run goes on when they are let go. */
  #runWaiting(): Job['waiting'] {
    const status = this.#client?.status(this.spec.plan.columns[0]?.policy ?? '');
    if (status === undefined || status.pauseReason === null) return null;
    return { failure: { code: pauseCodes[status.pauseReason] }, until: status.pausedUntil };
  }

  /** Closes the files; what they said stays known. */
  async release(): Promise<void> {
    const { store } = this.files;
    if (store === null) return;
    const { tally } = store;
    this.stored = { ...this.stored, ...this.#readFigures(), tally, committed: tally.rows };
    this.figures.reset();
    await this.files.release();
  }

  /** Saves that it stopped, and for which state. */
  async settle(change: Partial<StoredState> & { state: JobState }): Promise<Outcome<null>> {
    const ends = change.state === 'finished' || change.state === 'cancelled' || change.state === 'failed';
    const endedAt = ends ? new Date(this.#options.clock.now()).toISOString() : null;
    return this.save({ endedAt, waiting: null, failure: null, ...change });
  }

  /** Writes it down and tells the window. Failures: file.disk-full, file.unwritable, keychain.*. */
  async save(change: Partial<StoredState>): Promise<Outcome<null>> {
    const tally = this.files.store?.tally ?? this.stored.tally;
    const canary = this.#readCanary();
    this.stored = {
      ...this.stored,
      ...this.#readFigures(),
      canary,
      ...change,
      tally,
      committed: tally.rows,
    };
    const cipher = await this.files.cipher();
    const saved = cipher.ok ? await saveState(this.#folder, this.stored, cipher.value) : cipher;
    // While a run ends the job is still busy: a call made because of the new state would be refused.
    if (!this.isEnding) this.emit();
    return saved;
  }

  emit(): void {
    if (this.isDiscarded) return;
    this.#emittedAt = this.#options.clock.now();
    this.#options.platform.send('batch.job', this.view());
  }

  /** So much of the source was read, sent and stored. */
  addProgress(rows: number, bytes: number): void {
    const now = this.#options.clock.now();
    this.#progress.add(now, rows, bytes);
    if (now - this.#emittedAt >= emitEveryMs) this.emit();
  }

  /** A run begins. It is reported when nothing of it comes home too: its rate falls, or it waits. */
  beginRun(client: Pick<ServiceClient, 'status' | 'onStatus'>): void {
    const { clock } = this.#options;
    this.#client = client;
    this.#progress = createProgress();
    const stopStatus = client.onStatus(() => {
      if (this.#runWaiting() !== null || clock.now() - this.#emittedAt >= emitEveryMs) this.emit();
    });
    let stopTimer = (): void => undefined;
    const startTimer = (): void => {
      stopTimer = clock.after(silentForMs, () => {
        if (clock.now() - this.#emittedAt >= silentForMs) this.emit();
        startTimer();
      });
    };
    startTimer();
    this.#stopReporting = () => {
      stopStatus();
      stopTimer();
      this.#client = null;
    };
  }

  /** The run is over. */
  endRun(): void {
    this.#stopReporting();
  }
}

const workOf = ({ plan, kinds }: JobSpec): ColumnWork[] =>
  plan.columns.map((column, i) => workFor(column, kinds[i] ?? 'text', plan));
