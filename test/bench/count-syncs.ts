import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Counts what this process asks the disk to keep for good, from now on. */
export async function countSyncs(): Promise<() => number> {
  const folder = await mkdtemp(join(tmpdir(), 'tokendesk-syncs-'));
  const probe = await open(join(folder, 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as Pick<FileHandle, 'datasync' | 'sync'>;
  await probe.close();
  await rm(folder, { recursive: true });
  let count = 0;
  for (const name of ['datasync', 'sync'] as const) {
    const plain = prototype[name];
    prototype[name] = function (this: FileHandle) {
      count += 1;
      return plain.call(this);
    };
  }
  return () => count;
}
