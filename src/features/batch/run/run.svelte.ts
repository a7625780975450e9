import { newXorKey } from '../../../../electron/contract/obscured.ts';
import { isEbcdic } from '../../../../electron/contract/ebcdic.ts';
import { defaultExport } from '../../../../electron/contract/export-choice.ts';
import type { Grounds } from '../../../../electron/contract/models/lookup.ts';
import type { Failure, FailureCode, Outcome } from '../../../../electron/contract/errors.ts';
import type {
  CanaryCell,
  ExportChoice,
  Exported,
  ExportForm,
  Job,
  MendResult,
  PolicyChange,
  Remaining,
  Source,
} from '../../../../electron/contract/models/batch.ts';
import type { Cell } from '../../../ui/grid-keys.ts';
import { rowHead } from '../../../ui/grid-columns.ts';
import { formatCount } from '../../../lib/format.ts';
import type { Api } from '../../../lib/api.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';
import { Corrections } from './corrections.svelte.ts';
import { ResultsTable } from '../table/table.svelte.ts';
import { casesOfRows, definitionNames, kindOfCells } from '../labels.ts';

/**
 * NAME_errors.csv, or as a workbook: why each row failed, and the row as it came in. Cells of a workbook are text, of which
 * a spreadsheet changes nothing by itself. Nobody can read EBCDIC here, so the list of such a file is in UTF-8.
 */
export function failedRowsExport(job: Job, format: ExportChoice['format']): ExportChoice {
  const usual = defaultExport(job);
  const safety = isEbcdic(job.plan.reading.encoding) ? 'exact' : usual.safety;
  return { ...usual, safety, rows: 'failed', content: 'tokens', format, archive: null };
}

/** The rows the table shows, as an export's: by a name of their own where they have one. */
export function shownRows(
  job: Job,
  table: Pick<ResultsTable, 'filter' | 'isFiltered'>,
): ExportChoice['rows'] {
  if (table.isFiltered) return 'shown';
  if (table.filter === 'all' || table.filter === 'failed') return table.filter;
  const isMatch = job.plan.columns.some(({ operation }) => operation === 'match');
  return isMatch && table.filter === 'ok' ? 'matches' : 'shown';
}

/** Whether a person can ask if the service answers again: what ends by itself can be asked about, a limit can't. */
export const canTryNow = ({ state, waiting }: Pick<Job, 'state' | 'waiting'>): boolean =>
  state === 'running' &&
  ['service.unreachable', 'service.timeout', 'service.failing'].includes(waiting?.failure.code ?? '');

/** How many rows an export writes. A cleartext export from production asks the person to type it. */
export function exportedRows(job: Job, rows: ExportChoice['rows'], shown: number): number {
  return { all: job.tally.rows, failed: job.tally.failed, matches: job.tally.ok, shown }[rows];
}

/**
 * The reasons for which values can be sent again, each with its number of values in all columns. A batch that was
 * cancelled has rows that were never sent: only one that came to its end is retried.
 */
export function retriesOf({
  state,
  failures,
}: Pick<Job, 'state' | 'failures'>): { code: FailureCode; count: number }[] {
  if (state !== 'finished') return [];
  const groups = Map.groupBy(
    failures.filter(({ retriable }) => retriable),
    ({ code }) => code,
  );
  return [...groups].map(([code, all]) => ({ code, count: all.reduce((sum, { count }) => sum + count, 0) }));
}

/** What stands beside the table. */
export type SidePanel = 'columns' | 'detail' | 'profile';

/** The job that is shown, running or ended. Its rows are masked; cleartext of the one revealed cell is in the app store. */
export class BatchRun {
  readonly app: AppStore;
  readonly jobId: string;
  readonly #api: Api;
  readonly table: ResultsTable;
  readonly corrections: Corrections;
  /** `column`: as the window counts them, `rowHead` for the row's own. */
  active = $state.raw<Cell>({ row: 0, column: rowHead });
  /** `again`: values are to be sent again, and their expression needs a reason. */
  panel = $state<'reveal' | 'export' | 'change' | 'again' | null>(null);
  /** What is sent once a reason is given. */
  #asked: ((grounds: Grounds) => Promise<unknown>) | null = null;
  /** What the run sent first; empty before, and after the app was started again. */
  firstValues = $state.raw<CanaryCell[]>([]);
  exported = $state.raw<Exported | null>(null);
  /** How the last result of the batch's mapping was written; null where none was. */
  lastForm = $state.raw<ExportForm | null>(null);
  /** How far the file is written; null while none is. */
  exporting = $state.raw<{ share: number; rows: number; since: number } | null>(null);
  /** The last export was stopped by hand. */
  exportStopped = $state(false);
  /** What was taken in from the list that a person corrected last. */
  mended = $state.raw<MendResult | null>(null);
  failure = $state.raw<Failure | null>(null);
  panelFailure = $state.raw<Failure | null>(null);

