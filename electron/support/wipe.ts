import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { done } from '../contract/errors.ts';
import { connection } from '../contract/models/connection.ts';
import { hasHomeId, readHomeId, settleHome, storeHomeId } from '../settings/home-id.ts';
import { accountsOfHome } from '../storage/keychain-accounts.ts';
import { createKeychain } from '../storage/keychain.ts';
import type { KeyringBackend } from '../storage/keytar.ts';
import type { Clock } from '../util/clock.ts';
import { earlierSettings, isSettingsFile } from '../settings/file-names.ts';
import { settingsDocument } from '../settings/settings.ts';
import { isSettingsOf, parseDocument, salvage } from '../settings/store.ts';

export interface WipeOptions {
  /** The person's folder. */
  readonly home: string;
  /** Whether nobody else keeps files in it: of a folder that a person named, only the app's own files are removed. */
  readonly isOwnFolder: boolean;
  /** The person's folder where none is named. */
  readonly usualHome: string;
  readonly loadKeytar: () => Promise<KeyringBackend>;
  readonly clock: Clock;
  /** Whether the person agrees to what would be removed. */
  readonly confirm: (what: string) => Promise<boolean>;
  /** Called before files are removed: on Windows the lock that keeps a second instance away is an open file among them. */
  readonly releaseLock?: () => void;
  /** Says how it ended. */
  readonly print: (sentence: string) => Promise<void>;
}

/**
 * Removes all that the app keeps of this person: the keychain's entries, then the files. Answers the exit code: 0 when
 * nothing is left, 1 when it was not confirmed, the keychain refused or a file could not be removed. Where the keychain
 * refused the folder stays, since it has the names of the entries. The app must not be open.
 */
export async function wipe({
  home,
  isOwnFolder,
  usualHome,
  loadKeytar,
  clock,
  confirm,
  releaseLock,
  print,
}: WipeOptions): Promise<0 | 1> {
  if (entriesOf(home, isOwnFolder).every((name) => instanceLock.test(name))) {
    await print('There is nothing to remove.');
    return 0;
  }
  const { connections, index } = readNames(home, isOwnFolder);
  const stored = new Set(index);
  const { id: homeId, isOwed, isStored } = readHomeId(home, usualHome);
  const accounts = accountsOfHome(index, connections);
  const keychain = createKeychain({
    load: loadKeytar,
    clock,
    // The folder keeps the names until all entries are gone.
    index: { read: () => index, write: () => undefined },
    homeId,
    // A copy is settled first too: it has no entries then, and those of the folder it was made of stay.
    settle: settleHome(home, usualHome, {
      earlier: isOwed ? accounts : [],
      onSettled: () => Promise.resolve(),
    }),
  });
  const agreed = await confirm(
    `This removes ${home} with its connections (${new Set(connections.map(({ id }) => id)).size}), batches (${countJobs(home)}) and the audit log, ` +
      'and its entries of the keychain. Nothing of it can be brought back.',
  );
  if (!agreed) {
    await print('Nothing was removed.');
    return 1;
  }
  // Entries of before get its name first: were it lost half-way, they could not be found again.
  if (isOwed && !isStored) await storeHomeId(home, { id: homeId, isOwed });
  const removals = [
    ...accounts.map((account) => async () => {
      const removed = await keychain.remove(account);
      const isNowhere =
        !removed.ok && removed.failure.code === 'keychain.unavailable' && !stored.has(account);
      return isNowhere ? done(null) : removed;
    }),
    () => keychain.forgetFolder(),
  ];
  for (const remove of removals) {
    const removed = await remove();
    if (removed.ok) continue;
    await print(
      `The keychain did not remove its entries (${removed.failure.code}). The folder was left as it is.`,
    );
    return 1;
  }
  releaseLock?.();
  // One that another program has open must not keep the others.
  const kept = entriesOf(home, isOwnFolder).filter((name) => !isRemoved(path.join(home, name)));
  if (kept.length > 0) {
    await print(
      `The entries of the keychain were removed, and the files but for these in ${home}: ${kept.join(', ')}. ` +
        'Close what has them open and do it again.',
    );
    return 1;
  }
  const left = fs.readdirSync(home);
  await print(
    left.length > 0
      ? `Everything of Tokendesk was removed. ${home} has other files, which were left.`
      : isFolderRemoved(home)
        ? 'Everything was removed.'
        : `Everything was removed. The empty folder ${home} was left.`,
  );
  return 0;
}

