import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { ServiceStatus } from '../../../electron/contract/models/app.ts';
import { BatchController } from '../../../src/features/batch/batch.svelte.ts';
import type { BatchDraft } from '../../../src/features/batch/draft/draft.svelte.ts';
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

function picker(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function walk(seed: number, steps: number): Promise<Set<string>> {
  const pick = picker(seed);
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

/** The same of a file before it runs: what was said of a plan, a reading or a service goes with it. */
async function walkDraft(seed: number, steps: number): Promise<Set<string>> {
  const pick = picker(seed);
  const other = {
    ...data.production,
    definitions: data.production.definitions.slice(0, 1),
    policies: ['analyst'],
  };
  const world = { reads: true, serves: true, grants: true };
  const answered = <T>(value: T) =>
    world.serves ? (world.grants ? done(value) : failed('service.refused')) : failed('service.unreachable');
  const { app, api } = await openApp({
    state: data.appState({ connections: [data.builtIn, other] }),
    answers: {
      'batch.preview': ({ reading }) =>
        world.reads
          ? done({ ...data.preview, reading: { ...data.preview.reading, ...(reading as object) } })
          : failed('file.unreadable', { subject: 'disputes.csv' }),
      'batch.try': () => answered({ total: 0, from: 0, rows: [] }),
      'batch.start': () => answered({ jobId: 'nobody' }),
    },
  });
  const controller = new BatchController(app, api);
  await controller.choose();
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const open = (): BatchDraft => {
    if (controller.draft === null) throw new Error('no draft');
    return controller.draft;
  };
  const nothing = { failure: null as string | null, tried: false };
  let expected = nothing;
  const asked = async (act: Promise<unknown>, isTrial: boolean): Promise<void> => {
    const hasPlan = open().plan !== null;
    const { tried } = expected;
    await act;
    if (!hasPlan) return;
    const failure = world.serves ? (world.grants ? null : 'service.refused') : 'service.unreachable';
    expected = { failure, tried: isTrial ? failure === null : tried };
  };
  const changed = (): void => {
    expected = nothing;
  };
  const acts: [string, () => unknown][] = [
    ['the service goes or comes', () => (world.serves = !world.serves)],
    ['a grant goes or comes', () => (world.grants = !world.grants)],
    ['the file goes or comes', () => (world.reads = pick(3) > 0)],
    ['tests', () => asked(open().tryRows(), true)],
    ['tests', () => asked(open().tryRows(), true)],
    ['runs', () => asked(open().start(), false)],
    [
      'chooses',
      () => {
        const action = (['keep', 'detokenize', 'mask', 'tokenize'] as const)[pick(4)] ?? 'keep';
        const column = 1 + pick(3);
        const isRead = action === 'tokenize' || data.preview.columns[column]?.masked === true;
        open().choose(column, action);
        changed();
        if (isRead && !world.reads) expected = { ...expected, failure: 'file.unreadable' };
      },
    ],
    [
      'reads it otherwise',
      async () => {
        const { tried } = expected;
        await open().read({ delimiter: pick(2) === 0 ? ';' : ',' });
        expected = world.reads ? nothing : { failure: 'file.unreadable', tried };
      },
    ],
    [
      'another connection',
      async () => {
        const next = app.connection?.id === data.builtIn.id ? other : data.builtIn;
        await app.choose(next.id, next.policies[0] ?? '');
        changed();
      },
    ],
    [
      'another file',
      async () => {
        world.reads = true;
        await controller.choose();
        changed();
      },
    ],
  ];
  const past: string[] = [];
  const seen = new Set<string>();
  for (let step = 0; step < steps; step++) {
    const [name, act] = acts[pick(acts.length)] ?? ['', () => undefined];
    past.push(name);
    await act();
    await settled();
    const draft = open();
    const where = `seed ${seed}: ${past.slice(-6).join(', ')}`;
    expect(draft.failure?.code ?? null, where).toBe(expected.failure);
    expect(draft.trial !== null, where).toBe(expected.tried);
    for (const { definition, policy } of draft.columns.values()) {
      expect(app.connection?.policies, where).toContain(policy);
      expect(
        app.definitions.map((one) => one.name),
        where,
      ).toContain(definition);
    }
    seen.add(draft.failure?.code ?? (draft.trial === null ? '' : 'tried'));
  }
  return seen;
}

test('nor does one of a file that is planned', async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 20; seed++) for (const one of await walkDraft(seed, 60)) seen.add(one);
  expect([...seen].sort()).toEqual([
    '',
    'file.unreadable',
    'service.refused',
    'service.unreachable',
    'tried',
  ]);
});

test('a file that is read in two ways at once is shown in the later one', async () => {
  const slow = Promise.withResolvers<undefined>();
  const { app, api } = await openApp({
    answers: {
      'batch.preview': async ({ reading }) => {
        if (reading.encoding === 'utf-16le') await slow.promise;
        return done({ ...data.preview, reading: { ...data.preview.reading, ...(reading as object) } });
      },
    },
  });
  const controller = new BatchController(app, api);
  await controller.choose();
  const first = controller.draft?.read({ encoding: 'utf-16le' });
  await controller.draft?.read({ encoding: 'windows-1252' });
  slow.resolve(undefined);
  await first;
  expect(controller.draft?.preview?.reading.encoding).toBe('windows-1252');
});

test('a plan outlives that its connection is removed, which can be undone', async () => {
  const { fake, app, api } = await openApp();
  const controller = new BatchController(app, api);
  await controller.choose();
  controller.draft?.choose(1, 'detokenize');
  const { active } = fake.state;
  fake.change({ active: null });
  expect(app.connection).toBeNull();
  fake.change({ active });
  expect(controller.draft?.columns.get(1)?.operation).toBe('detokenize');
});
