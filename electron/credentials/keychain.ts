import { createHash, randomBytes } from 'node:crypto';
import { type Outcome, done, failed } from '../contract/errors.ts';
import type { KeychainState } from '../contract/models/app.ts';
import type { Connection, SecretName, SecretState } from '../contract/models/connection.ts';
import type { Clock } from '../privacy/clock.ts';
import { createNativeCalls, type KeyringBackend, type NativeAnswer } from './keytar.ts';

/**
 * Where a connection's secret is kept in the keychain: CONNECTION:ORIGIN:KIND or CONNECTION:ORIGIN:policy-NAME,
 * origin and policy as the head of their SHA-256, since the keychain takes few characters and any policy name must
 * do. The origin is part of the name so that a secret typed for one host is not found for another, not even when the
 * settings file was edited behind the app's back: an address can't be changed to have the key sent there.
 */
export function secretAccount(connection: Pick<Connection, 'id' | 'baseUrl'>, secret: SecretName): string {
  const place = placeOf(connection);
  return secret.kind === 'policyPassword'
    ? `${place}:policy-${head(secret.policy)}`
    : `${place}:${secret.kind}`;
}

/** Where the key is kept that the client certificate and its passphrase are encrypted with: CONNECTION:ORIGIN:certificate. */
export function certificateAccount(connection: Pick<Connection, 'id' | 'baseUrl'>): string {
  return `${placeOf(connection)}:certificate`;
}

/** Where a connection's portal JWT is kept: CONNECTION:ORIGIN:portal. */
export function portalAccount(connection: Pick<Connection, 'id' | 'baseUrl'>): string {
  return `${placeOf(connection)}:portal`;
}

/** All the secrets a connection can have. */
export function secretsOf(connection: Pick<Connection, 'policies'>): SecretName[] {
  return [
    { kind: 'apiKey' },
    { kind: 'proxyPassword' },
    ...connection.policies.map((policy) => ({ kind: 'policyPassword' as const, policy })),
  ];
}

const placeOf = ({ id, baseUrl }: Pick<Connection, 'id' | 'baseUrl'>) =>
  `${id}:${head(new URL(baseUrl).origin)}`;

const head = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 24);

/**
 * Secrets in the operating system's keychain, under one service name. Calls go one at a time with a limit of 5 s:
 * a keyring that hangs would otherwise take all of the thread pool with it. An index of what was stored (names
 * only) tells "locked" from "never stored", since the keyring answers `null` to both.
 *
 * Without a keyring, secrets live in memory for this run; nothing is ever written to disk in clear.
 */
export interface Keychain {
  /**
   * `account` is at most 200 characters of [A-Za-z0-9:_.-]; `secret` at most 2,560 bytes of UTF-8. Answers `memory`
   * where there is no keyring. Failures: credentials.too-long, credentials.missing (an empty secret),
   * keychain.locked, keychain.stalled (it may still be stored once the keyring wakes up).
   */
  store(account: string, secret: string): Promise<Outcome<SecretState>>;
  /** Failures: credentials.missing, keychain.locked, keychain.stalled, keychain.unavailable (stored in a keyring that is gone). */
  read(account: string): Promise<Outcome<string>>;
  /** Nothing there is fine. Failures: keychain.locked, keychain.stalled, keychain.unavailable; the secret may be there still. */
  remove(account: string): Promise<Outcome<null>>;
  /** From the index, without asking the keyring for the secret. */
  peek(account: string): SecretState;
  /**
   * A random 32-byte key kept under `account`, made at first use, and anew where the keyring has provably lost it.
   * In state `unavailable` it lasts for this run only. For the audit chain, result stores, the built-in service.
   */
  key(account: string): Promise<Outcome<Uint8Array>>;
  state(): KeychainState;
  onState(listener: () => void): () => void;
}

export interface KeychainParts {
  /** Loads the native module at first use; a rejection means that there is no keyring here. */
  readonly load: () => Promise<KeyringBackend>;
  /** Names of what was stored, kept between runs outside the keyring. Never a value. */
  readonly index: { read(): readonly string[]; write(names: readonly string[]): unknown };
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly service?: string;
}

/** Windows' limit for one credential, CRED_MAX_CREDENTIAL_BLOB_SIZE; the same everywhere, so that none surprises. */
const longestSecret = 2_560;
const keyBytes = 32;
const accountPattern = /^[A-Za-z0-9:_.-]{1,200}$/;
/** Written and read back to learn whether the keyring is open; holds nothing. */
const probe = 'probe';

