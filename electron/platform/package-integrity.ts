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

/** Beside the archive: not in it, since it has the archive's own hash. */
const listName = 'files.json';

/** Path below the folder of resources, with `/`, to the file's SHA-256; null where only its name can be known. */
const fileList = z
  .record(z.string(), z.hash('sha256').nullable())
  .refine((list) => Object.keys(list).length > 0);

/**
 * Lists all code that the app loads, the archive and the files outside of it, when it has been packed. On macOS the native
 * module is signed after that, which changes it; its signature is what the system compares.
 */
export function writeFileList(resources: string, os: NodeJS.Platform): void {
  const hashOf = (name: string): string | null =>
    os === 'darwin' && name.endsWith('.node') ? null : sha256(path.join(resources, name));
  const list = Object.fromEntries(packedFiles(resources).map((name) => [name, hashOf(name)]));
  fs.writeFileSync(path.join(resources, listName), JSON.stringify(list, null, 1));
}

/**
 * Compares what is installed with the list: what is missing, changed or added; null where there is no list. Finds damage and a half-copied
 * installation; whoever changes a file on purpose can change the list as well.
 */
export function wrongFiles(
  resources: string,
): { readonly count: number; readonly wrong: readonly string[] } | null {
  return withoutAsar(() => {
    const file = path.join(resources, listName);
    if (!fs.existsSync(file)) return null;
    const list = fileList.parse(JSON.parse(fs.readFileSync(file, 'utf8')));
    const found = packedFiles(resources);
    const isWrong = (name: string): boolean =>
      list[name] !== null && list[name] !== sha256(path.join(resources, name));
    const missing = Object.keys(list).filter((name) => !found.includes(name));
    return { count: Object.keys(list).length, wrong: [...missing, ...found.filter(isWrong)] };
  });
}

function packedFiles(resources: string): string[] {
  const outside = path.join(resources, 'app.asar.unpacked');
  const entries = fs.existsSync(outside)
    ? fs
        .readdirSync(outside, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
    : [];
  const files = entries.map((entry) => path.join(entry.parentPath, entry.name)).sort();
  return [path.join(resources, 'app.asar'), ...files]
    .filter((file) => fs.existsSync(file))
    .map((file) => path.relative(resources, file).split(path.sep).join('/'));
}

const sha256 = (file: string): string => createHash('sha256').update(fs.readFileSync(file)).digest('hex');

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
  return withoutAsar(() => {
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
  });
}

/** Electron presents an archive as a folder but within this call. */
function withoutAsar<T>(run: () => T): T {
  const process_ = process as { noAsar?: boolean };
  const before = process_.noAsar ?? false;
  process_.noAsar = true;
  try {
    return run();
  } finally {
    process_.noAsar = before;
  }
}
