import { constants } from 'node:fs';
import { link, lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import { freeMemory } from '../util/free-memory.ts';
import { createSerialQueue, type SerialQueue } from '../util/serial-queue.ts';
import { syncFolder, writeAll } from './durable.ts';
import { errorCode, writeFailure } from './file-failures.ts';

/**
 * A file that is there whole or not at all: written beside its target as `.partial`, 0600, synced, then renamed. A
 * process that is killed leaves the target as it was.
 */
export interface AtomicFile {
  /**
   * `isFreed`: nobody else needs the bytes, and their memory may be given back once they are written. Failures: file.disk-full,
   * file.unwritable. After one nothing more is written and `finish` fails too.
   */
  write(bytes: Uint8Array, options?: { readonly isFreed: boolean }): Promise<Outcome<null>>;
  /**
   * Puts the file in its place, for good. Answers its length in bytes. `before` is given its whole content, synced and not in
   * its place yet: where it fails the target stays as it was. The same failures, and those of `before`.
   */
  finish(before?: (partial: string) => Promise<Outcome<null>>): Promise<Outcome<number>>;
  /** Leaves the target as it was. `keep` leaves the partial file, cut at the last whole write. */
  abandon(keep: boolean): Promise<void>;
}

export const partialOf = (target: string): string => `${target}.partial`;

/** The disk is kept busy while a file is written, or the last sync has all of it to do. */
const syncEveryBytes = 8 * 1024 * 1024;

/** So that nothing that is there is written over, by two programs at once either. */
export interface NewFile {
  /** What must not be there beside the target. */
  readonly alone: readonly string[];
}

const refuseExisting = async (files: readonly string[]): Promise<void> => {
  for (const file of files)
    if ((await lstat(file).catch(() => null)) !== null)
      throw Object.assign(new Error('A file is there already'), { code: 'EEXIST' });
};

/** File systems that have no links. */
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'];

/** Gives a file a name that is free. */
async function moveToNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!withoutLinks.includes(errorCode(error))) throw error;
    await refuseExisting([to]);
    await rename(from, to);
    return;
  }
  await rm(from);
}

/**
 * Removes what an earlier write left as `.partial`. The folder must exist. One writer a target at a time: the earlier
 * of two fails. With `isNew` nothing is removed or replaced: file.exists where the target, its `.partial` or one of `alone` is
 * there, so the later of two fails. Failures carry the target's name as subject.
 */
export async function openAtomicFile(
  target: string,
  isNew: NewFile | null = null,
): Promise<Outcome<AtomicFile>> {
  const path = partialOf(target);
  const fail = (error: unknown) => writeFailure(error, basename(target));
  let handle: FileHandle;
  try {
    // A leftover is removed, not opened: it might be a link, or readable by others.
    if (isNew === null) await rm(path, { force: true });
    handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    return fail(error);
  }
  try {
    // Once `.partial` is this one's: who had it before may have finished meanwhile.
    if (isNew !== null) await refuseExisting([target, ...isNew.alone]);
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    return fail(error);
  }
  let position = 0;
  let syncedTo = 0;
  let syncing: Promise<unknown> | null = null;
  let broken: { ok: false; failure: Failure } | null = null;

  function syncBehind(): void {
    if (syncing !== null || position - syncedTo < syncEveryBytes) return;
    syncedTo = position;
    syncing = handle
      .datasync()
      // Stored: the system reports a failed sync only once.
      .catch((error: unknown) => (broken ??= fail(error)))
      .finally(() => (syncing = null));
  }

  /** Whether `.partial` is still this file: another writer of the same target would have removed it. */
  async function isInPlace(): Promise<boolean> {
    const [ours, found] = await Promise.all([handle.stat({ bigint: true }), lstat(path, { bigint: true })]);
    return ours.ino === found.ino && ours.dev === found.dev;
  }

  return done({
    async write(bytes, { isFreed } = { isFreed: false }) {
      if (broken !== null) return broken;
      const { length } = bytes;
      try {
        await writeAll(handle, bytes, position);
        if (isFreed) freeMemory(bytes);
        position += length;
        syncBehind();
        return done(null);
      } catch (error) {
        return (broken = fail(error));
      }
    },
    async finish(before) {
      await syncing;
      if (broken !== null) return broken;
      try {
        await handle.sync();
        const ready = await before?.(path);
        if (ready?.ok === false) return (broken = ready);
        if (!(await isInPlace())) return (broken = failed('file.unwritable', { subject: basename(target) }));
        await handle.close();
        if (isNew === null) await rename(path, target);
        else await moveToNew(path, target);
        await syncFolder(dirname(target));
        return done(position);
      } catch (error) {
        return (broken = fail(error));
      }
    },
    async abandon(keep) {
      await syncing;
      const isOurs = await isInPlace().catch(() => true);
      if (keep) await handle.truncate(position).catch(() => undefined);
      await handle.close().catch(() => undefined);
      if (!keep && isOurs) await rm(path, { force: true }).catch(() => undefined);
    },
  });
}

/** Told of each small file before it is written: runs the write, and answers as that does. */
export type AroundWrite = (target: string, write: () => Promise<Outcome<null>>) => Promise<Outcome<null>>;

/** One for the process: small files are written in many modules, and each passes here. */
let aroundWrite: AroundWrite | null = null;

/** Returns what ends it. */
export function watchWrites(next: AroundWrite): () => void {
  aroundWrite = next;
  return () => {
    if (aroundWrite === next) aroundWrite = null;
  };
}

const queues = new Map<string, SerialQueue>();
const waiting = new Map<string, number>();

/**
 * Replaces a file by the given content, or leaves it as it was, whatever happens in between; on the disk for good when
 * it answers. Writes to one target wait for each other, also where a content takes a while to make. The folder must exist.
 * Failures: file.disk-full, file.unwritable; `subject` is the target's name unless given.
 */
export async function writeFileAtomically(
  target: string,
  content: string | Uint8Array | (() => Promise<readonly Uint8Array[]>),
  subject = basename(target),
): Promise<Outcome<null>> {
  const key = resolve(target);
  const inTurn = queues.get(key) ?? createSerialQueue();
  queues.set(key, inTurn);
  waiting.set(key, (waiting.get(key) ?? 0) + 1);
  try {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const write = async () => replace(target, bytes instanceof Uint8Array ? [bytes] : await bytes());
    const outcome = await inTurn(() => (aroundWrite === null ? write() : aroundWrite(target, write)));
    return outcome.ok ? outcome : failed(outcome.failure.code, { subject: subject.slice(0, 300) });
  } finally {
    const left = (waiting.get(key) ?? 1) - 1;
    waiting.set(key, left);
    if (left === 0) {
      queues.delete(key);
      waiting.delete(key);
    }
  }
}

async function replace(target: string, parts: readonly Uint8Array[]): Promise<Outcome<null>> {
  const file = await openAtomicFile(target);
  if (!file.ok) return file;
  let written: Outcome<null> = done(null);
  for (const part of parts) if (written.ok) written = await file.value.write(part);
  const outcome = written.ok ? await file.value.finish() : written;
  if (outcome.ok) return done(null);
  await file.value.abandon(false);
  return outcome;
}
