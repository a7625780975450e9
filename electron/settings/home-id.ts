import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { done, type Outcome } from '../contract/errors.ts';
import { hasSettings } from './file-names.ts';
import { entryName, isHomeId } from '../storage/keychain-accounts.ts';
import type { HomeSettlement } from '../storage/keychain.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { errorCode, UnusableFile } from '../storage/file-failures.ts';

/**
 * Tells apart the keychain entries of the folders that one person uses with `--user-data-dir`: each account begins with
 * the identity of its folder. It is no secret. It has a file of its own, since without it the secrets and the key of
 * the audit log are not found: a settings file that is lost must not take them along. The keyring knows it as well, by
 * the folder's path, and is believed before the file: whoever can change files alone can't make the app forget the
 * log's key and its end by taking the identity away. Of two folders with one identity, the one whose path the keyring
 * has keeps it; the other is a copy and gets its own (`settleHome`).
 */
export interface HomeId {
  readonly id: string;
  /**
   * Whether entries of versions that had no identity are still to be taken over. True of one folder alone: the usual
   * one, or where that has nothing of before, the one that is named.
   */
  readonly isOwed: boolean;
  /** Whether it is on the disk. */
  readonly isStored: boolean;
}

/** Whether the app was used in a folder, by the identity alone. */
export function hasHomeId(home: string): boolean {
  const stored = read(home);
  return stored !== 'none' && stored !== 'damaged';
}

const fileOf = (home: string): string => path.join(home, 'home-id');
const owedLine = 'takes over';

/** The identity of a folder, or a new one for it. `usualHome` is the folder where none is named. Throws `UnusableFile`. */
export function readHomeId(home: string, usualHome: string): HomeId {
  const stored = read(home);
  if (stored !== 'none' && stored !== 'damaged') return { ...stored, isStored: true };
  const isUsual = path.resolve(home) === path.resolve(usualHome);
  const isOwed = stored === 'none' && hasEarlier(home) && (isUsual || !isOwedTo(usualHome));
  return { id: newId(), isOwed, isStored: false };
}

/** Puts it on the disk for good. A damaged file is kept beside it. Failures: file.disk-full, file.unwritable. */
export async function storeHomeId(
  home: string,
  { id, isOwed }: Pick<HomeId, 'id' | 'isOwed'>,
): Promise<Outcome<null>> {
  if (read(home) === 'damaged') fs.renameSync(fileOf(home), `${fileOf(home)}.damaged`);
  const lines = isOwed ? [id, owedLine] : [id];
  const written = await writeFileAtomically(fileOf(home), `${lines.join('\n')}\n`);
  return written.ok ? done(null) : written;
}

/** The entry that has the identity of a folder, by its path. */
export const folderEntry = (home: string): string => entryOf(placeOf(home));

/** What the keychain is to settle for a folder before it answers. */
export function settleHome(
  home: string,
  usualHome: string,
  { earlier, onSettled }: Pick<HomeSettlement, 'earlier' | 'onSettled'>,
): HomeSettlement {
  const place = placeOf(home);
  return {
    place,
    entryOf,
    usualPlace: placeOf(usualHome),
    isInUse: (homeId, other) => isInUse(homeId, { place, other }),
    newId,
    onCopy: (homeId) => setLogAside(home, homeId),
    earlier,
    onSettled,
  };
}

/**
 * The log that was copied is not this folder's: it stays beside the new one, with the identity that its key is found by.
 * What can't be moved is then reported as a log that is not what was written.
 */
function setLogAside(home: string, homeId: string): void {
  const aside = path.join(home, `audit.copied-${homeId}`);
  for (const name of ['audit', 'checkpoints'])
    try {
      if (!fs.existsSync(path.join(home, name))) continue;
      fs.mkdirSync(aside, { recursive: true, mode: 0o700 });
      fs.renameSync(path.join(home, name), path.join(aside, name));
    } catch {
      // Reported as said above.
    }
}

const newId = (): string => randomBytes(16).toString('hex');

const placeOf = (home: string): string => (fs.existsSync(home) ? fs.realpathSync(home) : path.resolve(home));

const entryOf = (place: string): string =>
  `home:${createHash('sha256').update(place).digest('hex').slice(0, 24)}`;

/** A folder that is there and can't be read has it: its entries must not be taken from it. */
function isInUse(
  homeId: string,
  { place, other }: { readonly place: string; readonly other: string },
): boolean {
  try {
    const [here, there] = [place, other].map((folder) => fs.statSync(folder, { bigint: true }));
    // The same folder by another path: through a link, a mount, or in other case.
    if (here?.ino === there?.ino && here?.dev === there?.dev) return false;
    const stored = read(other);
    return stored !== 'none' && stored !== 'damaged' && stored.id === homeId;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(errorCode(error));
  }
}

/** Where an account of a folder is in the operating system's keychain now. */
export function keychainEntry(home: string, account: string): string {
  const stored = read(home);
  return stored === 'none' || stored === 'damaged' || stored.isOwed ? account : entryName(stored.id, account);
}

function isOwedTo(home: string): boolean {
  const stored = read(home);
  return stored === 'none' ? hasEarlier(home) : stored !== 'damaged' && stored.isOwed;
}

/** Whether an earlier version was used in a folder. Asked before this one writes to it. */
const hasEarlier = (home: string): boolean => hasSettings(home) || fs.existsSync(path.join(home, 'audit'));

function read(home: string): Pick<HomeId, 'id' | 'isOwed'> | 'none' | 'damaged' {
  let text: string;
  try {
    text = fs.readFileSync(fileOf(home), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'none';
    throw new UnusableFile(fileOf(home), error);
  }
  const [id = '', owed = '', ...rest] = text.split(/\r?\n/);
  const isWhole = isHomeId(id) && ['', owedLine].includes(owed) && rest.join('') === '';
  return isWhole ? { id, isOwed: owed === owedLine } : 'damaged';
}
