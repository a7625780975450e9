import type { Keychain } from '../credentials/keychain.ts';
import { done, type Outcome } from '../contract/errors.ts';
import type { CheckpointStore } from './checkpoint.ts';
import type { AuditKey } from './log-writer.ts';

const keyAccount = 'audit:key';
const anchorAccount = 'audit:anchor';

/** The chain's key. `kept` is false where the machine has no keyring and the key ends with this run. */
export async function chainKey(keychain: Pick<Keychain, 'key' | 'peek'>): Promise<Outcome<AuditKey>> {
  const key = await keychain.key(keyAccount);
  return key.ok ? done({ bytes: key.value, kept: keychain.peek(keyAccount) !== 'memory' }) : key;
}

/**
 * The log's end in the keychain: whoever can change every file of this user still has to get into the keyring to
 * have a log taken away unnoticed. Written rarely, so it may be behind; the checkpoint's file is not.
 */
export function keychainAnchor(keychain: Pick<Keychain, 'read' | 'store'>): CheckpointStore {
  return {
    async read() {
      const found = await keychain.read(anchorAccount);
      if (found.ok) return [found.value];
      if (found.failure.code === 'credentials.missing') return [];
      throw new Error(found.failure.code);
    },
    async write(text) {
      const stored = await keychain.store(anchorAccount, text);
      if (!stored.ok) throw new Error(stored.failure.code);
    },
  };
}
