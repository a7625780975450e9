import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { done, failed } from '../../electron/contract/errors.ts';
import { appKeychain, withKeyring } from '../support/app-keychain.ts';
import { testEntry } from '../support/fake-keyring.ts';

withKeyring('an open keyring', () => {
  test('stores, reads in another run, and removes', async () => {
    const first = appKeychain();
    expect(await first.keychain.read('c1:apiKey')).toEqual(failed('credentials.missing'));
    expect(await first.keychain.store('c1:apiKey', 's3cret ünï')).toEqual(done('stored'));
    expect(first.index.names).toEqual(['c1:apiKey']);
    expect(first.keychain.state()).toBe('ready');

    const second = appKeychain(first.index.names);
    expect(second.keychain.peek('c1:apiKey')).toBe('stored');
    expect(await second.keychain.read('c1:apiKey')).toEqual(done('s3cret ünï'));
    expect(await second.keychain.store('c1:apiKey', 'changed')).toEqual(done('stored'));
    expect(await first.keychain.read('c1:apiKey')).toEqual(done('changed'));
    expect(await second.keychain.remove('c1:apiKey')).toEqual(done(null));
    expect(await second.keychain.read('c1:apiKey')).toEqual(failed('credentials.missing'));
  });

  test('keeps a secret of the full 2,560 bytes', async () => {
    const { keychain } = appKeychain();
    const secret = 'é'.repeat(1_280);
    expect(await keychain.store('long', secret)).toEqual(done('stored'));
    expect(await keychain.read('long')).toEqual(done(secret));
  });

  test('a key stays the same from run to run', async () => {
    const first = appKeychain();
    const made = await first.keychain.key('audit');
    expect(made.ok && made.value.length).toBe(32);
    expect(await appKeychain(first.index.names).keychain.key('audit')).toEqual(made);
    expect(await appKeychain().keychain.key('audit')).toEqual(made);
  });

  test('what another program removed is missing, not locked', async () => {
    const { keychain, index } = appKeychain();
    await keychain.store('taken', 'x');
    const script = `import('keytar').then(({ default: keytar }) => keytar.deletePassword('Tokendesk', '${testEntry('taken')}'))`;
    const other = spawnSync(process.execPath, ['-e', script], {
      cwd: path.resolve(import.meta.dirname, '../..'),
      timeout: 20_000,
    });
    expect(other.status).toBe(0);
    expect(await keychain.read('taken')).toEqual(failed('credentials.missing'));
    expect(index.names).not.toContain('taken');
  });
});
