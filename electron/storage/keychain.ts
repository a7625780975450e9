import { randomBytes } from 'node:crypto';
import { type Outcome, done, failed } from '../contract/errors.ts';
import type { KeychainState } from '../contract/models/app.ts';
import type { SecretState } from '../contract/models/connection.ts';
import type { Clock } from '../util/clock.ts';
import { createEmitter } from '../util/emitter.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import { entryName, isHomeId } from './keychain-accounts.ts';
import { createNativeCalls, type KeyringBackend, type NativeAnswer } from './keytar.ts';

/**
 * Secrets in the operating system's keychain, under one service name. Each entry's name begins with the identity of the
 * person's folder, which is written nowhere else: callers and the index name the account alone. Calls go one at a time with a limit of 5 s,
 * since a keyring that hangs would otherwise use up the thread pool. An index of what was stored (names only) tells
 * "locked" from "never stored", since the keyring answers `null` to both.
 *
 * Without a keyring, secrets are in memory for this run. They are never written to the disk unencrypted.
 */
export interface Keychain {
  /**
   * `account` is at most 160 characters of [A-Za-z0-9:_.-]; `secret` at most 2,560 bytes of UTF-8. Answers `memory`
   * where there is no keyring. Failures: credentials.too-long, credentials.missing (an empty secret),
   * keychain.locked, keychain.stalled (it may still be stored once the keyring wakes up).
   */
  store(account: string, secret: string): Promise<Outcome<SecretState>>;
  /** Failures: credentials.missing, keychain.locked, keychain.stalled, keychain.unavailable (stored in a keyring that is gone). */
  read(account: string): Promise<Outcome<string>>;
  /**
   * Succeeds where there is nothing. Failures: keychain.locked, keychain.stalled, keychain.unavailable; the secret may
   * still be there.
   */
  remove(account: string): Promise<Outcome<null>>;
  /** Names of all that is stored, from the index and from memory. */
  accounts(): string[];
  /** From the index, without asking the keyring for the secret. */
  peek(account: string): SecretState;
  /**
   * A random 32-byte key stored under `account`, made at first use, and again where the keyring has provably lost it.
   * In state `unavailable` it lasts for this run only. For result stores, the built-in service.
   */
  key(account: string): Promise<Outcome<Uint8Array>>;
  /** As `key`, of a text that begins with a key: what does not pass `fits` counts as lost. */
  keep(account: string, secret: MadeSecret): Promise<Outcome<string>>;
  state(): KeychainState;
  onState(listener: () => void): () => void;
}

export interface MadeSecret {
  readonly make: () => string;
  readonly fits: (secret: string) => boolean;
  /** Made only where the keyring keeps it; otherwise the failure is keychain.unavailable. */
  readonly isLasting?: true;
}

export interface KeychainOptions {
  /** Loads the native module at first use; a rejection means that there is no keyring here. */
  readonly load: () => Promise<KeyringBackend>;
  /** Names of what was stored, for the next run. Never a value. */
  readonly index: { read(): readonly string[]; write(names: readonly string[]): unknown };
  readonly clock: Clock;
  /** The identity of the person's folder, as the folder says. */
  readonly homeId: string;
  /** What is settled with the keyring before anything is answered. */
  readonly settle?: HomeSettlement;
  readonly timeoutMs?: number;
  readonly service?: string;
}

/**
 * The keyring knows the identity of a folder by the folder's path, and the path by the identity. So a folder that was
 * moved is told from one that was copied: entries go with the first, and the second gets an identity of its own.
 */
export interface HomeSettlement {
  /** Where the folder is. */
  readonly place: string;
  /** The entry that has the identity of the folder at a place. What it says is used; where there is none, it is made. */
  readonly entryOf: (place: string) => string;
  /** Where an identity is in use that the keyring has no place of. */
  readonly usualPlace: string;
  /** Whether another folder has the identity now, at that place. */
  readonly isInUse: (homeId: string, place: string) => boolean;
  readonly newId: () => string;
  /** Called where the folder is a copy of the one that has this identity, before it gets its own. Does not throw. */
  readonly onCopy: (homeId: string) => void;
  /** Accounts of versions that had no such identity, whose entries become this folder's. */
  readonly earlier: readonly string[];
  /** Called with the identity that is used, once no entry is left under its earlier name. */
  readonly onSettled: (homeId: string) => Promise<unknown>;
}

