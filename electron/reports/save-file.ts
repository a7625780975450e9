import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';

/**
 * Writes a file whole or not at all: beside its target as `.partial`, 0600, synced, then renamed. Failures:
 * file.disk-full, file.unwritable; the target is as it was.
 */
export async function saveFile(target: string, content: string | Uint8Array): Promise<Outcome<null>> {
  const partial = `${target}.partial`;
  try {
    // A leftover is removed rather than opened: it might be a link, or readable by others.
    await rm(partial, { force: true });
    const file = await open(partial, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, target);
    await syncFolder(path.dirname(target));
    return done(null);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
    return failed(isFull ? 'file.disk-full' : 'file.unwritable', {
      subject: path.basename(target).slice(0, 300),
    });
  }
}

/** Makes the name durable too. Windows can't open folders, and does not need to. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
