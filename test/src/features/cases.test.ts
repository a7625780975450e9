import { describe, expect, it } from 'vitest';
import { actsOf, formatAct } from '../../../src/messages/acts.ts';
import { LookupController } from '../../../src/features/lookup/lookup.svelte.ts';
import type { FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

async function open(options: FakeOptions = {}) {
  const { lookups, entries } = data.caseOf('D-20931', 6);
  const { app, api, fake } = await openApp({
    lookups,
    answers: {
      'activity.list': ({ caseReference }) => ({
        ok: true,
        value: {
          entries: caseReference === 'D-20931' ? entries : [],
          batches: [],
          next: null,
          total: entries.length,
          chain: { state: 'intact', checked: 9 },
        },
      }),
    },
    ...options,
  });
  const controller = new LookupController(app, api, () => undefined);
  await controller.reload();
  return { app, fake, controller, cases: controller.cases, entries };
}

describe('the timeline of a case', () => {
  it('has every act once, with the lookup it was about, newest first', async () => {
    const { controller, cases, entries } = await open();
    await cases.open('D-20931');
    const rows = cases.rows(controller.recent);
    expect(rows.filter(({ lookup }) => lookup !== null)).toHaveLength(8);
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(actsOf(entries).length);
    expect(rows.map(({ at }) => at)).toEqual(
      rows
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    const revealed = rows.find(({ act }) => act?.action === 'Reveal');
    expect(revealed?.lookup?.requestIds).toContain(revealed?.act?.requestId);
  });

  it('joins lookups of earlier sessions, and never what was seen in clear or failed', async () => {
    const { cases } = await open();
    await cases.open('D-20931');
    const rows = cases.rows([]);
    expect(rows.some(({ count }) => count > 1)).toBe(true);
    const [newest] = cases.entries;
    if (newest === undefined) throw new Error('no entry');
    const alike = (over: Partial<typeof newest>) =>
      [1, 2].map((n) => ({ ...newest, sequence: 1_000 + n, of: null, requestId: null, ...over }));
    cases.entries = alike({ action: 'Reveal', reason: 'Refund' });
    expect(cases.rows([])).toHaveLength(2);
    cases.entries = alike({ phase: 'failed' });
    expect(cases.rows([])).toHaveLength(2);
    cases.entries = alike({});
    expect(cases.rows([])).toHaveLength(1);
  });

  it('has a token that was made once, and not its mask as a look-up besides', async () => {
    const { cases } = await open();
    await cases.open('D-20931');
    const [newest] = cases.entries;
    if (newest === undefined) throw new Error('no entry');
    const at = (seconds: number) => new Date(Date.parse(newest.at) + seconds * 1_000).toISOString();
    const entry = (sequence: number, action: string, seconds: number) => ({
      ...newest,
      ...{ sequence, action, of: null, requestId: null, phase: 'ok' as const, at: at(seconds) },
    });
    const actions = () => cases.rows([]).map(({ act }) => act?.action);
    cases.entries = [entry(3, 'GetMasked', 60), entry(2, 'GetMasked', 1), entry(1, 'Tokenize', 0)];
    expect(actions()).toEqual(['GetMasked', 'Tokenize']);
    cases.entries = [entry(2, 'GetMasked', 1), { ...entry(1, 'Tokenize', 0), phase: 'failed' }];
    expect(actions()).toEqual(['GetMasked', 'Tokenize']);
  });

  it('keeps lookups that the log can’t be read for', async () => {
    const { controller, cases } = await open({ fail: { 'activity.list': { code: 'audit.broken' } } });
    await cases.open('D-20931');
    expect(cases.failure?.code).toBe('audit.broken');
    expect(cases.rows(controller.recent)).toHaveLength(6);
  });

  it('says of what failed that it failed', () => {
    expect(formatAct({ action: 'Reveal', phase: 'ok' })).toBe('Revealed');
    expect(formatAct({ action: 'Reveal', phase: 'failed' })).toBe('Reveal failed');
    expect(formatAct({ action: 'Reveal', phase: 'begun' })).toBe('Reveal begun');
    expect(formatAct({ action: 'OfAnotherVersion', phase: 'ok' })).toBe('OfAnotherVersion');
  });
});

describe('closing a case', () => {
  it('drops its lookups, and offers its evidence', async () => {
    const { app, fake, controller, cases } = await open();
    await controller.openCase('D-20931');
    controller.pick(controller.recent[0] ?? (undefined as never));
    await controller.closeCase();
    expect([app.caseReference, controller.recent, controller.current]).toEqual(['', [], null]);
    expect(cases.closed).toEqual({ caseReference: 'D-20931', lookups: 6 });
    await cases.writeEvidence('D-20931');
    expect(cases.evidence?.files.length).toBeGreaterThan(0);
    expect(fake.seen.at(-1)).toEqual({ name: 'reports.evidence', input: { caseReference: 'D-20931' } });
    await cases.open('D-20931');
    expect([cases.closed, cases.evidence]).toEqual([null, null]);
  });

  it('W8 counts those of every connection it was worked on with', async () => {
    const { app, controller, cases } = await open();
    await controller.openCase('D-20931');
    await app.choose(data.production.id, 'analyst');
    expect(controller.recent.filter(({ caseReference }) => caseReference === 'D-20931')).toEqual([]);
    await controller.closeCase();
    expect(cases.closed).toEqual({ caseReference: 'D-20931', lookups: 6 });
  });

  it('leaves the case open when its lookups can’t be dropped', async () => {
    const { app, controller, cases } = await open({ fail: { 'lookup.forget': { code: 'call.failed' } } });
    await controller.openCase('D-20931');
    await controller.closeCase();
    expect([app.caseReference, cases.closed, cases.failure?.code]).toEqual(['D-20931', null, 'call.failed']);
  });
});

it('the last case that was opened is shown, whatever is answered first', async () => {
  const first = Promise.withResolvers<null>();
  const { entries } = data.caseOf('D-1', 1);
  const { cases } = await open({
    answers: {
      'activity.list': async ({ caseReference }) => {
        if (caseReference === 'D-1') await first.promise;
        const found = caseReference === 'D-1' ? entries : [];
        return {
          ok: true,
          value: {
            entries: found,
            batches: [],
            next: null,
            total: 0,
            chain: { state: 'intact', checked: 9 },
          },
        };
      },
    },
  });
  const slow = cases.open('D-1');
  await cases.open('D-2');
  first.resolve(null);
  await slow;
  expect([cases.current, cases.entries]).toEqual(['D-2', []]);
});

it('a locked app keeps nothing of the timeline in memory', async () => {
  const { cases } = await open();
  await cases.open('D-20931');
  cases.clear();
  expect([cases.entries, cases.recent, cases.current]).toEqual([[], [], 'D-20931']);
});
