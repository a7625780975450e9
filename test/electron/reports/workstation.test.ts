import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AuditEnd, AuditIntent } from '../../../electron/audit/entries.ts';
import { calls } from '../../../electron/contract/calls.ts';
import { failureCodes, isRetriable } from '../../../electron/contract/errors.ts';
import type { AuditEntry } from '../../../electron/contract/models/activity.ts';
import { countWorkstation } from '../../../electron/reports/workstation.ts';
import { november, openHarness, value } from '../../support/reports.ts';

test('the workstation’s figures are what its log says, apart from the account’s', async () => {
  const harness = await openHarness();
  const act = async (intent: AuditIntent, end: AuditEnd | null = { ok: true }) => {
    const close = value(await harness.audit.begin(intent));
    if (end !== null) close(end);
  };
  await act({ action: 'Tokenize', definition: 'ssn', rows: 1 });
  harness.time.now -= 30 * 86_400_000;
  await act({ action: 'GetMasked', definition: 'ssn', rows: 1 });
  harness.time.now += 30 * 86_400_000;
  await act({ action: 'BatchDetokenize', definition: 'card-number', rows: 500 });
  const refused = { 'service.token-invalid': 430, 'service.element-refused': 20 };
  await act({ action: 'BatchDetokenize', definition: 'card-number', rows: 500 }, { ok: true, refused });
  // What was sent again may have succeeded: its values did not fail.
  await act({ action: 'BatchDetokenize', rows: 500 }, { ok: false, code: 'service.unreachable' });
  const refusal = { ok: false, code: 'service.refused' };
  await act({ action: 'Detokenize', definition: 'card-number', policy: 'mask-only', rows: 1 }, refusal);
  await act({ action: 'Detokenize', definition: 'card-number', policy: 'mask-only', rows: 1 }, refusal);
  await act({ action: 'GetMasked', definition: 'card-number', rows: 1 }, null);
  const seen = { caseReference: 'D-1', rows: 1, cleartext: true };
  const fetched = { ...seen, definition: 'card-number', operation: 'Detokenize' };
  await act({ action: 'Reveal', ...fetched });
  await act({ action: 'Reveal', ...fetched }, { ok: false, code: 'service.credentials', sent: false });
  await act({ action: 'Reveal', ...seen }, refusal);
  await act({ action: 'Copy', ...seen, job: 'j1' });
  await act({ action: 'Export', caseReference: 'D-2', rows: 40, cleartext: true });
  await act({ action: 'Export', caseReference: 'D-2', rows: 999, cleartext: false });
  // What stands in a note is for a person: nothing is counted by it.
  await act({ action: 'RevokeApiKey', note: 'Detokenize' });
  await act({ action: 'Export', caseReference: 'D-2', rows: 7, cleartext: false, note: 'cleartext' });
  await act({ action: 'StoreSecret' });

  const station = value(await harness.reports['reports.workstation']({ ...november, grouping: 'operation' }));
  expect(calls['reports.workstation'].output.parse(station)).toEqual(station);
  expect(station).toMatchObject({
    requests: 8,
    failed: 3,
    values: 1 + 500 + 500 + 1 + 2,
    valuesFailed: 430 + 20 + 2,
    chain: 'intact',
    previous: { requests: 1, failed: 0 },
  });
  expect(
    Object.fromEntries(
      station.rows.map(({ operation, requests, failed }) => [operation, [requests, failed]]),
    ),
  ).toEqual({
    Tokenize: [1, 0],
    BatchDetokenize: [3, 1],
    Detokenize: [3, 2],
    GetMasked: [1, 0],
  });
  expect(
    station.refusals.map(({ code, operation, values, requests }) => [code, operation, values, requests]),
  ).toEqual([
    ['service.token-invalid', 'BatchDetokenize', 430, 0],
    ['service.element-refused', 'BatchDetokenize', 20, 0],
    ['service.refused', 'Detokenize', 2, 2],
    ['service.unreachable', 'BatchDetokenize', 0, 1],
  ]);
  expect(station.refusals.filter(({ code }) => code === 'service.refused')).toEqual([
    {
      code: 'service.refused',
      operation: 'Detokenize',
      definition: 'card-number',
      policy: 'mask-only',
      values: 2,
      requests: 2,
      last: '2026-11-20T12:00:00.000Z',
    },
  ]);
  expect(station.cases.map((seen) => ({ ...seen, last: '' }))).toEqual([
    { caseReference: 'D-1', reveals: 1, copies: 1, exports: 0, rows: 2, last: '' },
    { caseReference: 'D-2', reveals: 0, copies: 0, exports: 1, rows: 40, last: '' },
  ]);
  const exported = value(await harness.reports['reports.export']({ reportId: station.reportId }));
  expect(exported?.name).toMatch(/^workstation-requests-by-operation-/);
});

