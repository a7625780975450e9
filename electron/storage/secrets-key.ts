import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import { createRecordCipher } from './encryption.ts';
import { connectionOf, holdsSecret } from './keychain-accounts.ts';
import { keySecret, maxSecretBytes, newKey, type Keychain } from './keychain.ts';
import { openKey, wrapKey } from './passphrase.ts';

/**
 * The one key that encrypts what the keychain holds of connections and results. It is one entry, in clear, or with a passphrase
 * set under that passphrase alone, so that whoever removes the entry has removed the key. Setting, changing and removing the
 * passphrase each write this entry once, whatever becomes of the process: what is encrypted stays as it is.
 */
export interface SecretsKey {
  /**
   * Failures: app.locked (it is under a passphrase that was not given since the start), keychain.locked, keychain.stalled,
   * keychain.unavailable (no keyring: then nothing outlives this run, and nothing is encrypted).
   */
  read(): Promise<Outcome<OpenedKey>>;
  /**
   * What the passphrase is checked with, the key under it, as the next start will find it; null where the key is there in clear.
   * Failures: credentials.missing (there is no key), keychain.*.
   */
  verifier(): Promise<Outcome<string | null>>;
  /**
   * Opens the key for this run where the passphrase fits. Answers the text that it is checked with from now on, another one
   * where the text was an earlier version's; null where it does not fit. Failures: as `wrap`.
   */
  open(passphrase: string, text: string, cost?: number): Promise<Outcome<string | null>>;
  /**
   * Puts the key under a passphrase, another one too; answers the text. Failures: as `read`, and then what was in force is;
   * unlock.unsure (the keychain says neither that it was written nor that it was not).
   */
  wrap(passphrase: string, cost?: number): Promise<Outcome<string>>;
  /** Puts the key into the keychain without a passphrase. Failures: as `wrap`. */
  unwrap(): Promise<Outcome<null>>;
  /** From now on a record without a seal was changed by somebody else. Failures: keychain.*. */
  adopted(): Promise<Outcome<null>>;
  /**
   * Puts a new key in the place of one whose secrets were removed, without a passphrase. Nothing is adopted under it: who
   * resets the lock has not looked at what there is. Failures: keychain.*, unlock.unsure.
   */
  renew(): Promise<Outcome<null>>;
}

export interface OpenedKey {
  readonly bytes: Uint8Array;
  /** No seal was made with it yet: settings and secrets of before are taken over. */
  readonly isNew: boolean;
}

const keyAccount = 'secrets:key';
/** Where earlier versions had the key under a passphrase. As long as it is there, a key in clear beside it is none. */
export const verifierAccount = 'lock:verifier';

/** Behind a key that is new. In the entry itself, so that a process that is killed leaves it new. */
const newMark = ' new';
const isMarked = (text: string): boolean => text.endsWith(newMark);
const plainText = (text: string): string => (isMarked(text) ? text.slice(0, -newMark.length) : text);
const isKey = (text: string): boolean => /^[A-Za-z0-9+/]{43}=$/.test(plainText(text));
const isWrapped = (text: string): boolean => text.startsWith('scrypt');
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(plainText(text), 'base64'));

