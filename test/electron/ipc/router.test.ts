import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  calls,
  type CallName,
  type EventName,
  type EventPayload,
  type Handlers,
} from '../../../electron/contract/calls.ts';
import { failureSchema, failed, type Outcome } from '../../../electron/contract/errors.ts';
import { createEventSender, createRouter } from '../../../electron/ipc/router.ts';
import { createLog } from '../../../electron/log/log.ts';
import { fitting } from '../../support/payloads.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const origin = 'app://tokendesk';
const sender = { origin, isMainFrame: true };
const names = Object.keys(calls) as CallName[];

function routerOver(handlers: Partial<Handlers>, locked = () => false, isLeak = (): boolean => false) {
  const bugs: string[] = [];
  const rest = Object.fromEntries(names.map((name) => [name, () => Promise.resolve(failed('call.failed'))]));
  const router = createRouter({
    handlers: { ...rest, ...handlers } as Handlers,
    origin,
    locked,
    allowed: (_, message) => (isLeak() ? null : message),
    log: { bug: (place, error) => bugs.push(`${place} ${error instanceof Error ? error.name : ''}`) },
  });
  return { router, bugs };
}

const hidden = { ok: true, value: {} } as const;

describe('who may ask', () => {
  test.each([
    ['nobody known', null],
    ['another origin', { origin: 'https://evil.example', isMainFrame: true }],
    ['an origin that only starts alike', { origin: 'app://tokendesk.evil', isMainFrame: true }],
    ['an opaque origin', { origin: 'null', isMainFrame: true }],
    ['a frame inside the window', { origin, isMainFrame: false }],
  ])('refuses %s', async (_who, who) => {
    const hide = vi.fn(() => Promise.resolve(hidden));
    const { router } = routerOver({ 'lookup.hide': hide });
    expect(await router(who, 'lookup.hide', { revealId: 'a' })).toEqual(failed('call.refused'));
    expect(hide).not.toHaveBeenCalled();
  });

  test.each(['nothing.like.it', '__proto__', 'constructor', 'toString', ''])(
    'refuses the call %j',
    async (call) => {
      const { router } = routerOver({});
      expect(await router(sender, call, {})).toEqual(failed('call.refused'));
    },
  );
});

describe('what comes in', () => {
  test('is refused with any member that is not listed', async () => {
    const hide = vi.fn(() => Promise.resolve(hidden));
    const { router } = routerOver({ 'lookup.hide': hide });
    expect(await router(sender, 'lookup.hide', { revealId: 'a', more: 1 })).toEqual(
      failed('call.invalid', { operation: 'lookup.hide' }),
    );
    expect(hide).not.toHaveBeenCalled();
  });

  test('is refused where looking at it fails', async () => {
    const { router, bugs } = routerOver({});
    const payload = {
      get revealId(): string {
        throw new RangeError('Maximum call stack size exceeded');
      },
    };
    expect(await router(sender, 'lookup.hide', payload)).toEqual(
      failed('call.invalid', { operation: 'lookup.hide' }),
    );
    expect(bugs).toEqual([]);
  });

  test('never makes the router throw, whatever it is', async () => {
    const { router, bugs } = routerOver({});
    const payload = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withTypedArray: true }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), payload, async (name, input) => {
        const outcome = await router(sender, name, input);
        if (outcome.ok) throw new Error('no handler here succeeds');
        failureSchema.parse(outcome.failure);
      }),
      { numRuns: 10_000 },
    );
    expect(bugs).toEqual([]);
  });

  test('is bounded: no call takes ten million characters', async () => {
    const { router } = routerOver({});
    const huge = 'x'.repeat(10_000_000);
    for (const name of names)
      for (const payload of [
        huge,
        { value: huge, text: huge, token: huge, passphrase: huge, reference: huge },
      ])
        expect(await router(sender, name, payload)).toEqual(failed('call.invalid', { operation: name }));
  });
});

const lookup = {
  id: 'l1',
  at: '2026-01-02T03:04:05.678Z',
  connectionId: 'c1',
  policy: 'p',
  definition: 'd',
  token: 't',
  masked: 'm',
  kind: 'masked',
  caseReference: '',
  revealedAt: null,
  copiedAt: null,
  requestId: 'r',
  requestIds: ['r'] as string[],
} as const;

