import fs from 'node:fs';
import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, test } from 'vitest';
import { done } from '../../../electron/contract/errors.ts';
import { failedRequest, metricsRow } from '../../../electron/contract/models/report.ts';
import { previousPeriod } from '../../../electron/reports/period.ts';
import { readFailedRequests } from '../../../electron/portal/failed-requests.ts';
import { readAllPages, readMetrics } from '../../../electron/portal/metrics.ts';
import { metricsCsv } from '../../../electron/reports/report-files.ts';
import { readClaims } from '../../../electron/portal/sign-in.ts';
import { readProfile } from '../../../electron/service/profile.ts';
import { shippedProfile } from '../../faults/client-side.ts';
import { value } from '../../support/reports.ts';

const profile = shippedProfile();
const { metrics } = profile.reporting;

describe('an answer in another shape', () => {
  test.each([
    ['a bare list', [{ Day: '2026-11-20T00:00:00Z', Count: '12', Errors: 2 }]],
    ['wrapped twice', { data: { items: [{ Day: '2026-11-20T00:00:00Z', Count: '12', Errors: 2 }] } }],
    ['one object', { Day: '2026-11-20T00:00:00Z', Count: '12', Errors: 2 }],
  ])('%s is read, and what nobody listed is passed on', (_, json) => {
    expect(value(readMetrics(json, metrics)).rows).toEqual([
      {
        day: '2026-11-20',
        definition: null,
        operation: null,
        requests: 12,
        failed: null,
        more: { Errors: '2' },
      },
    ]);
  });

  test('failures follow from successes, an unknown operation is an operation', () => {
    const json = { metrics: [{ operation: 'Rotate', requests: 5, succeeded: 3, p99: 12.5, by: null }] };
    expect(value(readMetrics(json, metrics)).rows[0]).toMatchObject({
      operation: 'Rotate',
      failed: 2,
      more: { p99: '12.5', by: '' },
    });
  });

  test.each([[{ metrics: [{ answered: 3 }] }], [{ metrics: ['x'] }], [null], ['text'], [7]])(
    'that fits nothing is a failure with the names of its members alone: %j',
    (json) => {
      const outcome = readMetrics(json, metrics);
      expect(outcome.ok ? null : outcome.failure.code).toBe('service.unexpected-answer');
      expect(JSON.stringify(outcome)).not.toContain('3');
    },
  );

  const on = (day: unknown) => [{ day, requests: 1 }];

  test.each<[unknown, string, string | null]>([
    ['2026-11-02', 'YYYY-MM-DD', '2026-11-02'],
    ['2026-11-02T00:00:00Z', 'MM/DD/YYYY', '2026-11-02'],
    ['2026-11-02 00:00', 'instant', '2026-11-02'],
    ['11/02/2026', 'MM/DD/YYYY', '2026-11-02'],
    ['02.11.2026', 'DD.MM.YYYY', '2026-11-02'],
    [1793577600, 'epoch-seconds', '2026-11-02'],
    ['1793577600000', 'epoch-milliseconds', '2026-11-02'],
    ['11/02/2026', 'YYYY-MM-DD', null],
    ['11/30/2026', 'DD/MM/YYYY', null],
    ['2026-02-30', 'YYYY-MM-DD', null],
    ['1793577600', 'YYYY-MM-DD', null],
    ['Monday', 'MM/DD/YYYY', null],
    ['2 Nov', 'instant', null],
  ])('4.17 the day %j, where %s is said, is %j', (day, dates, expected) => {
    const outcome = readMetrics(on(day), { ...metrics, dates });
    if (expected === null)
      expect(outcome).toMatchObject({ failure: { code: 'report.day-form', subject: dates } });
    else expect(value(outcome).rows[0]?.day).toBe(expected);
  });

  test.each([
    { hasMore: true },
    { next: '/p/2' },
    { page: { nextPage: 2 } },
    { '@odata.nextLink': 'https://x' },
  ])('4.17 an answer that says %j is not taken for the whole', async (more) => {
    const json = { metrics: on('2026-11-02'), ...more };
    const read = value(await readAllPages(metrics, () => Promise.resolve(done({ json, requestId: 'r' }))));
    expect(read.rows).toMatchObject({ ok: false, failure: { code: 'report.more-pages' } });
  });

  const paged = { ...metrics, page: ['cursor'] };

  test.each<[string, (page: number) => object, unknown[]]>([
    ['a value of the answer', (page) => (page < 3 ? { next: `p${page + 1}` } : {}), ['p2', 'p3']],
    ['the number of the page', (page) => ({ hasMore: page < 3 }), [2, 3]],
  ])('4.17 further pages are asked for by %s', async (_, more, expected) => {
    const asked: unknown[] = [];
    const read = await readAllPages(paged, (page) => {
      asked.push(page['cursor']);
      const json = { metrics: on(`2026-11-0${asked.length}`), ...more(asked.length) };
      return Promise.resolve(done({ json, requestId: `r${asked.length}` }));
    });
    expect(asked).toEqual([undefined, ...expected]);
    const { rows, requestId } = value(read);
    expect(value(rows).map(({ day }) => day)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    expect(requestId).toBe('r3');
  });

  test.each<[string, (page: number) => unknown, number]>([
    ['has no end', (page) => `p${page}`, 20],
    ['goes in a circle', () => 'p2', 2],
    ['is a link', () => 'https://elsewhere.example/p/2', 1],
  ])('4.17 a report that %s is not shown', async (_, next, questions) => {
    let asked = 0;
    const read = await readAllPages(paged, () => {
      asked += 1;
      return Promise.resolve(
        done({ json: { metrics: on('2026-11-02'), next: next(asked) }, requestId: 'r' }),
      );
    });
    expect(value(read).rows).toMatchObject({ ok: false, failure: { code: 'report.more-pages' } });
    expect(asked).toBe(questions);
  });

  test.each([{ hasMore: false }, { next: null }, { next: '' }, { nextPage: 0 }])(
    '4.17 an answer that says %j is the whole',
    (more) => expect(value(readMetrics({ metrics: on('2026-11-02'), ...more }, metrics)).next).toBeNull(),
  );

  test('no card number gets through, whatever member it is in', () => {
    const json = [
      { time: '2026-11-20T10:00:00', operation: 'Tokenize', body: '{"value":"4111 1111 1111 1111"}' },
    ];
    const [record] = value(readFailedRequests(json, profile));
    expect(record?.at).toBe('2026-11-20T10:00:00.000Z');
    expect(JSON.stringify(record)).not.toContain('4111 1111 1111 1111');
    expect(record?.more['body']).toContain('1111');
  });

  test('a failed request says in our words what its code or status means', () => {
    const json = [
      { code: 'OperationNotGranted', status: 403 },
      { code: 'TokenInvalid', status: 400 },
      { code: 'Unheard', status: 503 },
      { code: 'Unheard', status: 400 },
    ];
    const reasons = value(readFailedRequests(json, profile)).map(({ reason }) => reason);
    expect(reasons).toEqual(['service.refused', 'service.token-invalid', 'service.failing', null]);
  });

  test('whatever JSON comes, what is passed on fits the contract', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        for (const list of [json, [json], { metrics: json, requests: json }]) {
          const rows = readMetrics(list, metrics);
          if (rows.ok) for (const row of rows.value.rows) metricsRow.parse(row);
          const records = readFailedRequests(list, profile);
          if (records.ok) for (const record of records.value) failedRequest.parse(record);
        }
      }),
    );
  });
});

