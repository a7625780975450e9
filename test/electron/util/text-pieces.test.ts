import fc from 'fast-check';
import { expect, it } from 'vitest';
import { base64Texts, jsonTexts, piecesOf } from '../../../electron/util/text-pieces.ts';

it('the parts of a JSON text are what JSON.stringify makes', () => {
  const value = fc.anything({
    values: [
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.boolean(),
      fc.constant(undefined),
      fc.constant(null),
    ],
    maxDepth: 4,
  });
  fc.assert(
    fc.property(fc.array(value), (made) => {
      expect([...jsonTexts(made)].join('')).toBe(JSON.stringify(made));
    }),
  );
});

it('the base64 of parts is that of all of them', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 10 })), (raw) => {
      const parts = raw.map((part) => Buffer.from(part));
      expect([...base64Texts(parts)].join('')).toBe(Buffer.concat(parts).toString('base64'));
    }),
  );
});

it('pieces are all of the parts, and no part is a piece of its own', () => {
  const parts = Array.from({ length: 20_000 }, (_, n) =>
    n % 2 === 0 ? `part ${n}, é` : Buffer.alloc(100, n),
  );
  const pieces = [...piecesOf(parts)];
  expect(Buffer.concat(pieces).equals(Buffer.concat(parts.map((part) => Buffer.from(part))))).toBe(true);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.length).toBeLessThan(10);
});
