import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/*
 * The few lines that read what @electron/fuses writes: the library comes with its command line and a patched file system,
 * which the product does not need. The tests read a packaged executable with both.
 */

/** Marks the fuses in Electron's executable: after it the wire's version, its length, and a character a fuse. */
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const wireVersion = 1;

/** By their position on the wire. */
const positions = {
  runAsNode: 0,
  cookieEncryption: 1,
  nodeOptions: 2,
  nodeInspect: 3,
  archiveIntegrity: 4,
  onlyFromArchive: 5,
  fileProtocolRights: 7,
} as const;
export type Fuse = keyof typeof positions;

/** What a packaged app is built with (`electronFuses` of electron-builder.yml). */
const expectedFuses: Readonly<Record<Fuse, boolean>> = {
  runAsNode: false,
  cookieEncryption: false,
  nodeOptions: false,
  nodeInspect: false,
  archiveIntegrity: true,
  onlyFromArchive: true,
  fileProtocolRights: false,
};

/** Fuses that are not as expected, in the order of the wire; null where the file has no wire that could be read. */
export function wrongFuses(executable: string): readonly Fuse[] | null {
  const bytes = fs.readFileSync(fuseFile(executable));
  const at = bytes.indexOf(sentinel);
  if (at === -1) return null;
  const wire = bytes.subarray(at + sentinel.length);
  const [version, length = 0] = wire;
  const fuses = Object.keys(positions) as Fuse[];
  if (version !== wireVersion || length <= Math.max(...Object.values(positions))) return null;
  const isOn = (fuse: Fuse): boolean => String.fromCharCode(wire[2 + positions[fuse]] ?? 0) === '1';
  return fuses.filter((fuse) => isOn(fuse) !== expectedFuses[fuse]);
}

/** On macOS the executable is a stub, and Electron itself a framework beside it. */
function fuseFile(executable: string): string {
  return executable.includes('.app/')
    ? path.resolve(executable, '../../Frameworks/Electron Framework.framework/Electron Framework')
    : executable;
}

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

/** A file or folder in the header of an asar archive. */
interface ArchiveEntry {
  readonly files?: Readonly<Record<string, ArchiveEntry>>;
  readonly integrity?: { readonly algorithm: string; readonly hash: string };
}

/** Files of an archive that carry no hash; null where there is no archive. */
export function filesWithoutHash(archive: string): readonly string[] | null {
  const header = readHeader(archive);
  if (header === null) return null;
  const walk = (entry: ArchiveEntry, name: string): string[] =>
    entry.files === undefined
      ? entry.integrity?.algorithm === 'SHA256'
        ? []
        : [name]
      : Object.entries(entry.files).flatMap(([child, inside]) => walk(inside, `${name}/${child}`));
  return walk(header, '');
}

/** Two lengths in eight bytes, then two in eight more, the second of them the header's own. */
function readHeader(archive: string): ArchiveEntry | null {
  // Electron presents an archive as a folder unless this is set.
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
      return JSON.parse(header.toString('utf8')) as ArchiveEntry;
    } finally {
      fs.closeSync(file);
    }
  } finally {
    process_.noAsar = before;
  }
}