  job = $derived.by((): Job | undefined => this.app.jobs.get(this.jobId));
  production = $derived.by(() => this.job?.environment === 'production');
  retries = $derived.by(() => (this.job === undefined ? [] : retriesOf(this.job)));
  activeRow = $derived.by(() => this.table.pages.row(this.active.row));
  activePlan = $derived.by(() => this.table.planOf(this.active.column));
  revealable = $derived.by(
    () =>
      this.activePlan?.operation === 'detokenize' &&
      this.table.isResult(this.active.column) &&
      this.activeRow?.cells[this.active.column]?.state === 'ok',
  );
  subject = $derived.by(() =>
    this.activeRow === undefined ? '' : `batch:${this.jobId}:${this.activeRow.row}:${this.active.column}`,
  );
  /** The active cell, as the table names it: "Row 2 · card_token". */
  cellName = $derived.by(() =>
    this.activeRow === undefined
      ? ''
      : `Row ${formatCount(this.activeRow.row)} · ${this.table.nameOf(this.active.column)}`,
  );
  /** The case that a reveal of the active cell is recorded under, where each row has its own. */
  rowCase = $derived.by((): string | null => {
    const { job } = this;
    if (job === undefined) return null;
    const cell = job.plan.caseColumn === undefined ? null : this.activeRow?.cells[job.plan.caseColumn];
    return cell?.text.trim() ?? casesOfRows(job);
  });
  isRevealed = $derived.by(
    () => this.app.revealed.now !== null && this.app.revealed.now.subject === this.subject,
  );

  constructor(app: AppStore, api: Api, job: Job) {
    this.app = app;
    this.#api = api;
    this.jobId = job.jobId;
    this.corrections = new Corrections(api, job.jobId);
    this.table = new ResultsTable(api, job, (column) => this.plannedOf(column));
    this.active = { row: 0, column: this.table.columns[1]?.id ?? rowHead };
  }

  /** Another set of rows: the first of them becomes the active one. */
  show(change: (table: ResultsTable) => void): void {
    change(this.table);
    this.choose({ row: 0, column: this.active.column });
  }

  choose(cell: Cell): void {
    if (cell.row !== this.active.row || cell.column !== this.active.column) {
      this.app.revealed.hide();
      if (this.panel === 'reveal') this.close();
    }
    this.active = cell;
  }

  async command(command: 'batch.pause' | 'batch.cancel'): Promise<void> {
    const outcome = await this.#api.call(command, { jobId: this.jobId });
    this.failure = outcome.ok ? null : outcome.failure;
  }

  async resume(grounds: Grounds | null = null): Promise<void> {
    const outcome = await this.#api.call('batch.resume', { jobId: this.jobId, grounds });
    this.#sent(outcome, (given) => this.resume(given));
  }

  /** What was asked before a reason was given. */
  async sendAgain(): Promise<void> {
    await this.#asked?.(this.app.grounds());
  }

