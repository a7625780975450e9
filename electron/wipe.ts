import fs from 'node:fs';
import path from 'node:path';
import { accountsOf, createKeychain } from './credentials/keychain.ts';
import type { KeyringBackend } from './credentials/keytar.ts';
import type { Clock } from './privacy/clock.ts';
import { documentMigrations, documentVersion, settingsDocument } from './settings/settings.ts';
import { createStore, type ConfLike, type ConfOptions } from './settings/store.ts';

export interface WipeOptions {
  /** The person's folder. */
  readonly home: string;
  readonly conf: (options: ConfOptions) => ConfLike;
  readonly loadKeytar: () => Promise<KeyringBackend>;
  readonly clock: Clock;
  /** Whether the person agrees to what would be removed. */
  readonly confirm: (what: string) => Promise<boolean>;
  /** Says how it ended. */
  readonly print: (sentence: string) => Promise<void>;
}

/** Kept by every installation, so also removed where the index of the keychain was lost. */
const fixedAccounts = ['audit:key', 'audit:anchor', 'evidence:signing', 'lock:verifier', 'disclosures'];

/**
 * Removes all that the app keeps of this person: the keychain's entries, then the folder. Answers the exit code: 0 when
 * nothing is left, 1 when it was not confirmed or the keychain refused. Then the folder stays, since it has the names
 * of the entries. The app must not be open.
 */
export async function wipe({ home, conf, loadKeytar, clock, confirm, print }: WipeOptions): Promise<0 | 1> {
  if (!fs.existsSync(home)) {
    await print('There is nothing to remove.');
    return 0;
  }
  const store = createStore({
    folder: home,
    name: 'desk',
    shape: settingsDocument,
    version: documentVersion,
    migrations: documentMigrations,
    conf,
    now: () => new Date(clock.now()),
  });
  const keychain = createKeychain({
    load: loadKeytar,
    clock,
    index: {
      read: () => store.read('keychainIndex'),
      write: (names) => store.write('keychainIndex', [...names]),
    },
  });
  const connections = store.read('connections');
  const stored = keychain.accounts();
  const agreed = await confirm(
    `This removes ${home} with its connections (${connections.length}), batches (${countJobs(home)}) and the audit log, ` +
      `and the entries of the keychain (${stored.length}). Nothing of it can be brought back.`,
  );
  if (!agreed) {
    await print('Nothing was removed.');
    return 1;
  }
  for (const account of new Set([...stored, ...connections.flatMap(accountsOf), ...fixedAccounts])) {
    const removed = await keychain.remove(account);
    if (removed.ok || (!stored.includes(account) && removed.failure.code === 'keychain.unavailable'))
      continue;
    await print(
      `The keychain did not remove its entries (${removed.failure.code}). The folder was left as it is.`,
    );
    return 1;
  }
  fs.rmSync(home, { recursive: true, force: true });
  await print('Everything was removed.');
  return 0;
}

function countJobs(home: string): number {
  try {
    const entries = fs.readdirSync(path.join(home, 'jobs'), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && entry.name !== 'opened').length;
  } catch {
    return 0;
  }
}
