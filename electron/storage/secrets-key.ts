import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import { createRecordCipher, type RecordCipher } from './encryption.ts';
import { holdsSecret } from './keychain-accounts.ts';
import { keySecret, maxSecretBytes, newKey, type Keychain } from './keychain.ts';
import { openKey, wrapKey } from './passphrase.ts';

/**
 * The one key that encrypts what the keychain holds of connections and results. With a passphrase set it is in the keychain
 * under that passphrase alone, so that whoever removes the entry has removed the key. Setting, changing and removing the
 * passphrase each write one entry: what is encrypted stays as it is.
 */
export interface SecretsKey {
  /**
   * Failures: app.locked (it is under a passphrase that was not given since the start), keychain.locked, keychain.stalled,
   * keychain.unavailable (no keyring: then nothing outlives this run, and nothing is encrypted).
   */
  read(): Promise<Outcome<OpenedKey>>;
  /**
   * Opens the key for this run where the passphrase fits. Answers the text that it is checked with from now on, another one
   * where the text was an earlier version's; null where it does not fit. Failures: keychain.*.
   */
  open(passphrase: string, text: string, cost?: number): Promise<Outcome<string | null>>;
  /** Puts the key under a passphrase, another one too; answers the text. Failures: as `read`. */
  wrap(passphrase: string, cost?: number): Promise<Outcome<string>>;
  /** Puts the key into the keychain without a passphrase. Failures: as `read`. */
  unwrap(): Promise<Outcome<null>>;
  /**
   * Whether the keychain has the key without a passphrase. Where it has, a verifier that is gone was removed by this app: the
   * process ended before the settings file said so, and nobody else could have put the key there.
   */
  isClear(): Promise<boolean>;
  /** From now on a record without a seal was changed by somebody else. Failures: keychain.*. */
  adopted(): Promise<Outcome<null>>;
  /** Its entries were removed: the next one is new. */
  forget(): void;
}

export interface OpenedKey {
  readonly bytes: Uint8Array;
  /** No seal was made with it yet: settings and secrets of before are taken over. */
  readonly isNew: boolean;
}

/** What the passphrase is checked with: the key under it. */
export const verifierAccount = 'lock:verifier';
const clearAccount = 'secrets:key';

/** Behind a key that is new. In the entry itself, so that a process that is killed leaves it new. */
const newMark = ' new';
const isMarked = (text: string): boolean => text.endsWith(newMark);
const plainText = (text: string): string => (isMarked(text) ? text.slice(0, -newMark.length) : text);
const isKey = (text: string): boolean => /^[A-Za-z0-9+/]{43}=$/.test(plainText(text));
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(plainText(text), 'base64'));

export function createSecretsKey(keychain: Pick<Keychain, 'keep' | 'read' | 'store' | 'remove'>): SecretsKey {
  const queue = createSerialQueue();
  let opened: OpenedKey | null = null;
  /** Of a run without a keyring: it opens no key that anything could be stored with. */
  let temporary: string | null = null;

  async function readClear(): Promise<Outcome<OpenedKey>> {
    if (opened !== null) return done(opened);
    const wrapped = await keychain.read(verifierAccount);
    if (wrapped.ok) return failed('app.locked');
    if (wrapped.failure.code !== 'credentials.missing') return wrapped;
    const kept = await keychain.keep(clearAccount, {
      make: () => newKey() + newMark,
      fits: isKey,
      // One that ends with this run would leave secrets that nothing opens.
      isLasting: true,
    });
    if (!kept.ok) return kept;
    opened = { bytes: bytesOf(kept.value), isNew: isMarked(kept.value) };
    return done(opened);
  }

  async function putWrapped(passphrase: string, key: OpenedKey, cost?: number): Promise<Outcome<string>> {
    const text = await wrapKey(passphrase, key.bytes, cost);
    const stored = await keychain.store(verifierAccount, key.isNew ? text + newMark : text);
    if (!stored.ok) return stored;
    const removed = await keychain.remove(clearAccount);
    return removed.ok ? done(text) : removed;
  }

  return {
    read: () => queue(readClear),
    open: (passphrase, text, cost) =>
      queue(async () => {
        const key = await openKey(passphrase, plainText(text));
        if (key === null) return done(null);
        if (key === 'none') {
          // There is one where an earlier version set the passphrase after this one was used.
          const clear = await keychain.read(clearAccount);
          const known = clear.ok && isKey(clear.value) ? clear.value : newKey() + newMark;
          opened ??= { bytes: bytesOf(known), isNew: isMarked(known) };
          return putWrapped(passphrase, opened, cost);
        }
        if (opened !== null || text === temporary) return done(text);
        opened = { bytes: key, isNew: isMarked(text) };
        // Left where the process was killed between two entries.
        await keychain.remove(clearAccount);
        return done(text);
      }),
    wrap: (passphrase, cost) =>
      queue(async () => {
        const key = await readClear();
        if (key.ok) return putWrapped(passphrase, key.value, cost);
        if (key.failure.code !== 'keychain.unavailable') return key;
        // Nothing is stored in this run: the passphrase holds as long as the secrets do.
        const wrapped = await putWrapped(passphrase, { bytes: bytesOf(newKey()), isNew: true }, cost);
        if (wrapped.ok) temporary = wrapped.value;
        return wrapped;
      }),
    unwrap: () =>
      queue(async () => {
        if (opened !== null) {
          const text = Buffer.from(opened.bytes).toString('base64');
          const stored = await keychain.store(clearAccount, opened.isNew ? text + newMark : text);
          if (!stored.ok) return stored;
        }
        return keychain.remove(verifierAccount);
      }),
    isClear: () =>
      queue(async () => {
        const clear = await keychain.read(clearAccount);
        return clear.ok && isKey(clear.value);
      }),
    adopted: () =>
      queue(async () => {
        if (opened?.isNew !== true) return done(null);
        for (const account of [verifierAccount, clearAccount]) {
          const found = await keychain.read(account);
          if (!found.ok || !isMarked(found.value)) continue;
          const stored = await keychain.store(account, plainText(found.value));
          if (!stored.ok) return stored;
        }
        opened = { ...opened, isNew: false };
        return done(null);
      }),
    forget: () => (opened = null),
  };
}

