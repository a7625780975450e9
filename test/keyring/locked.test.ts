import { expect, test } from 'vitest';
import { done, failed } from '../../electron/contract/errors.ts';
import { appKeychain, withKeyring } from '../support/app-keychain.ts';

withKeyring('a locked keyring', (keyring) => {
  test('what is stored is locked and never missing, and comes back when it is unlocked', async () => {
    const { keychain, index } = appKeychain();
    expect(await keychain.store('c1:apiKey', 's3cret')).toEqual(done('stored'));
    const key = await keychain.key('audit');
    keyring().lock();

    expect(await keychain.read('c1:apiKey')).toEqual(failed('keychain.locked'));
    expect(keychain.state()).toBe('locked');
    expect(keychain.peek('c1:apiKey')).toBe('locked');
    expect(await keychain.key('audit')).toEqual(failed('keychain.locked'));
    expect(await keychain.key('new')).toEqual(failed('keychain.locked'));
    expect(await keychain.store('c1:apiKey', 'other')).toEqual(failed('keychain.locked'));
    expect(await keychain.remove('c1:apiKey')).toEqual(failed('keychain.locked'));
    expect(index.names).toEqual(['audit', 'c1:apiKey']);
    // With the index lost as well, a key in use is not replaced.
    expect(await appKeychain().keychain.key('audit')).toEqual(failed('keychain.locked'));

    await keyring().unlock();
    expect(await keychain.read('c1:apiKey')).toEqual(done('s3cret'));
    expect(await keychain.key('audit')).toEqual(key);
    expect(keychain.state()).toBe('ready');
  });
});
