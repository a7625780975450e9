import { expect, test } from 'vitest';
import type { AuditEnd, AuditIntent } from '../../../electron/audit/audit.ts';
import { calls } from '../../../electron/contract/calls.ts';
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
  const refusal = { ok: false, code: 'service.refused' };
  await act({ action: 'Detokenize', definition: 'card-number', policy: 'mask-only', rows: 1 }, refusal);
  await act({ action: 'Detokenize', definition: 'card-number', policy: 'mask-only', rows: 1 }, refusal);
  await act({ action: 'GetMasked', definition: 'card-number', rows: 1 }, null);
  const seen = { caseReference: 'D-1', rows: 1, definition: 'card-number', note: 'Detokenize' };
  await act({ action: 'Reveal', ...seen });
  await act({ action: 'Reveal', ...seen }, { ok: false, code: 'service.credentials', note: 'not sent' });
  await act({ action: 'Reveal', caseReference: 'D-1', rows: 1 }, refusal);
  await act({ action: 'Copy', caseReference: 'D-1', rows: 1, job: 'j1' });
  await act({ action: 'Export', caseReference: 'D-2', rows: 40, note: 'cleartext all exact' });
  await act({ action: 'Export', caseReference: 'D-2', rows: 999, note: 'masked all exact' });
  await act({ action: 'StoreSecret' });

  const station = value(await harness.reports['reports.workstation']({ ...november, grouping: 'operation' }));
  expect(calls['reports.workstation'].output.parse(station)).toEqual(station);
  expect(station).toMatchObject({
    requests: 6,
    failed: 2,
    values: 502,
    chain: 'intact',
    previous: { requests: 1, failed: 0 },
  });
  expect(
    Object.fromEntries(
      station.rows.map(({ operation, requests, failed }) => [operation, [requests, failed]]),
    ),
  ).toEqual({
    Tokenize: [1, 0],
    BatchDetokenize: [1, 0],
    Detokenize: [3, 2],
    GetMasked: [1, 0],
  });
  expect(station.refusals).toEqual([
    {
      code: 'service.refused',
      operation: 'Detokenize',
      definition: 'card-number',
      policy: 'mask-only',
      count: 2,
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
