import { setImmediate as nextTurn } from 'node:timers/promises';

/** Of an act that takes longer, work goes on beside it: it is the service that is slow then, not this thread. */
const maxStandsMs = 250;

/** Each ends with its act. */
const firstActs = new Set<Promise<void>>();

/**
 * An act on one value that a person waits for. It waits for the disk and the service several times, and each time a piece of
 * other work could come before it: work that gives way stands until the act has ended. The act itself must not give way.
 */
export async function beforeOthers<T>(act: () => Promise<T>): Promise<T> {
  let resolve = (): void => undefined;
  const stands = new Promise<void>((ended) => (resolve = ended));
  const timer = setTimeout(resolve, maxStandsMs);
  firstActs.add(stands);
  void stands.then(() => firstActs.delete(stands));
  try {
    return await act();
  } finally {
    clearTimeout(timer);
    resolve();
  }
}

/** So long a piece takes that is as long as its time. */
const maxPieceMs = 8;

/** Of the time, so much at most does work stand, so that it goes on whoever asks for values without a pause. */
const standingShare = 0.5;
const maxCreditMs = 2 * maxStandsMs;
let credit = maxCreditMs;
let creditedAt = performance.now();

function earnCredit(): number {
  const now = performance.now();
  credit = Math.min(maxCreditMs, credit + (now - creditedAt) * standingShare);
  creditedAt = now;
  return credit;
}

/**
 * Between two pieces of long work: all others of this thread have their turn. A piece takes 25 ms at most where its size can
 * be chosen. Acts that begin meanwhile are not waited for, so that no row of them keeps the work from going on.
 */
export async function yieldToOthers(): Promise<void> {
  await nextTurn();
  if (firstActs.size === 0 || earnCredit() <= 0) return;
  const from = performance.now();
  await Promise.all(firstActs);
  credit -= performance.now() - from;
  // The act ended within a turn of its own.
  await nextTurn();
}

/** Between pieces that end with a wait for the disk anyway: only where an act is under way do they stand. */
export async function standForActs(): Promise<void> {
  if (firstActs.size > 0) await yieldToOthers();
}

/** For pieces whose size does not say how long they take: asked often, it says when one has taken long enough. */
export interface Turn {
  isOver(): boolean;
  next(): Promise<void>;
}

export function createTurn(): Turn {
  let endsAt = performance.now() + maxPieceMs;
  return {
    isOver: () => performance.now() >= endsAt,
    async next() {
      await yieldToOthers();
      endsAt = performance.now() + maxPieceMs;
    },
  };
}
