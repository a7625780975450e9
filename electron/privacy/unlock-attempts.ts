import { z } from 'zod';
import { done, type Outcome } from '../contract/errors.ts';
import { count, instant } from '../contract/models/fields.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { UnlockAttempts, UnlockAttemptsStore } from './lock.ts';

const account = 'lock:attempts';
const none: UnlockAttempts = { wrong: 0, until: null };
const stored = z.strictObject({
  wrong: count,
  until: instant.nullable(),
  verifierLost: z.boolean().optional(),
});

/**
 * Wrong passphrases in the settings file and in the keychain: the larger number and the later time count, so that an edit
 * of the file takes no try back, and a keychain that is locked or gone does not either.
 */
export function createUnlockAttempts(
  file: {
    read(): UnlockAttempts;
    write(attempts: UnlockAttempts): Outcome<null>;
  },
  keychain: Pick<Keychain, 'read' | 'store' | 'remove'>,
): UnlockAttemptsStore {
  async function inKeychain(): Promise<UnlockAttempts> {
    const found = await keychain.read(account);
    return found.ok ? parse(found.value) : none;
  }

  return {
    async read() {
      const [one, other] = [file.read(), await inKeychain()];
      const times = [one.until, other.until].filter((until) => until !== null).sort();
      return {
        wrong: Math.max(one.wrong, other.wrong),
        until: times.at(-1) ?? null,
        ...((one.verifierLost === true || other.verifierLost === true) && { verifierLost: true }),
      };
    },
    async write(attempts) {
      const onDisk = file.write(attempts);
      const isNone = attempts.wrong === 0 && attempts.until === null && attempts.verifierLost !== true;
      const kept = await (isNone
        ? keychain.remove(account)
        : keychain.store(account, JSON.stringify(attempts)));
      return kept.ok && kept.value !== 'memory' ? done(null) : onDisk.ok ? done(null) : onDisk;
    },
  };
}

function parse(text: string): UnlockAttempts {
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    return none;
  }
}
