import fs from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { done, failed } from '../../electron/contract/errors.ts';
import { appKeychain, withKeyring } from '../support/app-keychain.ts';

withKeyring('a keyring that hangs', (keyring) => {
  afterEach(() => keyring().signal('SIGCONT'));

  test('is given up on, holds up nothing else, and is used again once it answers', async () => {
    const { keychain } = appKeychain();
    expect(await keychain.store('c1:apiKey', 's3cret')).toEqual(done('stored'));
    keyring().signal('SIGSTOP');

    const order: string[] = [];
    // More than libuv has threads: with one native call each, no file could be read any more.
    const reads = Array.from({ length: 8 }, () => keychain.read('c1:apiKey'));
    const told = Promise.all(reads).then((outcomes) => {
      order.push('keychain');
      return outcomes;
    });
    for (let count = 0; count < 50; count++) await fs.readFile(import.meta.filename);
    order.push('files');
    expect(await told).toEqual(reads.map(() => failed('keychain.stalled')));
    expect(order).toEqual(['files', 'keychain']);
    expect(keychain.state()).toBe('stalled');

    // Told at once from now on, while the first call still hangs.
    expect(await keychain.store('c1:apiKey', 'other')).toEqual(failed('keychain.stalled'));
    for (let count = 0; count < 50; count++) await fs.readFile(import.meta.filename);

    keyring().signal('SIGCONT');
    await vi.waitFor(() => expect(keychain.state()).toBe('ready'), { timeout: 20_000 });
    expect(await keychain.read('c1:apiKey')).toEqual(done('s3cret'));
  });
});
