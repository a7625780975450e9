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
  /** Whether nobody else keeps files in it: of a folder that a person named, only the app's own files are removed. */
  readonly isOwnFolder: boolean;
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
 * Removes all that the app keeps of this person: the keychain's entries, then the files. Answers the exit code: 0 when
 * nothing is left, 1 when it was not confirmed or the keychain refused. Then the folder stays, since it has the names
 * of the entries. The app must not be open.
 */
export async function wipe({
  home,
  isOwnFolder,
  conf,
  loadKeytar,
  clock,
  confirm,
  print,
}: WipeOptions): Promise<0 | 1> {
  if (entriesOf(home, isOwnFolder).length === 0) {
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
  for (const name of entriesOf(home, isOwnFolder))
    fs.rmSync(path.join(home, name), { recursive: true, force: true });
  const left = fs.readdirSync(home);
  if (left.length === 0) fs.rmdirSync(home);
  await print(
    left.length === 0
      ? 'Everything was removed.'
      : `Everything of Tokendesk was removed. ${home} has other files, which were left.`,
  );
  return 0;
}

const ownEntry =
  /^(desk\.json.*|desk\.damaged-\w+\.json|desk\.lock|disclosures\.json.*|window\.json|audit|checkpoints|jobs|samples|certificates|built-in|logs)$/;

/** What is removed of the folder; nothing where there is none. */
function entriesOf(home: string, isOwnFolder: boolean): string[] {
  if (!fs.existsSync(home)) return [];
  return fs.readdirSync(home).filter((name) => isOwnFolder || ownEntry.test(name));
}

function countJobs(home: string): number {
  try {
    const entries = fs.readdirSync(path.join(home, 'jobs'), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && entry.name !== 'opened').length;
  } catch {
    return 0;
  }
}
