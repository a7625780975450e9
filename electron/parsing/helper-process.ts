/**
 * The process that works for a parser's thread, one at a time. It does not end with the thread, and the thread may be ended at
 * any moment, between the start of the process and the word of it too: what it is at stands in memory that both share.
 */
export type HelperMemory = Int32Array<SharedArrayBuffer>;

export const createHelperMemory = (): HelperMemory => new Int32Array(new SharedArrayBuffer(4));

const none = 0;
const starting = -1;
const closed = -2;

/** What the thread says of it. */
export interface HelperProcess {
  /** Before it is started. False where the thread is being ended: then it must not be. */
  begin(): boolean;
  /** It has this number; null where it could not be started. */
  began(pid: number | null): void;
  ended(): void;
}

export const helperProcess = (memory: HelperMemory): HelperProcess => {
  const set = (before: number, state: number): boolean => {
    const isSet = Atomics.compareExchange(memory, 0, before, state) === before;
    if (isSet) Atomics.notify(memory, 0);
    return isSet;
  };
  return {
    begin: () => set(none, starting),
    began: (pid) => void set(starting, pid ?? none),
    ended() {
      const pid = Atomics.load(memory, 0);
      // Closed stays closed.
      if (pid > 0) set(pid, none);
    },
  };
};

/** A system starts a process in less, or never. */
const maxStartMs = 5_000;

/** For whoever ends the thread, before that: no process is started from now on. The number of the one that runs, or null. */
export async function closeHelper(memory: HelperMemory): Promise<number | null> {
  for (;;) {
    const state = Atomics.load(memory, 0);
    if (state === starting) {
      const waited = Atomics.waitAsync(memory, 0, starting, maxStartMs);
      if ((await waited.value) === 'timed-out') return null;
    } else if (Atomics.compareExchange(memory, 0, state, closed) === state) return state > 0 ? state : null;
  }
}
