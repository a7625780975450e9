import { createSmallFf1, SMALLEST_DOMAIN } from './ff1.ts';
import type { AesKey } from './ff1.ts';
import { createLanes } from './ff1-lanes.ts';

/** A keyed permutation of 0 … size - 1, another one for each tweak. */
export interface Permutation {
  forward(tweak: Uint8Array, x: number): number;
  backward(tweak: Uint8Array, y: number): number;
  /** The same of many, each under the tweak at its place. */
  forwardAll(tweaks: readonly Uint8Array[], xs: readonly number[]): number[];
  backwardAll(tweaks: readonly Uint8Array[], ys: readonly number[]): number[];
}

/**
 * FF1 on the next power of ten, walked until it lands inside: a walk keeps the strength of the larger domain,
 * so a small set (the five free digits of a 15-digit card) is still permuted by FF1 on a million elements.
 * Costs 10^digits / size steps on average. `size` is at most 10^12, `tweakLength` at most 12.
 */
export function createPermutation(key: AesKey, size: number, tweakLength: number): Permutation {
  const length = String(Math.max(size, SMALLEST_DOMAIN) - 1).length;
  const shape = { radix: 10, length, tweakLength };
  const ff1 = createSmallFf1(key, shape);
  const lanes = createLanes(key, shape, size, ff1);
  return {
    forward(tweak, x) {
      let y = x;
      do y = ff1.encrypt(tweak, y);
      while (y >= size);
      return y;
    },
    backward(tweak, y) {
      let x = y;
      do x = ff1.decrypt(tweak, x);
      while (x >= size);
      return x;
    },
    forwardAll: (tweaks, xs) => lanes.encrypt(tweaks, xs),
    backwardAll: (tweaks, ys) => lanes.decrypt(tweaks, ys),
  };
}
