import type { Log } from './log.ts';

/**
 * Logs what nothing else caught, then calls `onFatal` once: it shows a plain sentence and ends the process. Where it
 * throws, the process ends with 1. Without this Node would print the error with its message. Returns the function
 * that stops it.
 */
export function watchProcess(log: Pick<Log, 'bug'>, onFatal: () => void): () => void {
  let isFatal = false;

  function fail(place: string, error: unknown): void {
    log.bug(place, error);
    if (isFatal) return;
    isFatal = true;
    try {
      onFatal();
    } catch (second) {
      log.bug('onFatal', second);
      process.exit(1);
    }
  }

  const onException = (error: unknown): void => fail('uncaughtException', error);
  const onRejection = (reason: unknown): void => fail('unhandledRejection', reason);
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  return () => {
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
  };
}
