import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { freeMemory } from '../util/free-memory.ts';
import { readFailure } from './file-failures.ts';

/** Tells whether a file is still the one that was opened. */
export interface Identity {
  readonly size: number;
  /** Whole milliseconds: finer parts are lost when a file is restored. */
  readonly modifiedMs: number;
}

/** Bytes at any position, of a file or an encrypted copy. */
export interface ByteSource {
  readonly identity: Identity;
  /** At most `length` bytes, fewer only at the end; they belong to who asked. Failures: file.gone, file.unreadable. */
  read(offset: number, length: number): Promise<Outcome<Buffer>>;
  /** Failures: file.gone, file.changed. */
  check(): Promise<Outcome<null>>;
  close(): Promise<void>;
}

/** Windows has neither the flag nor such pipes. */
export const nonBlocking = process.platform === 'win32' ? 0 : constants.O_NONBLOCK;

/**
 * The file stays open, so that deleting or renaming it does not break a read; `check` looks at its path again.
 * Failures: file.gone, file.folder, file.unreadable.
 */
export async function openFile(path: string): Promise<Outcome<ByteSource>> {
  let handle: FileHandle;
  let identity: Identity;
  try {
    // Opening a named pipe would wait for its writer, and hold one of the few threads that files are read with.
    handle = await open(path, constants.O_RDONLY | nonBlocking);
  } catch (error) {
    return readFailure(error);
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) {
      await handle.close();
      return failed(found.isDirectory() ? 'file.folder' : 'file.unreadable');
    }
    identity = { size: found.size, modifiedMs: Math.floor(found.mtimeMs) };
  } catch (error) {
    await handle.close();
    return readFailure(error);
  }
  return done({
    identity,
    async read(offset, length) {
      const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, identity.size - offset)));
      let filled = 0;
      try {
        while (filled < buffer.length) {
          const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, offset + filled);
          if (bytesRead === 0) return failed('file.changed');
          filled += bytesRead;
        }
      } catch (error) {
        return readFailure(error);
      }
      return done(buffer);
    },
    async check() {
      try {
        const now = await stat(path);
        return sameIdentity(identity, { size: now.size, modifiedMs: Math.floor(now.mtimeMs) })
          ? done(null)
          : failed('file.changed');
      } catch (error) {
        return readFailure(error);
      }
    },
    close: () => handle.close(),
  });
}

export function sameIdentity(one: Identity, other: Identity): boolean {
  return one.size === other.size && one.modifiedMs === other.modifiedMs;
}

/** Bytes from `offset` on, for the caller alone: `length` of them, fewer only at the end. */
export type ReadBytes = (offset: number, length: number) => Promise<Outcome<Buffer>>;

const blockBytes = 512 * 1024;

/**
 * Reads in large blocks, for callers that read many small pieces in order: while they work on one block the next is read.
 * `size`: where the bytes end. `isFreed`: the memory of a block is given back once the second block behind it is begun, and
 * pieces of it are empty from then on.
 */
export function readAhead(read: ReadBytes, size: number, { isFreed = false } = {}): ReadBytes {
  let start = 0;
  let block: Buffer = Buffer.alloc(0);
  let before: Buffer = block;
  let next: ReturnType<ReadBytes> | null = null;

  function hold(offset: number, bytes: Buffer): void {
    if (isFreed) freeMemory(before);
    before = block;
    start = offset;
    block = bytes;
    const end = start + block.length;
    next = end < size ? read(end, Math.min(blockBytes, size - end)) : null;
  }

  return async (offset, length) => {
    const count = Math.max(0, Math.min(length, size - offset));
    const end = start + block.length;
    if (offset >= start && offset + count <= end)
      return done(block.subarray(offset - start, offset - start + count));
    if (next !== null && offset >= start && offset <= end) {
      const more = await next;
      if (!more.ok) return more;
      const left = block.subarray(offset - start);
      const needed = count - left.length;
      if (more.value.length >= needed) {
        hold(end, more.value);
        // Of two blocks no more is copied than was asked for.
        const rest = more.value.subarray(0, needed);
        return done(left.length === 0 ? rest : Buffer.concat([left, rest]));
      }
    }
    const more = await read(offset, Math.max(0, Math.min(Math.max(count, blockBytes), size - offset)));
    if (!more.ok) return more;
    hold(offset, more.value);
    return done(block.subarray(0, count));
  };
}

/** Of all bytes, hex. Failures: file.changed, file.unreadable, file.gone. */
export async function sha256Of(
  source: Pick<ByteSource, 'identity' | 'read' | 'check'>,
): Promise<Outcome<string>> {
  const hash = createHash('sha256');
  for (let offset = 0; offset < source.identity.size; offset += blockBytes) {
    const block = await source.read(offset, blockBytes);
    if (!block.ok) return block;
    hash.update(block.value);
  }
  const unchanged = await source.check();
  return unchanged.ok ? done(hash.digest('hex')) : unchanged;
}
