import { expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import { openLock, type UnlockAttempts } from '../../../electron/privacy/lock.ts';
import type { MadeSecret } from '../../../electron/storage/keychain.ts';
import { wrapKey } from '../../../electron/storage/passphrase.ts';
import { createSecretsKey } from '../../../electron/storage/secrets-key.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const minute = 60_000;

function machine() {
  const entries = new Map<string, string>();
  const stored = { attempts: { wrong: 0, until: null } as UnlockAttempts, isSet: false };
  const clock = fakeClock();
  const settings = { idleMs: 15 * minute };
  const keychain = {
    failure: null as 'keychain.locked' | null,
    settled: () => answer(() => done(null)),
    store: (account: string, secret: string) =>
      answer(() => (entries.set(account, secret), done('stored' as const))),
    read: (account: string) =>
      answer(() => {
        const found = entries.get(account);
        return found === undefined ? failed('credentials.missing') : done(found);
      }),
    keep: (account: string, { make }: MadeSecret) =>
      answer(() => {
        const kept = entries.get(account) ?? make();
        entries.set(account, kept);
        return done(kept);
      }),
    peek: (account: string) => (entries.has(account) ? 'stored' : 'missing'),
    remove: (account: string) => answer(() => (entries.delete(account), done(null))),
  };
  function answer<T>(run: () => Outcome<T>): Promise<Outcome<T>> {
    return Promise.resolve(keychain.failure ? failed(keychain.failure) : run());
  }
  const start = () =>
    openLock({
      clock,
      idleMs: () => settings.idleMs,
      secrets: keychain,
      key: createSecretsKey(keychain),
      isSet: { read: () => stored.isSet, write: (isSet) => (stored.isSet = isSet) },
      attempts: {
        read: () => Promise.resolve(stored.attempts),
        write: (attempts) => Promise.resolve(((stored.attempts = attempts), done(null))),
      },
      forgetSecrets: () => Promise.resolve(done(null)),
      cost: 10,
    });
  return { start, clock, settings, entries, keychain, stored };
}

async function withPassphrase() {
  const app = machine();
  const lock = await app.start();
  expect((await lock.setPassphrase('', 'correct horse')).ok).toBe(true);
  lock.now();
  return { ...app, lock };
}

test('locks after idle time, and not during activity', async () => {
  const { start, clock } = machine();
  const lock = await start();
  const changes: boolean[] = [];
  lock.onChange(() => changes.push(lock.state().locked));
  for (let count = 0; count < 10; count++) {
    clock.advance(14 * minute);
    lock.active();
  }
  expect(lock.state()).toEqual({ locked: false, passphraseSet: false, waitMs: 0 });
  clock.advance(15 * minute - 1);
  expect(lock.state().locked).toBe(false);
  clock.advance(1);
  expect(lock.state().locked).toBe(true);
  lock.active();
  expect(lock.state().locked).toBe(true);
  expect(changes).toEqual([true]);
});

test('a shorter idle time applies from the next activity on', async () => {
  const { start, clock, settings } = machine();
  const lock = await start();
  settings.idleMs = minute;
  lock.active();
  clock.advance(minute);
  expect(lock.state().locked).toBe(true);
});

test('activity after the idle time locks, even if the timer was late', async () => {
  const { start, clock } = machine();
  const after = clock.after.bind(clock);
  clock.after = (ms, run) => after(ms + 60 * minute, run);
  const lock = await start();
  clock.advance(16 * minute);
  lock.active();
  expect(lock.state().locked).toBe(true);
});

test('without a passphrase any input unlocks, and idle time starts again', async () => {
  const { start, clock, keychain } = machine();
  const lock = await start();
  lock.now();
  keychain.failure = 'keychain.locked';
  expect(await lock.unlock('')).toEqual(done({ locked: false, passphraseSet: false, waitMs: 0 }));
  clock.advance(15 * minute);
  expect(lock.state().locked).toBe(true);
});

test('with a passphrase only that one unlocks; the keychain stores the key under it only', async () => {
  const { lock, entries, clock } = await withPassphrase();
  expect([...entries.values()].join()).not.toContain('correct');
  expect(await lock.unlock('wrong')).toEqual(failed('unlock.wrong', { retryAfterMs: 1_000 }));
  expect(lock.state()).toEqual({ locked: true, passphraseSet: true, waitMs: 1_000 });
  clock.advance(1_000);
  expect(await lock.unlock('correct horse')).toEqual(done({ locked: false, passphraseSet: true, waitMs: 0 }));
});

test('a try at a passphrase costs what OWASP recommends, where no other cost is given', async () => {
  expect(await wrapKey('correct horse', new Uint8Array(32))).toMatch(/^scrypt-key:17:/);
});

test('a passphrase is the same however its letters are composed', async () => {
  const { start } = machine();
  const lock = await start();
  await lock.setPassphrase('', 'caf\u00e9 au lait');
  lock.now();
  expect((await lock.unlock('cafe\u0301 au lait')).ok).toBe(true);
});

test('each wrong attempt doubles the wait, up to 15 minutes, and the wait is enforced', async () => {
  const { lock, clock } = await withPassphrase();
  const waits: number[] = [];
  for (let count = 0; count < 12; count++) {
    await lock.unlock('wrong');
    waits.push(lock.state().waitMs);
    clock.advance(lock.state().waitMs - 1);
    expect(await lock.unlock('correct horse')).toEqual(failed('unlock.wait', { retryAfterMs: 1 }));
    clock.advance(1);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900].map((seconds) => seconds * 1_000));
  expect((await lock.unlock('correct horse')).ok).toBe(true);
  expect(lock.state().waitMs).toBe(0);
});

