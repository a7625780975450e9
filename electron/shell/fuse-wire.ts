import fs from 'node:fs';
import path from 'node:path';

/*
 * The few lines that read what @electron/fuses writes: the library comes with its command line and a patched file system,
 * which have no business in the product. A packaged executable is read with both in the tests.
 */

/** Marks the fuses in Electron's executable: after it the wire's version, its length, and a character a fuse. */
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const wireVersion = 1;

/** By their place on the wire. */
const places = {
  runAsNode: 0,
  cookieEncryption: 1,
  nodeOptions: 2,
  nodeInspect: 3,
  archiveIntegrity: 4,
  onlyFromArchive: 5,
  fileProtocolRights: 7,
} as const;
export type Fuse = keyof typeof places;

/** What a packaged desk is built with (`electronFuses` of electron-builder.yml). */
export const expectedFuses: Readonly<Record<Fuse, boolean>> = {
  runAsNode: false,
  cookieEncryption: true,
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
  const fuses = Object.keys(places) as Fuse[];
  if (version !== wireVersion || length <= Math.max(...Object.values(places))) return null;
  const isOn = (fuse: Fuse): boolean => String.fromCharCode(wire[2 + places[fuse]] ?? 0) === '1';
  return fuses.filter((fuse) => isOn(fuse) !== expectedFuses[fuse]);
}

/** On macOS the executable is a stub, and Electron itself a framework beside it. */
function fuseFile(executable: string): string {
  return executable.includes('.app/')
    ? path.resolve(executable, '../../Frameworks/Electron Framework.framework/Electron Framework')
    : executable;
}
