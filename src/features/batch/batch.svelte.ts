import type { Grounds } from '../../../electron/contract/models/lookup.ts';
import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { DamagedJob, Job, Source } from '../../../electron/contract/models/batch.ts';
import type { OpenedFiles, Queue } from '../../../electron/contract/models/queue.ts';
import { maxFiles } from '../../../electron/contract/queue-limits.ts';
import { asksPassphrase } from '../../../electron/contract/packed-names.ts';
import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { formatCount } from '../../lib/format.ts';
import { FileComparison } from './comparing/file-comparison.svelte.ts';
import { FileInventory } from './inventory/file-inventory.svelte.ts';
import { MoveTask } from './moving/move-task.svelte.ts';
import { BatchDraft } from './draft/draft.svelte.ts';
import type { Preset } from './draft/suggestions.ts';
import { BatchQueue } from './queue/queue.svelte.ts';
import { BatchRun } from './run/run.svelte.ts';

/**
 * What the page shows: the start view, a file being planned (`draft`), a job (`run`) files that run together (`queue`), or what is in
 * files (`inventory`), or files that are compared (`comparison`). These exclude each other; files that are moved as a guided task (`moving`) have a draft once
 * they are chosen.
 */
export class BatchController {
  readonly app: AppStore;
  draft = $state.raw<BatchDraft | null>(null);
  run = $state.raw<BatchRun | null>(null);
  queue = $state.raw<BatchQueue | null>(null);
  inventory = $state.raw<FileInventory | null>(null);
  comparison = $state.raw<FileComparison | null>(null);
  moving = $state.raw<MoveTask | null>(null);
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

  /** Latest first. */
  queues = $derived.by(() =>
    [...this.app.queues.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)),
  );

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
    const together = this.moving !== null;
    await this.#openFrom(() => this.#api.call('batch.chooseFiles', together ? { together } : {})).finally(
      () => (this.#isChoosing = false),
    );
  }

  async chooseFolder(): Promise<void> {
    if (this.#isChoosing) return;
    this.#isChoosing = true;
    await this.#openFrom(() => this.#api.call('batch.chooseFolder', {})).finally(
      () => (this.#isChoosing = false),
    );
  }

  /** A guided task over a draft. */
  showMove(): void {
    this.leave();
    this.moving = new MoveTask(this.app, this.#api);
  }

  /** What the guided task planned, with its rows. */
  showPlan(): void {
    this.moving?.close();
    this.moving = null;
  }

  async drop(files: readonly File[], areFolders = false): Promise<void> {
    const [file, ...others] = files;
    if (file === undefined) return;
    // Folders are no batch.
    if (areFolders && this.inventory === null) this.#openInventory();
    if (this.inventory !== null) await this.inventory.drop(files);
    else if (this.comparison !== null) await this.comparison.drop(files);
    else if (files.length > maxFiles)
      this.failure = { code: 'queue.too-many', subject: formatCount(maxFiles) };
    else if (others.length > 0) await this.#openFrom(() => this.#api.dropFiles(files));
    else await this.#openFrom(() => this.#api.drop(file));
  }

  /** Of the file that is being planned, beside its plan; else of files that are chosen. */
  showInventory(): void {
    if (this.draft !== null) this.draft.showInventory();
    else if (this.inventory === null) this.#openInventory();
  }

  #openInventory(): void {
    this.leave();
    this.inventory = new FileInventory(this.#api);
  }

  /** With the file that is being planned, or the finished batch that is shown, as the first of them. */
  showComparison(): void {
    if (this.comparison !== null) return;
    const { draft, run } = this;
    const job = run?.job;
    this.leave();
    this.comparison = new FileComparison(this.#api);
    if (draft?.preview) this.comparison.addOpen(draft.source, draft.preview);
    else if (job?.state === 'finished') this.comparison.addBatch(job);
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
    const queueId = this.draft?.queueId ?? null;
    await this.#openFrom(() => this.#api.call('batch.sheet', { sourceId: source.sourceId, sheet }), queueId);
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
  async open(
    source: Source,
    { areTokens = false, queueId = null }: { areTokens?: boolean; queueId?: string | null } = {},
  ): Promise<void> {
    const { app, preset, moving } = this;
    this.moving = null;
    this.leave();
    this.moving = moving;
    const draft = new BatchDraft({ app, api: this.#api, source, preset, areTokens, queueId });
    this.draft = draft;
    await draft.load();
    if (this.moving !== null && this.draft === draft) await this.moving.use(draft);
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
    const queueId = this.draft?.queueId ?? null;
    const jobId = await this.draft?.start(grounds);
    if (jobId === null || jobId === undefined) return;
    this.preset = null;
    // The event that lists the new job may not have come yet.
    if (!this.app.jobs.has(jobId)) await this.app.loadJobs();
    if (queueId === null) this.view(jobId);
    else this.viewQueue(queueId);
  }

  /** Back from a batch: to the files that it runs with, else to the start view. */
  back(): void {
    const queue = this.queueOf(this.run?.jobId ?? '');
    if (queue === undefined) this.leave();
    else this.viewQueue(queue.queueId);
  }

  queueOf(jobId: string): Queue | undefined {
    return this.queues.find(({ files }) => files.some((file) => file.jobId === jobId));
  }

  viewQueue(queueId: string): void {
    this.leave();
    this.queue = new BatchQueue(this.app, this.#api, queueId);
  }

  /** A draft opens at its first file; one without any says why. */
  async openQueue(queueId: string): Promise<void> {
    const { state, files } = this.app.queues.get(queueId) ?? {};
    const fileId = state === 'draft' ? files?.[0]?.fileId : undefined;
    if (fileId === undefined) this.viewQueue(queueId);
    else await this.openQueued(queueId, fileId, { isFirst: true });
  }

  /** One of the files, by itself unless it is the first of a draft. */
  async openQueued(queueId: string, fileId: string, { isFirst = false } = {}): Promise<void> {
    const open = () => this.#api.call('batch.openQueued', { queueId, fileId });
    await this.#openFrom(open, isFirst ? queueId : null);
  }

  async removeQueue(queueId: string): Promise<void> {
    const outcome = await this.#api.call('batch.removeQueue', { queueId });
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.app.queues.delete(queueId);
    if (this.queue?.queueId === queueId) this.leave();
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
    this.queue = null;
    this.inventory?.close();
    this.inventory = null;
    this.comparison?.close();
    this.comparison = null;
    this.moving?.close();
    this.moving = null;
    this.pasting = false;
    this.encrypted = null;
    this.failure = null;
  }

  /** Counts the call before it begins, because its progress can be reported at once. */
  async #openFrom(
    call: () => Promise<Outcome<Source | OpenedFiles | null>>,
    queueId: string | null = null,
  ): Promise<void> {
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
    if ('sourceId' in outcome.value) {
      await this.#openSource(outcome.value, queueId);
      return;
    }
    const { source, queue } = outcome.value;
    if (queue !== null) this.app.queues.set(queue.queueId, queue);
    if (source !== null) await this.#openSource(source, queue?.queueId ?? null);
    else if (queue !== null) this.viewQueue(queue.queueId);
  }

  async #openSource(source: Source, queueId: string | null): Promise<void> {
    // On the page of a batch with failed rows it may be their list, corrected.
    const { run } = this;
    const mayMend = run?.job?.state === 'finished' && run.job.tally.failed > 0;
    if (run !== null && mayMend && queueId === null && (await run.compare(source))) return;
    await this.open(source, { queueId });
  }
}
