import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { done, type Outcome } from '../../electron/contract/errors.ts';
import { openLock, type UnlockAttempts } from '../../electron/privacy/lock.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import { wrapKey } from '../../electron/storage/passphrase.ts';
import { createSecretsKey } from '../../electron/storage/secrets-key.ts';
import { value } from '../support/audit-folder.ts';
import { failAt, hanging, saysNothing, type Fault } from '../support/failing-keyring.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeKeyring, testEntry, testHomeId } from '../support/fake-keyring.ts';

const timeoutMs = 5_000;
const [one, other] = ['correct horse', 'battery staple'];

/** A workstation whose keyring outlives each `start` of the app. */
function workstation() {
  const keyring = fakeKeyring();
  const clock = fakeClock();
  const stored = {
    attempts: { wrong: 0, until: null } as UnlockAttempts,
    names: [] as readonly string[],
    isSet: false,
  };
  const start = async () => {
    const keychain = createKeychain({
      homeId: testHomeId,
      load: () => Promise.resolve(keyring),
      index: { read: () => stored.names, write: (names) => (stored.names = [...names]) },
      clock,
      timeoutMs,
    });
    const key = createSecretsKey(keychain);
    const lock = await openLock({
      clock,
      idleMs: () => 900_000,
      secrets: keychain,
      key,
      isSet: { read: () => stored.isSet, write: (isSet) => (stored.isSet = isSet) },
      attempts: {
        read: () => Promise.resolve(stored.attempts),
        write: (attempts) => Promise.resolve(((stored.attempts = attempts), done(null))),
      },
      forgetSecrets: () => key.renew(),
      cost: 10,
    });
    return { lock, key };
  };
  return { keyring, clock, stored, start };
}
type Workstation = ReturnType<typeof workstation>;
type App = Awaited<ReturnType<Workstation['start']>>;

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const codeOf = (outcome: Outcome<unknown>) => (outcome.ok ? 'ok' : outcome.failure.code);

/** Which passphrase opens the app; '' where it is open without one. */
async function opening({ clock }: Workstation, { lock }: App): Promise<string | null> {
  if (!lock.state().passphraseSet) return '';
  for (const passphrase of [one, other]) {
    lock.now();
    if ((await lock.unlock(passphrase)).ok) return lock.state().passphraseSet ? passphrase : '';
    clock.advance(3_600_000);
  }
  return null;
}

const refuses: Fault = () => Promise.reject(new Error('Cannot create an item in a locked collection'));
const breaks: Fault = () => Promise.reject(new Error('The bus timed out'));
const doesAndBreaks: Fault = async (run) => {
  await run();
  throw new Error('The bus timed out');
};

const acts = [
  ['setting it', '', one],
  ['changing it', one, other],
  ['removing it', one, ''],
  ['forgetting it', one, ''],
] as const;
const faults = [
  ['refuses', () => hanging(() => Promise.resolve()), refuses],
  ['fails', () => hanging(() => Promise.resolve()), breaks],
  ['does it and fails', () => hanging(() => Promise.resolve()), doesAndBreaks],
  ['says "nothing"', () => hanging(() => Promise.resolve()), saysNothing],
  ['does it when nobody waits any more', () => hanging((run) => run()), null],
  ['fails when nobody waits any more', () => hanging(() => Promise.reject(new Error('gone'))), null],
] as const;

const isOfEarlierVersion = [false, true] as const;
const table = acts.flatMap(([act, before, after]) =>
  faults.flatMap(([fault, makeHanging, atOnce]) =>
    isOfEarlierVersion
      .filter((earlier) => !earlier || before !== '')
      .map((earlier) => ({
        isReset: act === 'forgetting it',
        name: `${act}${earlier ? ', set by an earlier version,' : ''} while the keyring ${fault}`,
        before,
        after,
        earlier,
        makeHanging,
        atOnce,
      })),
  ),
);

