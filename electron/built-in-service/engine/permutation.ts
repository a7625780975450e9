import { createCipheriv } from 'node:crypto';
import {
  blockBytes,
  createFirstBlock,
  createSmallFf1,
  minDomainSize,
  roundCount,
  type AesKey,
  type Ff1Shape,
  type SmallFf1,
} from './ff1.ts';

/** A pseudorandom permutation of 0 … size - 1, another one for each tweak. */
export interface Permutation {
  encrypt(tweak: Uint8Array, x: number): number;
  decrypt(tweak: Uint8Array, y: number): number;
  /** The same for a batch: the value at each index under the tweak at that index. */
  encryptBatch(tweaks: readonly Uint8Array[], xs: readonly number[]): number[];
  decryptBatch(tweaks: readonly Uint8Array[], ys: readonly number[]): number[];
}

/**
 * FF1 on the next power of ten, repeated until the result lies below `size` (cycle walking). A small set, like the
 * five free digits of a 15-digit card, so has the strength of FF1 on a million. Takes 10^length / size repetitions
 * on average. `size` is at most 10^12, `tweakLength` at most 12.
 */
export function createPermutation(key: AesKey, size: number, tweakLength: number): Permutation {
  const length = String(Math.max(size, minDomainSize) - 1).length;
  const shape = { radix: 10, length, tweakLength };
  const single = createSmallFf1(key, shape);
  const batch = createBatchCipher(key, { shape, size, single });
  return {
    encrypt(tweak, x) {
      let y = x;
      do y = single.encrypt(tweak, y);
      while (y >= size);
      return y;
    },
    decrypt(tweak, y) {
      let x = y;
      do x = single.decrypt(tweak, x);
      while (x >= size);
      return x;
    },
    encryptBatch: (tweaks, xs) => batch.encrypt(tweaks, xs),
    decryptBatch: (tweaks, ys) => batch.decrypt(tweaks, ys),
  };
}

/** Cycle-walking FF1 of many values at once. Results are in the order of the values. */
export interface BatchCipher {
  encrypt(tweaks: readonly Uint8Array[], values: readonly number[]): number[];
  decrypt(tweaks: readonly Uint8Array[], values: readonly number[]): number[];
}

export interface BatchCipherOptions {
  readonly shape: Ff1Shape;
  /** Each value is encrypted again until the result is below it. */
  readonly size: number;
  /** The same cipher for one value: the last few of a batch go through it. */
  readonly single: SmallFf1;
}

/** Offset of the word of Q that holds round and numeral; the bytes before it are the same in every round. */
const lastWordOffset = 12;
/** With fewer values left, a call into OpenSSL costs more than encrypting their blocks one by one. */
const minParallel = 4;

/**
 * Encrypts a block of every value in one call of OpenSSL. A walk over the four free digits of a 14-digit card takes
 * 1,100 blocks, each of which needs the one before: 350 µs in JavaScript, and OpenSSL is no faster for a block at
 * a time. A batch gives it a thousand blocks a call, at a fortieth of the cost. The cipher is the same, so the tokens
 * are. Throws a RangeError where tweak, round and numeral don't fit one block, as with a tweak over 12 bytes.
 */
export function createBatchCipher(key: AesKey, { shape, size, single }: BatchCipherOptions): BatchCipher {
  const { radix, length, tweakLength } = shape;
  const u = Math.floor(length / 2);
  const modU = radix ** u;
  const modV = radix ** (length - u);
  const numeralBits = 8 * Math.ceil(Math.log2(modV) / 8);
  if (tweakLength > lastWordOffset || numeralBits > 24)
    throw new RangeError('This shape takes more than a block.');

  // An expanded key begins with the key itself: 4, 6 or 8 words of 44, 52 or 60.
  const keyBytes = key.length - 28;
  const rawKey = Buffer.from(key.buffer, key.byteOffset, keyBytes);
  const aes = createCipheriv(`aes-${keyBytes * 8}-ecb`, rawKey, null);
  aes.setAutoPadding(false);
  const encryptedP = aes.update(createFirstBlock(shape));

  function walk(tweaks: readonly Uint8Array[], values: readonly number[], forward: boolean): number[] {
    const results = Array.from(values);
    // The values still walking are the first `active` entries of these columns; `positions` tells which they are.
    const positions = Uint32Array.from(values.keys());
    const left = Int32Array.from(values, (value) => Math.floor(value / modV));
    const right = Int32Array.from(values, (value) => value % modV);
    const blocks = new Uint8Array(values.length * blockBytes);
    let active = values.length;

    for (const [index, tweak] of tweaks.entries()) {
      blocks.set(encryptedP, index * blockBytes);
      for (const [at, byte] of tweak.entries())
        blocks[index * blockBytes + at] = (encryptedP[at] ?? 0) ^ byte;
    }
    const input = new DataView(blocks.buffer);
    const lastWord = encryptedP.readInt32BE(lastWordOffset);

    // Division and floor, exact below 2^53, in place of a remainder: V8 compiles that of doubles to a slow loop.
    const runRound = (round: number): void => {
      const modulus = round % 2 === 0 ? modU : modV;
      const high = 2 ** 32 % modulus;
      const [from, to] = forward ? [right, left] : [left, right];
      for (let index = 0; index < active; index++) {
        const word = lastWord ^ ((round << numeralBits) | (from[index] ?? 0));
        input.setInt32(index * blockBytes + lastWordOffset, word);
      }
      const out = aes.update(blocks.subarray(0, active * blockBytes));
      const stream = new DataView(out.buffer, out.byteOffset, out.length);
      for (let index = 0; index < active; index++) {
        const upper = stream.getUint32(index * blockBytes);
        const sum =
          (upper - Math.floor(upper / modulus) * modulus) * high + stream.getUint32(index * blockBytes + 4);
        const value = sum - Math.floor(sum / modulus) * modulus;
        const next = (to[index] ?? 0) + (forward ? value - modulus : -value);
        to[index] = from[index] ?? 0;
        from[index] = next < 0 ? next + modulus : next;
      }
    };

    while (active >= minParallel) {
      for (let round = 0; round < roundCount; round++) runRound(forward ? round : roundCount - 1 - round);
      // A value below `size` has arrived: the last active one takes its entry.
      for (let index = active - 1; index >= 0; index--) {
        const value = (left[index] ?? 0) * modV + (right[index] ?? 0);
        results[positions[index] ?? 0] = value;
        if (value >= size) continue;
        active--;
        blocks.copyWithin(index * blockBytes, active * blockBytes, (active + 1) * blockBytes);
        for (const column of [positions, left, right]) column[index] = column[active] ?? 0;
      }
    }
    for (const position of positions.subarray(0, active)) {
      const tweak = tweaks[position] ?? new Uint8Array();
      let value = results[position] ?? 0;
      do value = forward ? single.encrypt(tweak, value) : single.decrypt(tweak, value);
      while (value >= size);
      results[position] = value;
    }
    return results;
  }

  return {
    encrypt: (tweaks, values) => walk(tweaks, values, true),
    decrypt: (tweaks, values) => walk(tweaks, values, false),
  };
}
