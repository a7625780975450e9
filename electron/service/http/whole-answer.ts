import type { Dispatcher } from 'undici';
import type { Reply } from './exchange.ts';

interface WholeAnswer {
  /** Rejects with undici's error, or with what `end` was given. */
  readonly answer: Promise<Reply>;
  /** Ends the request, if its answer is not there yet. */
  readonly end: (reason: Error) => void;
}

const maxPieces = 1_024;

/**
 * Sends a request and takes its whole answer, the body as it came. `isRefused`: by its status; of such an answer the body is
 * not read, and is empty.
 *
 * undici's own `request` makes a stream of each answer. The streams of answers that follow each other, and all pieces of
 * their bodies, outlive the quick collections of V8, so that it looks at all that the app has for each few hundred answers.
 */
export function requestWhole(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  isRefused: (status: number) => boolean,
): WholeAnswer {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Reply>();
  let begun: Dispatcher.DispatchController | null = null;
  let ended: Error | null = null;
  let head: Omit<Reply, 'body'> | null = null;
  const pieces: Buffer[] = [];
  /** Pieces that were joined: a service may send a byte at a time, and each piece takes a hundred more. */
  const joined: Buffer[] = [];
  dispatcher.dispatch(request, {
    onRequestStart(controller) {
      begun = controller;
      if (ended !== null) controller.abort(ended);
    },
    onResponseStart(controller, status, headers) {
      // An answer that says only that it is under way is one before the last.
      head = { status, headers };
      if (!isRefused(status)) return;
      resolve({ ...head, body: Buffer.alloc(0) });
      controller.abort(new Error('The rest of this answer is not read'));
    },
    onResponseData(_, piece) {
      if (pieces.push(piece) === maxPieces) joined.push(Buffer.concat(pieces.splice(0)));
    },
    onResponseEnd() {
      if (head !== null) resolve({ ...head, body: Buffer.concat([...joined, ...pieces]) });
    },
    onResponseError(_, error) {
      reject(error);
    },
  });
  return {
    answer,
    end(reason) {
      ended = reason;
      // One that waits for a connection ends once it has it.
      begun?.abort(reason);
      reject(reason);
    },
  };
}
