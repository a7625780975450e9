import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

export interface DiskFault {
  /** From which change to the disk on, counted from 1. */
  readonly at: number;
  /** Ends this process before that change; or lets it and all later ones fail. */
  readonly what: 'kill' | 'full';
}

/** Counts what this process changes on the disk, and has a fault where it is told to. Returns the count so far. */
export async function faultyDisk(fault: DiskFault | null): Promise<() => number> {
  let count = 0;
  const fail = (): never => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28 });
  };
  function wrap(target: object, names: readonly string[], takesRoom: boolean): void {
    const functions = target as Record<string, (...parameters: unknown[]) => unknown>;
    for (const name of names) {
      const original = functions[name];
      if (original === undefined) throw new Error(name);
      const isSync = name.endsWith('Sync');
      functions[name] = function (this: unknown, ...parameters: unknown[]) {
        count += 1;
        if (fault !== null && count >= fault.at) {
          if (fault.what === 'kill') process.kill(process.pid, 'SIGKILL');
          else if (takesRoom && isSync) fail();
          else if (takesRoom) return Promise.resolve().then(fail);
        }
        return original.apply(this, parameters);
      };
    }
  }
  const handle = await fsp.open(process.execPath);
  const files = Object.getPrototypeOf(handle) as object;
  wrap(files, ['write', 'sync', 'datasync'], true);
  wrap(files, ['truncate'], false);
  await handle.close();
  wrap(fsp, ['mkdir', 'link'], true);
  wrap(fsp, ['rename', 'rm'], false);
  wrap(fs, ['writeFileSync', 'writeSync', 'mkdirSync', 'linkSync'], true);
  wrap(fs, ['renameSync', 'rmSync'], false);
  syncBuiltinESMExports();
  return () => count;
}
