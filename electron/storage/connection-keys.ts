import { z } from 'zod';
import { done, type Outcome } from '../contract/errors.ts';
import { createRecordCipher, type RecordCipher } from './encryption.ts';
import { connectionKeyAccount } from './keychain-accounts.ts';
import { newKey, type Keychain } from './keychain.ts';
import type { SecretsKey } from './secrets-key.ts';

/** What a connection's secrets are encrypted under. */
export interface ConnectionKey {
  readonly bytes: Uint8Array;
  /** The records that they are for, by their digests: one, and two while a write from one to the other is under way. */
  readonly records: readonly string[];
  /** Secrets of before there was this key are still being encrypted under it. */
  readonly takesOver: boolean;
}

/**
 * The key of each connection's secrets, one entry of the keychain, encrypted under the secrets' key. It is made with the first
 * secret, and removed with all of them: whatever entry is left then, under whatever address, does not open any more. Failures
 * of all: those of the secrets' key and of the keychain.
 */
export interface ConnectionKeys {
  /** Null where no secret was stored since they were last removed. */
  read(id: string): Promise<Outcome<ConnectionKey | null>>;
  /** The one that there is, or one for this record. */
  make(id: string, record: string, takesOver?: boolean): Promise<Outcome<ConnectionKey>>;
  /** Nothing where there is no key. */
  replace(id: string, change: (key: ConnectionKey) => Partial<ConnectionKey>): Promise<Outcome<null>>;
  remove(id: string): Promise<Outcome<null>>;
  /** Whether there is one that another key of secrets encrypted. */
  isOther(id: string): Promise<Outcome<boolean>>;
}

const entry = z.strictObject({
  key: z.base64().length(44),
  records: z.array(z.string()).min(1).max(2),
  takesOver: z.boolean(),
});

export function createConnectionKeys(
  keychain: Pick<Keychain, 'read' | 'store' | 'keep' | 'remove'>,
  key: Pick<SecretsKey, 'read'>,
): ConnectionKeys {
  async function withCipher<T>(run: (cipher: RecordCipher) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const opened = await key.read();
    return opened.ok ? run(createRecordCipher(opened.value.bytes, 'connections')) : opened;
  }

  const encrypt = (cipher: RecordCipher, account: string, given: z.infer<typeof entry>): string =>
    cipher.encrypt(Buffer.from(JSON.stringify(given)), account).toString('base64');

  /** Null where another key of secrets encrypted it, which is gone. */
  function decrypt(cipher: RecordCipher, account: string, text: string): ConnectionKey | null {
    const bytes = cipher.decrypt(Buffer.from(text, 'base64'), account);
    if (bytes === null) return null;
    const { key: encoded, ...rest } = entry.parse(JSON.parse(bytes.toString('utf8')));
    return { bytes: new Uint8Array(Buffer.from(encoded, 'base64')), ...rest };
  }

  /** What there is, and what of it opens. */
  const find = (id: string) =>
    withCipher(async (cipher) => {
      const account = connectionKeyAccount(id);
      const found = await keychain.read(account);
      if (found.ok) return done({ isThere: true, key: decrypt(cipher, account, found.value) });
      return found.failure.code === 'credentials.missing' ? done({ isThere: false, key: null }) : found;
    });

  const read: ConnectionKeys['read'] = async (id) => {
    const found = await find(id);
    return found.ok ? done(found.value.key) : found;
  };

  return {
    read,
    make: (id, record, takesOver = false) =>
      withCipher(async (cipher) => {
        const account = connectionKeyAccount(id);
        const kept = await keychain.keep(account, {
          make: () => encrypt(cipher, account, { key: newKey(), records: [record], takesOver }),
          fits: (text) => decrypt(cipher, account, text) !== null,
          isLasting: true,
        });
        if (!kept.ok) return kept;
        const known = decrypt(cipher, account, kept.value);
        if (known === null) throw new TypeError('A key that was just kept does not open');
        return done(known);
      }),
    replace: (id, change) =>
      withCipher(async (cipher) => {
        const known = await read(id);
        if (!known.ok || known.value === null) return known.ok ? done(null) : known;
        const { bytes, records, takesOver } = { ...known.value, ...change(known.value) };
        const account = connectionKeyAccount(id);
        const text = encrypt(cipher, account, {
          key: Buffer.from(bytes).toString('base64'),
          records: [...records],
          takesOver,
        });
        const stored = await keychain.store(account, text);
        return stored.ok ? done(null) : stored;
      }),
    remove: (id) => keychain.remove(connectionKeyAccount(id)),
    async isOther(id) {
      const found = await find(id);
      return found.ok ? done(found.value.isThere && found.value.key === null) : found;
    },
  };
}
