import { expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import { openLock, type UnlockTries, type VerifierVault } from '../../../electron/privacy/lock.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const minute = 60_000;

function machine() {
  const secrets = new Map<string, string>();
  const kept = { tries: { wrong: 0, until: null } as UnlockTries };
  const clock = fakeClock();
  const settings = { idleMs: 15 * minute };
  const vault: VerifierVault & { trouble: 'keychain.locked' | null } = {
    trouble: null,
    store: (account, secret) => answer(() => (secrets.set(account, secret), done('stored'))),
    read: (account) =>
      answer(() => {
        const found = secrets.get(account);
        return found === undefined ? failed('credentials.missing') : done(found);
      }),
    remove: (account) => answer(() => (secrets.delete(account), done(null))),
  };
  function answer<T>(run: () => Outcome<T>): Promise<Outcome<T>> {
    return Promise.resolve(vault.trouble ? failed(vault.trouble) : run());
  }
  const start = () =>
    openLock({
      clock,
      idleMs: () => settings.idleMs,
      vault,
      tries: { read: () => kept.tries, write: (tries) => (kept.tries = tries) },
      cost: 10,
    });
  return { start, clock, settings, secrets, vault, kept };
}

async function withPassphrase() {
  const app = machine();
  const lock = await app.start();
  expect((await lock.setPassphrase('', 'correct horse')).ok).toBe(true);
  lock.now();
  return { ...app, lock };
}

test('locks after idle minutes, and not while somebody works', async () => {
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

test('a shorter idle time holds from the next sign of life on', async () => {
  const { start, clock, settings } = machine();
  const lock = await start();
  settings.idleMs = minute;
  lock.active();
  clock.advance(minute);
  expect(lock.state().locked).toBe(true);
});

test('a sign of life after too long locks, even if the timer was late', async () => {
  const { start, clock } = machine();
  const after = clock.after.bind(clock);
  clock.after = (ms, run) => after(ms + 60 * minute, run);
  const lock = await start();
  clock.advance(16 * minute);
  lock.active();
  expect(lock.state().locked).toBe(true);
});

test('without a passphrase unlocking is a click, and idle time starts anew', async () => {
  const { start, clock, vault } = machine();
  const lock = await start();
  lock.now();
  vault.trouble = 'keychain.locked';
  expect(await lock.unlock('')).toEqual(done({ locked: false, passphraseSet: false, waitMs: 0 }));
  clock.advance(15 * minute);
  expect(lock.state().locked).toBe(true);
});

test('with a passphrase only that one unlocks; the keychain has no more than its verifier', async () => {
  const { lock, secrets, clock } = await withPassphrase();
  expect([...secrets.values()].join()).not.toContain('correct');
  expect(await lock.unlock('wrong')).toEqual(failed('unlock.wrong', { retryAfterMs: 1_000 }));
  expect(lock.state()).toEqual({ locked: true, passphraseSet: true, waitMs: 1_000 });
  clock.advance(1_000);
  expect(await lock.unlock('correct horse')).toEqual(done({ locked: false, passphraseSet: true, waitMs: 0 }));
});

test('a passphrase is the same however its letters are composed', async () => {
  const { start } = machine();
  const lock = await start();
  await lock.setPassphrase('', 'caf\u00e9');
  lock.now();
  expect((await lock.unlock('cafe\u0301')).ok).toBe(true);
});

test('each wrong try makes the wait longer, up to a quarter of an hour, and waiting is enforced', async () => {
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

test('many tries at once are one try', async () => {
  const { lock, kept } = await withPassphrase();
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => lock.unlock('wrong')));
  expect(outcomes.filter((outcome) => !outcome.ok && outcome.failure.code === 'unlock.wrong')).toHaveLength(
    1,
  );
  expect(kept.tries.wrong).toBe(1);
});

test('a restart opens nothing and forgives nothing', async () => {
  const { lock, start } = await withPassphrase();
  await lock.unlock('wrong');
  lock.close();
  const next = await start();
  expect(next.state()).toEqual({ locked: true, passphraseSet: true, waitMs: 1_000 });
  expect(await next.unlock('correct horse')).toEqual(failed('unlock.wait', { retryAfterMs: 1_000 }));
});

test('a try is counted before it is checked, so that ending the process is not free', async () => {
  const { lock, kept } = await withPassphrase();
  const trying = lock.unlock('wrong');
  expect(kept.tries.wrong).toBe(1);
  await trying;
});

test('a clock put back does not lock anyone out for longer than the delay', async () => {
  const { lock, clock } = await withPassphrase();
  await lock.unlock('wrong');
  clock.setWall('2020-01-01T00:00:00.000Z');
  expect(lock.state().waitMs).toBe(1_000);
});

test('a keychain that can not tell keeps the app locked at start, and opens nothing', async () => {
  const { vault, start, lock } = await withPassphrase();
  lock.close();
  vault.trouble = 'keychain.locked';
  const next = await start();
  expect(next.state()).toEqual({ locked: true, passphraseSet: true, waitMs: 0 });
  expect(await next.unlock('correct horse')).toEqual(failed('keychain.locked'));
  expect(next.state().waitMs).toBe(0);
  vault.trouble = null;
  expect(await next.unlock('wrong')).toEqual(failed('unlock.wrong', { retryAfterMs: 1_000 }));
});

test('a verifier taken out of the keychain while the app runs opens nothing', async () => {
  const { lock, secrets } = await withPassphrase();
  secrets.clear();
  expect((await lock.unlock('wrong')).ok).toBe(false);
});

test('the passphrase is changed and removed by who knows it', async () => {
  const { lock, clock, secrets } = await withPassphrase();
  await lock.unlock('correct horse');
  expect(await lock.setPassphrase('wrong', 'mine')).toEqual(failed('unlock.wrong', { retryAfterMs: 1_000 }));
  clock.advance(1_000);
  expect((await lock.setPassphrase('correct horse', 'battery staple')).ok).toBe(true);
  lock.now();
  expect((await lock.unlock('battery staple')).ok).toBe(true);
  expect(await lock.setPassphrase('battery staple', '')).toEqual(
    done({ locked: false, passphraseSet: false, waitMs: 0 }),
  );
  expect(secrets.size).toBe(0);
});

test('a passphrase that can not be kept is not set', async () => {
  const { start, vault } = machine();
  const lock = await start();
  vault.trouble = 'keychain.locked';
  expect(await lock.setPassphrase('', 'mine')).toEqual(failed('keychain.locked'));
  expect(lock.state().passphraseSet).toBe(false);
});
