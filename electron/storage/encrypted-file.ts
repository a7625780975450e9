import { constants } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { done, type Failure, type Outcome } from '../contract/errors.ts';
import { syncFolder, writeParts } from './durable.ts';
import { encryptionOverhead, type RecordCipher } from './encryption.ts';
import { writeFailure } from './file-failures.ts';

/**
 * A file that is encrypted in blocks as it is written, so that no cleartext touches the disk, and of which any range
 * can be read. Each block is bound to its position, and the last record to the whole length.
 */
export interface EncryptedFileWriter {
  /** Failures: file.disk-full, file.unwritable. After one nothing more is written and `finish` fails too. */
  write(bytes: Buffer): Promise<Outcome<null>>;
  /** On the disk for good, and closed. The same failures. */
  finish(): Promise<Outcome<null>>;
  /** Closes and removes it. */
  abandon(): Promise<void>;
}

export interface EncryptedFile {
  /** Of the cleartext, in bytes. */
  readonly length: number;
  /** At most `count` bytes, fewer only at the end. Null when it can't be read or what is there was altered. */
  read(offset: number, count: number): Promise<Buffer | null>;
  close(): Promise<void>;
}

const blockBytes = 64 * 1024;
const recordBytes = blockBytes + encryptionOverhead;
const endBytes = 8 + encryptionOverhead;

const contextOf = (block: number): string => `block ${block}`;
const endContext = 'end';

/** Creates the file, 0600. Failures: file.exists, file.disk-full, file.unwritable. */
export async function createEncryptedFile(
  path: string,
  cipher: RecordCipher,
): Promise<Outcome<EncryptedFileWriter>> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    return writeFailure(error);
  }
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let blocks = 0;
  let length = 0;
  let position = 0;
  let broken: { ok: false; failure: Failure } | null = null;

  async function append(records: readonly Buffer[]): Promise<void> {
    await writeParts(handle, records, position);
    for (const { length: bytes } of records) position += bytes;
  }

  /** All of its blocks in one write: each costs what it costs, whatever its size. */
  async function flush(all: boolean): Promise<void> {
    const bytes = pending.length === 1 ? (pending[0] ?? Buffer.alloc(0)) : Buffer.concat(pending);
    const records: Buffer[] = [];
    let from = 0;
    while (bytes.length - from >= blockBytes || (all && from < bytes.length)) {
      const block = bytes.subarray(from, from + blockBytes);
      records.push(cipher.encrypt(block, contextOf(blocks)));
      blocks += 1;
      from += block.length;
    }
    pending = from < bytes.length ? [bytes.subarray(from)] : [];
    pendingBytes = bytes.length - from;
    await append(records);
  }

  return done({
    async write(bytes) {
      if (broken !== null) return broken;
      pending.push(bytes);
      pendingBytes += bytes.length;
      length += bytes.length;
      try {
        if (pendingBytes >= blockBytes) await flush(false);
        return done(null);
      } catch (error) {
        return (broken = writeFailure(error));
      }
    },
    async finish() {
      if (broken !== null) return broken;
      try {
        await flush(true);
        const end = Buffer.alloc(8);
        end.writeBigUInt64BE(BigInt(length));
        await append([cipher.encrypt(end, endContext)]);
        await handle.sync();
        await handle.close();
        await syncFolder(dirname(path));
        return done(null);
      } catch (error) {
        return (broken = writeFailure(error));
      }
    },
    async abandon() {
      await handle.close().catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
    },
  });
}

/** Null when it is not there, not whole or not of this cipher's key. */
export async function openEncryptedFile(path: string, cipher: RecordCipher): Promise<EncryptedFile | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch {
    return null;
  }
  const length = await lengthOf(handle, cipher).catch(() => null);
  if (length === null) {
    await handle.close().catch(() => undefined);
    return null;
  }
  const blocksEnd = encryptedLength(length);
  let cached: { block: number; cleartext: Buffer } | null = null;

  async function decryptBlocks(first: number, last: number): Promise<Buffer[] | null> {
    const from = first * recordBytes;
    const records = Buffer.allocUnsafe(Math.min((last + 1) * recordBytes, blocksEnd) - from);
    const { bytesRead } = await handle.read(records, 0, records.length, from);
    if (bytesRead < records.length) return null;
    const blocks: Buffer[] = [];
    for (let block = first; block <= last; block++) {
      const start = (block - first) * recordBytes;
      const cleartext = cipher.decrypt(records.subarray(start, start + recordBytes), contextOf(block));
      if (cleartext === null) return null;
      blocks.push(cleartext);
    }
    return blocks;
  }

  return {
    length,
    async read(offset, count) {
      const end = Math.min(offset + count, length);
      if (offset >= end) return Buffer.alloc(0);
      const first = Math.floor(offset / blockBytes);
      const last = Math.floor((end - 1) / blockBytes);
      // Callers read in steps far below a block.
      const blocks =
        cached?.block === first && first === last
          ? [cached.cleartext]
          : await decryptBlocks(first, last).catch(() => null);
      const final = blocks?.at(-1);
      if (blocks === null || final === undefined) return null;
      cached = { block: last, cleartext: final };
      const [from, to] = [offset - first * blockBytes, end - first * blockBytes];
      // What is given out belongs to who asked.
      if (blocks.length === 1) return Buffer.from(final.subarray(from, to));
      return Buffer.concat(blocks).subarray(from, to);
    },
    close: () => handle.close(),
  };
}

/** Of all blocks, without the last record. */
function encryptedLength(length: number): number {
  return length + Math.ceil(length / blockBytes) * encryptionOverhead;
}

async function lengthOf(handle: FileHandle, cipher: RecordCipher): Promise<number | null> {
  const { size } = await handle.stat();
  if (size < endBytes) return null;
  const record = Buffer.alloc(endBytes);
  await handle.read(record, 0, endBytes, size - endBytes);
  const end = cipher.decrypt(record, endContext);
  const length = end === null ? -1 : Number(end.readBigUInt64BE());
  return encryptedLength(length) + endBytes === size ? length : null;
}
