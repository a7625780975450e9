import { obscureText, newXorKey } from '../../../electron/contract/obscured.ts';
import { describe, expect, it, vi } from 'vitest';
import { openApi } from '../../../src/lib/api.ts';
import { AppStore } from '../../../src/lib/app-store.svelte.ts';
import { ReportsController } from '../../../src/features/reports/reports.svelte.ts';
import { coverageText, type Retry } from '../../../src/features/reports/failed-requests.svelte.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createFakeBridge, type FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';
import { failures, figuresOf, reportAnswers, signedOut } from '../support/fake-reports.ts';

const obscured = (text: string) => {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(text, xorKey) };
};

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge(options);
  const api = openApi(fake.bridge);
  const app = new AppStore(api);
  await app.load();
  const retries: Retry[] = [];
  const now = () => Date.parse('2026-11-21T12:00:00Z');
  const controller = new ReportsController({ app, api, onretry: (retry) => retries.push(retry), now });
  const asked = (name: string) => fake.seen.filter((call) => call.name === name).map(({ input }) => input);
  return { fake, app, controller, retries, asked };
}

describe('the account', () => {
  it('loads the last 30 days and the last 15 failures once somebody is signed in', async () => {
    const { controller, asked } = await open();
    await controller.show();
    expect(asked('reports.metrics')).toEqual([{ from: '2026-10-23', to: '2026-11-21', grouping: 'day' }]);
    expect(asked('reports.failures')).toEqual([{ max: 15 }]);
    expect(controller.account.figures?.rows).toHaveLength(30);
    expect(controller.failures.list?.failures).toEqual(failures);
  });

  it('loads nothing while nobody is signed in', async () => {
    const { controller, asked } = await open({ answers: reportAnswers(signedOut) });
    await controller.show();
    expect(asked('reports.metrics')).toEqual([]);
    expect(await controller.signIn('maria.k', obscured('wrong'))).toMatchObject({
      code: 'portal.credentials',
    });
    expect(controller.portalFailure?.code).toBe('portal.credentials');
    expect(await controller.signIn('maria.k', obscured('right'))).toBeNull();
    expect(controller.portalFailure).toBeNull();
    expect(controller.account.figures).not.toBeNull();
    expect(JSON.stringify(controller)).not.toContain('right');
  });

  it('shows the sign-in again when the sign-in ends while the page is open', async () => {
    const answers = reportAnswers();
    let isOver = false;
    const { controller } = await open({
      answers: {
        ...answers,
        'reports.portal': () => done({ ...signedOut, state: isOver ? 'ended' : 'signed-in' }),
        'reports.metrics': (query) => (isOver ? failed('portal.expired') : answers['reports.metrics'](query)),
      },
    });
    await controller.show();
    isOver = true;
    await controller.account.chooseGrouping('operation');
    expect(controller.portal?.state).toBe('ended');
  });

  it('clears all answers on sign-out', async () => {
    const { controller } = await open();
    await controller.show();
    await controller.signOut();
    expect(controller.portal?.state).toBe('signed-out');
    expect(controller.account.figures).toBeNull();
    expect(controller.failures.list).toBeNull();
  });

  it('drops late answers for the previous connection', async () => {
    const answers = reportAnswers();
    const late = Promise.withResolvers<undefined>();
    let turn = 0;
    const { controller, fake, asked } = await open({
      answers: {
        ...answers,
        'reports.metrics': async (query) => {
          turn += 1;
          if (turn > 1) return failed('service.failing');
          await late.promise;
          return done({ ...figuresOf(query, ['ssn']), requestId: 'late' });
        },
      },
    });
    const first = controller.show();
    await vi.waitFor(() => expect(asked('reports.metrics')).toHaveLength(1));
    fake.change({ active: { connectionId: data.production.id, policy: 'analyst' } });
    await controller.show();
    late.resolve(undefined);
    await first;
    expect(controller.account.figures).toBeNull();
    expect(controller.account.failure?.code).toBe('service.failing');
  });

  it('shows only the answer to the last query', async () => {
    const answers = reportAnswers();
    const slow = Promise.withResolvers<undefined>();
    const { controller, asked } = await open({
      answers: {
        ...answers,
        'reports.metrics': async (query) => {
          if (query.grouping === 'day') await slow.promise;
          return answers['reports.metrics'](query);
        },
      },
    });
    const first = controller.show();
    await vi.waitFor(() => expect(asked('reports.metrics')).toHaveLength(1));
    await controller.account.chooseGrouping('operation');
    slow.resolve(undefined);
    await first;
    expect(controller.account.figures?.query.grouping).toBe('operation');
  });
});

describe('cleartext access', () => {
  it('is asked for a month at a time, and saved as the answer that is shown', async () => {
    const { controller, asked } = await open();
    await controller.choose('access');
    expect(asked('reports.access')).toEqual([{ month: '2026-11' }]);
    await controller.access.choose('2026-10');
    expect(controller.access.access?.month).toBe('2026-10');
    await controller.access.exportCsv();
    expect(asked('reports.export')).toEqual([{ reportId: 'report-4' }]);
    expect(controller.access.message).toMatch(/^Saved as/);
  });
});

