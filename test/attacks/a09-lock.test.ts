import fs from 'node:fs';
import { expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import { openLock, type UnlockAttempts } from '../../electron/privacy/lock.ts';
import { wrapKey } from '../../electron/storage/passphrase.ts';
import { createSecretsKey } from '../../electron/storage/secrets-key.ts';
import { value } from '../support/audit-folder.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeKeyring, testEntry, testHomeId } from '../support/fake-keyring.ts';

const minute = 60_000;
const right = 'correct horse';
const verifier = await wrapKey(right, new Uint8Array(32), 10);

/** A workstation with a passphrase set; each `start` is a start of the app. */
function workstation(attempts: UnlockAttempts = { wrong: 0, until: null }) {
  const keyring = fakeKeyring({ [testEntry('lock:verifier')]: verifier });
  const clock = fakeClock();
  const stored = { attempts, writable: true, names: ['lock:verifier'], isSet: false };
  const forgotten: string[] = [];
  const start = () => {
    const keychain = createKeychain({
      homeId: testHomeId,
      load: () => Promise.resolve(keyring),
      index: { read: () => stored.names, write: (names) => (stored.names = [...names]) },
      clock,
    });
    return openLock({
      clock,
      idleMs: () => 15 * minute,
      secrets: keychain,
      key: createSecretsKey(keychain),
      isSet: { read: () => stored.isSet, write: (isSet) => (stored.isSet = isSet) },
      attempts: {
        read: () => Promise.resolve(stored.attempts),
        write(next) {
          if (!stored.writable) return Promise.resolve(failed('file.disk-full', { subject: 'desk.json' }));
          stored.attempts = next;
          return Promise.resolve(done(null));
        },
      },
      forgetSecrets: () => {
        forgotten.push('all');
        return Promise.resolve(done(null));
      },
      cost: 10,
    });
  };
  return { keyring, clock, stored, forgotten, start };
}

const codeOf = (outcome: Outcome<unknown>) => (outcome.ok ? 'ok' : outcome.failure.code);

test('a clock moved forward between tries does not shorten the wait', async () => {
  const { clock, start } = workstation();
  const lock = await start();
  const codes: string[] = [];
  for (let count = 0; count < 100; count++) {
    codes.push(codeOf(await lock.unlock(`wrong ${count}`)));
    clock.setWall(new Date(clock.now() + 16 * minute).toISOString());
  }
  expect(codes.filter((code) => code === 'unlock.wrong')).toHaveLength(1);
  expect(lock.state().waitMs).toBe(1_000);
});

test('a try with the clock years ahead does not shut the app for years', async () => {
  for (const restart of [false, true]) {
    const { clock, start } = workstation();
    clock.setWall('2030-01-01T00:00:00.000Z');
    let lock = await start();
    expect(codeOf(await lock.unlock('wrong'))).toBe('unlock.wrong');
    clock.setWall('2026-01-02T00:00:00.000Z');
    if (restart) lock = await start();
    expect(lock.state().waitMs).toBe(1_000);
    clock.advance(1_000);
    expect(codeOf(await lock.unlock(right))).toBe('ok');
  }
});

test('a time further away than its delay is rewritten once, so that restarts do not begin it again', async () => {
  const { clock, stored, start } = workstation({ wrong: 5, until: '2030-01-01T00:00:00.000Z' });
  expect((await start()).state().waitMs).toBe(16_000);
  expect(Date.parse(stored.attempts.until ?? '')).toBe(clock.now() + 16_000);
  clock.advance(10_000);
  expect((await start()).state().waitMs).toBe(6_000);
});

test('tries that can not be stored count in memory, and after three wrong ones none is checked', async () => {
  const { clock, stored, start } = workstation();
  stored.writable = false;
  const lock = await start();
  const codes: string[] = [];
  for (let count = 0; count < 20; count++) {
    codes.push(codeOf(await lock.unlock(`wrong ${count}`)));
    expect(codeOf(await lock.unlock(right))).not.toBe('ok');
    clock.advance(15 * minute);
  }
  expect(codes.slice(0, 4)).toEqual(['unlock.wrong', 'unlock.wrong', 'unlock.wrong', 'file.disk-full']);
  expect(new Set(codes.slice(3))).toEqual(new Set(['file.disk-full']));
  // With room again, the person gets in.
  stored.writable = true;
  expect(codeOf(await lock.unlock(right))).toBe('ok');
});

test('a settings file that is put back after each try does not take tries back', async () => {
  const { clock, stored, start } = workstation();
  const lock = await start();
  const waits: number[] = [];
  for (let count = 0; count < 5; count++) {
    await lock.unlock('wrong');
    waits.push(lock.state().waitMs);
    stored.attempts = { wrong: 0, until: null };
    clock.advance(lock.state().waitMs);
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
});

test('the passphrase form is no way around the count', async () => {
  const { start, stored } = workstation();
  const lock = await start();
  expect(codeOf(await lock.setPassphrase('wrong', 'another one'))).toBe('unlock.wrong');
  expect(codeOf(await lock.setPassphrase(right, 'another one'))).toBe('unlock.wait');
  expect(stored.attempts.wrong).toBe(1);
});

test.each(['1', 'seven77', '😀😀😀😀😀😀😀', ''.padEnd(7, 'é')])('"%s" is too short', async (next) => {
  const { start } = workstation();
  const lock = await start();
  value(await lock.unlock(right));
  expect(codeOf(await lock.setPassphrase(right, next))).toBe('unlock.too-short');
  expect(codeOf(await lock.setPassphrase(right, `${next} and more`))).toBe('ok');
});

test('a verifier removed from the keyring locks the app, at this start and at later ones', async () => {
  const { keyring, forgotten, start } = workstation();
  keyring.entries.delete(testEntry('lock:verifier'));
  for (let run = 0; run < 3; run++) {
    const lock = await start();
    expect(lock.state()).toMatchObject({ locked: true, passphraseSet: true, verifierLost: true });
    expect(codeOf(await lock.unlock(''))).toBe('unlock.verifier-lost');
    expect(codeOf(await lock.unlock(right))).toBe('unlock.verifier-lost');
    expect(codeOf(await lock.setPassphrase('', 'another one'))).toBe('unlock.verifier-lost');
  }
  const lock = await start();
  expect(forgotten).toEqual([]);
  expect(value(await lock.reset())).toEqual({ locked: false, passphraseSet: false, waitMs: 0 });
  expect(forgotten).toEqual(['all']);
  expect((await start()).state().locked).toBe(false);
});

test('a reset is refused while the app is open, and forgets before it opens a locked one', async () => {
  const { forgotten, start } = workstation();
  const lock = await start();
  value(await lock.unlock(right));
  expect(codeOf(await lock.reset())).toBe('call.refused');
  expect(forgotten).toEqual([]);
  lock.now();
  await lock.unlock('wrong');
  expect(value(await lock.reset())).toEqual({ locked: false, passphraseSet: false, waitMs: 0 });
  expect(forgotten).toEqual(['all']);
});

test('a verifier that was overwritten with rubbish does not open the app', async () => {
  const { keyring, start } = workstation();
  keyring.entries.set(testEntry('lock:verifier'), 'rubbish');
  const lock = await start();
  expect(codeOf(await lock.unlock('rubbish'))).toBe('unlock.wrong');
});

test('setting and removing the passphrase are recorded', () => {
  const app = fs.readFileSync(new URL('../../electron/app/handlers.ts', import.meta.url), 'utf8');
  expect(app).toContain("'RemovePassphrase' : 'SetPassphrase'");
});

test('an app that locks while a passphrase is being set is not unlocked without it', async () => {
  const { keyring, stored, start } = workstation();
  keyring.entries.clear();
  stored.names = [];
  const lock = await start();
  const setting = lock.setPassphrase('', right);
  lock.now();
  expect(codeOf(await lock.unlock(''))).toBe('unlock.wrong');
  expect(codeOf(await setting)).toBe('ok');
  expect(lock.state()).toMatchObject({ locked: true, passphraseSet: true });
  expect(codeOf(await lock.unlock(right))).toBe('ok');
});

test('an empty field is no try', async () => {
  const { stored, start } = workstation();
  const lock = await start();
  for (let count = 0; count < 3; count++) expect(codeOf(await lock.unlock(''))).toBe('unlock.wrong');
  expect([stored.attempts.wrong, lock.state().waitMs]).toEqual([0, 0]);
  expect(codeOf(await lock.unlock(right))).toBe('ok');
});