export function createSecretsKey(keychain: Pick<Keychain, 'keep' | 'read' | 'store' | 'remove'>): SecretsKey {
  const queue = createSerialQueue();
  let opened: OpenedKey | null = null;
  /** Of a run without a keyring: it opens no key that anything could be stored with, and is in memory alone. */
  let temporary: string | null = null;

  /** What is in force at the next start. Failures: credentials.missing, keychain.*. */
  async function find(): Promise<Outcome<string>> {
    const found = await keychain.read(keyAccount);
    if (found.ok && isWrapped(found.value)) return found;
    const earlier = await keychain.read(verifierAccount);
    if (earlier.ok || earlier.failure.code !== 'credentials.missing') return earlier;
    return found.ok && !isKey(found.value) ? failed('credentials.missing') : found;
  }

  async function readKey(): Promise<Outcome<OpenedKey>> {
    if (opened !== null) return done(opened);
    const found = await find();
    if (!found.ok && found.failure.code !== 'credentials.missing') return found;
    if (found.ok && !isKey(found.value)) return failed('app.locked');
    const kept = await keychain.keep(keyAccount, {
      make: () => newKey() + newMark,
      fits: (text) => isKey(text) || isWrapped(text),
      // One that ends with this run would leave secrets that nothing opens.
      isLasting: true,
    });
    if (!kept.ok) return kept;
    if (isWrapped(kept.value)) return failed('app.locked');
    opened = { bytes: bytesOf(kept.value), isNew: isMarked(kept.value) };
    return done(opened);
  }

  /** Moves what an earlier version has in an entry of its own. A process that is killed leaves one of the two in force. */
  async function takeOver(): Promise<Outcome<null>> {
    const earlier = await keychain.read(verifierAccount);
    if (!earlier.ok) return earlier.failure.code === 'credentials.missing' ? done(null) : earlier;
    const found = await keychain.read(keyAccount);
    const isMoved = found.ok && isWrapped(found.value);
    const stored = isMoved ? done(null) : await keychain.store(keyAccount, earlier.value);
    return stored.ok ? keychain.remove(verifierAccount) : stored;
  }

  /**
   * Puts it in force. Where the keychain fails without a refusal, it may have been written all the same, or be written later: it
   * is asked what stands there.
   */
  async function put(text: string): Promise<Outcome<string>> {
    const stored = await keychain.store(keyAccount, text);
    if (stored.ok && stored.value === 'stored') return done(text);
    if (stored.ok) {
      // Without a keyring nothing outlives this run, and nothing is encrypted.
      await keychain.remove(keyAccount);
      return failed('keychain.unavailable');
    }
    if (stored.failure.code === 'keychain.locked') return stored;
    const standing = await find();
    if (standing.ok) return standing.value === text ? done(text) : stored;
    return standing.failure.code === 'credentials.missing' ? stored : failed('unlock.unsure');
  }

  async function putWrapped(passphrase: string, key: OpenedKey, cost?: number): Promise<Outcome<string>> {
    const text = await wrapKey(passphrase, key.bytes, cost);
    const written = await put(key.isNew ? text + newMark : text);
    // Where it can't be removed, it is passed over from now on.
    if (written.ok) await keychain.remove(verifierAccount);
    return written;
  }

  return {
    read: () => queue(readKey),
    verifier: () =>
      queue(async () => {
        const found = await find();
        return found.ok && isKey(found.value) ? done(null) : found;
      }),
    open: (passphrase, text, cost) =>
      queue(async () => {
        const key = await openKey(passphrase, plainText(text));
        if (key === null) return done(null);
        if (key === 'none') {
          // There is one where an earlier version set the passphrase after this one was used.
          const clear = await keychain.read(keyAccount);
          const known = clear.ok && isKey(clear.value) ? clear.value : newKey() + newMark;
          opened ??= { bytes: bytesOf(known), isNew: isMarked(known) };
          return putWrapped(passphrase, opened, cost);
        }
        if (text === temporary) return done(text);
        opened ??= { bytes: key, isNew: isMarked(text) };
        // Where it fails, it is tried again at the next opening.
        await takeOver();
        return done(text);
      }),
    wrap: (passphrase, cost) =>
      queue(async () => {
        const key = await readKey();
        if (key.ok) return putWrapped(passphrase, key.value, cost);
        if (key.failure.code !== 'keychain.unavailable') return key;
        // Nothing is stored in this run: the passphrase holds as long as the secrets do.
        temporary = await wrapKey(passphrase, bytesOf(newKey()), cost);
        return done(temporary);
      }),
    unwrap: () =>
      queue(async () => {
        if (opened === null) {
          const found = await find();
          // Set in an earlier run, while this one began without a keyring.
          if (found.ok && !isKey(found.value)) return failed('app.locked');
          temporary = null;
          return done(null);
        }
        temporary = null;
        const taken = await takeOver();
        if (!taken.ok) return taken;
        const text = Buffer.from(opened.bytes).toString('base64');
        const written = await put(opened.isNew ? text + newMark : text);
        return written.ok ? done(null) : written;
      }),
    adopted: () =>
      queue(async () => {
        if (opened?.isNew !== true) return done(null);
        for (const account of [keyAccount, verifierAccount]) {
          const found = await keychain.read(account);
          if (!found.ok || !isMarked(found.value)) continue;
          const stored = await keychain.store(account, plainText(found.value));
          if (!stored.ok) return stored;
        }
        opened = { ...opened, isNew: false };
        return done(null);
      }),
    renew: () =>
      queue(async () => {
        temporary = null;
        opened = null;
        const taken = await takeOver();
        // Without a keyring there is nothing to replace.
        const written = taken.ok ? await put(newKey()) : taken;
        return written.ok || written.failure.code === 'keychain.unavailable' ? done(null) : written;
      }),
  };
}