test('the period before is as long, and ends the day before', () => {
  expect(previousPeriod({ from: '2026-03-01', to: '2026-03-31', grouping: 'day' })).toEqual({
    from: '2026-01-29',
    to: '2026-02-28',
    grouping: 'day',
  });
});

test('a site’s profile without the reporting part gets that of the shipped profile', () => {
  const text = fs.readFileSync(new URL('../../../resources/service-profile.json', import.meta.url), 'utf8');
  const profile = JSON.parse(text) as { reporting?: object };
  const { reporting } = profile;
  delete profile.reporting;
  expect(value(readProfile(JSON.stringify(profile))).reporting).toEqual(reporting);
});

test('a CSV holds every cell, and none that a spreadsheet would run', () => {
  const name = fc.string({ unit: 'grapheme', maxLength: 20 });
  const nasty = fc
    .tuple(fc.constantFrom('=', '+', '-', '@', '\t', '\r', '＝', ' =', '\u200b=', '\u2060@', '\u00ad+'), name)
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.oneof(name, nasty), { minLength: 1, maxLength: 5 }), (names) => {
      const rows = names.map((definition) => ({
        day: null,
        definition,
        operation: null,
        requests: 1,
        failed: null,
        more: {},
      }));
      const csv = metricsCsv(rows);
      const cells = Papa.parse<string[]>(csv.text.slice(1, -2))
        .data.slice(1)
        .map(([cell]) => cell ?? '');
      let escaped = 0;
      for (const [index, cell] of cells.entries()) {
        const isNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/.test(cell);
        expect(isNumber || !/^[\s\p{Cf}]*[=+\-@\t\r\0＝＋－＠]/u.test(cell)).toBe(true);
        if (cell !== names[index]) escaped++;
        expect(cell.replaceAll("'", '')).toBe(names[index]?.replaceAll("'", ''));
      }
      expect(cells).toHaveLength(names.length);
      expect(csv.escaped).toBe(escaped);
    }),
  );
});

test.each([
  ['\u200b=1+1', "\u200b'=1+1"],
  ['\u2060@x', "\u2060'@x"],
  ['\u00ad+x', "\u00ad'+x"],
  ['=1+1', "'=1+1"],
  [' @x', " '@x"],
])('a CSV escapes %j', (definition, escaped) => {
  const row = { day: null, definition, operation: null, requests: 1, failed: null, more: {} };
  const csv = metricsCsv([row]);
  expect(csv.escaped).toBe(1);
  expect(csv.text).toContain(`\r\n${escaped},1,`);
});

test('claims are read from what is a token, whatever is in it', () => {
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const token = (claims: unknown) => `${part({ alg: 'none' })}.${part(claims)}.`;
  const { claims: names } = shippedProfile().reporting;
  expect(readClaims(token({ sub: 'ada', exp: 1_800_000_000, roles: ['A', 7, 'B'] }), names)).toEqual({
    user: 'ada',
    roles: ['A', 'B'],
    expires: new Date(1_800_000_000_000),
  });
  expect(readClaims(token({ exp: 1e300 }), names)?.expires).toBeNull();
  for (const text of ['', 'a.b.c', 'hunter2', token([1]), token('x')])
    expect(readClaims(text, names)).toBeNull();
});
