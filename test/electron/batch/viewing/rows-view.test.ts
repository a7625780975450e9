import { rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { luhnDigitBetween } from '../../../../electron/built-in-service/engine/card-number.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { createRowSorter } from '../../../../electron/batch/viewing/row-order.ts';
import type { JobRows } from '../../../../electron/batch/viewing/look-at-rows.ts';
import { createRowsViews, formatTable } from '../../../../electron/batch/viewing/rows-view.ts';
import { calls } from '../../../../electron/contract/calls.ts';
import type { Job } from '../../../../electron/contract/models/batch.ts';
import type { RowCondition, RowFilter, RowsView } from '../../../../electron/contract/models/rows.ts';
import {
  codeOf,
  detokenize,
  fakeService,
  memoryStore,
  openApp,
  plainExport,
  planOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';
import { jobRowsOf } from '../../../support/job-rows.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const rows = 3_000;
/** The tokens come back as cards whose middle six digits a mask hides. */
const cards = Array.from(
  { length: rows },
  (_, i) =>
    `${i % 2 === 0 ? '411111' : '550000'}${String((i * 7_919) % 1_000_000).padStart(6, '0')}${String(i).padStart(4, '0')}`,
);
const table =
  'id,card,amount,note\n' +
  cards
    .map((_, i) => `D-${i},tok${i},${(i * 37) % 900}.5,${i % 9 === 0 ? 'Second chargeback' : ''}\n`)
    .join('');

async function finish(content = table, columns = [detokenize(1)]): Promise<Job> {
  app.service.answer = (call, elements) =>
    call.operation !== 'BatchDetokenize'
      ? null
      : {
          ok: true,
          value: {
            requestId: 'r',
            elements: elements.map(({ ref, value }) =>
              app.service.refuses(value)
                ? { ref, ok: false, code: 'service.element-refused' }
                : { ref, ok: true, value: cleartext(cards[Number(value.slice(3))] ?? value) },
            ),
          },
        };
  return app.run(await app.open(await app.write('in.csv', content)), planOf(columns));
}

async function page(
  jobId: string,
  view: Partial<RowsView>,
  from = 0,
  { count = 100, filter = 'all' }: { count?: number; filter?: RowFilter } = {},
) {
  const query = { jobId, filter, view: { where: [], sort: null, ...view }, from, count };
  const answer = valueOf(await app.batch['batch.rows'](query));
  return calls['batch.rows'].output.parse(answer);
}

/** A job of the rows "1" and "2", whose chunk is read once `begun` is resolved. */
function twoRows(begun: Promise<null>): JobRows {
  const rowsOfJob = jobRowsOf(['1', '2']);
  return { ...rowsOfJob, loadNext: (...asked) => begun.then(() => rowsOfJob.loadNext(...asked)) };
}

const where = (column: number, test: RowCondition['test'], text: string): Pick<RowsView, 'where'> => ({
  where: [{ column, test, text }],
});

describe('a filter', () => {
  it('answers by the columns as they are shown, alone and together, on any page', async () => {
    app.service.refuses = (value) => value.endsWith('7');
    const { jobId } = await finish();
    expect((await page(jobId, where(3, 'contains', 'CHARGEBACK'))).total).toBe(334);
    expect((await page(jobId, where(0, 'equals', 'd-17'))).rows.map(({ row }) => row)).toEqual([18]);
    expect((await page(jobId, where(0, 'begins', 'D-299'))).total).toBe(11);
    expect((await page(jobId, where(1, 'brand', 'Mastercard'))).total).toBe(1_200);
    expect((await page(jobId, where(1, 'ends', '0012'))).rows.map(({ row }) => row)).toEqual([13]);
    expect((await page(jobId, where(1, 'length', '16'))).total).toBe(2_700);
    expect((await page(jobId, where(1, 'failed', ''))).total).toBe(300);
    expect((await page(jobId, where(1, 'failed', 'service.busy'))).total).toBe(0);
    const both = { where: [...where(3, 'contains', 'second').where, ...where(1, 'begins', '411111').where] };
    const all = await page(jobId, both, 0, { count: 500 });
    expect(all.total).toBe(167);
    expect((await page(jobId, both, 120, { count: 10 })).rows).toEqual(all.rows.slice(120, 130));
    expect((await page(jobId, both, 0, { filter: 'failed' })).total).toBe(0);
  });

  it.each(['', '7'])(
    'reads the source only where a row has no result: of tokens that end with %j',
    async (end) => {
      app.service.refuses = (value) => end !== '' && value.endsWith(end);
      const path = await app.write('in.csv', table);
      const { jobId } = await finish();
      const { mtimeMs } = await stat(path);
      await writeFile(path, table.replaceAll('D-', 'E-'));
      const sameTime = (Math.floor(mtimeMs) + 0.5) / 1_000;
      await utimes(path, sameTime, sameTime);
      // No page of rows is read that way.
      const rowsThatBegin = (column: number, text: string) => {
        const view = { ...where(column, 'begins', text), sort: null };
        return app.batch['batch.rows']({ jobId, filter: 'all', view, from: 0, count: 1 });
      };
      expect(codeOf(await rowsThatBegin(0, 'F-'))).toBe('file.changed');
      const masks = await rowsThatBegin(1, '9');
      if (end === '') expect(valueOf(masks).total).toBe(0);
      else expect(codeOf(masks)).toBe('file.changed');
    },
  );

  it('can’t be used to ask for what a mask hides', async () => {
    const { jobId } = await finish();
    const hidden = cards[5]?.slice(6, 12) ?? '';
    expect(hidden).toHaveLength(6);
    expect((await page(jobId, where(1, 'contains', hidden))).total).toBe(0);
    expect((await page(jobId, where(1, 'equals', cards[5] ?? ''))).total).toBe(0);
    expect((await page(jobId, where(1, 'begins', cards[5]?.slice(0, 7) ?? ''))).total).toBe(0);
    const query = { jobId, filter: 'all', text: cards[5] ?? '', after: -1, backwards: false } as const;
    expect(valueOf(await app.batch['batch.find'](query))).toBeNull();
    // What it shows can be asked for, as it is drawn.
    expect(
      (await page(jobId, where(1, 'contains', '5500 00** **** 0005'))).rows.map(({ row }) => row),
    ).toEqual([6]);
  });

  it('sees the mask of a value that is to be tokenized, of a hidden column and of a malformed row', async () => {
    const card = '4000001234567899';
    const content = `pan,card_number,n\n${card},${card},1\n4000009876543217,4000009876543217,2,extra\n`;
    const { jobId } = await finish(content, [detokenize(0, { operation: 'tokenize', into: 'beside' })]);
    for (const column of [0, 1]) {
      expect((await page(jobId, where(column, 'contains', '123456'))).total).toBe(0);
      expect((await page(jobId, where(column, 'contains', '987654'))).total).toBe(0);
      expect((await page(jobId, where(column, 'ends', '7899'))).total).toBe(1);
    }
    // The token stands beside, in a column of its own.
    expect((await page(jobId, where(3, 'begins', 'tok:'))).total).toBe(1);
  });

  it('takes on the rows that come while the job runs', async () => {
    let release = (): void => undefined;
    const held = new Promise<null>((resolve) => (release = () => resolve(null)));
    await app.close();
    app = await openApp({ service: fakeService(100) });
    let requests = 0;
    app.service.answer = () => (++requests > 10 ? held : null);
    const sourceId = await app.open(await app.write('in.csv', table));
    const { jobId } = valueOf(
      await app.batch['batch.start']({ sourceId, plan: planOf([detokenize(1)]), grounds: null }),
    );
    const view = where(3, 'contains', 'second');
    await expect.poll(async () => (await page(jobId, view)).total).toBeGreaterThan(50);
    const before = await page(jobId, view, 0, { count: 500 });
    release();
    await app.until(jobId, 'finished');
    const after = await page(jobId, view, 0, { count: 500 });
    expect(after.total).toBe(334);
    expect(after.rows.slice(0, before.total)).toEqual(before.rows);
  });

  it('ends the look at all rows that another one of the same job began, and reports how far it is', async () => {
    const shares: number[] = [];
    const views = createRowsViews(({ share }) => shares.push(share));
    const begun = Promise.withResolvers<null>();
    const rowsOfJob = twoRows(begun.promise);
    const query = { filter: 'all', from: 0, count: 10 } as const;
    const first = views.page('j', rowsOfJob, {
      ...query,
      view: { ...where(0, 'contains', '1'), sort: null },
    });
    const second = views.page('j', rowsOfJob, {
      ...query,
      view: { ...where(0, 'contains', '2'), sort: null },
    });
    begun.resolve(null);
    expect([codeOf(await first), codeOf(await second)]).toEqual(['service.cancelled', 'ok']);
    expect(valueOf(await second).rows.map(({ row }) => row)).toEqual([2]);
    expect(shares.at(-1)).toBe(1);
  });
});

describe('a column of the source', () => {
  it('is filtered and sorted as it is shown, where a result beside tells that it is a token', async () => {
    // Few enough that the column is none of cards.
    const tokens = Array.from({ length: 60 }, (_, i) => {
      const digits = `4111111111111${90 - i}`;
      return i % 15 === 7 ? digits + String(luhnDigitBetween(digits, '')) : `tok${i}`;
    });
    const refused = tokens[7];
    app.service.refuses = (token) => token === refused;
    const source = await app.open(
      await app.write('in.csv', `id,token\n${tokens.map((token, i) => `${i},${token}\n`).join('')}`),
    );
    const { jobId } = await app.run(source, planOf([detokenize(1, { into: 'beside' })]));
    const all = (await page(jobId, {})).rows;
    const shown = new Map(all.map(({ row, cells }) => [row, cells[1]?.text ?? '']));
    expect([8, 23, 38, 53].map((row) => shown.get(row)?.includes('•'))).toEqual([true, false, false, false]);
    const found = await page(jobId, where(1, 'begins', '4111111111111'));
    expect(found.rows.map(({ row }) => row)).toEqual([23, 38, 53]);
    const sorted = (await page(jobId, { sort: { column: 1, descending: false } })).rows.map(({ row }) => row);
    expect(sorted.filter((row) => [23, 38, 53].includes(row))).toEqual([53, 38, 23]);
  });

  it('is counted by its length only where it is known which field is the column’s', async () => {
    const { jobId } = await finish('id,card\na,tok1\nb,tok2,more\nc,tok3\n');
    expect((await page(jobId, where(0, 'length', '1'))).rows.map(({ row }) => row)).toEqual([1, 3]);
    expect((await page(jobId, where(0, 'contains', 'b'))).rows.map(({ row }) => row)).toEqual([2]);
  });
});

describe('some columns of a page', () => {
  it('are the cells of the whole rows, masked alike, in each kind of view', async () => {
    const flawed = 'id,card,amount,note\na-,tok1,1,x\nb-,tok2\nc-,tok3,3,y,more\nd-,tok4,4,z\n';
    const { jobId } = await finish(flawed, [detokenize(1, { into: 'beside' })]);
    const columns = [0, 1, 3, 4];
    const views: Partial<RowsView>[] = [
      {},
      { sort: { column: null, descending: true } },
      { sort: { column: 2, descending: true } },
      where(0, 'ends', '-'),
    ];
    for (const view of views) {
      const query = {
        jobId,
        filter: 'all' as const,
        view: { where: [], sort: null, ...view },
        from: 0,
        count: 10,
      };
      const whole = valueOf(await app.batch['batch.rows'](query)).rows;
      const some = valueOf(await app.batch['batch.rows']({ ...query, columns })).rows;
      expect(some).toEqual(
        whole.map(({ cells, ...row }) => ({
          ...row,
          cells: columns.flatMap((column) => cells[column] ?? []),
        })),
      );
      expect(some.find(({ row }) => row === 2)?.cells).toHaveLength(2);
      expect(some.find(({ row }) => row === 4)?.cells[3]?.text).toMatch(/^411111•+/);
    }
  });

  it('ascend, so that the cells of a row with fewer fields are those of the first of them', () => {
    const query = { jobId: 'j', filter: 'all', from: 0, count: 1 };
    const { input } = calls['batch.rows'];
    expect(input.safeParse({ ...query, columns: [0, 7] }).success).toBe(true);
    for (const columns of [[7, 0], [3, 3], []])
      expect(input.safeParse({ ...query, columns }).success).toBe(false);
  });
});

describe('an order', () => {
  it('is that of numbers where all are numbers, else of text; blank and failed cells come last', async () => {
    app.service.refuses = (value) => value === 'tok3';
    const content =
      'id,card,amount,note\n' +
      ['10,tok0,9.5,b', '9,tok1,10,', '-1,tok2,,B', '2,tok3,-3,é', '100,tok4,0.25,a'].join('\n') +
      '\n';
    const { jobId } = await finish(content);
    const ids = async (column: number | null, descending = false): Promise<string> =>
      (await page(jobId, { sort: { column, descending } })).rows.map(({ cells }) => cells[0]?.text).join(' ');
    expect(await ids(0)).toBe('-1 2 9 10 100');
    expect(await ids(0, true)).toBe('100 10 9 2 -1');
    expect(await ids(2)).toBe('2 100 10 9 -1');
    expect(await ids(2, true)).toBe('9 10 100 2 -1');
    expect(await ids(3)).toBe('100 10 -1 2 9');
    expect(await ids(1)).toBe('10 -1 100 9 2');
    expect(await ids(null)).toBe('10 9 -1 2 100');
    expect(await ids(null, true)).toBe('100 2 -1 9 10');
  });

  it('is the same as a stable sort, for any texts and numbers', async () => {
    const cell = fc.record({
      text: fc.oneof(
        fc.string({ maxLength: 6 }),
        fc.constantFrom('', ' ', 'a', 'A', 'é', '411111••••••1111', '411111••••••0000'),
      ),
      state: fc.constantFrom('kept', 'ok', 'failed', 'blank', 'unmatched'),
    } as const);
    const numbers = fc.record({
      text: fc.oneof(fc.integer(), fc.integer({ min: -99, max: 99 })).map((n) => String(n / 4)),
      state: fc.constant('kept' as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.array(cell, { maxLength: 60 }), fc.array(numbers, { maxLength: 60 })),
        fc.boolean(),
        async (cells, descending) => {
          const sorter = createRowSorter();
          for (const one of cells) sorter.add(one);
          const rankOf = ({ text, state }: (typeof cells)[number]): number =>
            text.trim() === '' ? 3 : { kept: 0, ok: 0, unmatched: 1, failed: 2, blank: 3 }[state];
          const valued = cells.filter((one) => rankOf(one) === 0);
          const areNumbers = valued.every(({ text }) => /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text));
          const compare = (one: string, other: string): number =>
            areNumbers
              ? Number(one) - Number(other)
              : Buffer.compare(Buffer.from(one.toLowerCase()), Buffer.from(other.toLowerCase()));
          const expected = cells
            .map((one, at) => ({ ...one, at }))
            .sort(
              (a, b) =>
                rankOf(a) - rankOf(b) ||
                (rankOf(a) === 0 ? compare(a.text, b.text) * (descending ? -1 : 1) : 0) ||
                a.at - b.at,
            );
          expect([...(await sorter.order(descending))]).toEqual(expected.map(({ at }) => at));
        },
      ),
      { numRuns: 80 },
    );
  });

  it('tells numbers apart to the last digit, negative ones too, and texts behind an accent', async () => {
    const sorted = async (texts: readonly string[]): Promise<string[]> => {
      const sorter = createRowSorter();
      for (const text of texts) sorter.add({ text, state: 'kept' });
      return Array.from(await sorter.order(false), (at) => texts[at] ?? '');
    };
    const numbers = ['-1.00000000002', '-1.00000000001', '-0.5', '0', '1.00000000001', '1.00000000002'];
    expect(await sorted(numbers.toReversed())).toEqual(numbers);
    const texts = ['Anna', 'ÉA', 'éb', 'ÉC'];
    expect(await sorted(['ÉC', 'éb', 'Anna', 'ÉA'])).toEqual(texts);
  });

  it('of a masked column follows the masks, so that it can’t rank what they hide', async () => {
    const { jobId } = await finish();
    const sorted = await page(jobId, { sort: { column: 1, descending: false } }, 0, { count: 500 });
    const masks = sorted.rows.map(({ cells }) => cells[1]?.text ?? '');
    expect(masks).toEqual([...masks].sort((a, b) => (a < b ? -1 : 1)));
    // The hidden digits of the first five are in no order of their own.
    const hidden = sorted.rows.map(({ row }) => cards[row - 1]?.slice(6, 12) ?? '');
    expect(hidden).not.toEqual([...hidden].sort());
  });

  it('and a filter hold together, page by page, each row once', async () => {
    const { jobId } = await finish();
    const view = { ...where(3, 'contains', 'second'), sort: { column: 2, descending: true } };
    const seen: number[] = [];
    const amounts: number[] = [];
    for (let from = 0; from < 334; from += 50) {
      for (const { row, cells } of (await page(jobId, view, from, { count: 50 })).rows) {
        seen.push(row);
        amounts.push(Number(cells[2]?.text));
      }
    }
    expect(new Set(seen).size).toBe(334);
    expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
  });
});

describe('a search', () => {
  const find = async (jobId: string, text: string, after: number, over: object = {}) =>
    valueOf(await app.batch['batch.find']({ jobId, filter: 'all', text, after, backwards: false, ...over }));

  it('goes to the next cell, round at the end, and back', async () => {
    const { jobId } = await finish();
    expect(await find(jobId, 'D-299', -1)).toEqual({ count: 11, ordinal: 1, position: 299, column: 0 });
    expect(await find(jobId, 'D-299', 299)).toEqual({ count: 11, ordinal: 2, position: 2_990, column: 0 });
    expect(await find(jobId, 'D-299', 2_999)).toMatchObject({ ordinal: 1, position: 299 });
    expect(await find(jobId, 'D-299', 299, { backwards: true })).toMatchObject({
      ordinal: 11,
      position: 2_999,
    });
    expect(await find(jobId, 'chargeback', -1)).toMatchObject({ count: 334, column: 3 });
    expect(await find(jobId, 'nowhere', -1)).toBeNull();
  });

  it('looks at all that the row’s detail shows of a row with more fields than columns, and at nothing else', async () => {
    const card = '4000001234567899';
    const beyond = 'mailed ada@example.com';
    const fields = ['b', 'tok2', 'third', card, beyond];
    const { jobId } = await finish(`id,card\na,tok1\n${fields.join(',')}\nc,tok3\n`);
    const shown = (await page(jobId, {})).rows[1]?.cells.map(({ text }) => text) ?? [];
    expect(shown).toHaveLength(fields.length);
    for (const text of shown) expect(await find(jobId, text, -1)).toMatchObject({ count: 1, position: 1 });
    expect(await find(jobId, 'THIRD', -1)).toEqual({ count: 1, ordinal: 1, position: 1, column: null });
    for (const hidden of [card, card.slice(6, 12), card.slice(0, 7), beyond])
      expect(await find(jobId, hidden, -1)).toBeNull();
  });

  it('looks at no more than the beginning of a very long row beyond the columns', async () => {
    const [first, second] = ['y'.repeat(60_000), `begins here ${'y'.repeat(30_000)}`];
    const long = ['b', 'tok2', 'near', first, second, 'far away'];
    const { jobId } = await finish(`id,card\na,tok1\n${long.join(',')}\nc,tok3\n`);
    for (const text of ['near', 'begins here'])
      expect(await find(jobId, text, -1)).toMatchObject({ count: 1, column: null });
    expect(await find(jobId, 'far away', -1)).toBeNull();
  });

  it('counts positions in the view it searches', async () => {
    const { jobId } = await finish();
    const view = { ...where(3, 'contains', 'second'), sort: null };
    // Rows 1, 10, 19 …: D-2997 is the last of them.
    expect(await find(jobId, 'D-2997', -1, { view })).toMatchObject({ count: 1, position: 333 });
    const descending = { where: [], sort: { column: null, descending: true } };
    expect(await find(jobId, 'D-299', -1, { view: descending })).toMatchObject({ position: 0, ordinal: 1 });
    expect(await find(jobId, 'D-299', 0, { view: descending })).toMatchObject({ position: 1, ordinal: 2 });
    expect(await find(jobId, 'D-299', 0, { view: descending, backwards: true })).toMatchObject({
      ordinal: 11,
    });
  });
});

describe('a profile', () => {
  it('counts by the masks, and each of its bars shows as many rows', async () => {
    app.service.refuses = (value) => value.endsWith('7');
    const { jobId } = await finish(`${table}D-x,,1,\nD-y,tok5,1,,extra\n`);
    const profile = valueOf(await app.batch['batch.profile']({ jobId, column: 1 }));
    expect(calls['batch.profile'].output.parse(profile)).toEqual({
      column: 1,
      rows: rows + 2,
      distinct: rows,
      distinctExact: true,
      blank: 1,
      failed: 301,
      unmatched: 0,
      bars: [
        { test: 'brand', text: 'Visa', count: 1_500 },
        { test: 'brand', text: 'Mastercard', count: 1_200 },
        { test: 'begins', text: '411111', count: 1_500 },
        { test: 'begins', text: '550000', count: 1_200 },
        { test: 'length', text: '16', count: 2_700 },
      ],
    });
    // The row with a field too many has failed, and has no length.
    const lengths = profile.bars.filter(({ test }) => test === 'length');
    const counted = lengths.reduce((sum, { count }) => sum + count, 0);
    expect(profile.blank + profile.failed + counted).toBe(profile.rows);
    for (const { test, text, count } of profile.bars)
      expect((await page(jobId, where(1, test, text))).total, text).toBe(count);
    // Nothing in it is longer than what every mask shows.
    expect(JSON.stringify(profile)).not.toMatch(/\d{7}/);
  });

  it('has mail domains of a column nobody mapped', async () => {
    const content =
      'id,card,e-mail\n1,tok1,ada@example.com\n2,tok2,bo.sample@EXAMPLE.com\n3,tok3,cy@shop.test\n';
    const { jobId } = await finish(content);
    const second = valueOf(await app.batch['batch.profile']({ jobId, column: 2 }));
    expect(second.bars.filter(({ test }) => test === 'ends')).toEqual([
      { test: 'ends', text: '@example.com', count: 2 },
      { test: 'ends', text: '@shop.test', count: 1 },
    ]);
    expect((await page(jobId, where(2, 'ends', '@example.com'))).total).toBe(2);
  });

  it('has cells of white space among the blank ones, and not among the distinct values', async () => {
    const content = 'id,card,note\n1,tok1, \n2,tok2,\t \n3, ,x\n4,tok4,\u00a0\n5,tok5,\n6,tok6,x\n';
    const { jobId } = await finish(content);
    const profileOf = async (column: number) => valueOf(await app.batch['batch.profile']({ jobId, column }));
    // In a column nobody mapped, and in one that is sent.
    expect(await profileOf(2)).toMatchObject({
      rows: 6,
      blank: 4,
      failed: 0,
      distinct: 1,
      bars: [{ test: 'length', text: '1', count: 2 }],
    });
    expect(await profileOf(1)).toMatchObject({ rows: 6, blank: 1, failed: 0, distinct: 5 });
  });

  it('stops for another profile of the job', async () => {
    const views = createRowsViews(() => undefined);
    const begun = Promise.withResolvers<null>();
    const first = views.profile('j', twoRows(begun.promise), 0);
    const second = views.profile('j', twoRows(begun.promise), 0);
    begun.resolve(null);
    expect([codeOf(await first), codeOf(await second)]).toEqual(['service.cancelled', 'ok']);
  });
});

describe('a stop', () => {
  const sort = { column: 0, descending: false };
  const acts = {
    filter: { where: [{ column: 0, test: 'contains', text: '2' }], sort: null },
    sort: { where: [], sort },
    'search in sorted rows': { where: [], sort },
    search: { where: [], sort: null },
  } satisfies Record<string, RowsView>;

  it.each(Object.entries(acts))('ends a %s, which can be asked for again', async (name, view) => {
    const shares: number[] = [];
    const views = createRowsViews(({ share }) => shares.push(share));
    const begun = Promise.withResolvers<null>();
    const look = (rowsOfJob: JobRows) =>
      name.startsWith('search')
        ? views.find('j', rowsOfJob, { filter: 'all', view, text: '2', after: -1, backwards: false })
        : views.page('j', rowsOfJob, { filter: 'all', view, from: 0, count: 2 });
    const rowsOfJob = twoRows(begun.promise);
    const first = look(rowsOfJob);
    await Promise.resolve();
    views.stop('j');
    begun.resolve(null);
    expect(codeOf(await first)).toBe('service.cancelled');
    expect(shares).not.toContain(1);
    expect(codeOf(await look(rowsOfJob))).toBe('ok');
    expect(shares.at(-1)).toBe(1);
  });

  it('is a call of the window, and leaves what was found', async () => {
    const { jobId } = await finish();
    const query = { jobId, filter: 'all', text: 'Second', backwards: false } as const;
    const found = valueOf(await app.batch['batch.find']({ ...query, after: -1 }));
    valueOf(await app.batch['batch.stopViewing']({ jobId }));
    expect(valueOf(await app.batch['batch.find']({ ...query, after: -1 }))).toEqual(found);
  });
});

describe('a copy', () => {
  it('holds the cells as they are shown, and nothing a spreadsheet would run', async () => {
    const content = 'id,card,note\n1,tok5,=1+1\n2,tok6,"two\nlines"\n';
    const { jobId } = await finish(content);
    const query = { jobId, filter: 'all', from: 0, count: 2, columns: [0, 1, 2] } as const;
    valueOf(await app.batch['batch.copy']({ ...query, columns: [...query.columns] }));
    expect(app.copied).toEqual(['1\t550000••••••0005\t\'=1+1\n2\t411111••••••0006\t"two\nlines"']);
    expect(app.copied[0]).not.toContain(cards[5]);
  });
});

describe('the layout of a table', () => {
  it('is remembered for files with the same columns, after a restart too, and without their names', async () => {
    const store = memoryStore();
    app = await app.again({ store });
    const { jobId } = await finish();
    expect(valueOf(await app.batch['batch.layout']({ jobId }))).toEqual({ widths: [], hidden: [] });
    const layout = { widths: [{ column: 2, width: 180 }], hidden: [3] };
    valueOf(await app.batch['batch.saveLayout']({ jobId, layout }));
    expect(JSON.stringify(store.read('layouts'))).not.toMatch(/amount|card/);
    app = await app.again({ store });
    const again = await finish(table.replace('D-0', 'D-00'));
    expect(valueOf(await app.batch['batch.layout']({ jobId: again.jobId }))).toEqual(layout);
    const other = await finish(table.replace('amount', 'total'));
    expect(valueOf(await app.batch['batch.layout']({ jobId: other.jobId }))).toEqual({
      widths: [],
      hidden: [],
    });
  });
});

describe('an export of the rows shown', () => {
  it('writes those of a filter and conditions, whatever their order in the table, and counts them', async () => {
    app.service.refuses = (value) => value.endsWith('7');
    const { jobId } = await finish();
    const shown = { filter: 'ok', where: where(3, 'contains', 'chargeback').where } as const;
    const view = { ...shown, sort: { column: 2, descending: true } };
    const before = await page(jobId, view, 0, { count: 3, filter: 'ok' });
    const written = valueOf(
      await app.export(jobId, { rows: 'shown', shown: { ...shown }, content: 'masked', grounds: null }),
    );
    const lines = written.trimEnd().split('\r\n');
    expect(lines[0]).toBe('id,card,amount,note');
    expect(lines).toHaveLength(before.total + 1);
    expect(lines.slice(1).every((line) => line.endsWith('Second chargeback'))).toBe(true);
    const ids = lines.slice(1).map((line) => Number(/^D-(\d+)/.exec(line)?.[1]));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids.some((id) => id % 10 === 7)).toBe(false);
    expect(app.audit.intents.at(-1)).toMatchObject({ action: 'Export', rows: before.total });
    expect((await page(jobId, view, 0, { count: 3, filter: 'ok' })).rows).toEqual(before.rows);
  });

  it('has the reasons where failed rows are among them', async () => {
    app.service.refuses = (value) => value === 'tok9';
    const { jobId } = await finish();
    const shown = { filter: 'all' as const, where: where(3, 'contains', 'chargeback').where };
    const masked = { rows: 'shown', shown, content: 'masked', grounds: null } as const;
    const lines = valueOf(await app.export(jobId, masked)).split('\r\n');
    expect(lines[0]).toBe('id,card,amount,note,error');
    expect(lines[2]).toMatch(/,service.element-refused$/);
  });
});

