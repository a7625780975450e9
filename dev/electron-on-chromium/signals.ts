const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof names)[number];

/**
 * Who has a signal, as between Electron and libuv. libuv asks the kernel for a signal when its first listener comes, and
 * not again for the next; without listeners it gives the signal back to the system. Electron asks once, after main's module
 * has run, and then has it whatever libuv did before. So a listener from before hears nothing, and one of later only
 * where it is the first.
 */
export function modelSignals(quit: () => void): { installElectrons(): void } {
  const owner = new Map<Signal, 'system' | 'libuv' | 'electron'>(names.map((name) => [name, 'system']));
  let quits = false;
  const removeAllListeners = process.removeAllListeners.bind(process);
  // Before the first listener: Node binds it to the signal then.
  const emit = process.emit.bind(process) as (name: string, ...args: unknown[]) => boolean;
  process.emit = ((name: string, ...args: unknown[]) => {
    const by = owner.get(name as Signal);
    if (by === undefined || by === 'libuv') return emit(name, ...args);
    if (by === 'electron') {
      // Each has one try: its next ends the process. The first of all quits.
      owner.set(name as Signal, 'system');
      if (!quits) quit();
      quits = true;
      return true;
    }
    removeAllListeners(name);
    process.kill(process.pid, name);
    return true;
  }) as typeof process.emit;
  // Kept on all the time, so that the process hears of the signal at all.
  const hear = (): void => undefined;
  const others = (name: Signal): number => process.listenerCount(name) - 1;
  for (const name of names) process.on(name, hear);
  process.on('newListener', (name: Signal) => {
    if (owner.has(name) && others(name) === 0) owner.set(name, 'libuv');
  });
  process.on('removeListener', (name: Signal) => {
    if (owner.has(name) && others(name) === 0) owner.set(name, 'system');
  });
  // The listener of our own is none of those that are there to be removed.
  process.removeAllListeners = (name?: string | symbol) => {
    if (!names.includes(name as Signal)) return removeAllListeners(name);
    for (const listener of process.rawListeners(name as Signal))
      if (listener !== hear) process.removeListener(name as Signal, listener as () => void);
    return process;
  };

  return {
    installElectrons() {
      for (const name of names) owner.set(name, 'electron');
    },
  };
}
