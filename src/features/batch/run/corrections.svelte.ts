import { SvelteMap } from 'svelte/reactivity';
import type {
  ChangeDoubt,
  ChangedCell,
  ListComparison,
  MendResult,
  Source,
} from '../../../../electron/contract/models/batch.ts';
import type { Grounds } from '../../../../electron/contract/models/lookup.ts';
import type { Failure, Outcome } from '../../../../electron/contract/errors.ts';
import type { Api } from '../../../lib/api.ts';

export const changesPerPage = 100;

/** What a list of failed rows would change, and which of it a person takes. Main has the list; here is what is shown of it. */
export class Corrections {
  readonly #api: Api;
  readonly #jobId: string;
  /** How far the comparison is, 0 to 1; null while none is under way. */
  share = $state<number | null>(null);
  /** Null until a list is compared, and once it is taken in or dropped. */
  found = $state.raw<ListComparison | null>(null);
  /** The changed cells of one page. */
  cells = $state.raw<readonly ChangedCell[]>([]);
  from = $state(0);
  failure = $state.raw<Failure | null>(null);
  /** What is in doubt is taken only where a person says so. */
  #doubts = $state.raw<ReadonlySet<ChangeDoubt>>(new Set());
  /** Cells taken, or not, against the rule for their doubt. */
  readonly #except = new SvelteMap<number, ChangeDoubt | null>();

  takenCells = $derived.by(() => {
    if (this.found === null) return 0;
    const { cells, doubts } = this.found;
    const doubtful = doubts.reduce((sum, { cells: count }) => sum + count, 0);
    const chosen = doubts.reduce((sum, { doubt, cells: count }) => sum + (this.takes(doubt) ? count : 0), 0);
    const others = [...this.#except.values()].reduce<number>(
      (sum, doubt) => sum + (this.#isUsual(doubt) ? -1 : 1),
      0,
    );
    return cells - doubtful + chosen + others;
  });

  constructor(api: Api, jobId: string) {
    this.#api = api;
    this.#jobId = jobId;
  }

  /** Whether cells in such a doubt are taken. */
  takes(doubt: ChangeDoubt): boolean {
    return this.#doubts.has(doubt);
  }

  takeAll(doubt: ChangeDoubt, isTaken: boolean): void {
    this.#doubts = new Set(
      isTaken ? [...this.#doubts, doubt] : [...this.#doubts].filter((other) => other !== doubt),
    );
    for (const [position, other] of [...this.#except]) if (other === doubt) this.#except.delete(position);
  }

  isTaken(position: number, { doubt }: Pick<ChangedCell, 'doubt'>): boolean {
    return this.#isUsual(doubt) !== this.#except.has(position);
  }

  take(position: number, { doubt }: Pick<ChangedCell, 'doubt'>, isTaken: boolean): void {
    if (isTaken === this.#isUsual(doubt)) this.#except.delete(position);
    else this.#except.set(position, doubt);
  }

  #isUsual(doubt: ChangeDoubt | null): boolean {
    return doubt === null || this.#doubts.has(doubt);
  }

  /** Compares a list with the job. Sends nothing. */
  async compare({ sourceId }: Pick<Source, 'sourceId'>): Promise<Outcome<ListComparison>> {
    this.#reset();
    const stopListening = this.#api.on('batch.comparing', ({ jobId, share }) => {
      if (jobId === this.#jobId) this.share = share;
    });
    this.share = 0;
    const outcome = await this.#api.call('batch.compare', { jobId: this.#jobId, sourceId });
    stopListening();
    this.share = null;
    if (!outcome.ok) return outcome;
    if (outcome.value.cells + outcome.value.pending > 0) {
      await this.show(0);
      this.found = outcome.value;
    }
    return outcome;
  }

  /** Another page of the changed cells. */
  async show(from: number): Promise<void> {
    const page = { jobId: this.#jobId, from, count: changesPerPage };
    const outcome = await this.#api.call('batch.changes', page);
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.from = outcome.value.from;
    this.cells = outcome.value.cells;
  }

  /** Takes in what is ticked: it is sent. */
  async mend(grounds: Grounds | null): Promise<Outcome<MendResult>> {
    const taken = { doubts: [...this.#doubts], except: [...this.#except.keys()] };
    const outcome = await this.#api.call('batch.mend', { jobId: this.#jobId, taken, grounds });
    if (outcome.ok) this.#reset();
    return outcome;
  }

  /** Ends the comparison that is under way, or drops what it found. */
  async drop(): Promise<void> {
    if (this.share === null && this.found === null) return;
    this.#reset();
    await this.#api.call('batch.dropComparison', { jobId: this.#jobId });
  }

  #reset(): void {
    this.found = null;
    this.cells = [];
    this.from = 0;
    this.failure = null;
    this.#doubts = new Set();
    this.#except.clear();
  }
}
