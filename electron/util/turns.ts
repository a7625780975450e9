import { setImmediate as nextTurn } from 'node:timers/promises';

/** Of an act that takes longer, work goes on beside it: it is the service that is slow then, not this thread. */
const maxStandsMs = 250;

/** Each ends with its act. */
const firstActs = new Set<Promise<void>>();

/** Whatever becomes of its window, a start takes no longer. */
const maxStartMs = 5_000;

let start: { readonly ended: Promise<void>; readonly end: () => void } | null = null;

/** A window is about to be opened: what nobody waits for stands until it is drawn. */
export function beginStart(): void {
  endStart();
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(endStart, maxStartMs).unref();
  start = {
    ended,
    end() {
      clearTimeout(timer);
      resolve(undefined);
    },
  };
}

/** The window is drawn, a person does something in it already, or it is closed. */
export function endStart(): void {
  start?.end();
  start = null;
}

/** For what a start begins and nobody waits for. At once where no window starts. */
export async function untilStarted(): Promise<void> {
  await start?.ended;
}

/**
 * An act on one value that a person waits for. It waits for the disk and the service several times, and each time a piece of
 * other work could come before it: work that gives way stands until the act has ended. The act itself must not give way.
 */
export async function beforeOthers<T>(act: () => Promise<T>): Promise<T> {
  endStart();
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

/** All that is made one after the other, each in a short time. */
export async function madeInTurns<T>(making: Iterable<T>): Promise<T[]> {
  const made: T[] = [];
  const turn = createTurn();
  for (const one of making) {
    made.push(one);
    if (turn.isOver()) await turn.next();
  }
  return made;
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
