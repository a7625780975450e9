import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { Figures, Grouping, MetricsQuery } from '../../../electron/contract/models/report.ts';
import type { AppStore } from '../../app-store.svelte.ts';
import { presetRange, type Range } from './dates.ts';

/** Figures over a range of days in one grouping: the account's or the workstation's. Only the latest answer shows. */
export class FiguresView<F extends Figures> {
  readonly app: AppStore;
  range = $state.raw<Range>({ from: '', to: '' });
  grouping = $state<Grouping>('day');
  figures = $state.raw<F | null>(null);
  failure = $state.raw<Failure | null>(null);
  loading = $state(false);
  /** What was just written, said beside the buttons. */
  said = $state('');
  exportFailure = $state.raw<Failure | null>(null);
  readonly #ask: (query: MetricsQuery) => Promise<Outcome<F>>;
  #turn = 0;

  constructor(app: AppStore, now: number, ask: (query: MetricsQuery) => Promise<Outcome<F>>) {
    this.app = app;
    this.range = presetRange('30', now);
    this.#ask = ask;
  }

  async load(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.loading = true;
    this.said = '';
    this.exportFailure = null;
    const outcome = await this.#ask({ ...this.range, grouping: this.grouping });
    if (turn !== this.#turn) return;
    this.loading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    this.figures = outcome.ok ? outcome.value : null;
  }

  async chooseRange(range: Range): Promise<void> {
    this.range = range;
    await this.load();
  }

  async chooseGrouping(grouping: Grouping): Promise<void> {
    this.grouping = grouping;
    await this.load();
  }

  /** Another connection, or nobody signed in any more: what was answered is not shown, nor what is still to come. */
  clear(): void {
    this.#turn += 1;
    this.loading = false;
    this.figures = null;
    this.failure = null;
    this.said = '';
    this.exportFailure = null;
  }

  async exportCsv(): Promise<void> {
    const { figures } = this;
    if (figures === null) return;
    this.#told(await this.app.api.call('reports.export', { reportId: figures.reportId }));
  }

  async exportChart(png: string): Promise<void> {
    const { figures } = this;
    if (figures === null) return;
    this.#told(await this.app.api.call('reports.exportChart', { reportId: figures.reportId, png }));
  }

  #told(outcome: Outcome<{ name: string; escaped: number } | null>): void {
    this.exportFailure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok || outcome.value === null) return;
    const { name, escaped } = outcome.value;
    const cells = escaped === 1 ? '1 cell' : `${escaped} cells`;
    this.said =
      escaped === 0 ? `Saved as ${name}.` : `Saved as ${name}; ${cells} made safe for spreadsheets.`;
  }
}
