import { renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export interface SlowSyncs {
  /** What every sync takes longer, as on a slow disk. */
  readonly ms: number;
  /** This file's size as of its last sync is written to `noted`. */
  readonly log?: { readonly file: string; readonly noted: string };
  /** This process kills itself as soon as the log was synced so often. */
  readonly killAt?: number;
}

/** From now on, for every file of this process. */
export async function slowSyncs({ ms, log, killAt = Infinity }: SlowSyncs): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tokendesk-syncs-'));
  const probe = await open(join(folder, 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as Pick<FileHandle, 'datasync'>;
  await probe.close();
  await rm(folder, { recursive: true });
  const { datasync } = prototype;
  let synced = 0;
  prototype.datasync = async function (this: FileHandle) {
    const { size, ino } = await this.stat();
    await wait(ms);
    await datasync.call(this);
    if (log === undefined || statSync(log.file, { throwIfNoEntry: false })?.ino !== ino) return;
    // In one step: it is read by another process.
    writeFileSync(`${log.noted}.new`, String(size));
    renameSync(`${log.noted}.new`, log.noted);
    synced += 1;
    if (synced === killAt) process.kill(process.pid, 'SIGKILL');
  };
}
