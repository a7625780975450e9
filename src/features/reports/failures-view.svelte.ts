import type { Failure } from '../../../electron/contract/errors.ts';
import type { FailedRequest, FailedRequests } from '../../../electron/contract/models/report.ts';
import type { AppStore } from '../../app-store.svelte.ts';

/** The account's most recent failed requests: a filter over them, and the one that is opened. */
export class FailuresView {
  readonly app: AppStore;
  max = $state(15);
  list = $state.raw<FailedRequests | null>(null);
  failure = $state.raw<Failure | null>(null);
  loading = $state(false);
  search = $state('');
  /** '' is every status. */
  status = $state('');
  chosen = $state<number | null>(null);
  said = $state('');
  copyFailure = $state.raw<Failure | null>(null);
  #turn = 0;

  /** Each with its place in the answer, which is how main knows it. */
  shown = $derived.by((): { index: number; failure: FailedRequest }[] => {
    const words = this.search.trim().toLowerCase();
    return (this.list?.failures ?? [])
      .map((failure, index) => ({ index, failure }))
      .filter(({ failure }) => this.status === '' || String(failure.status) === this.status)
      .filter(({ failure }) => words === '' || textOf(failure).includes(words));
  });
  statuses = $derived.by(() => {
    const all = (this.list?.failures ?? []).map(({ status }) => String(status)).sort();
    return all.filter((status, at) => status !== all[at - 1]);
  });
  open = $derived.by(() => this.shown.find(({ index }) => index === this.chosen) ?? null);

  constructor(app: AppStore) {
    this.app = app;
  }

  async load(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.loading = true;
    const outcome = await this.app.api.call('reports.failures', { max: this.max });
    if (turn !== this.#turn) return;
    this.loading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    // What is open stays open where the new answer has it too: the list is asked for anew whenever the page opens.
    const before = this.open?.failure;
    this.list = outcome.ok ? outcome.value : null;
    const at = this.list?.failures.findIndex((one) => before !== undefined && isSame(one, before)) ?? -1;
    this.chosen = at === -1 ? null : at;
    this.said = '';
    if (!this.statuses.includes(this.status)) this.status = '';
  }

  async chooseMax(max: number): Promise<void> {
    this.max = max;
    await this.load();
  }

  choose(index: number | null): void {
    this.chosen = index;
    this.said = '';
    this.copyFailure = null;
  }

  /** +1 is one further down, -1 one up, among those shown. */
  walk(step: number): void {
    const at = this.shown.findIndex(({ index }) => index === this.chosen);
    const last = this.shown.length - 1;
    const next = this.shown[at === -1 ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, at + step))];
    if (next !== undefined) this.choose(next.index);
  }

  async copySupport(): Promise<void> {
    const { list, open } = this;
    if (list === null || open === null) return;
    const outcome = await this.app.api.call('reports.copy', {
      what: 'support',
      reportId: list.reportId,
      index: open.index,
    });
    this.copyFailure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.said = 'Copied: request ID, time, operation, status. No value is in it.';
  }

  clear(): void {
    this.#turn += 1;
    this.loading = false;
    this.list = null;
    this.failure = null;
    this.chosen = null;
    this.said = '';
  }
}

const isSame = (one: FailedRequest, other: FailedRequest): boolean =>
  one.requestId === other.requestId && one.at === other.at && one.operation === other.operation;

function textOf({ at, operation, definition, status, code, requestId, more }: FailedRequest): string {
  return [at, operation, definition, status ?? '', code, requestId, ...Object.values(more)]
    .join(' ')
    .toLowerCase();
}
