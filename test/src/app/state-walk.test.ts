import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { ServiceStatus } from '../../../electron/contract/models/app.ts';
import { LookupController } from '../../../src/features/lookup/lookup.svelte.ts';
import { describeService } from '../../../src/lib/service-line.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

/*
 * Walks the states of the window at random, beside a model of the world: services that answer or do not, pauses and limits
 * that end, connections that are chosen. After each step every sentence has to have its cause in the world as it is.
 */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-20T14:00:00.000Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

type Service = ServiceStatus & { answers: boolean };

function statusOf(connectionId: string, policy: string): Service {
  return {
    connectionId,
    policy,
    answers: true,
    sessionSince: null,
    offlineSince: null,
    remaining: null,
    limit: 600,
    limitPeriodSeconds: null,
    remainingUntil: null,
    pausedUntil: null,
    pauseReason: null,
    transfersToday: 0,
  };
}

async function openWorld(pick: (below: number) => number) {
  const services = new Map([
    [data.builtIn.id, statusOf(data.builtIn.id, 'dispute-desk')],
    [data.production.id, statusOf(data.production.id, 'analyst')],
  ]);
  const active = (): Service => {
    const found = services.get(fake.state.active?.connectionId ?? '');
    if (found === undefined) throw new Error('no connection');
    return found;
  };
  const iso = (afterMs = 0): string => new Date(Date.now() + afterMs).toISOString();
  /** As main does after each request. */
  const request = (service: Service): boolean => {
    if (!service.answers) {
      service.offlineSince ??= iso();
      return false;
    }
    Object.assign(service, { offlineSince: null, sessionSince: iso() });
    Object.assign(service, { remaining: pick(600), remainingUntil: iso(1_000) });
    return true;
  };
  const tell = (): void => {
    const { answers: _, ...service } = active();
    fake.change({ service });
  };
  const { fake, app, api } = await openApp({
    state: data.appState({ connections: [data.builtIn, data.production] }),
    answers: {
      'lookup.mask': ({ token, definition, policy, caseReference }) => {
        if (!request(active())) return failed('service.unreachable', { subject: active().connectionId });
        if (token.endsWith('9')) return failed('service.token-invalid', { definition });
        const [known] = data.lookups;
        if (known === undefined) throw new Error('no lookup');
        const { connectionId } = active();
        return done({ ...known, token, definition, policy, caseReference, connectionId });
      },
      'connections.tryNow': ({ id }) => {
        const service = services.get(id);
        return service !== undefined && request(service) ? done({}) : failed('service.unreachable');
      },
    },
  });
  const controller = new LookupController(app, api, () => undefined);
  return { services, active, iso, request, tell, fake, app, controller };
}

async function walk(seed: number, steps: number): Promise<Set<string>> {
  let state = seed;
  const pick = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const world = await openWorld(pick);
  const { services, active, iso, request, tell, app, controller } = world;
  /** Of each connection, whether the last lookup failed, and why. */
  const lastFailure = new Map<string, string | null>();
  const seen = new Set<string>();
  const lookUp = async (isAgain: boolean): Promise<void> => {
    const { connectionId } = active();
    await controller.mask({ isAgain });
    // The box holds one failure: that of the latest lookup.
    lastFailure.clear();
    lastFailure.set(connectionId, controller.failure?.code ?? null);
  };
  const acts: [string, () => unknown][] = [
    ['the service goes', () => (active().answers = false)],
    ['the service comes', () => (active().answers = true)],
    ['time passes', () => vi.setSystemTime(Date.now() + ([200, 1_500, 20_000, 900_000][pick(4)] ?? 0))],
    [
      'looks up',
      async () => {
        controller.field.set(`411111730921111${pick(10)}`);
        await lookUp(false);
      },
    ],
    ['tries again', () => (controller.failure === null ? undefined : lookUp(true))],
    ['tries now', () => app.tryNow()],
    ['a batch sends', () => request(active())],
    [
      'a pause begins',
      () => {
        const pauseReason = (['busy', 'failing', 'quota'] as const)[pick(3)] ?? 'busy';
        Object.assign(active(), { pauseReason, pausedUntil: iso(pick(60_000)) });
      },
    ],
    [
      'another connection',
      async () => {
        const other = [...services.keys()].find((id) => id !== active().connectionId) ?? '';
        await app.choose(other, services.get(other)?.policy ?? '');
      },
    ],
    [
      'the field is emptied',
      () => {
        controller.clear();
      },
    ],
  ];
  const done: string[] = [];
  for (let step = 0; step < steps; step++) {
    const [name, act] = acts[pick(acts.length)] ?? ['', () => undefined];
    done.push(name);
    await act();
    if (name === 'the field is emptied') lastFailure.clear();
    // An answer of any kind ends an outage.
    if (active().offlineSince === null && lastFailure.get(active().connectionId) === 'service.unreachable')
      lastFailure.set(active().connectionId, null);
    tell();
    const where = `seed ${seed}: ${done.slice(-6).join(', ')}`;
    const { connection } = app;
    if (connection === null) throw new Error('no connection');
    const service = active();
    const line = describeService(
      { service: app.state?.service ?? null, policy: app.policy },
      connection,
      Date.now(),
    );
    const text = line.parts.join(' · ');
    const isPaused = service.pausedUntil !== null && Date.parse(service.pausedUntil) > Date.now();
    expect(text.startsWith('Offline'), where).toBe(service.offlineSince !== null);
    expect(text.includes('nothing is sent'), where).toBe(service.offlineSince === null && isPaused);
    if (text.includes('requests left'))
      expect(Date.now(), where).toBeLessThan(Date.parse(service.remainingUntil ?? ''));
    expect(app.triedAt !== null && service.offlineSince === null, where).toBe(false);
    expect(controller.failure?.code ?? null, where).toBe(lastFailure.get(service.connectionId) ?? null);
    if (controller.current !== null)
      expect(controller.current.connectionId, where).toBe(service.connectionId);
    seen.add(text.replaceAll(/\d+/g, '0'));
    seen.add(controller.failure?.code ?? '');
  }
  return seen;
}

test('no sentence outlives its cause, wherever a walk over the states leads', async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 20; seed++) for (const one of await walk(seed, 60)) seen.add(one);
  // It came to all of them.
  for (const [beginning] of [
    ['Ready'],
    ['Signed in'],
    ['Offline since'],
    ['Request limit'],
    ['Service failing'],
  ])
    expect([...seen].some((text) => text.startsWith(beginning ?? ''))).toBe(true);
  expect([...seen]).toEqual(expect.arrayContaining(['service.unreachable', 'service.token-invalid']));
});
