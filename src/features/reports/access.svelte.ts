import type { Failure } from '../../../electron/contract/errors.ts';
import type { Access } from '../../../electron/contract/models/report.ts';
import type { Api } from '../../lib/api.ts';

const monthOf = (time: number): string => {
  const date = new Date(time);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;
};

/** Who saw what in clear in one month, for an auditor. Shows the answer to the last question. */
export class AccessView {
  month = $state('');
  access = $state.raw<Access | null>(null);
  failure = $state.raw<Failure | null>(null);
  loading = $state(false);
  /** The file that was saved last. */
  message = $state('');
  readonly #api: Api;
  #turn = 0;

  constructor(api: Api, now: number) {
    this.#api = api;
    this.month = monthOf(now);
  }

  async choose(month: string): Promise<void> {
    this.month = month;
    await this.load();
  }

  async load(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.loading = true;
    this.message = '';
    const outcome = await this.#api.call('reports.access', { month: this.month });
    if (turn !== this.#turn) return;
    this.loading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    this.access = outcome.ok ? outcome.value : null;
  }

  async exportCsv(): Promise<void> {
    if (this.access === null) return;
    const outcome = await this.#api.call('reports.export', { reportId: this.access.reportId });
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok && outcome.value !== null) this.message = `Saved as ${outcome.value.name}.`;
  }
}
