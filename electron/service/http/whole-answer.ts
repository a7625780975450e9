import type { Dispatcher } from 'undici';
import type { Reply } from './exchange.ts';

interface WholeAnswerOptions {
  /** Ends the request: it rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** By its status: of such an answer the body is not read, and is empty. */
  readonly isRefused: (status: number) => boolean;
}

/**
 * Sends a request and resolves with its whole answer, the body as it came. Rejects with undici's error.
 *
 * undici's own `request` makes a stream of each answer. The streams of answers that follow each other, and all pieces of
 * their bodies, outlive the quick collections of V8, so that it looks at all that the app has for each thousand answers.
 */
export function requestWhole(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, isRefused }: WholeAnswerOptions,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let begun: Dispatcher.DispatchController | null = null;
    let head: Omit<Reply, 'body'> | null = null;
    const pieces: Buffer[] = [];
    const stop = (): void => {
      const reason = signal.reason as Error;
      // One that waits for a connection is ended once it has it.
      begun?.abort(reason);
      reject(reason);
    };
    const release = (): void => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        begun = controller;
        if (signal.aborted) stop();
      },
      onResponseStart(controller, status, headers) {
        // An answer that says only that it is under way is one before the last.
        head = { status, headers };
        if (!isRefused(status)) return;
        release();
        resolve({ ...head, body: Buffer.alloc(0) });
        controller.abort(new Error('The rest of this answer is not read'));
      },
      onResponseData(_, piece) {
        pieces.push(piece);
      },
      onResponseEnd() {
        release();
        if (head !== null) resolve({ ...head, body: Buffer.concat(pieces) });
      },
      onResponseError(_, error) {
        release();
        reject(error);
      },
    });
  });
}
