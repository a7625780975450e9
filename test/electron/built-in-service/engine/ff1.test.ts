import { FF1 } from '@noble/ciphers/ff1.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandAesKey, createFf1, createSmallFf1 } from '../../../../electron/built-in-service/engine/ff1.ts';

const aes128 = '2B7E151628AED2A6ABF7158809CF4F3C';
const aes192 = `${aes128}EF4359D8D580AA4F`;
const aes256 = `${aes192}7F036D6F04FC6A94`;
const digitsTweak = '39383736353433323130';
const lettersTweak = '3737373770717273373737';

/** NIST, "SP 800-38G examples with intermediate values", FF1 samples 1 to 9. */
const samples = [
  [aes128, 10, '', '0123456789', '2433477484'],
  [aes128, 10, digitsTweak, '0123456789', '6124200773'],
  [aes128, 36, lettersTweak, '0123456789abcdefghi', 'a9tv40mll9kdu509eum'],
  [aes192, 10, '', '0123456789', '2830668132'],
  [aes192, 10, digitsTweak, '0123456789', '2496655549'],
  [aes192, 36, lettersTweak, '0123456789abcdefghi', 'xbj3kv35jrawxv32ysr'],
  [aes256, 10, '', '0123456789', '6657667009'],
  [aes256, 10, digitsTweak, '0123456789', '1001623463'],
  [aes256, 36, lettersTweak, '0123456789abcdefghi', 'xs8a0azh2avyalyzuwd'],
] as const;

const toInteger = (digits: readonly number[], radix: number): bigint =>
  digits.reduce((sum, digit) => sum * BigInt(radix) + BigInt(digit), 0n);
const parse = (text: string, radix: number): bigint =>
  toInteger(
    Array.from(text).map((c) => parseInt(c, 36)),
    radix,
  );

describe('FF1', () => {
  it.each(samples)('matches the published sample %#', (...[key, radix, tweakHex, plain, cipher]) => {
    const tweak = Buffer.from(tweakHex, 'hex');
    const shape = { radix, length: plain.length, tweakLength: tweak.length };
    const aes = expandAesKey(Buffer.from(key, 'hex'));
    const ff1 = createFf1(aes, shape);
    expect(ff1.encrypt(tweak, parse(plain, radix))).toBe(parse(cipher, radix));
    expect(ff1.decrypt(tweak, parse(cipher, radix))).toBe(parse(plain, radix));
    if (radix === 10) {
      const small = createSmallFf1(aes, shape);
      expect(small.encrypt(tweak, Number(plain))).toBe(Number(cipher));
      expect(small.decrypt(tweak, Number(cipher))).toBe(Number(plain));
    }
  });

  it('agrees with an independent implementation over arbitrary shapes, keys and tweaks', () => {
    const shapes = fc
      .record({
        radix: fc.integer({ min: 2, max: 65_535 }),
        key: fc.constantFrom(16, 24, 32).chain((n) => fc.uint8Array({ minLength: n, maxLength: n })),
        tweak: fc.uint8Array({ maxLength: 40 }),
      })
      .chain(({ radix, key, tweak }) =>
        fc
          .array(fc.integer({ min: 0, max: radix - 1 }), {
            minLength: Math.max(2, Math.ceil(6 / Math.log10(radix)) + 1),
            maxLength: 70,
          })
          .map((digits) => ({ radix, key, tweak, digits })),
      );
    fc.assert(
      fc.property(shapes, ({ radix, key, tweak, digits }) => {
        const ours = createFf1(expandAesKey(key), {
          radix,
          length: digits.length,
          tweakLength: tweak.length,
        });
        const x = toInteger(digits, radix);
        const y = ours.encrypt(tweak, x);
        expect(y).toBe(toInteger(FF1(radix, key, tweak).encrypt(digits), radix));
        expect(ours.decrypt(tweak, y)).toBe(x);
      }),
      { numRuns: 300 },
    );
  });

  it('gives the same with plain numbers as with BigInt', () => {
    const key = Buffer.from(aes256, 'hex');
    fc.assert(
      fc.property(
        fc.integer({ min: 6, max: 12 }),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        fc.nat(),
        (length, tweak, seed) => {
          const x = seed % 10 ** length;
          const shape = { radix: 10, length, tweakLength: 10 };
          const small = createSmallFf1(expandAesKey(key), shape);
          const y = small.encrypt(tweak, x);
          expect(BigInt(y)).toBe(createFf1(expandAesKey(key), shape).encrypt(tweak, BigInt(x)));
          expect(small.decrypt(tweak, y)).toBe(x);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('refuses plain numbers where they would lose digits', () => {
    const aes = expandAesKey(Buffer.from(aes128, 'hex'));
    expect(() => createSmallFf1(aes, { radix: 10, length: 14, tweakLength: 0 })).toThrow(RangeError);
  });
});
