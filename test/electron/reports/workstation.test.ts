import { expect, test } from 'vitest';
import type { AuditEnd, AuditIntent } from '../../../electron/audit/entries.ts';
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
  expect(station.refusals.map(({ code, operation, count }) => [code, operation, count])).toEqual([
    ['service.token-invalid', 'BatchDetokenize', 430],
    ['service.element-refused', 'BatchDetokenize', 20],
    ['service.refused', 'Detokenize', 2],
    ['service.unreachable', 'BatchDetokenize', 1],
  ]);
  expect(station.refusals.filter(({ code }) => code === 'service.refused')).toEqual([
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
