import { expect, test, vi } from 'vitest';
import { noHashes } from '../support/token-hashes.ts';
import { closeInOrder } from '../../electron/app/lifecycle.ts';
import { done, failed } from '../../electron/contract/errors.ts';
import { openLookup } from '../../electron/lookup/lookup.ts';
import { createAutoClearClipboard } from '../../electron/privacy/clipboard.ts';
import { openLock } from '../../electron/privacy/lock.ts';
import { createReveals } from '../../electron/privacy/reveals.ts';
import { watchAway } from '../../electron/privacy/watch-away.ts';
import type { Answer, ServiceClient } from '../../electron/service/service-client.ts';
import { value } from '../support/audit-folder.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { noPassphrase } from '../support/no-passphrase.ts';
import { gateWith } from '../support/cleartext-gate.ts';
import { auditWith } from '../support/fake-audit.ts';

const card = '4111111111111111';
type Away = 'blur' | 'suspend' | 'resume' | 'lock-screen' | 'quit';

/** Real lookups, lock, reveals and clipboard over a service whose answer to Detokenize the test gives. */
async function app() {
  const clock = fakeClock();
  const system = { text: '', writes: 0, delay: Promise.resolve() };
  const clipboard = createAutoClearClipboard({
    clipboard: {
      write: async (text) => {
        await system.delay;
        system.text = text;
        system.writes++;
      },
      read: () => Promise.resolve(system.text),
      clear: () => Promise.resolve(void (system.text = '')),
    },
    clock,
    clearMs: () => 30_000,
  });
  const lock = await openLock({
    clock,
    idleMs: () => 15 * 60_000,
    ...noPassphrase,
  });
  const reveals = createReveals({
    clock,
    revealMs: () => 20_000,
    newId: () => 'r1',
    emit: () => undefined,
    protectContent: () => undefined,
    endRenderer: () => undefined,
  });
  let away: (signal: never) => void = () => undefined;
  watchAway({
    platform: { onAway: (listener) => ((away = listener), () => undefined) },
    lock,
    reveals,
    clipboard,
  });
  let answer: () => void = () => undefined;
  let answerActive: (() => void) | null = null;
  const held = { active: false };
  const client = {
    getMasked: () => Promise.resolve(done({ value: '4111••1111', requestId: 'r' })),
    detokenize: () =>
      new Promise((resolve) => {
        answer = () => resolve(done<Answer>({ value: card, requestId: 'r' }));
      }),
  } as unknown as ServiceClient;
  const ends: unknown[] = [];
  const lookups = openLookup({
    active: async () => {
      if (held.active) await new Promise<void>((resolve) => (answerActive = resolve));
      return done({
        connectionId: 'c1',
        name: 'Acme',
        environment: 'test',
        builtIn: false,
        definitions: [],
        client,
      });
    },
    gate: gateWith({
      audit: auditWith(() => Promise.resolve(done((end) => void ends.push(end)))),
      reveals,
    }),
    reveals,
    clipboard,
    hashes: noHashes,
    now: () => new Date(),
    newId: () => 'l1',
  });
  const subject = { policy: 'p', definition: 'd', token: '9999', caseReference: 'D-1' };
  const { id: lookupId } = value(await lookups['lookup.mask'](subject));
  const copy = () =>
    lookups['lookup.copy']({ what: 'cleartext', lookupId, reason: 'Refund', caseReference: 'D-1' });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    clock,
    system,
    clipboard,
    lock,
    held,
    ends,
    lookups,
    lookupId,
    copy,
    away: (signal: Away) => (away as (signal: Away) => void)(signal),
    answer: async () => {
      await settle();
      answer();
    },
    answerActive: async () => {
      await settle();
      answerActive?.();
    },
  };
}

test.each(['lock-screen', 'suspend', 'resume', 'quit'] as const)(
  'an answer after "%s" does not reach the clipboard',
  async (signal) => {
    const { copy, away, answer, system, ends } = await app();
    const copying = copy();
    await new Promise((resolve) => setImmediate(resolve));
    away(signal);
    await answer();
    expect(await copying).toEqual(failed('app.locked'));
    expect(system).toMatchObject({ text: '', writes: 0 });
    expect(ends).toEqual([expect.objectContaining({ ok: false, code: 'app.locked' })]);
  },
);

test('an answer after the person locked and unlocked again is too late as well', async () => {
  const { copy, lock, answer, system } = await app();
  const copying = copy();
  await new Promise((resolve) => setImmediate(resolve));
  lock.now();
  value(await lock.unlock(''));
  await answer();
  expect(await copying).toEqual(failed('app.locked'));
  expect(system.writes).toBe(0);
  const again = copy();
  await answer();
  expect(await again).toMatchObject({ ok: true });
  expect(system.text).toBe(card);
});

test('an answer after the idle time has locked the app does not reach the clipboard', async () => {
  const { copy, clock, answer, system } = await app();
  const copying = copy();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(15 * 60_000);
  await answer();
  expect(await copying).toEqual(failed('app.locked'));
  expect(system.writes).toBe(0);
});

test('a mask or a token whose call was under way is not written either', async () => {
  for (const what of ['masked', 'token'] as const) {
    const { lookups, lookupId, held, lock, answerActive, system } = await app();
    held.active = true;
    const copying = lookups['lookup.copy']({ what, lookupId });
    await new Promise((resolve) => setImmediate(resolve));
    lock.now();
    await answerActive();
    expect(await copying).toEqual(failed('app.locked'));
    expect(system.writes).toBe(0);
  }
});

test('a write that waits behind another when the app locks is refused, and the other is cleared', async () => {
  const { clipboard, system, lock } = await app();
  let go: () => void = () => undefined;
  system.delay = new Promise((resolve) => (go = resolve));
  const epoch = clipboard.epoch();
  const writes = [clipboard.write('one', epoch), clipboard.write('two', epoch)];
  await new Promise((resolve) => setImmediate(resolve));
  lock.now();
  go();
  expect(await writes[1]).toEqual(failed('app.locked'));
  await vi.waitFor(() => expect(system.text).toBe(''));
  expect(system.writes).toBe(1);
});

test('a clipboard that is cleared by time takes what was on its way', async () => {
  const { clipboard, clock, system } = await app();
  const epoch = clipboard.epoch();
  await clipboard.write('one', epoch);
  clock.advance(30_000);
  await vi.waitFor(() => expect(system.text).toBe(''));
  expect(await clipboard.write('two', epoch)).toMatchObject({ ok: true });
});

test('after the end nothing is written, whenever it was begun', async () => {
  const { clipboard, copy, answer, system } = await app();
  await clipboard.write('one', clipboard.epoch());
  const copying = copy();
  await new Promise((resolve) => setImmediate(resolve));
  await clipboard.close();
  await answer();
  expect(await copying).toEqual(failed('app.locked'));
  expect(await clipboard.write('two', clipboard.epoch())).toEqual(failed('app.locked'));
  expect(system).toMatchObject({ text: '', writes: 1 });
});

test('closing runs every step, in order, when one fails', async () => {
  const ran: string[] = [];
  const bugs: string[] = [];
  await closeInOrder(
    {
      clients: () => {
        ran.push('clients');
        return Promise.reject(new Error('proxy'));
      },
      clipboard: () => {
        ran.push('clipboard');
        throw new Error('at once');
      },
      audit: () => Promise.resolve(void ran.push('audit')),
    },
    { bug: (where) => void bugs.push(where) },
  );
  expect(ran).toEqual(['clients', 'clipboard', 'audit']);
  expect(bugs).toEqual(['close clients', 'close clipboard']);
});
