import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSmallFf1, expandAesKey } from '../../../../electron/built-in-service/engine/ff1.ts';
import {
  createBatchCipher,
  createPermutation,
} from '../../../../electron/built-in-service/engine/permutation.ts';

const keys = fc.constantFrom(16, 24, 32).chain((n) => fc.uint8Array({ minLength: n, maxLength: n }));

/** A permutation's shape, and values for it with a tweak each. */
const batches = fc
  .record({
    key: keys,
    size: fc.oneof(
      fc.constantFrom(1_000, 9_000, 90_000, 900_000, 1_000_000),
      fc.integer({ min: 500, max: 10 ** 12 }),
    ),
    tweakLength: fc.integer({ min: 0, max: 12 }),
    // A few more than are encrypted together; one value of a small set takes a thousand encryptions.
    count: fc.integer({ min: 0, max: 12 }),
  })
  .chain(({ key, size, tweakLength, count }) =>
    fc.record({
      key: fc.constant(key),
      size: fc.constant(size),
      tweakLength: fc.constant(tweakLength),
      tweaks: fc.array(fc.uint8Array({ minLength: tweakLength, maxLength: tweakLength }), {
        minLength: count,
        maxLength: count,
      }),
      xs: fc.array(fc.integer({ min: 0, max: size - 1 }), { minLength: count, maxLength: count }),
    }),
  );

describe('a batch of FF1', () => {
  it('encrypts each value as alone, and decrypts it again', () => {
    fc.assert(
      fc.property(batches, ({ key, size, tweakLength, tweaks, xs }) => {
        const permutation = createPermutation(expandAesKey(key), size, tweakLength);
        const ys = permutation.encryptBatch(tweaks, xs);
        const alone = xs.map((x, at) => permutation.encrypt(tweaks[at] ?? new Uint8Array(), x));
        expect(ys).toEqual(alone);
        expect(permutation.decryptBatch(tweaks, ys)).toEqual(xs);
      }),
      { numRuns: 60 },
    );
  });

  it('permutes a whole small set', () => {
    const permutation = createPermutation(expandAesKey(new Uint8Array(32).fill(3)), 9_000, 10);
    const all = Array.from({ length: 9_000 }, (_, x) => x);
    const tweaks = all.map(() => Buffer.from('4111111111'));
    expect(permutation.encryptBatch(tweaks, all).sort((a, b) => a - b)).toEqual(all);
  });

  it('matches the published sample of AES-256 with a tweak', () => {
    const key = Buffer.from('2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94', 'hex');
    const shape = { radix: 10, length: 10, tweakLength: 10 };
    const aes = expandAesKey(key);
    const batch = createBatchCipher(aes, { shape, size: 10 ** 10, single: createSmallFf1(aes, shape) });
    const tweaks = Array.from({ length: 8 }, () => Buffer.from('39383736353433323130', 'hex'));
    expect(
      batch.encrypt(
        tweaks,
        tweaks.map(() => 123456789),
      ),
    ).toEqual(tweaks.map(() => 1001623463));
    expect(
      batch.decrypt(
        tweaks,
        tweaks.map(() => 1001623463),
      ),
    ).toEqual(tweaks.map(() => 123456789));
  });

  it('refuses a tweak that does not fit a block', () => {
    const aes = expandAesKey(new Uint8Array(16));
    const shape = { radix: 10, length: 6, tweakLength: 13 };
    expect(() => createBatchCipher(aes, { shape, size: 10, single: createSmallFf1(aes, shape) })).toThrow(
      RangeError,
    );
  });
});
