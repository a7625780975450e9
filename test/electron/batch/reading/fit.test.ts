import { expect, it } from 'vitest';
import { fits } from '../../../../electron/batch/reading/fit.ts';

/* Which values are sent. */

const rule = { operation: 'detokenize', maxLength: 100 } as const;

it.each(['4E+15', '4.11E+15', '4,11e+15', '+4.11E+15', '-4.11E+15', ' 4.11E+15 '])(
  'does not send %j as a token: a spreadsheet has rounded it',
  (value) => {
    expect(fits(value, 'card', rule)).toBe(false);
    expect(fits(value, 'ssn', rule)).toBe(false);
    // A token of any text may look so.
    expect(fits(value, 'text', rule)).toBe(true);
  },
);

it.each(['4', '40', '4111111111111111', '41E+15', '-', '+40', 'E+15', 'tok_4.11E+15'])(
  'sends %j as a token: what tokens look like is up to the definition',
  (value) => expect(fits(value, 'card', rule)).toBe(true),
);

it('does not send what is longer than the service takes', () => {
  expect(fits('4'.repeat(101), 'card', rule)).toBe(false);
});
