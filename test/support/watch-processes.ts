import fs from 'node:fs';

interface ProcessWatch {
  /** From this process on, with those that it starts. */
  readonly watch: (pid: number) => void;
  /** Arguments and environment of each that was seen. */
  readonly stop: () => string[];
}

/** What everybody of this machine may read of a process, and its user of its environment, as long as it runs. Linux alone. */
export function watchProcesses(): ProcessWatch {
  const seen = new Map<number, string>();
  const family = new Set<number>();
  const look = (): void => {
    for (const name of fs.readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
      const pid = Number(name);
      const read = (file: string): string => fs.readFileSync(`/proc/${pid}/${file}`, 'latin1');
      try {
        const parent = Number(/\) \S (\d+)/.exec(read('stat'))?.[1]);
        if (family.has(parent)) family.add(pid);
        if (family.has(pid)) seen.set(pid, `${read('cmdline')}\n${read('environ')}`);
      } catch {
        // It has ended.
      }
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    watch(pid) {
      family.add(pid);
      timer = setInterval(look, 20);
    },
    stop() {
      clearInterval(timer);
      return [...seen.values()];
    },
  };
}
