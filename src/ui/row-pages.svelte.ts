import { SvelteMap } from 'svelte/reactivity';
import type { Failure, Outcome } from '../../electron/contract/errors.ts';

export const PAGE = 100;
const KEPT = 80;

export interface Page<R> {
  total: number;
  rows: R[];
}

/** Rows fetched a page at a time as they come into view; the pages looked at longest ago are dropped. */
export class RowPages<R> {
  total = $state(0);
  failure = $state.raw<Failure | null>(null);
  readonly #pages = new SvelteMap<number, R[]>();
  readonly #asked = new Set<number>();
  readonly #fetch: (from: number, count: number) => Promise<Outcome<Page<R>>>;
  #generation = 0;

  constructor(fetch: (from: number, count: number) => Promise<Outcome<Page<R>>>) {
    this.#fetch = fetch;
  }

  row(index: number): R | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Asks for what is missing between two rows. */
  async need(first: number, last: number): Promise<void> {
    const wanted: Promise<void>[] = [];
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last) / PAGE); page += 1) {
      if (!this.#pages.has(page)) wanted.push(this.#ask(page));
    }
    await Promise.all(wanted);
  }

  /** Fetches what is in view anew, leaving the old rows until the new ones are there: a running job's rows change. */
  async renew(first: number, last: number): Promise<void> {
    this.#generation += 1;
    this.#asked.clear();
    const from = Math.floor(first / PAGE);
    const to = Math.floor(Math.max(first, last) / PAGE);
    for (const page of this.#pages.keys()) if (page < from || page > to) this.#pages.delete(page);
    const wanted: Promise<void>[] = [];
    for (let page = from; page <= to; page += 1) wanted.push(this.#ask(page));
    await Promise.all(wanted);
  }

  async #ask(page: number): Promise<void> {
    if (this.#asked.has(page)) return;
    this.#asked.add(page);
    const generation = this.#generation;
    const outcome = await this.#fetch(page * PAGE, PAGE);
    // Of two answers for the same rows only the one asked for last is true.
    if (generation !== this.#generation) return;
    this.#asked.delete(page);
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.failure = null;
    this.total = outcome.value.total;
    this.#pages.delete(page);
    this.#pages.set(page, outcome.value.rows);
    if (this.#pages.size > KEPT) {
      const [oldest] = this.#pages.keys();
      if (oldest !== undefined) this.#pages.delete(oldest);
    }
  }
}
