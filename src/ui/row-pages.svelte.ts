import { SvelteMap } from 'svelte/reactivity';
import type { Failure, Outcome } from '../../electron/contract/errors.ts';

export const pageSize = 100;
const maxPages = 80;

export interface Page<R> {
  total: number;
  rows: R[];
}

/** Rows of many columns, whose cells come some columns at a time. */
export interface SomeColumns<R> {
  /** The columns to fetch where these are shown, so that a step to the side needs no others. */
  around(shown: readonly number[]): readonly number[];
  /** A row with the cells of another answer for it. */
  join(row: R, more: R): R;
}

interface Fetched<R> {
  rows: R[];
  generation: number;
}

/** What rows that come with all their cells are taken to have. */
const wholeRow: readonly number[] = [0];

/** Rows fetched by page as they come into view; the pages fetched longest ago are dropped. */
export class RowPages<R> {
  total = $state(0);
  failure = $state.raw<Failure | null>(null);
  readonly #pages = new SvelteMap<number, Fetched<R>>();
  /** Columns that were asked for, by page. */
  readonly #requested = new Map<number, Set<number>>();
  readonly #fetch: (from: number, count: number, columns: readonly number[]) => Promise<Outcome<Page<R>>>;
  readonly #size: number;
  readonly #some: SomeColumns<R> | null;
  #generation = 0;

  /** `size`: rows of a page. `fetch` gets the columns where rows come with some of their cells. */
  constructor(
    fetch: (from: number, count: number, columns: readonly number[]) => Promise<Outcome<Page<R>>>,
    size = pageSize,
    some: SomeColumns<R> | null = null,
  ) {
    this.#fetch = fetch;
    this.#size = size;
    this.#some = some;
  }

  row(index: number): R | undefined {
    return this.#pages.get(Math.floor(index / this.#size))?.rows[index % this.#size];
  }

  /** Fetches what is missing between two rows, where these columns are shown. */
  async need(first: number, last: number, columns: readonly number[] = []): Promise<void> {
    await Promise.all(this.#pagesOf(first, last).map((page) => this.#request(page, columns)));
  }

  /** Fetches the pages in view again, since the rows of a running job change; shows the old rows until they are here. */
  async renew(first: number, last: number, columns: readonly number[] = []): Promise<void> {
    this.#generation += 1;
    this.#requested.clear();
    const shown = this.#pagesOf(first, last);
    for (const page of this.#pages.keys()) if (!shown.includes(page)) this.#pages.delete(page);
    await Promise.all(shown.map((page) => this.#request(page, columns)));
  }

  #pagesOf(first: number, last: number): number[] {
    const from = Math.floor(Math.max(0, first) / this.#size);
    const to = Math.floor(Math.max(0, first, last) / this.#size);
    return Array.from({ length: to - from + 1 }, (_, n) => from + n);
  }

  async #request(page: number, shown: readonly number[]): Promise<void> {
    const requested = this.#requested.get(page) ?? new Set();
    const columns = (this.#some?.around(shown) ?? wholeRow).filter((column) => !requested.has(column));
    if (columns.length === 0) return;
    this.#requested.set(page, new Set([...requested, ...columns]));
    const generation = this.#generation;
    const outcome = await this.#fetch(page * this.#size, this.#size, columns);
    // Of two answers for the same rows only the one requested last counts.
    if (generation !== this.#generation) return;
    if (!outcome.ok) {
      for (const column of columns) this.#requested.get(page)?.delete(column);
      this.failure = outcome.failure;
      return;
    }
    this.failure = null;
    this.total = outcome.value.total;
    const before = this.#pages.get(page);
    // Rows from before a renewal have cells of before.
    const known = before?.generation === generation ? before.rows : [];
    const rows = outcome.value.rows.map((row, at) => {
      const there = known[at];
      return there === undefined ? row : (this.#some?.join(there, row) ?? row);
    });
    this.#pages.delete(page);
    this.#pages.set(page, { rows, generation });
    if (this.#pages.size > maxPages) {
      const [oldest] = this.#pages.keys();
      if (oldest !== undefined) {
        this.#pages.delete(oldest);
        this.#requested.delete(oldest);
      }
    }
  }
}