describe('the failed requests', () => {
  it('are filtered by text and status, and chosen with the keyboard', async () => {
    const { controller } = await open();
    await controller.show();
    const view = controller.failures;
    expect(view.statuses).toEqual(['400', '401', '403', '404', '429', '503', 'null']);
    view.search = 'EU-1';
    expect(view.shown.map(({ failure }) => failure.operation)).toEqual(['Rotate']);
    view.search = '';
    view.status = '429';
    expect(view.shown.map(({ index }) => index)).toEqual([2]);
    view.move(1);
    expect(view.open?.failure.operation).toBe('BatchDetokenize');
    view.status = '';
    view.move(100);
    expect(view.chosen).toBe(6);
    view.move(1);
    expect(view.chosen).toBe(6);
    view.status = '400';
    expect(view.open).toBeNull();
  });

  it('are those of the days that are shown, and say how much of them they are', async () => {
    const { controller } = await open();
    await controller.show();
    const view = controller.failures;
    expect(view.ofDays).toHaveLength(6);
    expect(coverageText(view, 412)).toBe('6 of 412 that failed in these days. The time of 1 can’t be read.');
    expect(view.reasons).toContainEqual({
      definition: 'card-number',
      reason: 'The policy does not grant this',
      count: 1,
    });
    await controller.account.chooseRange({ from: '2026-10-01', to: '2026-10-31' });
    expect(view.shown.map(({ failure }) => failure.at)).toEqual(['yesterday']);
    expect(view.reasons).toEqual([]);
    expect(coverageText(view, 412)).toBe(
      'None of the 7 most recent failures is from these days. The service lists no older ones: ' +
        'the reasons for these days can’t be told. The time of 1 can’t be read.',
    );
    expect(coverageText(view, 0)).toMatch(/^Nothing failed in these days\./);
  });

  it('of a part of the chart are shown alone, the first of them in detail', async () => {
    const { controller } = await open();
    await controller.show();
    const view = controller.failures;
    view.search = 'EU-1';
    view.show({ label: 'Detokenize', operation: 'Detokenize' });
    expect(view.shown.map(({ failure }) => failure.operation)).toEqual(['Detokenize']);
    expect(view.open?.failure.operation).toBe('Detokenize');
    const day = failures[0]?.at.slice(0, 10) ?? '';
    view.show({ label: day, days: { from: day, to: day } });
    expect(view.shown).toHaveLength(failures.filter(({ at }) => at.startsWith(day)).length);
    view.show({ label: 'a day without any', days: { from: '2020-01-01', to: '2020-01-01' } });
    expect([view.shown, view.open]).toEqual([[], null]);
    view.show(null);
    expect(view.shown).toHaveLength(failures.length);
  });

  it('are copied for support by their index in the unfiltered answer', async () => {
    const { controller, asked } = await open();
    await controller.show();
    controller.failures.status = '503';
    controller.failures.move(1);
    await controller.failures.copySupport();
    expect(asked('reports.copy')).toEqual([{ what: 'support', reportId: 'report-2', index: 4 }]);
    expect(controller.failures.message).toMatch(/No value/);
  });

  it('stay open after a reload if they are still in the list', async () => {
    let list = failures;
    const { controller } = await open({
      answers: {
        'reports.failures': () => done({ reportId: 'report-2', failures: list, requestId: 'r' }),
      },
    });
    await controller.show();
    controller.failures.choose(2);
    const chosen = controller.failures.open?.failure;
    list = [...failures.slice(3, 4), ...failures.slice(0, 3)];
    await controller.failures.load();
    expect(controller.failures.open?.failure).toEqual(chosen);
    list = failures.slice(3);
    await controller.failures.load();
    expect(controller.failures.open).toBeNull();
  });

  it('are tried again on the page of their operation', async () => {
    const { controller, retries } = await open();
    for (const failure of failures) controller.tryAgain(failure);
    const policy = 'mask-only';
    expect(retries).toEqual([
      { page: 'lookup', operation: 'Detokenize', definition: 'card-number', policy },
      { page: 'lookup', operation: 'GetMasked', definition: 'ssn', policy },
      { page: 'batch', operation: 'detokenize', definition: 'card-number', policy },
      { page: 'connections' },
      { page: 'lookup', operation: 'Tokenize', definition: 'iban', policy },
      { page: 'lookup', operation: 'Translate', definition: 'card-number', policy },
    ]);
  });
});

describe('this workstation', () => {
  it('needs no connection and no sign-in', async () => {
    const { controller, asked } = await open({
      state: data.appState({ connections: [], active: null, service: null }),
    });
    await controller.show();
    expect(asked('reports.portal')).toEqual([]);
    await controller.choose('workstation');
    expect(controller.workstation.figures?.values).toBe(512_340);
    await controller.workstation.exportCsv();
    expect(asked('reports.export')).toEqual([{ reportId: 'report-3' }]);
    expect(controller.workstation.message).toBe('Saved as requests-by-day.csv.');
  });

  it('saves evidence on a case, and reports why there is none', async () => {
    const { controller, asked } = await open();
    await controller.writeEvidence('  ');
    await controller.writeEvidence(' D-20931 ');
    expect(asked('reports.evidence')).toEqual([{ caseReference: 'D-20931' }]);
    expect(controller.evidence?.entries).toBe(14);
    await controller.writeEvidence('X-1');
    expect(controller.evidence).toBeNull();
    expect(controller.evidenceFailure).toEqual({ code: 'evidence.none', subject: 'X-1' });
  });
});

describe('the tool server', () => {
  it('is checked once when its tab opens, and again after a sign-in', async () => {
    const { controller, asked } = await open({ answers: reportAnswers(signedOut) });
    await controller.choose('tools');
    await controller.choose('tools');
    expect(asked('reports.toolServer')).toHaveLength(1);
    expect(controller.tools?.state).toBe('sign-in');
    await controller.signInBuiltIn();
    expect(controller.tools?.state).toBe('ready');
  });
});
