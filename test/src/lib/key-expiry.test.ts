import { describe, expect, it } from 'vitest';
import { expiryPhrase, expiryReminder } from '../../../src/lib/key-expiry.ts';

const at = (time: string) => new Date(time);

describe('2.3 the sentence on an API key’s expiration date', () => {
  it.each([
    ['2026-12-31T00:00:00Z', 'expires today, on 31 Dec 2026'],
    ['2026-12-31T23:59:59Z', 'expires today, on 31 Dec 2026'],
    ['2027-01-01T11:59:59Z', 'expires today, on 31 Dec 2026'],
    ['2027-01-01T12:00:00Z', 'expired on 31 Dec 2026'],
    ['2026-12-30T00:00:00Z', 'expires in 1 day, on 31 Dec 2026'],
    ['2026-12-01T12:00:00Z', 'expires in 30 days, on 31 Dec 2026'],
  ])('at %s is: %s', (time, phrase) => {
    expect(expiryPhrase('2026-12-31', at(time))).toBe(phrase);
  });

  it('2.4 is the reminder too, at 30, 7 and 1 days, on the day and after it, and at no other time', () => {
    expect(expiryReminder('Acme', null, at('2026-12-31T00:00:00Z'))).toBeNull();
    expect(expiryReminder('Acme', '2026-12-31', at('2026-11-30T00:00:00Z'))).toBeNull();
    expect(expiryReminder('Acme', '2026-12-31', at('2026-12-24T00:00:00Z'))).toBe(
      'The API key of Acme expires in 7 days, on 31 Dec 2026. ' +
        'Have a new one made in the portal, then rotate it under Connections.',
    );
    expect(expiryReminder('Acme', '2026-12-31', at('2027-01-02T00:00:00Z'))).toBe(
      'The API key of Acme expired on 31 Dec 2026. ' +
        'Tokendesk has stopped using it. Enter a new one under Connections.',
    );
  });
});
