import fs from 'node:fs/promises';
import path from 'node:path';
import { segmentFile } from './segments.ts';

/** Makes a file's name durable, not only its bytes. Windows can't open folders, and does not need to. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** One file of the log, open for appending. */
export interface Appender {
  /** Synced when it resolves. Rejects when it could not be; what may be there of it is taken back before the next. */
  append(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file at a known size, or makes one at 0; anything behind it is the rest of a write that failed. */
export async function openAppender(folder: string, segment: number, size: number): Promise<Appender> {
  const file = segmentFile(folder, segment);
  const fresh = size === 0;
  const { O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  const flags = fresh ? O_RDWR | O_CREAT | O_EXCL : O_RDWR;
  const handle = await fs.open(file, flags, 0o600);
  let at = size;
  try {
    await handle.truncate(size);
    if (fresh) await syncFolder(folder);
  } catch (error) {
    await handle.close();
    if (fresh) await fs.rm(file, { force: true });
    throw error;
  }
  return {
    async append(bytes) {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, at + written);
        written += bytesWritten;
      }
      await handle.datasync();
      at += bytes.length;
    },
    close: () => handle.close(),
  };
}

/** Moves what stands behind `size` into a file of its own, and ends the log there. Answers that file's name. */
export async function setTailAside(folder: string, segment: number, size: number, at: Date): Promise<string> {
  const file = segmentFile(folder, segment);
  const name = `${path.basename(file)}.tail-${at.toISOString().replaceAll(/[-:.]/g, '')}`;
  const bytes = await fs.readFile(file);
  const aside = await fs.open(path.join(folder, name), 'wx', 0o600);
  try {
    await aside.writeFile(bytes.subarray(size));
    await aside.sync();
  } finally {
    await aside.close();
  }
  await syncFolder(folder);
  const log = await fs.open(file, 'r+');
  try {
    await log.truncate(size);
    await log.sync();
  } finally {
    await log.close();
  }
  return name;
}
