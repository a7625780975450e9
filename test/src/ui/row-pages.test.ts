import { describe, expect, it } from 'vitest';
import { pageSize, RowPages } from '../../../src/ui/row-pages.svelte.ts';

const rows = (from: number, count: number, word: string) =>
  Array.from({ length: count }, (_, n) => `${word} ${from + n}`);

describe('row pages', () => {
  it('fetches a page once for all rows in it', async () => {
    const asked: number[] = [];
    const pages = new RowPages((from, count) => {
      asked.push(from);
      return Promise.resolve({ ok: true as const, value: { total: 1_000, rows: rows(from, count, 'row') } });
    });
    await Promise.all([pages.need(0, 30), pages.need(5, 35)]);
    await pages.need(pageSize - 2, pageSize + 2);
    expect(asked).toEqual([0, pageSize]);
    expect(pages.row(pageSize + 1)).toBe(`row ${pageSize + 1}`);
    expect(pages.total).toBe(1_000);
  });

  it('does not let a late answer overwrite a renewed page', async () => {
    const answers: ((word: string) => void)[] = [];
    const pages = new RowPages<string>((from, count) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      answers.push(resolve);
      return promise.then((word) => ({ ok: true, value: { total: 10, rows: rows(from, count, word) } }));
    });
    const first = pages.need(0, 5);
    const second = pages.renew(0, 5);
    answers[1]?.('new');
    await second;
    answers[0]?.('old');
    await first;
    expect(pages.row(0)).toBe('new 0');
  });

  it('joins the cells of a page that come some columns at a time, and asks again for none', async () => {
    const asked: (readonly number[])[] = [];
    let word = 'old';
    const pages = new RowPages<string>(
      (from, count, columns) => {
        asked.push(columns);
        const fetched = rows(from, count, `${word}:${columns.join('+')}`);
        return Promise.resolve({ ok: true as const, value: { total: 10, rows: fetched } });
      },
      5,
      { around: (shown) => shown, join: (row, more) => `${row} & ${more}` },
    );
    await Promise.all([pages.need(0, 2, [1, 2]), pages.need(0, 2, [2, 3])]);
    await pages.need(1, 3, [1, 3]);
    expect(asked).toEqual([[1, 2], [3]]);
    expect(pages.row(1)).toBe('old:1+2 1 & old:3 1');
    word = 'new';
    await pages.renew(0, 2, [2, 3]);
    expect(pages.row(1)).toBe('new:2+3 1');
  });

  it('asks again for what failed', async () => {
    let isFailing = true;
    const pages = new RowPages<string>((from, count) =>
      Promise.resolve(
        isFailing
          ? { ok: false, failure: { code: 'job.damaged' } as const }
          : { ok: true, value: { total: 10, rows: rows(from, count, 'row') } },
      ),
    );
    await pages.need(0, 5);
    isFailing = false;
    await pages.need(0, 5);
    expect(pages.failure).toBeNull();
    expect(pages.row(2)).toBe('row 2');
  });

  it('keeps a failure as a value', async () => {
    const pages = new RowPages<string>(() =>
      Promise.resolve({ ok: false, failure: { code: 'job.damaged' } as const }),
    );
    await pages.need(0, 5);
    expect(pages.failure?.code).toBe('job.damaged');
  });
});
