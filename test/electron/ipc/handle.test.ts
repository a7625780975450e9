import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { calls, type CallName, type Handlers } from '../../../electron/contract/calls.ts';
import { failureSchema, failed } from '../../../electron/contract/errors.ts';
import { createRouter } from '../../../electron/ipc/router.ts';

const origin = 'app://tokendesk';
const sender = { origin, isMainFrame: true };
const names = Object.keys(calls) as CallName[];

function routerOver(handlers: Partial<Handlers>, locked = () => false) {
  const bugs: string[] = [];
  const rest = Object.fromEntries(names.map((name) => [name, () => Promise.resolve(failed('call.failed'))]));
  const router = createRouter({
    handlers: { ...rest, ...handlers } as Handlers,
    origin,
    locked,
    onBug: (call, what) => bugs.push(`${call} ${what}`),
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

describe('what goes out', () => {
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
    requestId: 'r',
  } as const;
  const input = { policy: 'p', definition: 'd', token: 't', caseReference: '' };

  test('is what the contract lists', async () => {
    const { router } = routerOver({ 'lookup.mask': () => Promise.resolve({ ok: true, value: lookup }) });
    expect(await router(sender, 'lookup.mask', input)).toEqual({ ok: true, value: lookup });
  });

  test('never has a member that the contract does not list', async () => {
    const leaking = { ...lookup, apiKey: 'canary' };
    const { router, bugs } = routerOver({
      'lookup.mask': () => Promise.resolve({ ok: true, value: leaking }),
    });
    expect(JSON.stringify(await router(sender, 'lookup.mask', input))).not.toContain('canary');
    expect(bugs).toEqual(['lookup.mask ZodError']);
  });

  test('says nothing of an error but that there was one', async () => {
    const { router, bugs } = routerOver({
      'lookup.mask': () => Promise.reject(new TypeError('canary in a message')),
    });
    expect(await router(sender, 'lookup.mask', input)).toEqual(
      failed('call.failed', { operation: 'lookup.mask' }),
    );
    expect(bugs).toEqual(['lookup.mask TypeError']);
  });

  test('never has a member of a failure that is not listed', async () => {
    const failure = { ...failed('service.tls').failure, cause: 'canary' };
    const { router } = routerOver({ 'lookup.mask': () => Promise.resolve({ ok: false, failure }) });
    expect(JSON.stringify(await router(sender, 'lookup.mask', input))).not.toContain('canary');
  });
});

describe('while locked', () => {
  test('only the calls that say so are answered', async () => {
    const { router } = routerOver({}, () => true);
    for (const name of names) {
      const outcome = await router(sender, name, {});
      const refused = !outcome.ok && outcome.failure.code === 'app.locked';
      expect([name, refused]).toEqual([name, !calls[name].whileLocked]);
    }
  });

  test('an answer that arrives after the lock fell stays inside', async () => {
    let locked = false;
    const revealed = {
      ok: true,
      value: { revealId: 'r', cleartext: 'canary', hideAfterMs: 1, requestId: 'x' },
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