const line = (sequence: number, over: Partial<AuditEntry>): AuditEntry => ({
  sequence,
  at: '2026-11-20T12:00:00.000Z',
  actor: 'maria',
  action: 'GetMasked',
  phase: 'begun',
  of: null,
  connection: null,
  environment: null,
  policy: null,
  definition: null,
  reason: null,
  caseReference: null,
  rows: null,
  job: null,
  requestId: null,
  code: null,
  note: null,
  ...over,
});

const refusedCounts = fc.dictionary(
  fc.constantFrom('service.token-invalid', 'service.element-refused', 'value.length'),
  fc.integer({ min: 1, max: 50 }),
  { maxKeys: 2 },
);
const act = fc.record({
  action: fc.constantFrom('GetMasked', 'BatchDetokenize', 'Tokenize', 'Reveal', 'Export', 'TestPolicy'),
  definition: fc.constantFrom(null, 'ssn', 'card-number'),
  policy: fc.constantFrom(null, 'analyst', 'intake'),
  day: fc.integer({ min: 25, max: 36 }),
  rows: fc.integer({ min: 100, max: 500 }),
  end: fc.oneof(
    fc.constant(null),
    fc.record({ phase: fc.constant('ok' as const), refused: refusedCounts }),
    fc.record({
      phase: fc.constant('failed' as const),
      code: fc.constantFrom(...failureCodes),
      sent: fc.boolean(),
    }),
  ),
});

test('of any log, the headline is the sum of the list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
      const entries = acts.flatMap(({ end, day, ...about }, at) => {
        const when = new Date(Date.UTC(2026, 9, day)).toISOString();
        const operation = about.action === 'Reveal' ? { operation: 'Detokenize' } : {};
        const begun = line(at * 2, { ...about, ...operation, at: when });
        return end === null ? [begun] : [begun, line(at * 2 + 1, { at: when, of: at * 2, ...end })];
      });
      const query = { from: '2026-10-28', to: '2026-11-02', grouping: 'definition' } as const;
      const counted = await countWorkstation(stream(entries), query, 'intact');
      const sum = (member: 'values' | 'requests') =>
        counted.refusals.reduce((total, refusal) => total + refusal[member], 0);
      expect(sum('values')).toBe(counted.valuesFailed);
      expect(sum('requests')).toBe(counted.failed);
      expect(counted.valuesFailed).toBeLessThanOrEqual(counted.values);
      for (const { code, values, requests } of counted.refusals)
        if (requests > 0 && !isRetriable(code)) expect(values).toBeGreaterThanOrEqual(requests);
    }),
  );
});

test('reasons that find no place in the list are in its last line', async () => {
  const entries = Array.from({ length: 1_500 }, (_, at) => [
    line(at * 2, { policy: `p${at}`, rows: 2 }),
    line(at * 2 + 1, { of: at * 2, phase: 'failed', code: 'service.invalid-input' }),
  ]).flat();
  const counted = await countWorkstation(stream(entries), { ...november, grouping: 'day' }, 'intact');
  expect(counted.refusals).toHaveLength(1_000);
  expect(counted.valuesFailed).toBe(3_000);
  expect(counted.refusals.find(({ code }) => code === '')).toMatchObject({ values: 1_002, requests: 501 });
});

async function* stream(entries: readonly AuditEntry[]): AsyncGenerator<AuditEntry> {
  await Promise.resolve();
  yield* entries;
}
