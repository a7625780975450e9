import { expect, test } from 'vitest';
import { done, failed } from '../../electron/contract/errors.ts';
import { appKeychain, withKeyring } from '../support/app-keychain.ts';

withKeyring('a keyring that dies', (keyring) => {
  test('takes nothing along: what is stored is not called missing, what is typed is not kept in clear', async () => {
    const { keychain, index } = appKeychain();
    expect(await keychain.store('c1:apiKey', 's3cret')).toEqual(done('stored'));
    keyring().signal('SIGKILL');

    const read = await keychain.read('c1:apiKey');
    expect([failed('keychain.stalled'), failed('keychain.locked')]).toContainEqual(read);
    expect(['stalled', 'locked']).toContain(keychain.state());
    expect(keychain.peek('c1:apiKey')).toBe('locked');
    expect((await keychain.remove('c1:apiKey')).ok).toBe(false);
    expect(index.names).toContain('c1:apiKey');

    const stored = await keychain.store('c2:apiKey', 'typed');
    expect([failed('keychain.stalled'), failed('keychain.locked')]).toContainEqual(stored);
    expect(keychain.accounts()).toEqual(['c1:apiKey']);
  });
});
