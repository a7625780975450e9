import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createState } from '../../electron/app/state.ts';
import {
  calls,
  events,
  type CallName,
  type EventName,
  type EventPayload,
  type Handlers,
} from '../../electron/contract/calls.ts';
import { done, failed } from '../../electron/contract/errors.ts';
import type { AppState } from '../../electron/contract/models/app.ts';
import { createEventSender, createRouter } from '../../electron/ipc/router.ts';
import { fitting } from '../support/payloads.ts';
import * as data from '../src/support/fake-data.ts';

/* While locked, the window gets an event that ends a reveal and a bare lock state. Everything else tells what goes on. */

const sender = { origin: 'app://tokendesk', isMainFrame: true };
const lockedState = { locked: true, passphraseSet: true, waitMs: 0 } as const;
const bareState = {
  version: '1.2.3',
  theme: 'system',
  environment: 'production',
  lock: lockedState,
} as const;
const canary = 'ACME-layoffs-2026.csv';

function sending(locked: () => boolean) {
  const sent: [EventName, unknown][] = [];
  const send = createEventSender((event, payload) => sent.push([event, payload]), {
    locked,
    allowed: (_, message) => message,
    log: { bug: () => undefined },
  });
  return { send, sent };
}

function stateOf(lock: () => AppState['lock']) {
  const sent: unknown[] = [];
  const state = createState({
    platform: { version: '1.2.3', send: (_event, payload) => sent.push(payload) },
    connections: {
      active: () => ({ connectionId: data.production.id, policy: 'analyst' }),
      views: () => [data.production],
      find: () => done({ ...data.production }),
    } as never,
    profiles: { view: () => ({ name: null, fitted: [] }) },
    keychain: { state: () => 'ready' } as never,
    audit: { state: () => 'ready' },
    clients: () => ({ open: () => Promise.resolve(null) }) as never,
    lock,
    settings: () => data.settings,
    managed: {},
    passphraseMissing: () => false,
    settingsDamage: () => ({ reason: 'unfit', keptAs: canary }),
    removedPartials: () => [],
    leftPartials: () => [],
    upgradedFrom: null,
    webhooks: () => null,
    provided: () => ({ provided: [], providedFailure: null }),
    approval: () => ({ wanted: null, held: [] }),
    log: { bug: () => undefined },
  });
  return { state, sent };
}

describe('events while locked', () => {
  const names = Object.keys(events) as EventName[];

  test.each(names.filter((name) => name !== 'reveal.ended'))('%s of any content is not sent', (name) => {
    const { send, sent } = sending(() => true);
    for (const payload of fc.sample(fitting(events[name]), 50))
      if (!(name === 'app.state' && !('settings' in (payload as object)))) send(name, payload as never);
    expect(sent).toEqual([]);
  });

  test('a job is not told, not even by its name', () => {
    const { send, sent } = sending(() => true);
    send('batch.job', { ...data.job(), sourceName: canary });
    expect(JSON.stringify(sent)).not.toContain(canary);
  });

  test('the end of a reveal and a bare state are sent', () => {
    const { send, sent } = sending(() => true);
    const ended: EventPayload<'reveal.ended'> = { revealId: 'r1', cause: 'locked' };
    send('reveal.ended', ended);
    send('app.state', bareState);
    expect(sent).toEqual([
      ['reveal.ended', ended],
      ['app.state', bareState],
    ]);
  });

  test('a bare state with one member more is not sent', () => {
    const { send, sent } = sending(() => true);
    send('app.state', { ...bareState, sourceName: canary } as never);
    expect(sent).toEqual([]);
  });

  test('after unlocking all are sent again', () => {
    let locked = true;
    const { send, sent } = sending(() => locked);
    send('app.state', data.appState());
    locked = false;
    send('app.state', data.appState());
    expect(sent).toHaveLength(1);
  });
});

describe('the state while locked', () => {
  test('is the lock, the version, the theme and the colour of the environment', async () => {
    const { state } = stateOf(() => lockedState);
    expect(await state.read()).toEqual(bareState);
  });

  test('is that of the moment it is answered: the app may lock while it is collected', async () => {
    let lock: AppState['lock'] = { ...lockedState, locked: false };
    const { state } = stateOf(() => lock);
    const reading = state.read();
    lock = lockedState;
    expect(await reading).toEqual(bareState);
  });
});

describe('calls while locked', () => {
  function routerOver(handlers: Partial<Handlers>, locked: () => boolean) {
    const rest = Object.fromEntries(
      Object.keys(calls).map((name) => [name, () => Promise.resolve(failed('call.failed'))]),
    );
    return createRouter({
      handlers: { ...rest, ...handlers } as Handlers,
      origin: sender.origin,
      locked,
      allowed: (_, message) => message,
      log: { bug: () => undefined },
    });
  }

  test('a handler that answers with the whole state gets none of it out', async () => {
    const full = data.appState({ lock: lockedState });
    const router = routerOver({ 'app.state': () => Promise.resolve(done(full)) }, () => true);
    const answer = JSON.stringify(await router(sender, 'app.state', {}));
    for (const { name, baseUrl } of full.connections)
      expect([answer.includes(name), answer.includes(baseUrl)]).toEqual([false, false]);
  });

  test('nor does one whose answer comes after the app was locked', async () => {
    let locked = false;
    const router = routerOver(
      {
        'app.state': () => {
          locked = true;
          return Promise.resolve(done(data.appState()));
        },
      },
      () => locked,
    );
    expect(await router(sender, 'app.state', {})).toMatchObject({ ok: false });
  });

  test('no other call than these is answered', () => {
    const open = (Object.keys(calls) as CallName[]).filter((name) => calls[name].whileLocked !== null);
    expect(open).toEqual([
      'app.state',
      'lookup.hidden',
      'lock.now',
      'lock.unlock',
      'lock.reset',
      'lock.active',
    ]);
  });
});
