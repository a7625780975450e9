import fc from 'fast-check';
import { expect, test } from 'vitest';
import { obscureText, newXorKey, restore, restoreText } from '../../../electron/contract/obscured.ts';
import { obscuredText } from '../../../electron/contract/models/fields.ts';
import { anyCharacter } from '../../support/any-character.ts';

test('what was obscured comes back, whatever it is and however long', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 2_000 }), (text) => {
      const xorKey = newXorKey();
      expect(restoreText({ xorKey, obscured: obscureText(text, xorKey) })).toBe(text);
    }),
  );
});

test('a xorKey is used once: the same text never crosses alike', () => {
  const seen = new Set(Array.from({ length: 100 }, () => obscureText('4111111111111111', newXorKey())));
  expect(seen.size).toBe(100);
});

test('it comes a character at a time, and none is cut in two', () => {
  const xorKey = newXorKey();
  expect([...restore(obscureText('a🙂é', xorKey), xorKey)]).toEqual(['a', '🙂', 'é']);
});

test('a secret of the longest kind fits through the router, and no longer one', () => {
  const xorKey = newXorKey();
  const obscured = (length: number) => ({ xorKey, obscured: obscureText('x'.repeat(length), xorKey) });
  expect(obscuredText.safeParse(obscured(2_560)).success).toBe(true);
  expect(obscuredText.safeParse(obscured(2_561)).success).toBe(false);
  expect(obscuredText.safeParse(obscured(0)).success).toBe(false);
});