describe('an exported file', () => {
  it('is shown by its handle alone, and only while it is there', async () => {
    const { jobId } = await finish('id,card\n1,tok1\n');
    const written = valueOf(await app.batch['batch.export']({ ...plainExport, jobId }));
    expect(written).toMatchObject({ name: 'in_cleartext.csv', folder: app.folder });
    const file = join(app.folder, 'in_cleartext.csv');
    expect(codeOf(await app.batch['batch.showExport']({ exportId: file }))).toBe('file.unknown');
    expect(app.shownFiles).toEqual([]);
    const exportId = written?.exportId ?? '';
    expect(valueOf(await app.batch['batch.showExport']({ exportId }))).toEqual({ shown: true });
    expect(app.shownFiles).toEqual([file]);
    await rm(file);
    expect(codeOf(await app.batch['batch.showExport']({ exportId }))).toBe('file.gone');
    expect(app.shownFiles).toHaveLength(1);
  });
});

it('what is copied is a table of text cells too, whatever stands in it', () => {
  const cell = (text: string) => ({ state: 'ok', text }) as const;
  const row = { cells: [cell('4242424242424242'), cell('=1+1'), cell('<b>&</b>')] };
  const html = formatTable([row as never], [0, 1, 2]);
  expect(html.match(/mso-number-format:'\\@'/g)).toHaveLength(3);
  expect(html).toContain('>4242424242424242</td>');
  expect(html).not.toContain('>=1+1');
  expect(html).toContain('&lt;b&gt;&amp;&lt;/b&gt;');
});
