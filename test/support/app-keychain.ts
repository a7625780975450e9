import { afterAll, beforeAll, describe } from 'vitest';
import { loadKeytar } from '../../electron/storage/keytar.ts';
import { createKeychain, type KeychainOptions } from '../../electron/storage/keychain.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { testHomeId } from './fake-keyring.ts';
import { missingTools, startKeyring, type PrivateKeyring } from './private-keyring.ts';

/** Tests against a real keyring, one for the whole file; skipped by name where there can be none. */
export function withKeyring(name: string, tests: (keyring: () => PrivateKeyring) => void) {
  describe.skipIf(missingTools().length > 0)(name, () => {
    let keyring: PrivateKeyring | null = null;
    beforeAll(async () => {
      keyring = await startKeyring();
      // Before the native module is loaded: it looks once, at its first call.
      Object.assign(process.env, keyring.env);
    });
    afterAll(() => keyring?.stop());
    tests(() => {
      if (keyring === null) throw new Error('Not started');
      return keyring;
    });
  });
}

/** The keychain as the app opens it; `names` is what an earlier run left in the settings. */
export function appKeychain(names: string[] = [], options: Partial<KeychainOptions> = {}) {
  const index = { names };
  const keychain = createKeychain({
    load: loadKeytar,
    index: { read: () => index.names, write: (next) => (index.names = [...next]) },
    clock: systemClock,
    homeId: testHomeId,
    ...options,
  });
  return { keychain, index };
}
