import { setFlagsFromString } from 'node:v8';

/**
 * V8 learns from a job's first chunks that such objects are still there at the next collection, and from then on puts
 * them where only the slow collector looks, though a moment later they are garbage. Without that guess a batch takes
 * a fifth less time and half the pauses. Call once, before the first job; it holds for all threads.
 */
export function settleHeap(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