/** The contract is in `keychain.ts`. */
export function openKeychain(parts: KeychainParts): Keychain {
  const { load, clock, index, timeoutMs = 5_000, service = 'Tokendesk' } = parts;
  const memory = new Map<string, string>();
  const indexed = new Set(index.read());
  const listeners = new Set<() => void>();
  let state: KeychainState = 'ready';
  let queue: Promise<unknown> = Promise.resolve();

  function become(next: KeychainState) {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener();
  }

  const calls = createNativeCalls({
    load,
    clock,
    timeoutMs,
    onReturn: (kind) => become(kind === 'answered' ? 'ready' : kind),
  });

  /** "Nothing there" proves nothing: a locked keyring says it of everything. */
  async function ask<T>(run: (backend: KeyringBackend) => Promise<T>): Promise<NativeAnswer<T>> {
    const answer = await calls.call(run);
    if (answer.kind !== 'answered') become(answer.kind);
    else if (state !== 'locked' || (answer.value !== null && answer.value !== false)) become('ready');
    return answer;
  }

  /** One at a time, in the order asked for. */
  function inTurn<T>(account: string, task: () => Promise<T>): Promise<T> {
    if (!accountPattern.test(account)) throw new TypeError('Not an account name');
    const turn = queue.then(task);
    queue = turn.catch(() => undefined);
    return turn;
  }

  function note(account: string, stored: boolean) {
    if (indexed.has(account) === stored) return;
    if (stored) indexed.add(account);
    else indexed.delete(account);
    index.write([...indexed].sort());
  }

  // The index follows within the call itself: a call that was given up on may still succeed later.
  const set = (account: string, secret: string) =>
    ask(async (backend) => {
      await backend.setPassword(service, account, secret);
      note(account, true);
      memory.delete(account);
    });

  /**
   * Whether the keyring is open: it says "not there" of everything while it is locked, and when somebody removed
   * the entry or made a new keyring.
   */
  async function isOpen(): Promise<boolean> {
    const mark = randomBytes(8).toString('hex');
    const written = await ask((backend) => backend.setPassword(service, probe, mark));
    if (written.kind !== 'answered') return false;
    const read = await ask((backend) => backend.getPassword(service, probe));
    return read.kind === 'answered' && read.value === mark;
  }

  async function find(account: string): Promise<Outcome<string>> {
    const kept = memory.get(account);
    if (kept !== undefined) return done(kept);
    const answer = await ask((backend) => backend.getPassword(service, account));
    if (answer.kind === 'answered' && answer.value !== null) {
      note(account, true);
      return done(answer.value);
    }
    if (answer.kind === 'stalled') return failed('keychain.stalled');
    if (answer.kind === 'locked') return failed('keychain.locked');
    if (!indexed.has(account)) return failed('credentials.missing');
    if (answer.kind === 'unavailable') return failed('keychain.unavailable');
    if (await isOpen()) {
      note(account, false);
      return failed('credentials.missing');
    }
    return failed(refusal());
  }

  async function findKey(account: string): Promise<Outcome<Uint8Array>> {
    const found = await find(account);
    if (!found.ok) return found;
    const bytes = Buffer.from(found.value, 'base64');
    return bytes.length === keyBytes ? done(new Uint8Array(bytes)) : failed('credentials.missing');
  }

  /** What stands in the way, once a call was not answered or not believed. */
  function refusal() {
    if (state === 'stalled') return 'keychain.stalled';
    if (state === 'unavailable') return 'keychain.unavailable';
    become('locked');
    return 'keychain.locked';
  }

  async function put(account: string, secret: string): Promise<Outcome<'stored' | 'memory'>> {
    const answer = await set(account, secret);
    if (answer.kind === 'answered') return done('stored');
    if (answer.kind !== 'unavailable') return failed(refusal());
    memory.set(account, secret);
    return done('memory');
  }

  return {
    async store(account, secret) {
      if (Buffer.byteLength(secret) > longestSecret) {
        return failed('credentials.too-long', { subject: `${longestSecret}` });
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
        const answer = await ask(async (backend) => {
          const removed = await backend.deletePassword(service, account);
          if (removed) note(account, false);
          return removed;
        });
        if (!indexed.has(account)) {
          const unsure = answer.kind === 'stalled' || answer.kind === 'locked';
          return unsure && !inMemory ? failed(refusal()) : done(null);
        }
        if (answer.kind !== 'answered') return failed(refusal());
        // "Nothing to remove" of something indexed: the keyring is locked, or it went by another hand.
        if (!(await isOpen())) return failed(refusal());
        note(account, false);
        return done(null);
      });
    },

    peek(account) {
      if (memory.has(account)) return 'memory';
      if (!indexed.has(account)) return 'missing';
      return state === 'ready' ? 'stored' : 'locked';
    },

    async key(account) {
      return inTurn(account, async () => {
        const found = await findKey(account);
        if (found.ok || found.failure.code !== 'credentials.missing') return found;
        // Not believed at once: with the index lost and the keyring locked, a new key would replace one in use.
        if (await isOpen()) {
          const again = await findKey(account);
          if (again.ok) return again;
        } else if (state !== 'unavailable') {
          return failed(refusal());
        }
        const made = randomBytes(keyBytes);
        const kept = await put(account, made.toString('base64'));
        return kept.ok ? done(new Uint8Array(made)) : kept;
      });
    },

    state: () => state,
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
