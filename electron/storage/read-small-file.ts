import { constants, type Stats } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { done, failed, type FailureCode, type Outcome } from '../contract/errors.ts';
import { nonBlocking } from './byte-source.ts';
import { errorCode } from './file-failures.ts';

export type SmallFile =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  /** Not taken, or not readable. `reason` follows the file's name in a sentence. */
  | { readonly kind: 'unfit' | 'unreadable'; readonly reason: string };

interface SmallFileOptions {
  readonly maxBytes: number;
  /** Links in the folders above are followed all the same. */
  readonly links?: 'followed' | 'refused';
  /** Why the opened file is not taken; null where it is. */
  readonly refuse?: (found: Stats) => string | null;
}

/**
 * All bytes of a file that is read at once, or none of them. It is opened first, and what was opened is checked and
 * read: another file put in its place meanwhile is not. A named pipe, which would never answer, and a folder are unfit,
 * and so is what has more bytes than `maxBytes`, even if it only grew while it was read. A file system that gives a file
 * in pieces is asked until its end.
 */
export async function readSmallFile(
  file: string,
  { maxBytes, links = 'followed', refuse = () => null }: SmallFileOptions,
): Promise<SmallFile> {
  try {
    const flags = constants.O_RDONLY | nonBlocking | (links === 'refused' ? constants.O_NOFOLLOW : 0);
    const handle = await fs.open(file, flags);
    try {
      const found = await handle.stat();
      const reason = found.isFile() ? refuse(found) : 'it is no file';
      if (reason !== null) return { kind: 'unfit', reason };
      const tooLarge: SmallFile = { kind: 'unfit', reason: 'it is too large' };
      if (found.size > maxBytes) return tooLarge;
      const bytes = Buffer.alloc(maxBytes + 1);
      let filled = 0;
      while (filled <= maxBytes) {
        const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
        if (bytesRead === 0) return { kind: 'read', bytes: bytes.subarray(0, filled) };
        filled += bytesRead;
      }
      return tooLarge;
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    if (code === 'ELOOP' && links === 'refused') return { kind: 'unfit', reason: 'it is a link' };
    return { kind: 'unreadable', reason: `it can’t be read (${code || 'unknown'})` };
  }
}

/** A small file that a person chose. Failures: file.gone, file.unreadable, `unfit` (see `readSmallFile`), both with its name. */
export async function readChosenFile(
  file: string,
  { maxBytes, unfit }: { readonly maxBytes: number; readonly unfit: FailureCode },
): Promise<Outcome<Buffer>> {
  const read = await readSmallFile(file, { maxBytes });
  if (read.kind === 'read') return done(read.bytes);
  const code = { unfit, missing: 'file.gone', unreadable: 'file.unreadable' } as const;
  return failed(code[read.kind], {
    subject: path.basename(file).slice(0, 300),
  });
}
