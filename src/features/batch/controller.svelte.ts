import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { Source } from '../../../electron/contract/models/source.ts';
import type { Desk } from '../../desk.svelte.ts';
import { BatchDraft } from './draft.svelte.ts';
import { BatchRun } from './run.svelte.ts';

/** What the page shows: the way in, a file being planned, or a job. One of draft and run at most. */
export class BatchController {
  readonly desk: Desk;
  draft = $state.raw<BatchDraft | null>(null);
  run = $state.raw<BatchRun | null>(null);
  failure = $state.raw<Failure | null>(null);
  pasting = $state(false);

  /** Earlier jobs, the latest first. */
  jobs = $derived.by(() =>
    [...this.desk.jobs.values()].sort((a, b) => b.startedAt.localeCompare(a.startedAt)),
  );

  constructor(desk: Desk) {
    this.desk = desk;
  }

  async choose(): Promise<void> {
    await this.#taken(this.desk.api.call('batch.choose', {}));
  }

  async drop(file: File): Promise<void> {
    await this.#taken(this.desk.api.drop(file));
  }

  async paste(text: string): Promise<void> {
    await this.#taken(this.desk.api.call('batch.paste', { text }));
  }

  async sample(): Promise<void> {
    await this.#taken(this.desk.api.call('batch.sample', {}));
  }

  async open(source: Source): Promise<void> {
    this.leave();
    const draft = new BatchDraft(this.desk, source);
    this.draft = draft;
    await draft.load();
  }

  async start(): Promise<void> {
    const jobId = await this.draft?.start();
    if (jobId === null || jobId === undefined) return;
    this.view(jobId);
  }

  view(jobId: string): void {
    this.leave();
    this.run = new BatchRun(this.desk, jobId);
    void this.run.loadFailures();
  }

  async resume(jobId: string): Promise<void> {
    const outcome = await this.desk.api.call('batch.resume', { jobId });
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.view(jobId);
  }

  async discard(jobId: string): Promise<void> {
    const outcome = await this.desk.api.call('batch.discard', { jobId });
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.desk.jobs.delete(jobId);
    if (this.run?.jobId === jobId) this.leave();
  }

  /** Back to the way in. A running job goes on. */
  leave(): void {
    this.desk.exposure.hide();
    this.draft?.close();
    this.draft = null;
    this.run = null;
    this.pasting = false;
    this.failure = null;
  }

  async #taken(asked: Promise<Outcome<Source | null>>): Promise<void> {
    const outcome = await asked;
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok && outcome.value !== null) await this.open(outcome.value);
  }
}
