import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { linkFile } from '../../storage/durable.ts';
import {
  createEncryptedFile,
  openEncryptedFile,
  type EncryptedFileWriter,
} from '../../storage/encrypted-file.ts';
import { createRecordCipher, type RecordCipher } from '../../storage/encryption.ts';
import { writeFailure } from '../../storage/file-failures.ts';
import type { BatchOptions } from '../options.ts';
import {
  isFolderLocked,
  keyAccount,
  lockFolder,
  openSourcesFolder,
  removeUnfinished,
  unfinishedSuffix,
} from '../storing/job-files.ts';

/** The encrypted copy of rows that are not in a text file of their own. It is removed with its source. */
export interface EncryptedCopy {
  /** What its key is derived from. */
  readonly subject: string;
  readonly path: string;
  /** Gives the file a second name, under which it stays. Failures: file.disk-full, file.unwritable. */
  linkTo(path: string): Promise<Outcome<null>>;
}

/** Copies of sources that are open and not a job's yet, in a folder of this process. */
export interface EncryptedCopies {
  /**
   * Creates a copy and opens it. `fill` writes the file and answers with what else it found out. The file is finished
   * for it, or removed where anything failed; it may do either itself.
   * Failures: keychain.*, file.no-room for more than half of what is free on the disk, file.disk-full, file.unwritable, and those of `fill`.
   */
  create<T>(
    fill: (createFile: () => Promise<Outcome<EncryptedFileWriter>>) => Promise<Outcome<T>>,
  ): Promise<Outcome<{ readonly result: T; readonly bytes: ByteSource; readonly copy: EncryptedCopy }>>;
  /** Removes the copies of processes that have ended. */
  removeStale(): Promise<void>;
  close(): Promise<void>;
}

export function createEncryptedCopies(
  options: Pick<BatchOptions, 'folder' | 'keychain' | 'freeBytes'>,
): EncryptedCopies {
  const copies = join(options.folder, openSourcesFolder);
  const { freeBytes = freeOnDisk } = options;
  let folder: Promise<Outcome<string>> | null = null;

  /** The lock in it tells other processes that it is in use. */
  async function openFolder(): Promise<Outcome<string>> {
    folder ??= createFolder();
    const opened = await folder;
    if (!opened.ok) folder = null;
    return opened;
  }

  async function createFolder(): Promise<Outcome<string>> {
    const path = join(copies, randomUUID());
    // Renamed once it is locked: another process removes a folder without a lock.
    const unlocked = `${path}${unfinishedSuffix}`;
    try {
      await mkdir(unlocked, { recursive: true, mode: 0o700 });
      const lock = lockFolder(unlocked);
      if (!lock.ok) return lock;
      await rename(unlocked, path);
      return done(path);
    } catch (error) {
      return writeFailure(error);
    }
  }

  return {
    async create(fill) {
      const key = await options.keychain.key(keyAccount);
      if (!key.ok) return key;
      const opened = await openFolder();
      if (!opened.ok) return opened;
      const subject = randomUUID();
      const path = join(opened.value, subject);
      const cipher = createRecordCipher(key.value, subject);
      let file: EncryptedFileWriter | null = null;
      let isWhole = false;
      try {
        const result = await fill(async () => {
          const room = await freeBytes(opened.value).catch(() => Number.POSITIVE_INFINITY);
          const created = await createEncryptedFile(path, cipher);
          if (!created.ok) return created;
          file = limitFile(created.value, room / 2);
          return done(file);
        });
        if (!result.ok) return result;
        const finished = await (file as EncryptedFileWriter | null)?.finish();
        if (finished?.ok === false) return finished;
        const bytes = await openEncryptedSource(path, cipher);
        if (!bytes.ok) return bytes;
        isWhole = true;
        const copy = { subject, path, linkTo: (as: string) => linkFile(path, as) };
        return done({ result: result.value, bytes: bytes.value, copy });
      } finally {
        if (!isWhole) {
          await (file as EncryptedFileWriter | null)?.abandon();
          await rm(path, { force: true }).catch(() => undefined);
        }
      }
    },
    async removeStale() {
      await removeUnfinished(copies);
      for (const name of await readdir(copies).catch(() => [])) {
        const path = join(copies, name);
        if (!name.endsWith(unfinishedSuffix) && !isFolderLocked(path))
          await rm(path, { recursive: true, force: true }).catch(() => undefined);
      }
    },
    async close() {
      const opened = await folder;
      if (opened?.ok === true)
        await rm(opened.value, { recursive: true, force: true }).catch(() => undefined);
    },
  };
}

async function freeOnDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** On a full disk no act could be recorded any more: a file of a few kilobytes must not fill it. It is finished once. */
function limitFile(file: EncryptedFileWriter, maxBytes: number): EncryptedFileWriter {
  let bytesIn = 0;
  let finished: Promise<Outcome<null>> | null = null;
  return {
    ...file,
    finish: () => (finished ??= file.finish()),
    write(bytes) {
      bytesIn += bytes.length;
      return bytesIn > maxBytes ? Promise.resolve(failed('file.no-room')) : file.write(bytes);
    },
  };
}

/** Failure, at opening and at reading: job.damaged when the file is not whole, altered or of another key. */
export async function openEncryptedSource(path: string, cipher: RecordCipher): Promise<Outcome<ByteSource>> {
  const file = await openEncryptedFile(path, cipher);
  if (file === null) return failed('job.damaged');
  return done({
    identity: { size: file.length, modifiedMs: 0 },
    async read(offset, length) {
      const bytes = await file.read(offset, length);
      return bytes === null ? failed('job.damaged') : done(bytes);
    },
    // An altered block does not decrypt.
    check: () => Promise.resolve(done(null)),
    close: () => file.close(),
  });
}
