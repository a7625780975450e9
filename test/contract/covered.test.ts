import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coverText, newPad, uncover, uncoverText } from '../../electron/contract/covered.ts';
import { coveredText } from '../../electron/contract/models/covered.ts';

test('what was covered comes back, whatever it is and however long', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
      const pad = newPad();
      expect(uncoverText({ pad, covered: coverText(text, pad) })).toBe(text);
    }),
  );
});

test('a pad is used once: the same text never crosses alike', () => {
  const seen = new Set(Array.from({ length: 100 }, () => coverText('4111111111111111', newPad())));
  expect(seen.size).toBe(100);
});

test('it comes a character at a time, and none is cut in two', () => {
  const pad = newPad();
  expect([...uncover(coverText('a🙂é', pad), pad)]).toEqual(['a', '🙂', 'é']);
});

test('a secret of the longest kind fits through the door, and no longer one', () => {
  const pad = newPad();
  const covered = (length: number) => ({ pad, covered: coverText('x'.repeat(length), pad) });
  expect(coveredText.safeParse(covered(2_560)).success).toBe(true);
  expect(coveredText.safeParse(covered(2_561)).success).toBe(false);
  expect(coveredText.safeParse(covered(0)).success).toBe(false);
});
