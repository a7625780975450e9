import { expect, test } from 'vitest';
import { canBeTakenFor } from '../../../electron/service/addresses.ts';

test.each([
  ['/v1/detokenize', '/v1/detokenize', true],
  ['/v1/detokenize/x', '/v1/detokenize', true],
  ['/v1/detokenize.json', '/v1/detokenize', true],
  ['/v1/{definition}', '/v1/detokenize', true],
  ['/v1', '/v1/detokenize', false],
  ['/v1', '/v1/{definition}', false],
  ['/v1/tokenize', '/v1/detokenize', false],
])('whether %s can be taken for %s: %s', (path, other, expected) => {
  expect(canBeTakenFor(path, other)).toBe(expected);
});
