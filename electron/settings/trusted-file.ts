import fs from 'node:fs';
import path from 'node:path';
import { errorCode } from '../storage/file-failures.ts';
import { readSmallFile, type SmallFile } from '../storage/read-small-file.ts';

/** Who may have written a file of the administrator's. */
export interface Administrator {
  /** Root; in tests, whoever runs them. */
  readonly uid: number;
  readonly os: NodeJS.Platform;
}

/** Of each of the administrator's files. */
export const maxProvidedBytes = 4 * 1024 * 1024;
/** macOS: whoever is in group admin may become root. */
const adminGroup = 80;

/**
 * Reads a file that nobody but the administrator can have written or replaced: the file and every folder above it belong
 * to the administrator, nobody else may write there, and none of them is a link. What is checked of the file is what was
 * opened. A folder that others may write to is accepted where its sticky bit keeps them from what is not theirs.
 */
export async function readTrustedFile(file: string, administrator: Administrator): Promise<SmallFile> {
  for (const folder of ancestorsOf(file)) {
    const found = lstat(folder);
    if (found === null) return { kind: 'missing' };
    if (typeof found === 'string')
      return { kind: 'unreadable', reason: `${folder} can’t be read (${found})` };
    const wrong = found.isSymbolicLink()
      ? 'is a link'
      : !found.isDirectory()
        ? 'is no folder'
        : whoElse(found, administrator);
    if (wrong !== null) return { kind: 'unfit', reason: `its folder ${folder} ${wrong}` };
  }
  return readSmallFile(file, {
    maxBytes: maxProvidedBytes,
    links: 'refused',
    refuse(found) {
      const wrong = whoElse(found, administrator);
      return wrong === null ? null : `it ${wrong}`;
    },
  });
}

/** From the root down to the folder it is in. */
function ancestorsOf(file: string): string[] {
  const folder = path.dirname(path.resolve(file));
  const above = path.dirname(folder);
  return above === folder ? [folder] : [...ancestorsOf(folder), folder];
}

/** Null where there is nothing; an error's code where it can't be said. */
function lstat(folder: string): fs.Stats | string | null {
  try {
    return fs.lstatSync(folder);
  } catch (error) {
    const code = errorCode(error) || 'unknown';
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : code;
  }
}

function whoElse(stats: fs.Stats, { uid, os }: Administrator): string | null {
  if (stats.uid !== 0 && stats.uid !== uid) return 'belongs to somebody else than the administrator';
  if (stats.isDirectory() && (stats.mode & 0o1000) !== 0) return null;
  const groups = os === 'darwin' ? [0, adminGroup] : [0];
  const byGroup = (stats.mode & 0o020) !== 0 && !groups.includes(stats.gid);
  const byOthers = (stats.mode & 0o002) !== 0;
  return byGroup || byOthers ? 'can be written by others than the administrator' : null;
}