  /** Main asks for a reason where answers tell more than the mask: then it is `again` with one. */
  #sent(outcome: Outcome<unknown>, again: (grounds: Grounds) => Promise<unknown>): void {
    const needsReason = !outcome.ok && outcome.failure.code === 'reveal.reason-required';
    this.failure = outcome.ok || needsReason ? null : outcome.failure;
    if (needsReason) {
      this.open('again');
      this.#asked = again;
    } else if (this.panel === 'again') this.close();
  }

  /** Retries the values that failed with this code; null retries every value that can be retried. */
  async retry(code: FailureCode | null, grounds: Grounds | null = null): Promise<void> {
    const outcome = await this.#api.call('batch.retry', { jobId: this.jobId, code, grounds });
    this.#sent(outcome, (given) => this.retry(code, given));
  }

  /**
   * Compares a list of failed rows that a person corrected; what it changes is shown before anything is sent. False where
   * the source is no such list: then nothing was done.
   */
  async compare(source: Pick<Source, 'sourceId'>): Promise<boolean> {
    this.mended = null;
    this.failure = null;
    const outcome = await this.corrections.compare(source);
    if (outcome.ok) {
      const { cells, pending, unchanged, leftOut, leftOutRows } = outcome.value;
      if (cells + pending === 0) this.mended = { changed: 0, unchanged, leftOut, leftOutRows };
      return true;
    }
    this.failure = outcome.failure.code === 'service.cancelled' ? null : outcome.failure;
    return outcome.failure.code !== 'mend.other-list';
  }

  /** Asks for the list first. */
  async chooseCorrected(): Promise<void> {
    const source = await this.#api.call('batch.choose', {});
    if (!source.ok) this.failure = source.failure;
    else if (source.value !== null) await this.compare(source.value);
  }

  /** Takes in what a person ticked of it. */
  async mend(grounds: Grounds | null = null): Promise<void> {
    const outcome = await this.corrections.mend(grounds);
    if (outcome.ok) this.mended = outcome.value;
    this.#sent(outcome, (given) => this.mend(given));
  }

  /** Runs again under other policies what was refused. */
  async changePolicy(changes: PolicyChange[], grounds: Grounds | null = null): Promise<void> {
    const outcome = await this.#api.call('batch.changePolicy', { jobId: this.jobId, changes, grounds });
    this.#sent(outcome, (given) => this.changePolicy(changes, given));
    this.panelFailure = this.failure;
    this.failure = null;
    if (!outcome.ok) return;
    this.firstValues = [];
    this.close();
  }

  async loadFirstValues(): Promise<void> {
    const outcome = await this.#api.call('batch.canary', { jobId: this.jobId });
    if (outcome.ok) this.firstValues = outcome.value;
  }

  /** The definition and the policy of a mapped column of the source; null for one that is not mapped. */
  plannedOf(column: number | null): { label: string; policy: string } | null {
    const planned = this.job?.plan.columns.find((one) => one.column === column);
    if (planned === undefined) return null;
    const labels = definitionNames(planned).map((name) => this.app.definition(name).label);
    return { label: labels.join(', '), policy: planned.policy };
  }

  open(panel: 'reveal' | 'export' | 'change' | 'again'): void {
    if (panel === 'reveal' && !this.revealable) return;
    this.panelFailure = null;
    this.exported = null;
    this.exportStopped = false;
    if (panel === 'export' && this.job !== undefined && this.job.mapping !== null)
      void this.#openExport(this.job.mapping);
    else this.panel = panel;
  }

  async #openExport(name: string): Promise<void> {
    const mappings = await this.#api.call('batch.mappings', {});
    const mapping = mappings.ok ? mappings.value.find((one) => one.name === name) : undefined;
    this.lastForm = mapping?.exported ?? null;
    this.panel = 'export';
  }

  close(): void {
    this.panel = null;
    this.panelFailure = null;
    this.#asked = null;
  }

  async reveal(): Promise<void> {
    const row = this.activeRow;
    const plan = this.activePlan;
    if (row === undefined || plan === undefined) return;
    const subject = this.subject;
    const xorKey = newXorKey();
    const outcome = await this.#api.call('batch.reveal', {
      jobId: this.jobId,
      row: row.row,
      column: this.active.column,
      xorKey,
      ...this.app.grounds(),
    });
    if (!outcome.ok) {
      this.panelFailure = outcome.failure;
      return;
    }
    // The app was locked or another cell was chosen meanwhile: the value is never shown, and main can end the reveal.
    if (this.app.locked || subject !== this.subject) {
      await this.#api.call('lookup.hide', { revealId: outcome.value.revealId });
      return;
    }
    this.app.revealed.show({ ...outcome.value, xorKey }, subject, kindOfCells(plan, this.app));
    this.close();
  }

  /** What would stay in clear; null where that is not known, or the file is to hold cleartext. */
  async checkExport(choice: Pick<ExportChoice, 'content' | 'rows' | 'shown'>): Promise<Remaining | null> {
    const outcome = await this.#api.call('batch.checkExport', { jobId: this.jobId, ...choice });
    return outcome.ok ? outcome.value : null;
  }

  async export(choice: ExportChoice): Promise<void> {
    this.exportStopped = false;
    const stopListening = this.#api.on('batch.exporting', ({ jobId, share, rows }) => {
      if (jobId !== this.jobId) return;
      this.exporting = { share, rows, since: this.exporting?.since ?? Date.now() };
    });
    const outcome = await this.#api.call('batch.export', choice);
    stopListening();
    this.exporting = null;
    if (!outcome.ok) {
      this.exportStopped = outcome.failure.code === 'service.cancelled';
      this.panelFailure = this.exportStopped ? null : outcome.failure;
      return;
    }
    // Null: the save dialog was cancelled. The panel and its choices stay.
    if (outcome.value === null) return;
    this.exported = outcome.value;
    this.close();
  }

  async stopExport(): Promise<void> {
    await this.#api.call('batch.stopExport', { jobId: this.jobId });
  }

  /** Shows the file that was exported last in the file manager. False where the system has none. */
  async showExported({ exportId }: Exported): Promise<boolean> {
    const outcome = await this.#api.call('batch.showExport', { exportId });
    this.failure = outcome.ok ? null : outcome.failure;
    return !outcome.ok || outcome.value.shown;
  }
}
