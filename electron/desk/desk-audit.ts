import os from 'node:os';
import path from 'node:path';
import type { Audit } from '../audit/audit.ts';
import { checkpointFile } from '../audit/checkpoint.ts';
import { chainKey, keychainAnchor } from '../audit/from-keychain.ts';
import { openAudit } from '../audit/open-audit.ts';
import type { Keychain } from '../credentials/keychain.ts';
import type { Shell } from '../shell/shell.ts';

/**
 * The audit log of this workstation's user: its key in the keychain, its checkpoints apart from its lines. Opening it
 * verifies all of it, which takes seconds once it is long. The window doesn't wait for that; whatever is to be
 * recorded does.
 */
export function openDeskAudit({
  shell,
  keychain,
}: {
  shell: Pick<Shell, 'home'>;
  keychain: Keychain;
}): Audit {
  let opened: Audit | null = null;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const opening = openAudit({
    folder: path.join(shell.home, 'audit'),
    checkpoint: checkpointFile(path.join(shell.home, 'checkpoints', 'audit')),
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
