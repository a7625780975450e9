import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashBytes, ValueHashes } from '../../../../electron/batch/comparing/value-hashes.ts';

/** Of one comparison. */
function hash(values: readonly string[], hashes = new ValueHashes()): string[] {
  const found: Buffer[] = [];
  for (const value of values) {
    hashes.add(value);
    if (hashes.isFull) found.push(hashes.take());
  }
  const all = Buffer.concat([...found, hashes.take()]);
  expect(all).toHaveLength(values.length * hashBytes);
  return values.map((_, n) => all.toString('hex', n * hashBytes, (n + 1) * hashBytes));
}

/** Many of about sixteen bytes, where one block ends. */
const values = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('4', '1', 'é', '€', '😀', '\0', 'ÿ'), minLength: 3, maxLength: 18 }),
  ),
  { minLength: 1, maxLength: 40 },
);

it('two values have the same hash where their text is the same, of any length', () => {
  fc.assert(
    fc.property(values, (some) => {
      const hashes = hash(some);
      const byText = new Map(some.map((value, n) => [value, hashes[n]]));
      expect(hashes).toEqual(some.map((value) => byText.get(value)));
      expect(new Set(hashes).size).toBe(byText.size);
    }),
  );
});

it('a value is not the one that it begins like, at any length', () => {
  const beginnings = ['4', 'é', '€', '😀', '\0', 'ÿ'].flatMap((unit) =>
    Array.from({ length: 22 }, (_, n) => [unit.repeat(n + 1), `${'4'.repeat(n)}${unit}`]).flat(),
  );
  const some = [...new Set(beginnings)];
  expect(new Set(hash(some)).size).toBe(some.length);
});

it('more values than are hashed together have theirs in their order, whatever stood there before', () => {
  const many = Array.from({ length: 5_000 }, (_, n) =>
    n % 7 === 0 ? `${n}`.padStart(30, '0') : `${n % 999}`,
  );
  const hashes = new ValueHashes();
  const first = hash(many, hashes);
  expect(hash(many.toReversed(), hashes).toReversed()).toEqual(first);
  expect(new Set(first).size).toBe(new Set(many).size);
});

it('another comparison has other hashes, and none of them shows its value', () => {
  const some = ['4111111111111111', '', 'a value of more than sixteen bytes'];
  const [one, other] = [hash(some), hash(some)];
  expect(new Set([...one, ...other]).size).toBe(6);
  expect(Buffer.from(one.join(''), 'hex').toString('latin1')).not.toMatch(/4111|a value|ÿÿÿ/);
});
