import { newXorKey } from '../../../../electron/contract/obscured.ts';
import type { Failure, FailureCode } from '../../../../electron/contract/errors.ts';
import type {
  ExportChoice,
  Exported,
  FailureGroup,
  Job,
  ResultRow,
  RowFilter,
} from '../../../../electron/contract/models/batch.ts';
import type { Cell } from '../../../ui/grid-keys.ts';
import { RowPages } from '../../../ui/row-pages.svelte.ts';
import type { AppStore } from '../../../app-store.svelte.ts';

type Order = 'batch.pause' | 'batch.resume' | 'batch.cancel';

/** One job on view: running, or done with. Rows come masked; the one revealed cell is the exposure's. */
export class BatchRun {
  readonly app: AppStore;
  readonly jobId: string;
  filter = $state<RowFilter>('all');
  pages = $state.raw<RowPages<ResultRow>>();
  active = $state.raw<Cell>({ row: 0, column: 0 });
  failures = $state.raw<FailureGroup[]>([]);
  panel = $state<'reveal' | 'export' | null>(null);
  exported = $state.raw<Exported | null>(null);
  failure = $state.raw<Failure | null>(null);
  panelFailure = $state.raw<Failure | null>(null);

  job = $derived.by((): Job | undefined => this.app.jobs.get(this.jobId));
  production = $derived.by(() => this.job?.environment === 'production');
  retriable = $derived(
    this.failures.filter(({ retriable }) => retriable).reduce((sum, { count }) => sum + count, 0),
  );
  chosenRow = $derived(this.pages?.row(this.active.row));
  /** Column 0 of the table is the row's number. */
  chosenPlan = $derived(this.job?.plan.columns.find(({ column }) => column === this.active.column - 1));
  revealable = $derived(
    this.chosenPlan !== undefined &&
      this.chosenPlan.operation === 'detokenize' &&
      this.chosenRow?.cells[this.active.column - 1]?.state === 'ok',
  );
  subject = $derived.by(() =>
    this.chosenRow === undefined ? '' : `batch:${this.jobId}:${this.chosenRow.row}:${this.active.column - 1}`,
  );
  isRevealed = $derived.by(
    () => this.app.revealed.now !== null && this.app.revealed.now.subject === this.subject,
  );

  constructor(app: AppStore, jobId: string) {
    this.app = app;
    this.jobId = jobId;
    this.show('all');
  }

  show(filter: RowFilter): void {
    this.filter = filter;
    this.choose({
      row: 0,
      column: this.job === undefined ? 0 : (this.job.plan.columns[0]?.column ?? -1) + 1,
    });
    this.pages = new RowPages((from, count) =>
      this.app.api.call('batch.rows', { jobId: this.jobId, filter, from, count }),
    );
  }

  async renew(first: number, last: number): Promise<void> {
    await this.pages?.renew(first, last);
    await this.loadFailures();
  }

  async loadFailures(): Promise<void> {
    const outcome = await this.app.api.call('batch.failures', { jobId: this.jobId });
    if (outcome.ok) this.failures = outcome.value;
  }

  choose(cell: Cell): void {
    if (cell.row !== this.active.row || cell.column !== this.active.column) {
      this.app.revealed.hide();
      if (this.panel === 'reveal') this.close();
    }
    this.active = cell;
  }

  async order(order: Order): Promise<void> {
    const outcome = await this.app.api.call(order, { jobId: this.jobId });
    this.failure = outcome.ok ? null : outcome.failure;
  }

  /** Null tries all again that a retry may mend. */
  async retry(code: FailureCode | null): Promise<void> {
    const outcome = await this.app.api.call('batch.retry', { jobId: this.jobId, code });
    this.failure = outcome.ok ? null : outcome.failure;
  }

  open(panel: 'reveal' | 'export'): void {
    if (panel === 'reveal' && !this.revealable) return;
    this.panelFailure = null;
    this.exported = null;
    this.panel = panel;
  }

  close(): void {
    this.panel = null;
    this.panelFailure = null;
  }

  async reveal(): Promise<void> {
    const row = this.chosenRow;
    const plan = this.chosenPlan;
    if (row === undefined || plan === undefined) return;
    const subject = this.subject;
    const xorKey = newXorKey();
    const outcome = await this.app.api.call('batch.reveal', {
      jobId: this.jobId,
      row: row.row,
      column: plan.column,
      xorKey,
      reason: this.app.reason.trim(),
      caseReference: this.app.caseReference.trim(),
    });
    if (!outcome.ok) {
      this.panelFailure = outcome.failure;
      return;
    }
    // Locked or another cell meanwhile: it is not shown for a moment, and main is told that it need not wait.
    if (this.app.locked || subject !== this.subject) {
      await this.app.api.call('lookup.hide', { revealId: outcome.value.revealId });
      return;
    }
    this.app.revealed.show({ ...outcome.value, xorKey }, subject, this.app.definition(plan.definition).kind);
    this.close();
  }

  async export(choice: ExportChoice): Promise<void> {
    const outcome = await this.app.api.call('batch.export', choice);
    if (!outcome.ok) {
      this.panelFailure = outcome.failure;
      return;
    }
    // Null: the person changed their mind in the save dialog. The choices stay.
    if (outcome.value === null) return;
    this.exported = outcome.value;
    this.close();
  }
}
