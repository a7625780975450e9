import fc from 'fast-check';
import { expect, test } from 'vitest';
import { someCard } from '../../../electron/masking/cards.ts';
import { mask, maskCaseReference, maskCell, maskNumbers } from '../../../electron/masking/masking.ts';
import { plainText } from '../../../electron/masking/plain-text.ts';
import { anyCharacter } from '../../support/any-character.ts';

test.each([
  ['card', '4111111111111111', '411111••••••1111'],
  ['card', '4111 1111 1111 1111', '4111 11•• •••• 1111'],
  ['card', '4111-1111-1111-1111', '4111-11••-••••-1111'],
  ['card', '378282246310005', '378282•••••0005'],
  ['card', '6304000000000000000', '630400•••••••••0000'],
  ['card', '5018000000009', '•••••••••0009'],
  ['card', '4111111111', '••••••1111'],
  ['card', '123456789', '•••••••••'],
  ['card', '41111111111111111111', '••••••••••••••••••••'],
  ['card', '4111x1111111111111', '••••••••••••••••••'],
  ['card', '٤١١١١١١١١١١١١١١١', '••••••••••••••••'],
  ['card', '', ''],
  ['ssn', '078051120', '•••••1120'],
  ['ssn', '078-05-1120', '•••-••-1120'],
  ['ssn', '1120', '••••'],
  ['ssn', '0780511200', '••••••••••'],
  ['email', 'jane.doe@example.com', 'j•••••••@example.com'],
  ['email', 'jd@example.com', '••@example.com'],
  ['email', 'j@example.com', '•@example.com'],
  ['email', 'not an address', '••••••••••••••'],
  ['email', 'a@b@c.example', '•••••••••••••'],
  ['email', 'jane@localhost', '••••••••••••••'],
  ['email', '😀na@example.com', '😀••@example.com'],
  ['text', 'a secret', '••••••••'],
  ['text', '😀', '•'],
] as const)('%s %j → %j', (kind, cleartext, masked) => {
  expect(mask(kind, cleartext)).toBe(masked);
});

const kinds = fc.constantFrom('card', 'ssn', 'email', 'text');

test('a mask has the length of the value, and each character is the value’s own or hidden', () => {
  const values = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.emailAddress(),
    fc.stringMatching(/^[0-9 -]{0,30}$/),
  );
  fc.assert(
    fc.property(kinds, values, (kind, value) => {
      const shown = Array.from(mask(kind, value));
      const own = Array.from(value);
      expect(shown).toHaveLength(own.length);
      expect(shown.every((character, index) => character === '•' || character === own[index])).toBe(true);
    }),
  );
});

test('of digits never more than six and four show, and at least five of a card’s stay hidden', () => {
  fc.assert(
    fc.property(fc.constantFrom('card', 'ssn'), fc.stringMatching(/^[0-9]{1,25}$/), (kind, value) => {
      const masked = mask(kind, value);
      const shown = masked.replaceAll('•', '').length;
      expect(shown).toBeLessThanOrEqual(kind === 'card' ? 10 : 4);
      if (shown > 0) expect(value.length - shown).toBeGreaterThanOrEqual(5);
    }),
  );
});

test('a UUID stays as it is, since it names a request; a number beside one does not, nor one that only looks like one', () => {
  const passing = ['fd3a6058-7485-4047-9584-c4a9b13fc7f1', '4f891456-e974-4260-8816-08713bc63218'];
  for (const id of passing) {
    expect(maskNumbers(id)).toBe(id);
    expect(maskCell(id)).toBe(id);
    expect(maskCaseReference(`${id}.`)).toBe(`${id}.`);
  }
  expect(maskNumbers(`4111111111111111 ${passing[0]}, 078-05-1120`)).toBe(
    `411111••••••1111 ${passing[0]}, •••-••-1120`,
  );
  for (const text of [
    '41111111-1111-1111-1111-111111111111',
    '4111111111111111-4f891456-e974-4260-8816-08713bc63218',
  ])
    expect(maskNumbers(text)).toMatch(/^411111••/);
});

test.each([
  ['two IBANs', 'DE89 3704 0044 0532 0130 00 DE89 3704 0044 0532 0130 00'],
  ['a group like the beginning of an IBAN before one', 'ID12 DE89 3704 0044 0532 0130 00'],
])('%s in one cell: none stands open', (_, cell) => {
  expect(maskCell(cell)).not.toContain('3704');
});

test('a number joined to an address is hidden with it', () => {
  expect(mask('email', 'jane@mail.example,4111111111111111')).not.toContain('4111111111111111');
  expect(mask('email', 'jane@mail.example')).toBe('j•••@mail.example');
});

/** What an export counts as card numbers in a run of digits. */
function issuedIn(run: string): string[] {
  const found: string[] = [];
  someCard(run, 'issued', (digits, from, end) => {
    found.push([...digits.subarray(from, end)].join(''));
    return false;
  });
  return found;
}

test.each([
  ['30569309025904', ['30569309025904']],
  ['30569309025904 8888888888', ['30569309025904']],
  // Joined to other digits, a number so short is a part of any long one too often.
  ['305693090259048888888888', []],
  ['888888888830569309025904', []],
])('in %s an export counts %j', (run, expected) => {
  expect(issuedIn(run)).toEqual(expected);
});

test('the first digit of each row of digits in circles is a one, and the last a nine', () => {
  for (const pair of ['⓵⓽', '❶❾', '➀➈', '➊➒']) expect(plainText(pair)).toBe('19');
});

test.each(['aligned', 'issued', 'any', 'all'] as const)(
  'no card has so few digits, searched as %s',
  (search) => {
    for (const run of ['18', '4242', '42 42 42 42'])
      expect([run, someCard(run, search, () => true)]).toEqual([run, false]);
  },
);
