import { describe, expect, it } from 'vitest';
import { rowsPerSlice } from '../../../../electron/batch/viewing/look-at-rows.ts';
import { createRowSorter } from '../../../../electron/batch/viewing/row-order.ts';
import { createRowsViews } from '../../../../electron/batch/viewing/rows-view.ts';
import type { RowsView } from '../../../../electron/contract/models/rows.ts';
import { valueOf } from '../../../support/batch-app.ts';
import { jobRowsOf } from '../../../support/job-rows.ts';

/** More than two slices, the last of them not full. */
const count = 2 * rowsPerSlice + 1_234;
/** In no order, some of them more than once. */
const numberAt = (n: number): number => ((n * 7_919) % 100_003) - 50_000;
const numbers = Array.from({ length: count }, (_, n) => numberAt(n));
const views = createRowsViews(() => undefined);
const shown = (view: Partial<RowsView>) => ({
  filter: 'all' as const,
  view: { where: [], sort: null, ...view },
});
const beginning = (text: string) => shown({ where: [{ column: 0, test: 'begins', text }] });

async function sorted(texts: readonly string[], descending = false): Promise<Uint32Array> {
  const sorter = createRowSorter();
  for (const text of texts) sorter.add({ text, state: 'kept' });
  return sorter.order(descending);
}

/** Where two orders differ first, or -1; to print the difference of long ones takes minutes. */
const firstDifference = (order: Uint32Array, expected: readonly number[]): number =>
  order.length === expected.length
    ? order.findIndex((position, at) => position !== expected[at])
    : order.length;

/** How many turns others had meanwhile. */
async function turnsDuring(act: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await act();
  isOver = true;
  return turns;
}

describe('more rows than a slice', () => {
  it('are sorted as a stable sort does, as numbers and as text', async () => {
    const positions = numbers.map((_, position) => position);
    const ascending = positions.toSorted((a, b) => numberAt(a) - numberAt(b));
    const descending = positions.toSorted((a, b) => numberAt(b) - numberAt(a));
    const texts = numbers.map(String);
    expect(firstDifference(await sorted(texts), ascending)).toBe(-1);
    expect(firstDifference(await sorted(texts, true), descending)).toBe(-1);
    // The last of all is no number, and makes text of the others.
    const words = [...texts, 'x'];
    const byText = words.map((_, position) => position);
    byText.sort((a, b) => ((words[a] ?? '') < (words[b] ?? '') ? -1 : words[a] === words[b] ? a - b : 1));
    expect(firstDifference(await sorted(words), byText)).toBe(-1);
  });

  it('are filtered and searched to the last', async () => {
    const job = jobRowsOf(numbers.map((n) => (n % 5 === 0 ? `five ${n}` : `other ${n}`)));
    const query = beginning('other');
    const others = numbers.flatMap((n, at) => (n % 5 === 0 ? [] : [at + 1]));
    expect(others.length).toBeGreaterThan(rowsPerSlice);
    for (const from of [0, rowsPerSlice - 3, others.length - 5]) {
      const page = valueOf(await views.page('filtered', job, { ...query, from, count: 5 }));
      expect(page.total).toBe(others.length);
      expect(page.rows.map(({ row }) => row)).toEqual(others.slice(from, from + 5));
    }
    const asked = { ...query, text: '77', backwards: true };
    const hits = others.flatMap((row, at) => (String(numbers[row - 1]).includes('77') ? [at] : []));
    expect(valueOf(await views.find('filtered', job, { ...asked, after: 0 }))).toMatchObject({
      count: hits.length,
      position: hits.at(-1),
    });
  });

  it('are added to those that a filter found while the job ran', async () => {
    const job = { ...jobRowsOf(numbers.map((n) => `word ${n}`)), isRunning: true };
    const earlier = { ...job, version: {}, entries: job.entries.slice(0, -10) };
    const query = beginning('word');
    const before = valueOf(await views.page('running', earlier, { ...query, from: 0, count: 1 }));
    expect(before.total).toBeGreaterThan(rowsPerSlice);
    expect(before.total).toBeLessThan(count);
    for (const from of [0, before.total - 1, count - 2]) {
      const page = valueOf(await views.page('running', job, { ...query, from, count: 2 }));
      expect(page).toMatchObject({ total: count, rows: [{ row: from + 1 }, { row: from + 2 }] });
    }
  });

  it('leave others their turns while they are sorted and searched, the more the more there are', async () => {
    const words = numbers.map((n) => `word ${n}`);
    const few = words.slice(0, rowsPerSlice);
    const more = await turnsDuring(() => sorted(words));
    expect(more).toBeGreaterThan(2 * (await turnsDuring(() => sorted(few))));
  });
});

describe('a sorted view that another one replaces', () => {
  it('ends with the pass it is at', async () => {
    const texts = numbers.map((n) => `value ${n} of many`);
    const passes = await turnsDuring(() => sorted(texts));
    const job = jobRowsOf(texts);
    const looked = Promise.withResolvers<null>();
    const loadNext: typeof job.load = async (index, needed) => {
      const loaded = await job.load(index, needed);
      if (index === job.entries.length - 1) looked.resolve(null);
      return loaded;
    };
    const query = { ...shown({ sort: { column: 0, descending: false } }), from: 0, count: 1 };
    const replaced = views.page('replaced', { ...job, loadNext }, query);
    await looked.promise;
    // The last rows are looked at and their numbers collected.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    const turns = turnsDuring(() => replaced);
    const next = views.page('replaced', job, { ...query, ...beginning('value 7') });
    expect(await replaced).toEqual({ ok: false, failure: { code: 'service.cancelled' } });
    expect((await turns) * 4).toBeLessThan(passes);
    expect(valueOf(await next).total).toBeGreaterThan(0);
  });
});

describe('a page of rows all over a job', () => {
  it('reads a few chunks at a time', async () => {
    const job = jobRowsOf(
      Array.from({ length: 4_000 }, (_, n) => String((n % 100) * 10_000 + n)),
      100,
    );
    let open = 0;
    let most = 0;
    const load: typeof job.load = async (...asked) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return job.load(...asked);
    };
    const query = { ...shown({ sort: { column: 0, descending: false } }), from: 0, count: 40 };
    const page = valueOf(await views.page('sorted', { ...job, load }, query));
    expect(page.rows.map(({ row }) => row)).toEqual(Array.from({ length: 40 }, (_, n) => n * 100 + 1));
    expect([most, open]).toEqual([8, 0]);
  });
});
