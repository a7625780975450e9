import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { done, type Outcome } from '../contract/errors.ts';
import { hasSettings } from './file-names.ts';
import { entryName, isHomeId } from '../storage/keychain.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { errorCode } from '../storage/file-failures.ts';

/**
 * Tells apart the keychain entries of the folders that one person uses with `--user-data-dir`: each account begins with
 * the identity of its folder. It is no secret. It has a file of its own, since without it the secrets and the key of
 * the audit log are not found: a settings file that is lost must not take them along. The keyring knows it as well, by
 * the folder's path, and is believed before the file: whoever can change files alone can't make the app forget the
 * log's key and its end by taking the identity away.
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

const fileOf = (home: string): string => path.join(home, 'home-id');
const owedLine = 'takes over';

/** The identity of a folder, or a new one for it. `usualHome` is the folder where none is named. Throws where the file can't be read. */
export function readHomeId(home: string, usualHome: string): HomeId {
  const stored = read(home);
  if (stored !== 'none' && stored !== 'damaged') return { ...stored, isStored: true };
  const isUsual = path.resolve(home) === path.resolve(usualHome);
  const isOwed = stored === 'none' && hasEarlier(home) && (isUsual || !isOwedTo(usualHome));
  return { id: randomBytes(16).toString('hex'), isOwed, isStored: false };
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
export function folderEntry(home: string): string {
  const place = fs.existsSync(home) ? fs.realpathSync(home) : path.resolve(home);
  return `home:${createHash('sha256').update(place).digest('hex').slice(0, 24)}`;
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
    throw error;
  }
  const [id = '', owed = '', ...rest] = text.split(/\r?\n/);
  const isWhole = isHomeId(id) && ['', owedLine].includes(owed) && rest.join('') === '';
  return isWhole ? { id, isOwed: owed === owedLine } : 'damaged';
}
