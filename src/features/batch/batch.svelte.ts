import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { DamagedJob, Source } from '../../../electron/contract/models/batch.ts';
import type { AppStore } from '../../app-store.svelte.ts';
import { BatchDraft } from './draft/draft.svelte.ts';
import type { Preset } from './draft/pattern.ts';
import { BatchRun } from './run/run.svelte.ts';

/** What the page shows: the way in, a file being planned, or a job. One of draft and run at most. */
export class BatchController {
  readonly app: AppStore;
  draft = $state.raw<BatchDraft | null>(null);
  run = $state.raw<BatchRun | null>(null);
  failure = $state.raw<Failure | null>(null);
  pasting = $state(false);
  /** A workbook that is being read: how much of it. */
  opening = $state.raw<{ name: string; share: number } | null>(null);
  #asked = 0;
  /** Fills in the next file's plan; forgotten once a batch started with it. */
  preset = $state.raw<Preset | null>(null);
  /** What is stored and can't be read as a job. */
  damaged = $state.raw<DamagedJob[]>([]);

  /** Earlier jobs, the latest first. */
  jobs = $derived.by(() =>
    [...this.app.jobs.values()].sort((a, b) => b.startedAt.localeCompare(a.startedAt)),
  );

  constructor(app: AppStore) {
    this.app = app;
    app.api.on('batch.opening', (opening) => {
      if (this.#asked > 0) this.opening = opening;
    });
  }

  async choose(): Promise<void> {
    await this.#taken(() => this.app.api.call('batch.choose', {}));
  }

  async drop(file: File): Promise<void> {
    await this.#taken(() => this.app.api.drop(file));
  }

  async paste(text: string): Promise<void> {
    await this.#taken(() => this.app.api.call('batch.paste', { text }));
  }

  async sample(): Promise<void> {
    await this.#taken(() => this.app.api.call('batch.sample', {}));
  }

  /** The same workbook by another of its sheets. */
  async sheet(sheet: string): Promise<void> {
    const source = this.draft?.source;
    if (source === undefined || sheet === source.sheet?.name) return;
    await this.#taken(() => this.app.api.call('batch.sheet', { sourceId: source.sourceId, sheet }));
  }

  async stopOpening(): Promise<void> {
    await this.app.api.call('batch.stopOpening', {});
  }

  async open(source: Source): Promise<void> {
    this.leave();
    const draft = new BatchDraft(this.app, source, this.preset);
    this.draft = draft;
    await draft.load();
  }

  async start(): Promise<void> {
    const jobId = await this.draft?.start();
    if (jobId === null || jobId === undefined) return;
    this.preset = null;
    // The job is listed by an event of its own, which need not be here yet.
    if (!this.app.jobs.has(jobId)) await this.app.loadJobs();
    this.view(jobId);
  }

  view(jobId: string): void {
    this.leave();
    this.run = new BatchRun(this.app, jobId);
    void this.run.loadFailures();
  }

  async resume(jobId: string): Promise<void> {
    const outcome = await this.app.api.call('batch.resume', { jobId });
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.view(jobId);
  }

  async discard(jobId: string): Promise<void> {
    const outcome = await this.app.api.call('batch.discard', { jobId });
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.app.jobs.delete(jobId);
    this.damaged = this.damaged.filter((one) => one.jobId !== jobId);
    if (this.run?.jobId === jobId) this.leave();
  }

  async loadDamaged(): Promise<void> {
    const outcome = await this.app.api.call('batch.damaged', {});
    if (outcome.ok) this.damaged = outcome.value;
  }

  /** What is known of a failed request, for the file that is open or the next one. */
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

  /** Back to the way in. A running job goes on. */
  leave(): void {
    this.app.revealed.hide();
    this.draft?.close();
    this.draft = null;
    this.run = null;
    this.pasting = false;
    this.failure = null;
  }

  async #taken(ask: () => Promise<Outcome<Source | null>>): Promise<void> {
    this.#asked += 1;
    const outcome = await ask().finally(() => {
      this.#asked -= 1;
      if (this.#asked === 0) this.opening = null;
    });
    const stopped = !outcome.ok && outcome.failure.code === 'service.cancelled';
    this.failure = outcome.ok || stopped ? null : outcome.failure;
    if (outcome.ok && outcome.value !== null) await this.open(outcome.value);
  }
}
