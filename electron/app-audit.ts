import os from 'node:os';
import path from 'node:path';
import { type Audit, openAudit } from './audit/audit.ts';
import { checkpointFile, chainKey, keychainAnchor } from './audit/checkpoint.ts';
import type { Keychain } from './credentials/keychain.ts';
import type { Platform } from './platform/platform.ts';

/**
 * The audit log of this workstation's user: its key in the keychain, its checkpoints apart from its lines. Opening it
 * verifies all of it, which takes seconds once it is long. The window doesn't wait for that; whatever is to be
 * recorded does.
 */
export function openAppAudit({
  platform,
  keychain,
}: {
  platform: Pick<Platform, 'home'>;
  keychain: Keychain;
}): Audit {
  let opened: Audit | null = null;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const opening = openAudit({
    folder: path.join(platform.home, 'audit'),
    checkpoint: checkpointFile(path.join(platform.home, 'checkpoints', 'audit')),
    anchor: keychainAnchor(keychain),
    key: () => chainKey(keychain),
    actor: os.userInfo().username,
    now: () => new Date(),
  }).then((audit) => {
    opened = audit;
    audit.onState(tell);
    tell();
    return audit;
  });

  return {
    begin: async (intent) => (await opening).begin(intent),
    list: async (query) => (await opening).list(query),
    state: () => opened?.state() ?? 'ready',
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => (await opening).close(),
  };
}
