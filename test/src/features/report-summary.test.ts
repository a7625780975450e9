import { expect, test } from 'vitest';
import type { Figures, MetricsRow } from '../../../electron/contract/models/report.ts';
import { headlineOf } from '../../../src/features/reports/summary.ts';

const row = (over: Partial<MetricsRow>): MetricsRow => ({
  day: null,
  definition: null,
  operation: null,
  requests: 1_000,
  failed: 0,
  more: {},
  ...over,
});

function figures(rows: MetricsRow[], over: Partial<Figures> = {}): Figures {
  const sum = (member: 'requests' | 'failed') => rows.reduce((total, each) => total + (each[member] ?? 0), 0);
  const query = { from: '2026-11-01', to: '2026-11-30', grouping: 'all' } as const;
  return {
    reportId: 'r',
    query,
    rows,
    requests: sum('requests'),
    failed: sum('failed'),
    previous: null,
    ...over,
  };
}
const label = (name: string): string => (name === 'card' ? 'Card number' : name);

test('the headline names the group that most failures are in', () => {
  const worst = row({ day: '2026-11-10', definition: 'card', operation: 'Detokenize', failed: 350 });
  expect(headlineOf(figures([worst, row({ failed: 50 })]), label)).toBe(
    'Detokenize of Card number failed 35% on 10 Nov 2026: 350 of the 400 failures.',
  );
  expect(headlineOf(figures([row({ day: '2026-11-10', failed: 350 }), row({})]), label)).toBe(
    'Requests failed 35% on 10 Nov 2026: all of the failures.',
  );
});

test('failures that are spread are told as one share, beside that of the period before', () => {
  const spread = Array.from({ length: 10 }, (_, n) => row({ definition: `d${n}`, failed: 10 }));
  expect(headlineOf(figures(spread), label)).toBe('100 of 10,000 requests failed: 1%.');
  expect(headlineOf(figures(spread, { previous: { requests: 2_000, failed: 50 } }), label)).toBe(
    '100 of 10,000 requests failed: 1%, after 2.5% in the period before.',
  );
});

test('no failure, and failures that are not reported, are told apart', () => {
  expect(headlineOf(figures([row({})]), label)).toBe('No request failed, of 1,000.');
  expect(headlineOf(figures([row({ failed: null })], { failed: null }), label)).toBe(
    '1,000 requests. The service does not report failures.',
  );
  expect(headlineOf(figures([]), label)).toBeNull();
});
