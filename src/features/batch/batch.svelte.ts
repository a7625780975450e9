import type { Grounds } from '../../../electron/contract/models/lookup.ts';
import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { DamagedJob, Job, Source } from '../../../electron/contract/models/batch.ts';
import { asksPassphrase } from '../../../electron/contract/models/packed.ts';
import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { BatchDraft } from './draft/draft.svelte.ts';
import type { Preset } from './draft/suggestions.ts';
import { BatchRun } from './run/run.svelte.ts';

/** What the page shows: the start view, a file being planned (`draft`) or a job (`run`). Draft and run exclude each other. */
export class BatchController {
  readonly app: AppStore;
  draft = $state.raw<BatchDraft | null>(null);
  run = $state.raw<BatchRun | null>(null);
  failure = $state.raw<Failure | null>(null);
  pasting = $state(false);
  /** Progress of reading a workbook. */
  opening = $state.raw<{ name: string; share: number; since: number } | null>(null);
  /** The file that waits for its passphrase: what its opening failed with last. */
  encrypted = $state.raw<Failure | null>(null);
  /** Fills in the next file's plan; cleared once a batch was started with it. */
  preset = $state.raw<Preset | null>(null);
  /** Folders among the jobs that can't be read as one. */
  damaged = $state.raw<DamagedJob[]>([]);
  readonly #api: Api;
  #pendingOpens = 0;
  #isChoosing = false;

  /** Latest first. */
  jobs = $derived.by(() => [...this.app.jobs.values()].sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)));

  constructor(app: AppStore, api: Api) {
    this.app = app;
    this.#api = api;
    api.on('batch.opening', (opening) => {
      if (this.#pendingOpens > 0) this.opening = { ...opening, since: this.opening?.since ?? Date.now() };
    });
    api.on('batch.removed', ({ jobId }) => {
      if (this.run?.jobId === jobId) this.leave();
    });
  }

  /** One dialog at a time: its key may be held. */
  async choose(): Promise<void> {
    if (this.#isChoosing) return;
    this.#isChoosing = true;
    await this.#openFrom(() => this.#api.call('batch.choose', {})).finally(() => (this.#isChoosing = false));
  }

  async drop(file: File): Promise<void> {
    await this.#openFrom(() => this.#api.drop(file));
  }

  async paste(text: string): Promise<void> {
    await this.#openFrom(() => this.#api.call('batch.paste', { text }));
  }

  async sample(): Promise<void> {
    await this.#openFrom(() => this.#api.call('batch.sample', {}));
  }

  /** Another sheet of the same workbook. */
  async sheet(sheet: string): Promise<void> {
    const source = this.draft?.source;
    if (source === undefined || sheet === source.sheet?.name) return;
    await this.#openFrom(() => this.#api.call('batch.sheet', { sourceId: source.sourceId, sheet }));
  }

  askPassphrase(failure: Failure): void {
    this.failure = null;
    this.encrypted = failure;
  }

  /** Opens the file that waits for it. */
  async openEncrypted(passphrase: ObscuredText): Promise<void> {
    await this.#openFrom(() => this.#api.call('batch.openEncrypted', { passphrase }));
  }

  async stopOpening(): Promise<void> {
    await this.#api.call('batch.stopOpening', {});
  }

  /** `areTokens`: they were pasted where tokens are looked up. */
  async open(source: Source, { areTokens = false } = {}): Promise<void> {
    this.leave();
    const { app, preset } = this;
    const draft = new BatchDraft({ app, api: this.#api, source, preset, areTokens });
    this.draft = draft;
    await draft.load();
  }

  /** The same rows with the plan they were run with, to be changed and run again. */
  async runAgain(job: Job): Promise<void> {
    await this.#openFrom(() => this.#api.call('batch.reopen', { jobId: job.jobId }));
    await this.draft?.usePlan(job);
  }

  /** Opens a job at its export. */
  export(jobId: string): void {
    this.view(jobId);
    this.run?.open('export');
  }

  async start(grounds: Grounds | null = null): Promise<void> {
    const jobId = await this.draft?.start(grounds);
    if (jobId === null || jobId === undefined) return;
    this.preset = null;
    // The event that lists the new job may not have come yet.
    if (!this.app.jobs.has(jobId)) await this.app.loadJobs();
    this.view(jobId);
  }

  view(jobId: string): void {
    const job = this.app.jobs.get(jobId);
    this.leave();
    if (job !== undefined) this.run = new BatchRun(this.app, this.#api, job);
  }

  async resume(jobId: string): Promise<void> {
    const outcome = await this.#api.call('batch.resume', { jobId });
    // It is asked for where the job is shown.
    const needsReason = !outcome.ok && outcome.failure.code === 'reveal.reason-required';
    this.failure = outcome.ok || needsReason ? null : outcome.failure;
    if (outcome.ok || needsReason) this.view(jobId);
    if (needsReason) await this.run?.resume();
  }

  async discard(jobId: string): Promise<void> {
    const outcome = await this.#api.call('batch.discard', { jobId });
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.app.jobs.delete(jobId);
    this.damaged = this.damaged.filter((job) => job.jobId !== jobId);
    if (this.run?.jobId === jobId) this.leave();
  }

  async loadDamaged(): Promise<void> {
    const outcome = await this.#api.call('batch.damaged', {});
    if (outcome.ok) this.damaged = outcome.value;
  }

  /** Takes over a failed request, for the file that is open or the next one. Names this connection lacks become ''. */
  tryAgain(preset: Preset): void {
    const policies = this.app.connection?.policies ?? [];
    this.preset = {
      ...preset,
      definition: this.app.definitions.some(({ name }) => name === preset.definition)
        ? preset.definition
        : '',
      policy: policies.includes(preset.policy) ? preset.policy : '',
    };
    if (this.draft === null) this.leave();
    else this.draft.offer(this.preset);
  }

  /** Back to the start view. A running job goes on. */
  leave(): void {
    this.app.revealed.hide();
    this.draft?.close();
    this.draft = null;
    void this.run?.corrections.drop();
    this.run?.table.close();
    this.run = null;
    this.pasting = false;
    this.encrypted = null;
    this.failure = null;
  }

  /** Counts the call before it begins, because its progress can be reported at once. */
  async #openFrom(call: () => Promise<Outcome<Source | null>>): Promise<void> {
    this.#pendingOpens += 1;
    const outcome = await call().finally(() => {
      this.#pendingOpens -= 1;
      if (this.#pendingOpens === 0) this.opening = null;
    });
    const cancelled = !outcome.ok && outcome.failure.code === 'service.cancelled';
    if (!outcome.ok && asksPassphrase(outcome.failure)) {
      this.askPassphrase(outcome.failure);
      return;
    }
    this.encrypted = null;
    this.failure = outcome.ok || cancelled ? null : outcome.failure;
    if (!outcome.ok || outcome.value === null) return;
    // On the page of a batch with failed rows it may be their list, corrected.
    const { run } = this;
    const mayMend = run?.job?.state === 'finished' && run.job.tally.failed > 0;
    if (run !== null && mayMend && (await run.compare(outcome.value))) return;
    await this.open(outcome.value);
  }
}
