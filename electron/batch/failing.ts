import { failed } from '../contract/errors.ts';

/** Why a file could not be written, without the system's message: that would name the path. */
export function writeFailure(error: unknown): ReturnType<typeof failed> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return failed('file.disk-full');
  if (code === 'EEXIST') return failed('file.exists');
  return failed('file.unwritable');
}
