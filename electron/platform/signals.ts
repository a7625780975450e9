/** What ends a program: Ctrl+C, `kill` and the service manager, the end of its terminal. */
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Has the ending signals call `onSignal` and nothing else. Called after Electron is ready: between the evaluation of
 * main's module and `ready` Electron sets handlers of its own for these signals (`sigaction`), which quit as a person
 * does, with the question about running batches that nobody may be there to answer. libuv sets its handler again only
 * when the first listener of a signal is added, so whatever listens by then is removed first: a library's listener that
 * came before `ready` would otherwise keep Electron's handler in force, and raise the signal again. Before `ready` nothing
 * is open, and a signal just ends the process.
 */
export function handleSignals(
  process: Pick<NodeJS.EventEmitter, 'on' | 'removeAllListeners'>,
  onSignal: () => void,
): void {
  for (const signal of endingSignals) {
    process.removeAllListeners(signal);
    process.on(signal, onSignal);
  }
}
