import { expect, it } from 'vitest';
import { formatRequestsLeft } from '../../src/lib/format.ts';

it.each([
  [{ remaining: 412, limit: 600, limitPeriodSeconds: null }, '412 of 600 requests left this second'],
  [{ remaining: 412, limit: null, limitPeriodSeconds: 1 }, '412 requests left this second'],
  [{ remaining: 412, limit: null, limitPeriodSeconds: 900 }, '412 requests left, counted over 15 min'],
  [{ remaining: 412, limit: null, limitPeriodSeconds: 86_400 }, '412 requests left, counted over 24 h'],
  [{ remaining: 412, limit: null, limitPeriodSeconds: null }, null],
  [{ remaining: null, limit: 600, limitPeriodSeconds: 1 }, null],
])('8.6 what the limit still allows: %j', (status, text) => {
  expect(formatRequestsLeft(status)).toBe(text);
});