test.each(table)(
  '$name at any of its calls',
  async ({ isReset, before, after, earlier, makeHanging, atOnce }) => {
    for (let number = 0; ; number++) {
      const desk = workstation();
      const first = await desk.start();
      const { bytes } = value(await first.key.read());
      if (earlier) {
        desk.keyring.entries.delete(testEntry('secrets:key'));
        desk.keyring.entries.set(testEntry('lock:verifier'), await wrapKey(before, bytes, 10));
        desk.stored.names = ['lock:verifier'];
      } else if (before !== '') value(await first.lock.setPassphrase('', before));
      const app = await desk.start();
      const hung = makeHanging();
      const { restore } = failAt(desk.keyring, number, atOnce ?? hung.fault);
      const act = (async () => {
        if (isReset) return app.lock.reset();
        // As the window does: it is opened first, where it is locked.
        if (before !== '') await app.lock.unlock(before);
        return app.lock.setPassphrase(before, after);
      })();
      await Promise.race([act, hung.isHanging]);
      desk.clock.advance(timeoutMs);
      const said = codeOf(await act);
      hung.late();
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      const happened = restore();
      const about = `call ${number}: ${said}`;

      const inForce = await opening(desk, await desk.start());
      if (said === 'ok') expect([about, inForce]).toEqual([about, after]);
      else if (said !== 'unlock.unsure') expect([about, inForce]).toEqual([about, before]);
      expect([about, [before, after].includes(inForce ?? 'neither')]).toEqual([about, true]);
      // What the run that was told so asks for is the same.
      expect([about, await opening(desk, app)]).toEqual([about, inForce]);
      const next = await desk.start();
      if (inForce !== '') value(await next.lock.unlock(inForce ?? ''));
      const key = hex(value(await next.key.read()).bytes);
      // What this run stores opens at the next start.
      expect([about, hex(value(await app.key.read()).bytes)]).toEqual([about, key]);
      const isNew = isReset && inForce === '';
      expect([about, key === hex(bytes)]).toEqual([about, !isNew]);
      if (!happened) {
        expect(number).toBeGreaterThan(0);
        return;
      }
    }
  },
);

test('what an earlier version left is in force until it can be removed, and nobody is told otherwise', async () => {
  const desk = workstation();
  const { key } = await desk.start();
  const { bytes } = value(await key.read());
  desk.keyring.entries.delete(testEntry('secrets:key'));
  desk.keyring.entries.set(testEntry('lock:verifier'), await wrapKey(one, bytes, 10));
  const original = desk.keyring.deletePassword.bind(desk.keyring);
  desk.keyring.deletePassword = () => Promise.reject(new Error('The bus timed out'));
  const app = await desk.start();
  value(await app.lock.unlock(one));
  expect(codeOf(await app.lock.setPassphrase(one, ''))).toBe('keychain.stalled');
  expect(await opening(desk, await desk.start())).toBe(one);
  // One that is changed is no other's because of it.
  value(await app.lock.setPassphrase(one, other));
  expect(await opening(desk, await desk.start())).toBe(other);
  desk.keyring.deletePassword = original;
  value(await app.lock.setPassphrase(other, ''));
  expect(await opening(desk, await desk.start())).toBe('');
});

test('without the keyring a passphrase that was set is not lost, and one that never was is not asked for', async () => {
  for (const passphrase of ['', one]) {
    const desk = workstation();
    const { lock, key } = await desk.start();
    await key.read();
    if (passphrase !== '') value(await lock.setPassphrase('', passphrase));
    desk.keyring.mood = 'gone';
    const away = await desk.start();
    expect(away.lock.state()).toEqual({
      locked: passphrase !== '',
      passphraseSet: passphrase !== '',
      waitMs: 0,
    });
    if (passphrase !== '') expect(codeOf(await away.lock.unlock(one))).toBe('keychain.unavailable');
    desk.keyring.mood = 'open';
    expect(await opening(desk, await desk.start())).toBe(passphrase);
  }
});
