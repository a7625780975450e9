import { SvelteMap } from 'svelte/reactivity';
import type { Failure, Outcome } from '../../electron/contract/errors.ts';

export const pageSize = 100;
const maxPages = 80;

export interface Page<R> {
  total: number;
  rows: R[];
}

/** Rows fetched by page as they come into view; the pages fetched longest ago are dropped. */
export class RowPages<R> {
  total = $state(0);
  failure = $state.raw<Failure | null>(null);
  readonly #pages = new SvelteMap<number, R[]>();
  readonly #requested = new Set<number>();
  readonly #fetch: (from: number, count: number) => Promise<Outcome<Page<R>>>;
  readonly #size: number;
  #generation = 0;

  /** `size`: rows of a page; fewer where a row has many cells. */
  constructor(fetch: (from: number, count: number) => Promise<Outcome<Page<R>>>, size = pageSize) {
    this.#fetch = fetch;
    this.#size = size;
  }

  row(index: number): R | undefined {
    return this.#pages.get(Math.floor(index / this.#size))?.[index % this.#size];
  }

  /** Fetches the missing pages between two rows. */
  async need(first: number, last: number): Promise<void> {
    const requests: Promise<void>[] = [];
    for (
      let page = Math.floor(first / this.#size);
      page <= Math.floor(Math.max(first, last) / this.#size);
      page += 1
    ) {
      if (!this.#pages.has(page)) requests.push(this.#request(page));
    }
    await Promise.all(requests);
  }

  /** Fetches the pages in view again, since the rows of a running job change; shows the old rows until they are here. */
  async renew(first: number, last: number): Promise<void> {
    this.#generation += 1;
    this.#requested.clear();
    const from = Math.floor(first / this.#size);
    const to = Math.floor(Math.max(first, last) / this.#size);
    for (const page of this.#pages.keys()) if (page < from || page > to) this.#pages.delete(page);
    const requests: Promise<void>[] = [];
    for (let page = from; page <= to; page += 1) requests.push(this.#request(page));
    await Promise.all(requests);
  }

  async #request(page: number): Promise<void> {
    if (this.#requested.has(page)) return;
    this.#requested.add(page);
    const generation = this.#generation;
    const outcome = await this.#fetch(page * this.#size, this.#size);
    // Of two answers for the same rows only the one requested last counts.
    if (generation !== this.#generation) return;
    this.#requested.delete(page);
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.failure = null;
    this.total = outcome.value.total;
    this.#pages.delete(page);
    this.#pages.set(page, outcome.value.rows);
    if (this.#pages.size > maxPages) {
      const [oldest] = this.#pages.keys();
      if (oldest !== undefined) this.#pages.delete(oldest);
    }
  }
}