describe('what goes out', () => {
  const input = { policy: 'p', definition: 'd', token: 't', caseReference: '' };

  test('is what the contract lists', async () => {
    const { router } = routerOver({ 'lookup.mask': () => Promise.resolve({ ok: true, value: lookup }) });
    expect(await router(sender, 'lookup.mask', input)).toEqual({ ok: true, value: lookup });
  });

  test('is checked alike however often it is asked for, compiled or not', async () => {
    const answers: unknown[] = [];
    const good = routerOver({ 'lookup.mask': () => Promise.resolve({ ok: true, value: lookup }) });
    const bad = routerOver({
      'lookup.mask': () => Promise.resolve({ ok: true, value: { ...lookup, apiKey: 'more' } } as never),
    });
    for (let times = 0; times < 10; times++) {
      answers.push(await good.router(sender, 'lookup.mask', input));
      answers.push(await bad.router(sender, 'lookup.mask', input));
      answers.push(await good.router(sender, 'lookup.mask', { ...input, more: 1 }));
    }
    const each = [
      { ok: true, value: lookup },
      failed('call.failed', { operation: 'lookup.mask' }),
      failed('call.invalid', { operation: 'lookup.mask' }),
    ];
    expect(answers).toEqual(Array.from({ length: 10 }, () => each).flat());
  });

  test('never has a member that the contract does not list', async () => {
    const leaking = { ...lookup, apiKey: 'a value in the message' };
    const { router, bugs } = routerOver({
      'lookup.mask': () => Promise.resolve({ ok: true, value: leaking }),
    });
    expect(JSON.stringify(await router(sender, 'lookup.mask', input))).not.toContain(
      'a value in the message',
    );
    expect(bugs).toEqual(['ipc lookup.mask ZodError']);
  });

  test('carries nothing of an error', async () => {
    const { router, bugs } = routerOver({
      'lookup.mask': () => Promise.reject(new TypeError('canary in a message')),
    });
    expect(await router(sender, 'lookup.mask', input)).toEqual(
      failed('call.failed', { operation: 'lookup.mask' }),
    );
    expect(bugs).toEqual(['ipc lookup.mask TypeError']);
  });

  test.each<[string, Outcome<typeof lookup>]>([
    ['an answer', { ok: true, value: lookup }],
    ['a failure', failed('service.tls')],
  ])('is held back where %s has a value that was seen in clear', async (_, outcome) => {
    const handlers = { 'lookup.mask': () => Promise.resolve(outcome) };
    const { router } = routerOver(handlers, undefined, () => true);
    expect(await router(sender, 'lookup.mask', input)).toEqual(
      failed('call.leak', { operation: 'lookup.mask' }),
    );
  });

  test('never has a member of a failure that is not listed', async () => {
    const failure = { ...failed('service.tls').failure, detail: 'a value in the message' };
    const { router } = routerOver({ 'lookup.mask': () => Promise.resolve({ ok: false, failure }) });
    expect(JSON.stringify(await router(sender, 'lookup.mask', input))).not.toContain(
      'a value in the message',
    );
  });
});

describe('an error in a handler', () => {
  test.each(names)('of %s leaves one line in the log, without its message', async (name) => {
    const folder = tempFolder();
    const log = createLog({
      folder,
      codeFolder: import.meta.dirname,
      version: '1.2.3',
      now: () => new Date(),
    });
    const canary = 'canary-4111111111111111';
    const fail = () => Promise.reject(new RangeError(canary, { cause: canary }));
    const handlers = Object.fromEntries(names.map((call) => [call, fail])) as unknown as Handlers;
    const router = createRouter({
      handlers,
      origin,
      locked: () => false,
      allowed: (_, message) => message,
      log,
    });
    // A refinement beyond the shape refuses some of what fits it.
    const samples = fc.sample(fitting(calls[name].input), { numRuns: 200, seed: 1 });
    let outcome = await router(sender, name, samples.pop());
    while (!outcome.ok && outcome.failure.code === 'call.invalid' && samples.length > 0)
      outcome = await router(sender, name, samples.pop());

    expect(outcome).toEqual(failed('call.failed', { operation: name }));
    const lines = log.tail(10);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 'error',
        version: '1.2.3',
        place: `ipc ${name}`,
        error: expect.objectContaining({ class: 'RangeError' }) as unknown,
      }),
    ]);
    expect(lines.join()).not.toContain('a value in the message');
  });
});

describe('events', () => {
  function sending(isLeak = (): boolean => false) {
    const sent: [EventName, unknown][] = [];
    const bugs: string[] = [];
    const send = createEventSender((event, payload) => sent.push([event, payload]), {
      locked: () => false,
      allowed: (_, message) => (isLeak() ? null : message),
      log: { bug: (place) => bugs.push(place) },
    });
    return { send, sent, bugs };
  }
  const ended = { revealId: 'r1', cause: 'time' } as const;

  test('are sent as the contract lists them', () => {
    const { send, sent, bugs } = sending();
    send('reveal.ended', ended);
    expect(sent).toEqual([['reveal.ended', ended]]);
    expect(bugs).toEqual([]);
  });

  test('with a value that was seen in clear are not sent', () => {
    const { send, sent } = sending(() => true);
    send('reveal.ended', ended);
    expect(sent).toEqual([]);
  });

  test('with any other member are not sent, and are a bug', () => {
    const { send, sent, bugs } = sending();
    const leaking: EventPayload<'reveal.ended'> & { value: string } = {
      ...ended,
      value: 'a value in the message',
    };
    send('reveal.ended', leaking);
    expect(sent).toEqual([]);
    expect(bugs).toEqual(['event reveal.ended']);
  });
});

describe('while locked', () => {
  test('only the calls that say so are answered', async () => {
    const { router } = routerOver({}, () => true);
    for (const name of names) {
      const outcome = await router(sender, name, {});
      const refused = !outcome.ok && outcome.failure.code === 'app.locked';
      expect([name, refused]).toEqual([name, calls[name].whileLocked === null]);
    }
  });

  test('an answer that arrives after the app was locked is not sent', async () => {
    let locked = false;
    const revealed = {
      ok: true,
      value: { revealId: 'r', obscured: 'a value in the message', hideAfterMs: 1, requestId: 'x', lookup },
    } as const;
    const { router } = routerOver(
      {
        'lookup.reveal': () => {
          locked = true;
          return Promise.resolve(revealed);
        },
      },
      () => locked,
    );
    const outcome = await router(sender, 'lookup.reveal', {
      lookupId: 'l',
      xorKey: '0000',
      reason: 'r',
      caseReference: 'c',
    });
    expect(outcome).toEqual(failed('app.locked'));
  });
});
