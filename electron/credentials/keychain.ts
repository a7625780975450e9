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
  /** `account` is at most 200 characters of [A-Za-z0-9:_.-]; `secret` at most 2,560 bytes of UTF-8. */
  store(account: string, secret: string): Promise<Outcome<SecretState>>;
  /** Failures: credentials.missing, keychain.locked, keychain.stalled. */
  read(account: string): Promise<Outcome<string>>;
  remove(account: string): Promise<Outcome<null>>;
  /** From the index, without asking the keyring for the secret. */
  peek(account: string): SecretState;
  /** A random 32-byte key kept under `account`, made at first use. For the audit chain, result stores, the built-in service. */
  key(account: string): Promise<Outcome<Uint8Array>>;
  state(): KeychainState;
  onState(listener: () => void): () => void;
}
