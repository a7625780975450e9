import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditEnd, AuditIntent } from '../../../electron/audit/entries.ts';
import { calls } from '../../../electron/contract/calls.ts';
import { usageOf } from '../../../electron/reports/usage.ts';
import { openHarness, value } from '../../support/reports.ts';

describe('cleartext access of a month', () => {
  it('lists who saw what in clear, why and when, and nothing that was masked or failed', async () => {
    const harness = await openHarness();
    const act = async (intent: AuditIntent, end: AuditEnd | null = { ok: true }) => {
      const close = value(await harness.audit.begin(intent));
      if (end !== null) close(end);
    };
    const at = (text: string) => (harness.time.now = new Date(text).getTime());
    const about = {
      caseReference: 'D-1',
      reason: 'Fraud review',
      definition: 'ssn',
      policy: 'desk',
      rows: 1,
      cleartext: true,
    };
    // Local times: a Friday noon, a Friday night, a Saturday.
    at('2026-10-30T12:00:00');
    await act({ action: 'Reveal', ...about, caseReference: 'of another month' });
    at('2026-11-06T12:00:00');
    await act({ action: 'Reveal', ...about });
    await act(
      { action: 'Reveal', ...about, caseReference: 'refused' },
      { ok: false, code: 'service.refused' },
    );
    await act({ action: 'Export', rows: 999, cleartext: false, caseReference: 'masked' });
    await act({ action: 'GetMasked', ...about, cleartext: false, caseReference: 'masked' });
    at('2026-11-06T21:30:00');
    await act({ action: 'Export', ...about, rows: 5_000, values: 15_000 }, { ok: true, values: 14_900 });
    at('2026-11-07T12:00:00');
    await act({ action: 'Copy', ...about }, null);

    const access = value(await harness.reports['reports.access']({ month: '2026-11' }));
    expect(calls['reports.access'].output.parse(access)).toEqual(access);
    expect(
      access.rows.map(({ act: done, values, isUnusual, isEnded }) => [done, values, isUnusual, isEnded]),
    ).toEqual([
      ['Copy', 1, true, false],
      ['Export', 14_900, true, true],
      ['Reveal', 1, false, true],
    ]);
    expect(
      access.rows.every(({ caseReference, reason }) => caseReference === 'D-1' && reason === 'Fraud review'),
    ).toBe(true);
    expect(access).toMatchObject({ total: 3, chain: 'intact', month: '2026-11' });

    const file = value(await harness.reports['reports.export']({ reportId: access.reportId }));
    expect(file).toMatchObject({ rows: 3 });
    const csv = await fs.readFile(path.join(harness.folder, file?.name ?? ''), 'utf8');
    expect(csv.split('\r\n')[0]).toContain('time,person,act,values');
    expect(csv.match(/Fraud review/g)).toHaveLength(3);
  });
});

describe('usage against the limit', () => {
  const now = new Date(2026, 10, 21, 12, 0);
  const hour = Math.floor(now.getTime() / 3_600_000);

  it('counts the last 24 hours and the local day, and goes on with the pace of three hours', () => {
    const hours = [
      { hour: hour - 30, count: 5_000 },
      { hour: hour - 20, count: 700 },
      { hour: hour - 8, count: 1_000 },
      { hour: hour - 1, count: 300 },
    ];
    // Two whole hours of the three have passed at noon sharp: 300 in 2 h, and 12 h to come.
    expect(usageOf(hours, 10_000_000, now)).toEqual({
      limit: 10_000_000,
      lastDay: 2_000,
      today: 1_300,
      forecast: 3_100,
    });
  });

  it('does not guess where nothing was sent lately, or the day has only begun', () => {
    expect(usageOf([{ hour: hour - 8, count: 1_000 }], 10, now).forecast).toBeNull();
    const early = new Date(2026, 10, 21, 0, 10);
    const first = Math.floor(early.getTime() / 3_600_000);
    expect(usageOf([{ hour: first, count: 50 }], 10, early)).toMatchObject({ today: 50, forecast: null });
  });
});
