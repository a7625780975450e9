import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A person's own GnuPG with keys made for a test, and a person who sends files encrypted for one of them. */
export interface TestGnupg {
  /** Its GNUPGHOME. */
  readonly home: string;
  /** GnuPG's own, which no other process of the machine uses. */
  encrypt(bytes: Buffer, ...options: readonly string[]): Buffer;
  /** A file with the public key. */
  readonly publicKey: string;
  /** Forgets every passphrase. */
  forget(): void;
  close(): void;
}

export const recipient = 'cards@example.com';

/** Takes a second: a key is made. */
export function openGnupg(): TestGnupg {
  // Short: the path of a socket in it has at most a hundred letters.
  const home = mkdtempSync(join(tmpdir(), 'gpg-'));
  const run = (args: readonly string[], input?: Buffer): Buffer =>
    execFileSync('/usr/bin/gpg', ['--homedir', home, '--batch', '--quiet', '--yes', ...args], {
      ...(input !== undefined && { input }),
      maxBuffer: 2 ** 28,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  run(['--passphrase', '', '--quick-gen-key', recipient, 'default', 'default', 'never']);
  const publicKey = join(home, 'public.key');
  run(['--output', publicKey, '--export', recipient]);
  const forget = (): void => void spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
  return {
    home,
    publicKey,
    forget,
    encrypt(bytes, ...options) {
      const how = options.length > 0 ? options : ['--encrypt', '--recipient', recipient];
      return run(['--trust-model', 'always', '--output', '-', ...how], bytes);
    },
    close() {
      forget();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
