import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { done, type Outcome } from '../../contract/errors.ts';
import { createRecordCipher } from '../../storage/encryption.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { writeFailure, openedFolder, keyAccount } from '../storing/job-files.ts';
import type { BatchParts } from '../batch.ts';
import { isOwned, own } from '../storing/owner.ts';
import { createSpool, keepSpool, openSpool, type SpoolWriter } from '../storing/encrypted-file.ts';

/** A spool of an open source. It goes with the source; who needs it longer takes it as a second name. */
export interface Spool {
  /** What its cipher is derived from. */
  readonly subject: string;
  keep(as: string): Promise<Outcome<null>>;
}

export interface Spooled<T> {
  readonly filled: T;
  readonly bytes: ByteSource;
  readonly spool: Spool;
  /** Removed by whoever closes `bytes`. */
  readonly spoolPath: string;
}

/** Spools of sources that are open and not a job's yet, in a folder of this process. */
export interface OpenedSpools {
  /** Fills a spool and opens it. Failures: keychain.*, file.disk-full, file.unwritable, and those of `fill`. */
  fill<T>(
    fill: (create: () => Promise<Outcome<SpoolWriter>>) => Promise<Outcome<T>>,
  ): Promise<Outcome<Spooled<T>>>;
  /** Removes spools that processes which ended left behind. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const unowned = '.new';

export function createOpenedSpools(parts: Pick<BatchParts, 'newId' | 'folder' | 'keychain'>): OpenedSpools {
  const { newId } = parts;
  const spools = join(parts.folder, openedFolder);
  let folder: Promise<Outcome<string>> | null = null;

  /** A folder of this process, so that another can tell what it may remove. */
  async function ownFolder(): Promise<Outcome<string>> {
    folder ??= (async () => {
      const path = join(spools, newId());
      try {
        // It gets its name once it has its owner: one without may be removed by another process.
        await mkdir(`${path}${unowned}`, { recursive: true, mode: 0o700 });
        const owner = await own(`${path}${unowned}`);
        if (!owner.ok) return owner;
        await rename(`${path}${unowned}`, path);
        return done(path);
      } catch (error) {
        return writeFailure(error);
      }
    })();
    const made = await folder;
    if (!made.ok) folder = null;
    return made;
  }

  return {
    async fill(fill) {
      const key = await parts.keychain.key(keyAccount);
      if (!key.ok) return key;
      const made = await ownFolder();
      if (!made.ok) return made;
      const subject = newId();
      const spoolPath = join(made.value, subject);
      const cipher = createRecordCipher(key.value, subject);
      const filled = await fill(() => createSpool(spoolPath, cipher));
      if (!filled.ok) return filled;
      const bytes = await openSpool(spoolPath, cipher);
      if (!bytes.ok) return bytes;
      const spool: Spool = { subject, keep: (as) => keepSpool(spoolPath, as) };
      return done({ filled: filled.value, bytes: bytes.value, spool, spoolPath });
    },
    async sweep() {
      const found = await readdir(spools).catch(() => []);
      for (const name of found) {
        const path = join(spools, name);
        if (!name.endsWith(unowned) && !(await isOwned(path)))
          await rm(path, { recursive: true, force: true }).catch(() => undefined);
      }
    },
    async close() {
      const made = await folder;
      if (made?.ok === true) await rm(made.value, { recursive: true, force: true }).catch(() => undefined);
    },
  };
}