test('many attempts at once are one attempt', async () => {
  const { lock, stored } = await withPassphrase();
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => lock.unlock('wrong')));
  expect(outcomes.filter((outcome) => !outcome.ok && outcome.failure.code === 'unlock.wrong')).toHaveLength(
    1,
  );
  expect(stored.attempts.wrong).toBe(1);
});

test('a restart keeps the lock and the wait', async () => {
  const { lock, start } = await withPassphrase();
  await lock.unlock('wrong');
  lock.close();
  const next = await start();
  expect(next.state()).toEqual({ locked: true, passphraseSet: true, waitMs: 1_000 });
  expect(await next.unlock('correct horse')).toEqual(failed('unlock.wait', { retryAfterMs: 1_000 }));
});

test('an attempt is counted before it is checked, so that ending the process does not undo it', async () => {
  const { lock, stored } = await withPassphrase();
  const trying = lock.unlock('wrong');
  expect(stored.attempts.wrong).toBe(1);
  await trying;
});

test('a clock set back does not make the wait longer than the delay', async () => {
  const { lock, clock } = await withPassphrase();
  await lock.unlock('wrong');
  clock.setWall('2020-01-01T00:00:00.000Z');
  expect(lock.state().waitMs).toBe(1_000);
});

test('without an answer of the keychain the app starts locked and does not unlock', async () => {
  const { keychain, start, lock } = await withPassphrase();
  lock.close();
  keychain.failure = 'keychain.locked';
  const next = await start();
  expect(next.state()).toEqual({ locked: true, passphraseSet: true, waitMs: 0 });
  expect(await next.unlock('correct horse')).toEqual(failed('keychain.locked'));
  expect(next.state().waitMs).toBe(0);
  keychain.failure = null;
  expect(await next.unlock('wrong')).toEqual(failed('unlock.wrong', { retryAfterMs: 1_000 }));
});

test('a verifier removed from the keychain while the app runs does not unlock it', async () => {
  const { lock, entries } = await withPassphrase();
  entries.clear();
  expect((await lock.unlock('wrong')).ok).toBe(false);
});

test('the passphrase is changed and removed with the current one only', async () => {
  const { lock, clock, entries } = await withPassphrase();
  await lock.unlock('correct horse');
  expect(await lock.setPassphrase('wrong', 'mine, too')).toEqual(
    failed('unlock.wrong', { retryAfterMs: 1_000 }),
  );
  clock.advance(1_000);
  expect((await lock.setPassphrase('correct horse', 'battery staple')).ok).toBe(true);
  lock.now();
  expect((await lock.unlock('battery staple')).ok).toBe(true);
  expect(await lock.setPassphrase('battery staple', '')).toEqual(
    done({ locked: false, passphraseSet: false, waitMs: 0 }),
  );
  expect([...entries.keys()]).toEqual(['secrets:key']);
});

test('a passphrase that can not be stored is not set', async () => {
  const { start, keychain } = machine();
  const lock = await start();
  keychain.failure = 'keychain.locked';
  expect(await lock.setPassphrase('', 'mine, too')).toEqual(failed('keychain.locked'));
  expect(lock.state().passphraseSet).toBe(false);
});
