import type { Outcome } from '../contract/errors.ts';
import type { SecretState } from '../contract/models/connection.ts';
import type { KeychainState } from '../contract/models/desk.ts';

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
