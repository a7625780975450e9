import os from 'node:os';
import path from 'node:path';
import type { Audit } from '../audit/audit.ts';
import { checkpointFile } from '../audit/checkpoint.ts';
import { openAudit } from '../audit/open-audit.ts';
import { done } from '../contract/errors.ts';
import type { Keychain } from '../credentials/keychain.ts';
import type { Shell } from '../shell/shell.ts';

/** The audit log of this workstation's user: its key in the keychain, its checkpoints apart from its lines. */
export function openDeskAudit({
  shell,
  keychain,
}: {
  shell: Pick<Shell, 'home'>;
  keychain: Pick<Keychain, 'key' | 'peek'>;
}): Promise<Audit> {
  return openAudit({
    folder: path.join(shell.home, 'audit'),
    checkpoint: checkpointFile(path.join(shell.home, 'checkpoints', 'audit')),
    async key() {
      const key = await keychain.key('audit:chain');
      return key.ok ? done({ bytes: key.value, kept: keychain.peek('audit:chain') !== 'memory' }) : key;
    },
    actor: os.userInfo().username,
    now: () => new Date(),
  });
}
