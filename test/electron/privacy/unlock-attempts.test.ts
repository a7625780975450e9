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
