import { constants } from 'node:fs';
import { copyFile, link, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { writeFailure, syncFolder } from './job-files.ts';
import type { ByteSource } from '../../storage/byte-source.ts';

/**
 * Rows that have no text file of their own to be read again from (a pasted block, a workbook's sheet), kept as one:
 * bytes encrypted in blocks, so that any range can be read and no cleartext touches the disk. Each block is bound to its
 * place, and the last record to the whole length.
 */
export interface SpoolWriter {
  /** Failures: file.disk-full, file.unwritable. */
  write(bytes: Buffer): Promise<Outcome<null>>;
  /** On disk for good. The same failures. */
  finish(): Promise<Outcome<null>>;
  /** Removes it. */
  abandon(): Promise<void>;
}

const blockBytes = 64 * 1024;
/** Nonce and tag. */
const encryptionOverhead = 28;
const endBytes = 8 + encryptionOverhead;

const contextOf = (block: number): string => `block ${block}`;

export async function createSpool(path: string, cipher: RecordCipher): Promise<Outcome<SpoolWriter>> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    return writeFailure(error);
  }
  let held: Buffer[] = [];
  let heldBytes = 0;
  let blocks = 0;
  let length = 0;
  let position = 0;

  async function append(record: Buffer): Promise<void> {
    let written = 0;
    while (written < record.length) {
      const some = await handle.write(record, written, record.length - written, position + written);
      written += some.bytesWritten;
    }
    position += record.length;
  }

  async function flush(all: boolean): Promise<void> {
    const bytes = Buffer.concat(held);
    let from = 0;
    while (bytes.length - from >= blockBytes || (all && from < bytes.length)) {
      const block = bytes.subarray(from, from + blockBytes);
      await append(cipher.encrypt(block, contextOf(blocks)));
      blocks += 1;
      from += block.length;
    }
    held = [bytes.subarray(from)];
    heldBytes = bytes.length - from;
  }

  return done({
    async write(bytes) {
      held.push(bytes);
      heldBytes += bytes.length;
      length += bytes.length;
      try {
        if (heldBytes >= blockBytes) await flush(false);
        return done(null);
      } catch (error) {
        return writeFailure(error);
      }
    },
    async finish() {
      try {
        await flush(true);
        const end = Buffer.alloc(8);
        end.writeBigUInt64BE(BigInt(length));
        await append(cipher.encrypt(end, 'end'));
        await handle.sync();
        await handle.close();
        await syncFolder(dirname(path));
        return done(null);
      } catch (error) {
        return writeFailure(error);
      }
    },
    async abandon() {
      await handle.close().catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
    },
  });
}

/** Failures, at opening and reading: job.damaged when it is not whole or not of this key. */
export async function openSpool(path: string, cipher: RecordCipher): Promise<Outcome<ByteSource>> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch {
    return failed('job.damaged');
  }
  const length = await lengthOf(handle, cipher).catch(() => null);
  if (length === null) {
    await handle.close().catch(() => undefined);
    return failed('job.damaged');
  }
  let near: { block: number; clear: Buffer } | null = null;

  async function readBlocks(first: number, last: number): Promise<Buffer[] | null> {
    const clear: Buffer[] = [];
    const from = first * (blockBytes + encryptionOverhead);
    const to = Math.min((last + 1) * (blockBytes + encryptionOverhead), encryptedLength(length ?? 0));
    const records = Buffer.allocUnsafe(to - from);
    const { bytesRead } = await handle.read(records, 0, records.length, from);
    if (bytesRead < records.length) return null;
    for (let block = first; block <= last; block++) {
      const at = (block - first) * (blockBytes + encryptionOverhead);
      const opened = cipher.decrypt(
        records.subarray(at, at + blockBytes + encryptionOverhead),
        contextOf(block),
      );
      if (opened === null) return null;
      clear.push(opened);
    }
    return clear;
  }

  return done({
    identity: { size: length, modifiedMs: 0 },
    async read(offset, count) {
      const end = Math.min(offset + count, length);
      if (offset >= end) return done(Buffer.alloc(0));
      const first = Math.floor(offset / blockBytes);
      const last = Math.floor((end - 1) / blockBytes);
      // Rows of a page or a small chunk are read in steps far below a block.
      const clear =
        near !== null && near.block === first && first === last
          ? [near.clear]
          : await readBlocks(first, last).catch(() => null);
      const final = clear?.at(-1);
      if (clear === null || final === undefined) return failed('job.damaged');
      near = { block: last, clear: final };
      const whole = clear.length === 1 ? final : Buffer.concat(clear);
      return done(whole.subarray(offset - first * blockBytes, end - first * blockBytes));
    },
    // Nobody but this room changes it, and a changed block does not open.
    check: () => Promise.resolve(done(null)),
    close: () => handle.close(),
  });
}

/** Gives a finished spool a second name; the first may be removed afterwards. */
export async function keepSpool(path: string, as: string): Promise<Outcome<null>> {
  try {
    // File systems of USB sticks know no second names.
    await link(path, as).catch(() => copyFile(path, as, constants.COPYFILE_EXCL));
    await syncFolder(dirname(as));
    return done(null);
  } catch (error) {
    return writeFailure(error);
  }
}

function encryptedLength(length: number): number {
  return length + Math.ceil(length / blockBytes) * encryptionOverhead;
}

async function lengthOf(handle: FileHandle, cipher: RecordCipher): Promise<number | null> {
  const { size } = await handle.stat();
  if (size < endBytes) return null;
  const record = Buffer.alloc(endBytes);
  await handle.read(record, 0, endBytes, size - endBytes);
  const end = cipher.decrypt(record, 'end');
  const length = end === null ? -1 : Number(end.readBigUInt64BE());
  return encryptedLength(length) + endBytes === size ? length : null;
}