/** In front of what is encrypted. What has none was stored by an earlier version, or in a run without a keyring. */
const prefix = 'encrypted:';
/** What always fits into an entry of the keychain once it is encrypted. */
const maxBytes = Math.floor((maxSecretBytes - prefix.length) / 4) * 3 - 32;

/**
 * A keychain that encrypts the secrets of connections and the key of results under `key`, and gives out or takes none of a
 * connection that `guard` refuses. The entry's account is authenticated: one that is put in another's place does not open.
 * Failures of `store`, `read`, `keep` and `key` besides the keychain's: those of `guard` and of the key.
 */
export function withSecretsKey<K extends Keychain>(
  keychain: K,
  key: Pick<SecretsKey, 'read'>,
  guard: (account: string) => Promise<Outcome<null>>,
): K {
  /** Null without a keyring. */
  async function cipherFor(account: string): Promise<Outcome<RecordCipher | null>> {
    const guarded = await guard(account);
    if (!guarded.ok) return guarded;
    const opened = await key.read();
    if (opened.ok) return done(createRecordCipher(opened.value.bytes, 'keychain'));
    return opened.failure.code === 'keychain.unavailable' ? done(null) : opened;
  }

  const decrypt = (cipher: RecordCipher, account: string, text: string): string | null => {
    if (!text.startsWith(prefix)) return text;
    const packed = cipher.decrypt(Buffer.from(text.slice(prefix.length), 'base64'), account);
    return packed === null ? null : inflateRawSync(packed).toString('utf8');
  };
  // Packed: a portal's token has more characters than bytes, and the keychain of Windows is small.
  const encrypt = (cipher: RecordCipher, account: string, secret: string): string =>
    prefix + cipher.encrypt(deflateRawSync(secret), account).toString('base64');

  /** What an earlier version stored is encrypted where it can be; it is read either way. */
  async function encryptStored(cipher: RecordCipher, account: string, text: string): Promise<void> {
    if (!text.startsWith(prefix)) await keychain.store(account, encrypt(cipher, account, text));
  }

  const changed: Pick<Keychain, 'store' | 'read' | 'keep' | 'key'> = {
    async store(account, secret) {
      if (!holdsSecret(account)) return keychain.store(account, secret);
      const cipher = await cipherFor(account);
      if (!cipher.ok) return cipher;
      if (cipher.value === null || secret === '') return keychain.store(account, secret);
      const text = encrypt(cipher.value, account, secret);
      if (Buffer.byteLength(text) > maxSecretBytes)
        return failed('credentials.too-long', { subject: `${maxBytes}` });
      return keychain.store(account, text);
    },
    async read(account) {
      if (!holdsSecret(account)) return keychain.read(account);
      const cipher = await cipherFor(account);
      if (!cipher.ok) return cipher;
      const found = await keychain.read(account);
      if (!found.ok) return found;
      if (cipher.value === null)
        return found.value.startsWith(prefix) ? failed('keychain.unavailable') : found;
      const secret = decrypt(cipher.value, account, found.value);
      if (secret === null) {
        // Its key is gone for good: the keychain must not go on saying that it is there.
        const removed = await keychain.remove(account);
        return removed.ok ? failed('credentials.missing') : removed;
      }
      await encryptStored(cipher.value, account, found.value);
      return done(secret);
    },
    async keep(account, secret) {
      if (!holdsSecret(account)) return keychain.keep(account, secret);
      const found = await cipherFor(account);
      if (!found.ok) return found;
      const cipher = found.value;
      if (cipher === null) return keychain.keep(account, secret);
      const kept = await keychain.keep(account, {
        make: () => encrypt(cipher, account, secret.make()),
        fits: (text) => {
          const stored = decrypt(cipher, account, text);
          return stored !== null && secret.fits(stored);
        },
      });
      if (!kept.ok) return kept;
      await encryptStored(cipher, account, kept.value);
      return done(decrypt(cipher, account, kept.value) ?? '');
    },
    async key(account) {
      if (!holdsSecret(account)) return keychain.key(account);
      const kept = await changed.keep(account, keySecret);
      return kept.ok ? done(new Uint8Array(Buffer.from(kept.value, 'base64'))) : kept;
    },
  };
  return { ...keychain, ...changed };
}
