import fs from 'node:fs';
import path from 'node:path';
import { errorCode } from '../storage/file-failures.ts';

/** Who may have written a file of the administrator's. */
export interface Administrator {
  /** Root; in tests, whoever runs them. */
  readonly uid: number;
  readonly os: NodeJS.Platform;
}

export type TrustedFile =
  | { readonly kind: 'missing' }
  | { readonly kind: 'read'; readonly bytes: Buffer }
  /** Why it can't be used, to follow the file's name in a sentence. */
  | { readonly kind: 'refused'; readonly reason: string };

const maxBytes = 4 * 1024 * 1024;
/** macOS: whoever is in group admin may become root. */
const adminGroup = 80;

/**
 * Reads a file that nobody but the administrator can have written or replaced: the file and every folder above it belong
 * to the administrator, nobody else may write there, and none of them is a link. What is checked of the file is what was
 * opened. A folder that others may write to is accepted where its sticky bit keeps them from what is not theirs.
 */
export function readTrustedFile(file: string, administrator: Administrator): TrustedFile {
  const folders = ancestorsOf(file);
  for (const folder of folders) {
    const found = lstat(folder);
    if (found === null) return { kind: 'missing' };
    if (typeof found === 'string') return refused(`${folder} can’t be read (${found})`);
    const wrong = found.isSymbolicLink()
      ? 'is a link'
      : !found.isDirectory()
        ? 'is no folder'
        : whoElse(found, administrator);
    if (wrong !== null) return refused(`its folder ${folder} ${wrong}`);
  }
  let descriptor: number;
  try {
    // A named pipe would never answer.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return { kind: 'missing' };
    return refused(code === 'ELOOP' ? 'it is a link' : `it can’t be read (${code || 'unknown'})`);
  }
  try {
    const found = fs.fstatSync(descriptor);
    if (!found.isFile()) return refused('it is no file');
    const wrong = whoElse(found, administrator);
    if (wrong !== null) return refused(`it ${wrong}`);
    if (found.size > maxBytes) return refused('it is too large');
    return { kind: 'read', bytes: fs.readFileSync(descriptor) };
  } catch (error) {
    return refused(`it can’t be read (${errorCode(error) || 'unknown'})`);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Reads a file that is protected as the program itself is, since it lies beside it. For Windows, whose rights Node can't read. */
export function readProgramsFile(file: string): TrustedFile {
  try {
    const found = fs.statSync(file);
    if (!found.isFile()) return refused('it is no file');
    return found.size > maxBytes
      ? refused('it is too large')
      : { kind: 'read', bytes: fs.readFileSync(file) };
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'missing' }
      : refused(`it can’t be read (${code || 'unknown'})`);
  }
}

const refused = (reason: string): TrustedFile => ({ kind: 'refused', reason });

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
