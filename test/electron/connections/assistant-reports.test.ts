import { describe, expect, test } from 'vitest';
import { readMetrics } from '../../../electron/portal/metrics.ts';
import { readProfile } from '../../../electron/service/profile.ts';
import { proposed, wire } from '../../support/proposed-profile.ts';

const asked = {
  accountId: 'a',
  tenantId: 't',
  startDate: '2026-11-01',
  endDate: '2026-11-30',
  groupBy: 'day',
};

/** What is proposed for the metrics, and what the report then reads of the same answer. */
function metricsOf(answer: object, more: object = {}) {
  const { content, remarks, isValid } = proposed(wire('/rep/usage', { ...asked, ...more }, answer));
  const profile = readProfile(JSON.stringify(content));
  if (!isValid || !profile.ok) throw new Error('no profile');
  const { metrics } = profile.value.reporting;
  return { metrics, remarks, read: readMetrics(answer, metrics, 1) };
}

const rowOf = (row: object) => ({ rows: [row] });

describe('the metrics of an example', () => {
  test.each<[string, object, object]>([
    [
      'a count under calls',
      rowOf({ day: '2026-11-12', calls: 40, ok: 30, failed: 10 }),
      { operation: null, requests: 40, failed: 10 },
    ],
    [
      'a method beside a count',
      rowOf({ day: '2026-11-12', method: 'Tokenize', apiCalls: 40, errors: 10 }),
      { operation: 'Tokenize', requests: 40, failed: 10 },
    ],
    [
      'a list that is nested',
      { data: { report: { rows: [{ day: '2026-11-12', requests: 4 }] } } },
      { requests: 4 },
    ],
    [
      'a count that is nested in a row',
      rowOf({ day: '2026-11-12', requests: 4, stats: { failed: 1 } }),
      { requests: 4, failed: 1 },
    ],
  ])('%s is read as it is proposed', (_, answer, row) => {
    const { read, remarks } = metricsOf(answer);
    expect(remarks).toEqual([]);
    expect(read).toMatchObject({ ok: true, value: { rows: [{ day: '2026-11-12', ...row }] } });
  });

  test.each<[string, [start: string, end: string, answered: string], string]>([
    ['days before months, told by the end', ['01/11/2026', '30/11/2026', '02/11/2026'], 'DD/MM/YYYY'],
    ['months before days, told by the end', ['11/02/2026', '11/30/2026', '11/02/2026'], 'MM/DD/YYYY'],
    ['months before days, told by the answer', ['11/02/2026', '11/03/2026', '11/30/2026'], 'MM/DD/YYYY'],
    ['days between year and month', ['2026-30-11', '2026-01-12', '2026-02-11'], 'YYYY-DD-MM'],
    [
      'days between year and month, told by the end',
      ['2026/01/11', '2026/30/11', '2026/02/11'],
      'YYYY/DD/MM',
    ],
    ['days without anything between', ['20261102', '20261130', '2026-11-02'], 'YYYYMMDD'],
    ['days that come back in another form', ['11/02/2026', '11/30/2026', '2026-11-02'], 'MM/DD/YYYY'],
  ])('%s', (_, [startDate, endDate, day], form) => {
    const { metrics, remarks } = metricsOf(rowOf({ day, requests: 4 }), { startDate, endDate });
    expect(metrics.dates).toBe(form);
    expect(remarks).toEqual([]);
  });

  test.each([
    ['day and month may be either way round', '01/11/2026', '02/11/2026'],
    ['it is no day at all', '2026.30.11', '2026.11.30'],
    ['it is in words', 'last week', 'today'],
  ])('where %s it is said', (_, startDate, endDate) => {
    const { metrics, remarks } = metricsOf(rowOf({ requests: 4 }), { startDate, endDate });
    expect(metrics.dates).toBe('YYYY-MM-DD');
    expect(remarks).toEqual(['AggregateApiRequestMetrics dates-unclear startDate, endDate']);
  });

  test.each<[string, object, object, [says: string, asks: string]]>([
    ['a cursor', { cursor: 'abc' }, { cursor: '' }, ['cursor', 'cursor']],
    ['a token', { nextToken: 'abc' }, { nextToken: '' }, ['nextToken', 'nextToken']],
    ['a number', { next_page: 2 }, { page: 1 }, ['next_page', 'page']],
    ['a flag and a number', { has_more: true }, { page: 1, cursor: '' }, ['has_more', 'page']],
    [
      'one that is nested',
      { meta: { pagination: { next: 'abc' } } },
      { after: '' },
      ['meta.pagination.next', 'after'],
    ],
  ])('pages by %s', (_, told, more, [says, asks]) => {
    const { metrics } = metricsOf({ ...rowOf({ day: '2026-11-12', requests: 4 }), ...told }, more);
    expect(metrics.more[0]).toBe(says);
    expect(metrics.page).toEqual([asks]);
  });

  test.each<[string, object, object]>([
    ['_links.next', { _links: { next: { href: '/rep/usage?page=2' } } }, {}],
    ['has_more', { has_more: true }, { cursor: '' }],
    ['next', { next: 40 }, { offset: 0 }],
  ])('pages by %s that no member asks for are said', (says, told, more) => {
    const { metrics, remarks } = metricsOf({ ...rowOf({ day: '2026-11-12', requests: 4 }), ...told }, more);
    expect(metrics.more[0]).toBe(says);
    expect(metrics.page).toEqual([]);
    expect(remarks).toContain(`AggregateApiRequestMetrics pages-unclear ${says}`);
  });
});