/** Windows' limit for one credential, CRED_MAX_CREDENTIAL_BLOB_SIZE. The same on every system. */
export const maxSecretBytes = 2_560;
const keyBytes = 32;
/** A random key, as base64. */
export const newKey = (): string => randomBytes(keyBytes).toString('base64');
export const keySecret: MadeSecret = {
  make: newKey,
  fits: (secret) => Buffer.from(secret, 'base64').length === keyBytes,
};
const accountPattern = /^[A-Za-z0-9:_.-]{1,160}$/;
/** Written and read back to learn whether the keyring is open. No secret. */
const probe = 'probe';
/** Has the place of the folder whose identity its name begins with. No secret, and in no index. */
const placeAccount = 'folder';

/**
 * `settled` has what is settled before anything is answered be settled now: only then `peek` and `homeId` are right in a
 * copied folder.
 * `forgetFolder` removes the entries that know the folder, after all others. Failures of both as those of `remove`.
 */
export function createKeychain({
  load,
  clock,
  index,
  homeId: homeIdOfFolder,
  settle,
  timeoutMs = 5_000,
  service = 'Tokendesk',
}: KeychainOptions): Keychain & {
  settled(): Promise<Outcome<null>>;
  forgetFolder(): Promise<Outcome<null>>;
  homeId(): string;
} {
  const memory = new Map<string, string>();
  const indexed = new Set(index.read());
  const changes = createEmitter();
  const queue = createSerialQueue();
  let state: KeychainState = 'ready';
  let homeId = homeIdOfFolder;
  let isSettled = settle === undefined;
  const nameOf = (account: string): string => entryName(homeId, account);

  function setState(next: KeychainState) {
    if (state === next) return;
    state = next;
    changes.emit();
  }

  const calls = createNativeCalls({
    load,
    clock,
    timeoutMs,
    onReturn: (kind) => setState(kind === 'answered' ? 'ready' : kind),
  });

  /** An answer of "nothing there" does not prove that the keyring is open: a locked one gives it too. */
  async function call<T>(run: (backend: KeyringBackend) => Promise<T>): Promise<NativeAnswer<T>> {
    const answer = await calls.call(run);
    if (answer.kind !== 'answered') setState(answer.kind);
    else if (state !== 'locked' || (answer.value !== null && answer.value !== false)) setState('ready');
    return answer;
  }

  function inTurn<T>(account: string, task: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    if (!accountPattern.test(account)) throw new TypeError('Not an account name');
    return queue(async () => {
      const settled = await settleOnce();
      return settled.ok ? task() : settled;
    });
  }

  /**
   * Learns the folder's identity and gives entries of earlier versions the names they have now, before any is asked for.
   * What was not moved, since the keyring is locked or the process was killed, is moved at the next call or start.
   */
  async function settleOnce(): Promise<Outcome<null>> {
    if (isSettled || settle === undefined) return done(null);
    const known = await call((backend) => settleIdentity(backend, settle));
    // Without a keyring nothing is there, and secrets are in memory for this run.
    if (known.kind === 'unavailable') return done(null);
    if (known.kind !== 'answered') return failed(failureCode());
    homeId = known.value.homeId;
    const { onSettled } = settle;
    const earlier = known.value.isCopy ? [] : settle.earlier;
    // Twice: "nothing" is believed of an open keyring that says it again. What was moved is not there any more.
    for (let round = 1; round <= 2 && earlier.length > 0; round++) {
      for (const account of earlier) {
        const moved = await call((backend) => take(backend, account));
        if (moved.kind !== 'answered') return failed(failureCode());
      }
      if (!(await isOpen())) return failed(failureCode());
    }
    isSettled = true;
    await onSettled(homeId);
    return done(null);
  }

  /** A process that ends after any of these calls leaves a state from which the next start comes to the same. */
  async function settleIdentity(
    backend: KeyringBackend,
    { place, entryOf, usualPlace, isInUse, newId, onCopy }: HomeSettlement,
  ): Promise<{ readonly homeId: string; readonly isCopy: boolean }> {
    const found = await backend.getPassword(service, entryOf(place));
    const known = found !== null && isHomeId(found) ? found : homeIdOfFolder;
    // A locked keyring, which has answered "nothing", refuses it.
    if (known !== found) await backend.setPassword(service, entryOf(place), known);
    const owner = await backend.getPassword(service, entryName(known, placeAccount));
    if (owner === place) return { homeId: known, isCopy: false };
    if (isInUse(known, owner ?? usualPlace)) {
      // The settings were copied with the folder: what they name is the other's.
      indexed.clear();
      index.write([]);
      onCopy(known);
      const own = newId();
      await backend.setPassword(service, entryOf(place), own);
      await backend.setPassword(service, entryName(own, placeAccount), place);
      return { homeId: own, isCopy: true };
    }
    if (owner !== null && (await backend.getPassword(service, entryOf(owner))) === known)
      await backend.deletePassword(service, entryOf(owner));
    await backend.setPassword(service, entryName(known, placeAccount), place);
    return { homeId: known, isCopy: false };
  }

  async function take(backend: KeyringBackend, account: string): Promise<void> {
    const secret = await backend.getPassword(service, account);
    if (secret === null) return;
    // There already: an earlier attempt ended between the two calls below.
    if ((await backend.getPassword(service, nameOf(account))) === null)
      await backend.setPassword(service, nameOf(account), secret);
    await backend.deletePassword(service, account);
    if (account !== probe) updateIndex(account, true);
  }

  function updateIndex(account: string, stored: boolean) {
    if (indexed.has(account) === stored) return;
    if (stored) indexed.add(account);
    else indexed.delete(account);
    index.write([...indexed].sort());
  }

  /** Whether "not there" is true: a locked keyring answers it too. */
  async function isOpen(): Promise<boolean> {
    const nonce = randomBytes(8).toString('hex');
    const written = await call((backend) => backend.setPassword(service, nameOf(probe), nonce));
    if (written.kind !== 'answered') return false;
    const read = await call((backend) => backend.getPassword(service, nameOf(probe)));
    return read.kind === 'answered' && read.value === nonce;
  }

  /** After an answer of "nothing", which is believed of an open keyring that says it twice. Null where it does. */
  async function readAgain(account: string): Promise<Outcome<string | null>> {
    if (!(await isOpen())) return failed(failureCode());
    const again = await call((backend) => backend.getPassword(service, nameOf(account)));
    return again.kind === 'answered' ? done(again.value) : failed(failureCode());
  }

  async function find(account: string): Promise<Outcome<string>> {
    const inMemory = memory.get(account);
    if (inMemory !== undefined) return done(inMemory);
    const answer = await call((backend) => backend.getPassword(service, nameOf(account)));
    if (answer.kind === 'answered' && answer.value !== null) {
      updateIndex(account, true);
      return done(answer.value);
    }
    if (answer.kind === 'stalled') return failed('keychain.stalled');
    if (answer.kind === 'locked') return failed('keychain.locked');
    if (!indexed.has(account)) return failed('credentials.missing');
    if (answer.kind === 'unavailable') return failed('keychain.unavailable');
    const again = await readAgain(account);
    if (!again.ok) return again;
    if (again.value !== null) return done(again.value);
    updateIndex(account, false);
    return failed('credentials.missing');
  }

  async function findFitting(account: string, { fits }: MadeSecret): Promise<Outcome<string>> {
    const found = await find(account);
    return !found.ok || fits(found.value) ? found : failed('credentials.missing');
  }

  function keep(account: string, secret: MadeSecret): Promise<Outcome<string>> {
    return inTurn(account, async () => {
      const found = await findFitting(account, secret);
      if (found.ok || found.failure.code !== 'credentials.missing') return found;
      // Checked: with the index lost and the keyring locked, a new key would replace one in use.
      if (await isOpen()) {
        const again = await findFitting(account, secret);
        if (again.ok) return again;
      } else if (state !== 'unavailable') {
        return failed(failureCode());
      }
      if (secret.isLasting === true && state === 'unavailable') return failed('keychain.unavailable');
      const made = secret.make();
      const stored = await put(account, made, secret);
      return stored.ok ? done(made) : stored;
    });
  }

  /** The failure after a call that was not answered, or whose answer can't be relied on. */
  function failureCode() {
    if (state === 'stalled') return 'keychain.stalled';
    if (state === 'unavailable') return 'keychain.unavailable';
    setState('locked');
    return 'keychain.locked';
  }

  async function put(
    account: string,
    secret: string,
    { isLasting }: Pick<MadeSecret, 'isLasting'> = {},
  ): Promise<Outcome<'stored' | 'memory'>> {
    const answer = await call(async (backend) => {
      await backend.setPassword(service, nameOf(account), secret);
      // Within the call: one that was given up on may still succeed later.
      updateIndex(account, true);
      memory.delete(account);
    });
    if (answer.kind === 'answered') return done('stored');
    if (answer.kind !== 'unavailable' || isLasting === true) return failed(failureCode());
    memory.set(account, secret);
    return done('memory');
  }

  return {
    async store(account, secret) {
      if (Buffer.byteLength(secret) > maxSecretBytes) {
        return failed('credentials.too-long', { subject: `${maxSecretBytes}` });
      }
      if (secret === '') return failed('credentials.missing');
      return inTurn(account, () => put(account, secret));
    },

    async read(account) {
      return inTurn(account, () => find(account));
    },

    async remove(account) {
      return inTurn(account, async () => {
        const inMemory = memory.delete(account);
        const answer = await call(async (backend) => {
          const removed = await backend.deletePassword(service, nameOf(account));
          if (removed) updateIndex(account, false);
          return removed;
        });
        if (!indexed.has(account)) {
          const unsure = answer.kind === 'stalled' || answer.kind === 'locked';
          return unsure && !inMemory ? failed(failureCode()) : done(null);
        }
        if (answer.kind !== 'answered') return failed(failureCode());
        // "Nothing to remove" of something indexed: the keyring is locked, or somebody else removed it.
        const again = await readAgain(account);
        if (!again.ok) return again;
        if (again.value !== null) {
          const removed = await call((backend) => backend.deletePassword(service, nameOf(account)));
          if (removed.kind !== 'answered' || !removed.value) return failed(failureCode());
        }
        updateIndex(account, false);
        return done(null);
      });
    },

    accounts: () => [...new Set([...indexed, ...memory.keys()])],

    peek(account) {
      if (memory.has(account)) return 'memory';
      if (!indexed.has(account)) return 'missing';
      return state === 'ready' ? 'stored' : 'locked';
    },

    keep,
    async key(account) {
      const kept = await keep(account, keySecret);
      return kept.ok ? done(new Uint8Array(Buffer.from(kept.value, 'base64'))) : kept;
    },

    settled: () => queue(settleOnce),
    homeId: () => homeId,

    async forgetFolder() {
      if (settle === undefined) return done(null);
      const removed = await queue(() =>
        call(async (backend) => {
          await backend.deletePassword(service, nameOf(placeAccount));
          return backend.deletePassword(service, settle.entryOf(settle.place));
        }),
      );
      return removed.kind === 'answered' || removed.kind === 'unavailable'
        ? done(null)
        : failed(failureCode());
    },

    state: () => state,
    onState: (listener) => changes.on(listener),
  };
}
