import { describe, expect, it } from 'vitest';
import { ActivityController, dayRange } from '../../../src/features/activity/activity.svelte.ts';
import { actName, detailText, exportText, formatAct } from '../../../src/messages/acts.ts';
import { reasonFor } from '../../../src/messages/messages.ts';
import { openApp } from '../support/open-app.ts';
import { auditEntry } from '../support/fake-data.ts';

async function openActivity() {
  const { app, api } = await openApp();
  return new ActivityController(app, api);
}

describe('the activity page', () => {
  it('opens with what was seen in clear and exported, and nothing else', async () => {
    const log = await openActivity();
    await log.load();
    expect(new Set(log.shown.map(({ action }) => action))).toEqual(new Set(['Reveal', 'Export']));
  });

  it('lists each act once, and loads earlier pages without gaps', async () => {
    const log = await openActivity();
    log.kind = 'all';
    await log.load();
    expect(log.entries).toHaveLength(200);
    await log.earlier();
    expect(log.entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 240 }, (_, n) => 239 - n),
    );
    expect(log.more).toBe(false);
    expect(log.shown.length).toBeLessThan(log.entries.length);
    expect(log.countText).toBe(`${log.shown.length} acts, from 240 entries in the log`);
    log.everyLine = true;
    expect(log.shown).toHaveLength(240);
    expect(log.countText).toBe('240 of 240 entries');
  });

  it('adds up the requests of a batch that go on in an earlier page, in one line', async () => {
    const { app, api } = await openApp();
    let page = 0;
    const request = (sequence: number) => ({
      ...auditEntry(1),
      sequence,
      action: 'BatchDetokenize',
      definition: 'card-number',
      job: 'job-1',
    });
    const log = new ActivityController(app, {
      ...api,
      call: ((name: string) => {
        expect(name).toBe('activity.list');
        page += 1;
        const sequence = page === 1 ? 900 : 400;
        const counted = { sequence, requests: 100, failed: page, rows: 5_000 };
        const chain = { state: 'intact', checked: 1_000 };
        const next = page === 1 ? 500 : null;
        return Promise.resolve({
          ok: true,
          value: { entries: [request(sequence)], batches: [counted], total: 1_000, next, chain },
        });
      }) as typeof api.call,
    });
    await log.load();
    await log.earlier();
    expect(log.shown.map(({ sequence }) => sequence)).toEqual([900]);
    expect(log.batches.get(900)).toEqual({ sequence: 900, requests: 200, failed: 3, rows: 10_000 });
    expect(log.more).toBe(false);
  });

  it('asks for the days of the person’s own clock', () => {
    const now = new Date(2026, 10, 22, 15, 30);
    const midnight = (day: number) => new Date(2026, 10, day).toISOString();
    expect(dayRange('any', now)).toEqual({});
    expect(dayRange('today', now)).toEqual({ from: midnight(22) });
    expect(dayRange('yesterday', now)).toEqual({ from: midnight(21), to: midnight(22) });
    expect(dayRange('week', now)).toEqual({ from: midnight(16) });
  });

  it('clears all filters at once', async () => {
    const log = await openActivity();
    log.text = 'nothing like it';
    log.day = 'today';
    await log.load();
    expect(log.shown).toEqual([]);
    expect(log.isFiltered).toBe(true);
    await log.clearFilters();
    expect(log.isFiltered).toBe(false);
    expect(log.shown.length).toBeGreaterThan(0);
  });

  it('tells an export of cleartext from a masked one, and what failed from what was done', () => {
    const exported = { ...auditEntry(1), action: 'Export', phase: 'ok' as const };
    expect(actName({ ...exported, cleartext: true })).toBe('Exported in clear');
    expect(actName({ ...exported, cleartext: false })).toBe('Exported');
    expect(actName({ ...exported, phase: 'failed', cleartext: true })).toBe('Export in clear');
    expect(formatAct({ ...exported, phase: 'failed' })).toBe('Export failed');
    expect(actName({ ...exported, action: 'FromTheFuture' })).toBe('FromTheFuture');
  });

  it('says what an export held in words, and leaves a word of another version as it is', () => {
    const note = '200 = 198 succeeded + 1 failed + 1 blank';
    const held = { content: 'masked', rows: 'all', format: 'spreadsheet', encrypted: false };
    expect(exportText({ export: held, note })).toBe(`masked, all rows, safe for Excel: ${note}`);
    const encrypted = { content: 'cleartext', rows: 'failed', format: 'workbook', encrypted: true };
    expect(exportText({ export: encrypted, note: null })).toBe(
      'cleartext, failed rows only, Excel workbook, encrypted',
    );
    expect(exportText({ export: { ...held, format: 'parquet' }, note: null })).toBe(
      'masked, all rows, parquet',
    );
    expect(exportText({ note: 'of another act' })).toBeNull();
  });

  it('says why, how and what else, each in words', () => {
    const shown = { ...auditEntry(7), reason: 'Refund', phase: 'failed' as const };
    expect(detailText({ ...shown, operation: 'Detokenize', sent: false })).toBe(
      'Refund · Detokenize · not sent',
    );
    expect(detailText({ ...shown, refused: { 'service.refused': 3, 'of.another-version': 1 } })).toBe(
      `Refund · 3 refused: ${reasonFor('service.refused')} · 1 refused: of.another-version`,
    );
    const held = { content: 'tokens', rows: 'all', format: 'exact', encrypted: false };
    expect(detailText({ ...shown, export: held, note: '2 = 2 succeeded' })).toBe(
      'Refund · tokens, all rows, exact values: 2 = 2 succeeded',
    );
    expect(detailText({ ...shown, reason: null, note: 'a, b' })).toBe('a, b');
  });

  it('shows that the chain is broken', async () => {
    const { app, api } = await openApp({ fail: { 'activity.list': { code: 'audit.broken', row: 118 } } });
    const log = new ActivityController(app, api);
    await log.load();
    expect(log.failure?.code).toBe('audit.broken');
  });
});
