import path from 'node:path';
import { failed, type Failure } from '../contract/errors.ts';

type Failed = { ok: false; failure: Failure };

/** The system's code of a file error (`ENOSPC`), or an empty string. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Nothing starts without this file, and it can’t be used: a folder of its name, no access, a disk that fails. */
export class UnusableFile extends Error {
  readonly file: string;
  readonly code: string;
  constructor(file: string, cause: unknown) {
    super(`${path.basename(file)} can’t be used`, { cause });
    this.file = file;
    this.code = errorCode(cause);
  }
}

const diskFull = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const gone = ['ENOENT', 'ENOTDIR', 'ESTALE'];

/**
 * Why a file could not be written: file.disk-full, file.exists or file.unwritable (read-only, no access, anything
 * else). Without the system's message, which holds the path. `subject` names the file to the person.
 */
export function writeFailure(error: unknown, subject?: string): Failed {
  const details = subject === undefined ? {} : { subject: subject.slice(0, 300) };
  const code = errorCode(error);
  if (diskFull.includes(code)) return failed('file.disk-full', details);
  if (code === 'EEXIST') return failed('file.exists', details);
  return failed('file.unwritable', details);
}

/** Why a file could not be read: file.gone or file.unreadable. */
export function readFailure(error: unknown): Failed {
  return failed(gone.includes(errorCode(error)) ? 'file.gone' : 'file.unreadable');
}
