import type { AwaySignal } from './shell.ts';

export interface AwaySignals {
  readonly emit: (signal: AwaySignal) => void;
  /** Returns the function that stops listening. */
  readonly on: (listener: (signal: AwaySignal) => void) => () => void;
}

export function awaySignals(): AwaySignals {
  const listeners = new Set<(signal: AwaySignal) => void>();
  return {
    emit(signal) {
      for (const listener of listeners) listener(signal);
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