/**
 * In front of what is encrypted under a connection's key, and of what is encrypted under the secrets' key itself: the key of
 * results, and secrets of connections of before they had a key each. What has neither was stored by an earlier version.
 */
const prefixes = { connection: 'bound:', own: 'encrypted:' } as const;
const isEncrypted = (text: string): boolean =>
  Object.values(prefixes).some((prefix) => text.startsWith(prefix));
/** What always fits into an entry of the keychain once it is encrypted. */
const maxBytes = Math.floor((maxSecretBytes - prefixes.own.length) / 4) * 3 - 32;

/** How an account's secret is written and read. */
interface Writing {
  readonly encrypt: (secret: string) => string;
  /** Null where it does not open. */
  readonly decrypt: (text: string) => string | null;
}

/** Where the keys of connections come from. */
interface Keys {
  /**
   * The key of a connection's secrets; with `need` it is made where there is none. Failures: keychain.unavailable without a
   * keyring; connection.changed, or another that refuses the connection.
   */
  readonly keyOf: (
    id: string,
    need?: { readonly takesOver: boolean },
  ) => Promise<Outcome<{ readonly bytes: Uint8Array; readonly takesOver: boolean } | null>>;
  /** All accounts that a connection can have. The index may have lost one: it stands in a file of its own. */
  readonly accountsOf: (id: string) => readonly string[];
  /** Called once all of a connection's secrets are encrypted under its key. */
  readonly takenOver: (id: string) => Promise<unknown>;
  /** Waited for before anything is given out or taken. Its failure refuses it. */
  readonly ready: () => Promise<Outcome<unknown>>;
}

/**
 * A keychain that encrypts the secrets of connections, each under its connection's key, and the key of results under `key`. It
 * gives out or takes none of a connection whose key `keyOf` refuses. The entry's account is authenticated: one that is put in
 * another's place does not open.
 * Failures of `store`, `read`, `keep` and `key` besides the keychain's: those of `keyOf` and of the key.
 */
