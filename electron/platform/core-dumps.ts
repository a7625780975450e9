import { execFile } from 'node:child_process';
import type { Log } from '../log/log.ts';

/**
 * A crash of main must not write its memory, which holds every secret, to the disk. Node can't set its own limit;
 * `prlimit` of util-linux sets that of a running process, and those of processes it starts later. The limit is 1 byte and
 * not 0: at 0 the kernel still hands the whole memory to a handler such as systemd-coredump or apport; at 1 it does not
 * (fs/coredump.c), and a file of a byte is never begun. Linux only; where it fails, a line of the log says so.
 */
export function limitCoreDumps({
  log,
  os,
  pid = process.pid,
}: {
  readonly log: Pick<Log, 'info'>;
  readonly os: NodeJS.Platform;
  readonly pid?: number;
}): Promise<void> {
  if (os !== 'linux') return Promise.resolve();
  return new Promise((resolve) => {
    // The hard limit too: nothing in this process may raise it again.
    const args = ['--core=1:1', '--pid', String(pid)];
    execFile('prlimit', args, { timeout: 5_000, windowsHide: true }, (error) => {
      if (error !== null) log.info('core dumps not limited');
      resolve();
    });
  });
}
