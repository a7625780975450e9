import type { Failure } from '../../../electron/contract/errors.ts';
import type { AuditEntry, AuditPage } from '../../../electron/contract/models/activity.ts';
import { actsOf } from '../../acts.ts';
import type { Api } from '../../api.ts';
import type { AppStore } from '../../app-store.svelte.ts';

const pageSize = 200;

/** The audit log, newest first, a page at a time. */
export class ActivityController {
  readonly app: AppStore;
  readonly #api: Api;
  entries = $state.raw<AuditEntry[]>([]);
  total = $state(0);
  chain = $state.raw<AuditPage['chain'] | null>(null);
  caseReference = $state('');
  /** Shows every line as written; otherwise each act once, with its outcome. */
  everyLine = $state(false);
  more = $state(false);
  loading = $state(false);
  failure = $state.raw<Failure | null>(null);
  #turn = 0;

  shown = $derived.by(() => (this.everyLine ? this.entries : actsOf(this.entries)));

  constructor(app: AppStore, api: Api) {
    this.app = app;
    this.#api = api;
  }

  async load(): Promise<void> {
    await this.#fetch(null);
  }

  async earlier(): Promise<void> {
    await this.#fetch(this.entries.at(-1)?.sequence ?? null);
  }

  async #fetch(before: number | null): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.loading = true;
    const reference = this.caseReference.trim();
    const outcome = await this.#api.call('activity.list', {
      before,
      limit: pageSize,
      caseReference: reference === '' ? null : reference,
    });
    // Every key in the field loads again: only the last answer is shown.
    if (turn !== this.#turn) return;
    this.loading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    const { entries, total, chain } = outcome.value;
    this.entries = before === null ? entries : [...this.entries, ...entries];
    this.more = entries.length === pageSize;
    this.total = total;
    this.chain = chain;
  }
}