export function withSecretsKey<K extends Keychain>(
  keychain: K,
  key: Pick<SecretsKey, 'read'>,
  { keyOf, accountsOf, takenOver, ready }: Keys,
): K {
  const writingUnder = (bytes: Uint8Array, account: string, prefix: string, subject: string): Writing => {
    const cipher = createRecordCipher(bytes, subject);
    return {
      // Packed: a portal's token has more characters than bytes, and the keychain of Windows is small.
      encrypt: (secret) => prefix + cipher.encrypt(deflateRawSync(secret), account).toString('base64'),
      decrypt(text) {
        if (!text.startsWith(prefix)) return null;
        const packed = cipher.decrypt(Buffer.from(text.slice(prefix.length), 'base64'), account);
        return packed === null ? null : inflateRawSync(packed).toString('utf8');
      },
    };
  };

  /** Also what was stored before anything was encrypted. */
  async function ownWriting(account: string): Promise<Outcome<Writing>> {
    const opened = await key.read();
    if (!opened.ok) return opened;
    const writing = writingUnder(opened.value.bytes, account, prefixes.own, 'keychain');
    return done({ ...writing, decrypt: (text) => (isEncrypted(text) ? writing.decrypt(text) : text) });
  }

  /** Null without a keyring; `no key` where the connection has none. */
  async function writingOf(account: string): Promise<Outcome<Writing | 'no key' | null>> {
    const isReady = await ready();
    if (!isReady.ok) return isReady;
    const id = connectionOf(account);
    const found = id === null ? done(null) : await keyOf(id);
    if (!found.ok) return found.failure.code === 'keychain.unavailable' ? done(null) : found;
    if (id !== null && found.value === null) return done('no key');
    const own = id === null || found.value?.takesOver === true ? await ownWriting(account) : done(null);
    if (!own.ok) return own.failure.code === 'keychain.unavailable' ? done(null) : own;
    if (found.value === null) return own;
    const writing = writingUnder(found.value.bytes, account, prefixes.connection, 'secrets');
    const decrypt = (text: string) => writing.decrypt(text) ?? own.value?.decrypt(text) ?? null;
    return done({ ...writing, decrypt });
  }

  /**
   * Makes the key of the account's connection, and encrypts under it what the connection has from before. A process that is killed
   * meanwhile leaves a key that says so, and the next reading of each goes on.
   */
  async function makeKey(account: string): Promise<Outcome<null>> {
    const id = connectionOf(account) ?? '';
    const earlier: string[] = [];
    for (const one of accountsOf(id)) {
      const stored = await keychain.read(one);
      if (stored.ok) earlier.push(one);
      else if (stored.failure.code !== 'credentials.missing') return stored;
    }
    const made = await keyOf(id, { takesOver: earlier.length > 0 });
    if (!made.ok || made.value?.takesOver !== true) return made.ok ? done(null) : made;
    for (const one of earlier) {
      const read = await changed.read(one);
      if (!read.ok && read.failure.code !== 'credentials.missing') return read;
    }
    await takenOver(id);
    return done(null);
  }

  /** As `writingOf`, with a key in any case. */
  async function writingTo(account: string): Promise<Outcome<Writing | null>> {
    let writing = await writingOf(account);
    if (writing.ok && writing.value === 'no key') {
      const made = await makeKey(account);
      writing = made.ok ? await writingOf(account) : made;
    }
    if (!writing.ok) return writing;
    return writing.value === 'no key' ? failed('credentials.missing') : done(writing.value);
  }

  /** Whether an account has something of before its connection had a key. */
  async function isOfBefore(account: string, text: string): Promise<boolean> {
    const own = await ownWriting(account);
    return own.ok && own.value.decrypt(text) !== null;
  }

  /** Accounts that have something which nothing opens now. */
  const keyless = new Set<string>();

  const changed: Pick<Keychain, 'store' | 'read' | 'keep' | 'key' | 'peek'> = {
    peek: (account) => (keyless.has(account) ? 'missing' : keychain.peek(account)),
    async store(account, secret) {
      if (!holdsSecret(account) || secret === '') return keychain.store(account, secret);
      const writing = await writingTo(account);
      if (!writing.ok) return writing;
      if (writing.value === null) return keychain.store(account, secret);
      const text = writing.value.encrypt(secret);
      if (Buffer.byteLength(text) > maxSecretBytes)
        return failed('credentials.too-long', { subject: `${maxBytes}` });
      const stored = await keychain.store(account, text);
      if (stored.ok) keyless.delete(account);
      return stored;
    },
    async read(account) {
      if (!holdsSecret(account)) return keychain.read(account);
      const known = await writingOf(account);
      if (!known.ok) return known;
      const found = await keychain.read(account);
      if (!found.ok) return found;
      if (known.value === null) return isEncrypted(found.value) ? failed('keychain.unavailable') : found;
      if (known.value === 'no key' && (await isOfBefore(account, found.value))) {
        const made = await makeKey(account);
        return made.ok ? changed.read(account) : made;
      }
      if (known.value === 'no key') {
        // It stays: that its key was not found does not prove that the key is gone.
        keyless.add(account);
        return failed('credentials.missing');
      }
      const secret = known.value.decrypt(found.value);
      if (secret === null) {
        // The key that is there is another one: the keychain must not go on saying that the secret is there.
        const removed = await keychain.remove(account);
        return removed.ok ? failed('credentials.missing') : removed;
      }
      keyless.delete(account);
      await encryptStored(known.value, account, found.value, secret);
      return done(secret);
    },
    async keep(account, secret) {
      if (!holdsSecret(account)) return keychain.keep(account, secret);
      const found = await writingTo(account);
      if (!found.ok) return found;
      const writing = found.value;
      if (writing === null) return keychain.keep(account, secret);
      const kept = await keychain.keep(account, {
        make: () => writing.encrypt(secret.make()),
        fits: (text) => {
          const stored = writing.decrypt(text);
          return stored !== null && secret.fits(stored);
        },
      });
      if (!kept.ok) return kept;
      const stored = writing.decrypt(kept.value) ?? '';
      await encryptStored(writing, account, kept.value, stored);
      return done(stored);
    },
    async key(account) {
      if (!holdsSecret(account)) return keychain.key(account);
      const kept = await changed.keep(account, keySecret);
      return kept.ok ? done(new Uint8Array(Buffer.from(kept.value, 'base64'))) : kept;
    },
  };

  /** What is in an earlier form is written anew where it can be; it is read either way. */
  async function encryptStored(
    writing: Writing,
    account: string,
    text: string,
    secret: string,
  ): Promise<void> {
    const form = connectionOf(account) === null ? prefixes.own : prefixes.connection;
    if (!text.startsWith(form)) await keychain.store(account, writing.encrypt(secret));
  }

  return { ...keychain, ...changed };
}
