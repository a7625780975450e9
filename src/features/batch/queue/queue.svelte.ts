import type { Failure } from '../../../../electron/contract/errors.ts';
import type { Exported, Job } from '../../../../electron/contract/models/batch.ts';
import type { Grounds } from '../../../../electron/contract/models/lookup.ts';
import type {
  QueuedFile,
  QueueExportChoice,
  QueueExported,
} from '../../../../electron/contract/models/queue.ts';
import { sumOf } from '../../../../electron/contract/tally.ts';
import type { Api } from '../../../lib/api.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';

/** A file with its batch, as far as there is one. */
export interface QueueLine {
  readonly file: QueuedFile;
  readonly job: Job | null;
}

type FileExport = QueueExported['files'][number];

/** Files of one kind that are shown, running or ended. Main alone says what becomes of them. */
export class BatchQueue {
  readonly app: AppStore;
  readonly queueId: string;
  readonly #api: Api;
  /** `again`: a reason is asked for, to begin the file that waits. */
  panel = $state<'export' | 'again' | null>(null);
  failure = $state.raw<Failure | null>(null);
  panelFailure = $state.raw<Failure | null>(null);
  exported = $state.raw<QueueExported | null>(null);
  /** The report that was saved last. */
  reported = $state.raw<string | null>(null);
  /** How far the file is that is being written. */
  exporting = $state.raw<{ jobId: string; share: number; since: number } | null>(null);

  queue = $derived.by(() => this.app.queues.get(this.queueId));
  lines = $derived.by((): QueueLine[] =>
    (this.queue?.files ?? []).map((file) => ({
      file,
      job: file.jobId === null ? null : (this.app.jobs.get(file.jobId) ?? null),
    })),
  );
  jobs = $derived.by(() => this.lines.flatMap(({ job }) => (job === null ? [] : [job])));
  /** Of all files that were begun. */
  sum = $derived.by(() => ({
    tally: sumOf(this.jobs.map(({ tally }) => tally)),
    plan: this.jobs[0]?.plan ?? null,
  }));
  /** The one that runs, or that the queue waits at. */
  current = $derived.by(() => this.lines.find(({ file }) => file.fileId === this.queue?.current) ?? null);
  finished = $derived.by(() => this.lines.filter(({ job }) => job?.state === 'finished'));
  /** Where it runs, or where it moves values to. */
  production = $derived.by(() => {
    const targets = (this.sum.plan?.columns ?? []).map(({ target }) => target?.connection);
    const { connections = [] } = this.app.state ?? {};
    return (
      this.queue?.environment === 'production' ||
      connections.some(({ id, environment }) => environment === 'production' && targets.includes(id))
    );
  });

  constructor(app: AppStore, api: Api, queueId: string) {
    this.app = app;
    this.#api = api;
    this.queueId = queueId;
  }

  async pause(): Promise<void> {
    const outcome = await this.#api.call('batch.pauseQueue', { queueId: this.queueId });
    this.failure = outcome.ok ? null : outcome.failure;
  }

  /** False where a reason is needed first: it is asked for where the batch is shown. */
  async resume(): Promise<boolean> {
    const outcome = await this.#api.call('batch.resumeQueue', { queueId: this.queueId });
    const needsReason = !outcome.ok && outcome.failure.code === 'reveal.reason-required';
    this.failure = outcome.ok || needsReason ? null : outcome.failure;
    return !needsReason;
  }

  async decide(fileId: string, decision: 'run' | 'skip', grounds: Grounds | null = null): Promise<void> {
    const { queueId } = this;
    const outcome = await this.#api.call('batch.decideQueued', { queueId, fileId, decision, grounds });
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok && this.panel === 'again') this.close();
  }

  open(panel: 'export' | 'again'): void {
    this.panelFailure = null;
    this.exported = null;
    this.panel = panel;
  }

  close(): void {
    this.panel = null;
    this.panelFailure = null;
  }

  /** Writes these files, or those alone that were not written the last time. */
  async export(choice: Omit<QueueExportChoice, 'queueId'>): Promise<void> {
    this.exported = null;
    this.panelFailure = null;
    const { queueId } = this;
    const stop = this.#api.on('batch.exporting', ({ jobId, share }) => {
      if (!this.jobs.some((job) => job.jobId === jobId)) return;
      this.exporting = { jobId, share, since: this.exporting?.since ?? Date.now() };
    });
    const outcome = await this.#api.call('batch.exportQueue', { ...choice, queueId });
    stop();
    this.exporting = null;
    this.panelFailure = outcome.ok ? null : outcome.failure;
    // Null: the dialog was cancelled. The panel and its choices stay.
    if (!outcome.ok || outcome.value === null) return;
    this.exported = outcome.value;
    if (outcome.value.files.every((file) => 'exported' in file)) this.close();
  }

  /** Saves one report of all files. */
  async report(form: 'csv' | 'html' | 'json'): Promise<void> {
    const { queueId } = this;
    const outcome = await this.#api.call('batch.reportQueue', { queueId, form });
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok && outcome.value !== null) this.reported = outcome.value.name;
  }

  async stopExport(): Promise<void> {
    const { jobId } = this.exporting ?? {};
    if (jobId !== undefined) await this.#api.call('batch.stopExport', { jobId });
  }

  /** What became of the file in the last export. */
  exportOf(fileId: string): FileExport | undefined {
    return this.exported?.files.find((file) => file.fileId === fileId);
  }

  /** Shows the file that was written last in the file manager. False where the system has none. */
  async showExported(): Promise<boolean> {
    const written = this.exported?.files.flatMap((file) => ('exported' in file ? [file.exported] : [])) ?? [];
    const last: Pick<Exported, 'exportId'> | undefined = written.at(-1);
    if (last === undefined) return true;
    const outcome = await this.#api.call('batch.showExport', { exportId: last.exportId });
    this.failure = outcome.ok ? null : outcome.failure;
    return !outcome.ok || outcome.value.shown;
  }
}
