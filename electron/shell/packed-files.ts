import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** Path from the application's folder, with `/`, to the SHA-256 of the file, written when it was built. */
const fileList = z.record(z.string(), z.hash('sha256')).refine((list) => Object.keys(list).length > 0);

export const sha256 = (file: string): string =>
  createHash('sha256').update(fs.readFileSync(file)).digest('hex');

/**
 * Compares the files under `root` with the list made at build time. Finds damage and a half-copied installation; whoever
 * changes a file on purpose can change the list as well.
 */
export function damagedFiles(
  root: string,
  list: string,
): { readonly count: number; readonly damaged: string[] } {
  const expected = Object.entries(fileList.parse(JSON.parse(fs.readFileSync(list, 'utf8'))));
  const damaged = expected.filter(([name, hash]) => {
    const file = path.join(root, name);
    return !fs.existsSync(file) || sha256(file) !== hash;
  });
  return { count: expected.length, damaged: damaged.map(([name]) => name) };
}

interface Entry {
  readonly files?: Readonly<Record<string, Entry>>;
  readonly integrity?: { readonly algorithm: string; readonly hash: string };
}

/** Files of an archive that carry no hash; null where there is no archive. */
export function filesWithoutHash(archive: string): readonly string[] | null {
  const header = readHeader(archive);
  if (header === null) return null;
  const walk = (entry: Entry, name: string): string[] =>
    entry.files === undefined
      ? entry.integrity?.algorithm === 'SHA256'
        ? []
        : [name]
      : Object.entries(entry.files).flatMap(([child, inside]) => walk(inside, `${name}/${child}`));
  return walk(header, '');
}

/** Two lengths in eight bytes, then two in eight more, the second of them the header's own. */
function readHeader(archive: string): Entry | null {
  // Electron shows an archive as a folder, unless told not to.
  const process_ = process as { noAsar?: boolean };
  const before = process_.noAsar ?? false;
  process_.noAsar = true;
  try {
    if (!fs.statSync(archive, { throwIfNoEntry: false })?.isFile()) return null;
    const file = fs.openSync(archive, 'r');
    try {
      const lengths = Buffer.alloc(16);
      fs.readSync(file, lengths);
      const header = Buffer.alloc(lengths.readUInt32LE(12));
      fs.readSync(file, header, 0, header.length, lengths.length);
      return JSON.parse(header.toString('utf8')) as Entry;
    } finally {
      fs.closeSync(file);
    }
  } finally {
    process_.noAsar = before;
  }
}