/** An empty folder; where it is a link, the folder and the link. One on which a disk is mounted stays. */
function isFolderRemoved(home: string): boolean {
  try {
    const isLink = fs.lstatSync(home).isSymbolicLink();
    fs.rmdirSync(fs.realpathSync(home));
    if (isLink) fs.unlinkSync(home);
    return true;
  } catch {
    return false;
  }
}

const ownEntry =
  /^(home-id(\.\w+)?|desk\.lock.*|disclosures\.json.*|window\.json|provided-connections\.json.*|audit(\.copied-\w+)?|checkpoints|jobs|samples|certificates|stories|built-in|logs)$/;

/** Chromium's own: its files, and its lock against a second instance on each system. */
const chromiumEntry = /^(chromium|lockfile|Singleton(Lock|Cookie|Socket))$/;
const instanceLock = /^(desk\.lock.*|lockfile|Singleton(Lock|Cookie|Socket))$/;

/** Windows lets nobody remove a file that is open, and a virus scanner opens it for a moment. */
function isRemoved(file: string): boolean {
  try {
    fs.rmSync(file, { recursive: true, force: true, maxRetries: 3 });
    return true;
  } catch {
    return false;
  }
}

/** What is removed of the folder; nothing where there is none, or where the app was never used in one that was named. */
function entriesOf(home: string, isOwnFolder: boolean): string[] {
  if (!fs.existsSync(home)) return [];
  const names = fs.readdirSync(home);
  if (isOwnFolder) return names;
  // Names as general as these say nothing by themselves.
  if (!hasHomeId(home) && !names.some((name) => isOwnSettings(home, name))) return [];
  return names.filter(
    (name) =>
      ownEntry.test(name) || chromiumEntry.test(name) || isSettingsFile(name) || isOwnSettings(home, name),
  );
}

/** Whether a file has settings of this app, of whatever version, by what is in it. */
function isOwnSettings(home: string, name: string): boolean {
  const isEarlier = name === `${earlierSettings.name}.json`;
  if (!isEarlier && !isSettingsFile(name)) return false;
  const lastVersion = isEarlier ? earlierSettings.lastVersion : Infinity;
  return isSettingsOf(path.join(home, name), { lastVersion, members: Object.keys(settingsDocument) });
}

const namedConnection = connection.pick({ id: true, baseUrl: true, policies: true });

/**
 * What all settings files name, those of other versions and damaged ones too: a file that can't be read must not keep
 * anything from being removed, and the names of one are gone with it.
 */
function readNames(
  home: string,
  isOwnFolder: boolean,
): {
  readonly connections: z.infer<typeof namedConnection>[];
  readonly index: string[];
} {
  const connections: z.infer<typeof namedConnection>[] = [];
  const index = new Set<string>();
  for (const name of entriesOf(home, isOwnFolder)) {
    if (!isSettingsFile(name) && name !== `${earlierSettings.name}.json`) continue;
    const document = readObject(path.join(home, name));
    const { schema } = settingsDocument.keychainIndex;
    for (const account of salvage(schema, document['keychainIndex'], []).value as string[])
      index.add(account);
    for (const one of z.array(z.unknown()).catch([]).parse(document['connections'])) {
      const parsed = namedConnection.safeParse(one);
      if (parsed.success) connections.push(parsed.data);
    }
  }
  return { connections, index: [...index] };
}

function readObject(file: string): Record<string, unknown> {
  try {
    return parseDocument(fs.readFileSync(file, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

function countJobs(home: string): number {
  try {
    const entries = fs.readdirSync(path.join(home, 'jobs'), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && entry.name !== 'opened').length;
  } catch {
    return 0;
  }
}
