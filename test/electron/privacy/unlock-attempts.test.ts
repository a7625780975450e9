import { expect, test } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createUnlockAttempts } from '../../../electron/privacy/unlock-attempts.ts';

const none = { wrong: 0, until: null };

test.each([
  ['the file', true, false],
  ['the keychain', false, true],
])('that the verifier was lost is known where %s alone says so', async (_where, inFile, inKeychain) => {
  const stored = (isLost: boolean) => ({ ...none, ...(isLost && { verifierLost: true }) });
  const attempts = createUnlockAttempts(
    { read: () => stored(inFile), write: () => done(null) },
    {
      read: () => Promise.resolve(done(JSON.stringify(stored(inKeychain)))),
      store: () => Promise.resolve(failed('keychain.locked')),
      remove: () => Promise.resolve(done(null)),
    },
  );
  expect(await attempts.read()).toEqual({ ...none, verifierLost: true });
});

test('a wrong passphrase is counted where one of the two keeps it, and refused where neither does', async () => {
  const write = (file: boolean, kept: 'stored' | 'memory' | null) =>
    createUnlockAttempts(
      { read: () => none, write: () => (file ? done(null) : failed('file.unwritable')) },
      {
        read: () => Promise.resolve(failed('credentials.missing')),
        store: () => Promise.resolve(kept === null ? failed('keychain.locked') : done(kept)),
        remove: () => Promise.resolve(done(null)),
      },
    ).write({ ...none, wrong: 1 });
  expect(await write(false, 'stored')).toEqual(done(null));
  expect(await write(true, null)).toEqual(done(null));
  // What is in memory is gone with the app.
  expect(await write(true, 'memory')).toEqual(done(null));
  expect(await write(false, 'memory')).toEqual(failed('file.unwritable'));
  expect(await write(false, null)).toEqual(failed('file.unwritable'));
});
