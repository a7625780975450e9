import fs, { constants } from 'node:fs';
import { copyFile, link, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { done, type Outcome } from '../contract/errors.ts';
import { errorCode, writeFailure } from './file-failures.ts';

/**
 * Makes the names in a folder survive a power cut: a created or renamed file is lasting only then. Windows can't open
 * folders and needs no such sync. Rejects with the system's error.
 */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Takes a file or folder from everybody but this user. What another user owns can't be changed and stays as it is: that
 * must not stop the start, and a file gets this user as its owner when it is next replaced.
 */
export function makePrivate(path: string, mode: 0o600 | 0o700): void {
  try {
    fs.chmodSync(path, mode);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error;
  }
}

/** Writes all bytes at a position: one `write` may take fewer. Rejects with the system's error. */
export async function writeAll(
  handle: Pick<FileHandle, 'write'>,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** The same of several parts, which are not joined for it. */
export async function writeParts(
  handle: Pick<FileHandle, 'write' | 'writev'>,
  parts: readonly Uint8Array[],
  position: number,
): Promise<void> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const { bytesWritten } = await handle.writev(parts, position);
  if (bytesWritten < length)
    await writeAll(handle, Buffer.concat(parts).subarray(bytesWritten), position + bytesWritten);
}

/**
 * Gives a file a second name, durably; the first may be removed afterwards. An existing file is not replaced.
 * Failures: file.exists, file.disk-full, file.unwritable.
 */
export async function linkFile(path: string, as: string): Promise<Outcome<null>> {
  try {
    await link(path, as).catch(async (error: unknown) => {
      if (errorCode(error) === 'EEXIST') throw error;
      // FAT has no hard links.
      await copyDurably(path, as);
    });
    await syncFolder(dirname(as));
    return done(null);
  } catch (error) {
    return writeFailure(error);
  }
}

async function copyDurably(path: string, as: string): Promise<void> {
  await copyFile(path, as, constants.COPYFILE_EXCL);
  try {
    const handle = await open(as, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(as, { force: true });
    throw error;
  }
}
