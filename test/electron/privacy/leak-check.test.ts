import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLeakCheck } from '../../../electron/privacy/leak-check.ts';
import { mask, maskCell } from '../../../electron/masking/masking.ts';

const card = '4111118124045251';
const iban = 'DE89 3704 0044 0532 0130 00';
const values = [
  card,
  '5555 5555 5555 4444',
  '378282246310005',
  iban,
  '078-05-1120',
  '078-05-1199',
  'Jane.Roe@secret.example',
];

/** With its check digit. */
function completed(digits: string): string {
  const sum = Array.from(digits, Number).reduceRight((total, digit, index) => {
    const weighted = (digits.length - index) % 2 === 1 ? digit * 2 : digit;
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
const cardOf = (n: number): string => completed(String(400_000_000_000_000 + n * 7_919));

const withDigitsOf = (zero: number) => (text: string) =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(zero + Number(digit)));
const packed = (bytes: Buffer): string =>
  Buffer.concat([bytes, Buffer.alloc(bytes.length % 2, 0x20)]).toString('utf16le');

/** Ways in which a text may be written so that a person, or a program of three lines, still has it. */
const writings: Record<string, (text: string) => string> = {
  'as a page spells it': (text) => text.replaceAll(/[0-9@]/g, (one) => `&#${one.charCodeAt(0)};`),
  'as an address spells it': (text) =>
    text.replaceAll(/[0-9@ ]/g, (one) => `%${one.charCodeAt(0).toString(16)}`),
  'as it is': (text) => text,
  'within a sentence': (text) => `The value (${text}) is not known.`,
  'in full width': withDigitsOf(0xff10),
  'in Arabic digits': withDigitsOf(0x0660),
  'in mathematical digits': withDigitsOf(0x1d7ce),
  'as UTF-16, little end first': (text) => packed(Buffer.from(text)),
  'as UTF-16, big end first': (text) => packed(packedSwap(text)),
  'as UTF-16, a byte off': (text) => packed(Buffer.from(`"${text}`)),
  'as UTF-16, big end first, a byte off': (text) => packed(packedSwap(`"${text}`)),
};
const packedSwap = (text: string): Buffer => Buffer.from(text.length % 2 === 0 ? text : `${text} `).swap16();

const slots = 2 ** 10;

function checkThatSaw(...seen: string[]) {
  const check = createLeakCheck({ slots });
  for (const text of seen) check.saw(text);
  return check;
}

describe.each(Object.entries(writings))('a value %s', (_, write) => {
  it.each(values)('%s is found once it was seen, and not before', (value) => {
    const message = { ok: true, value: { rows: [{ cells: [{ text: write(value) }] }] } };
    expect(checkThatSaw(...values.filter((other) => other !== value)).finds('batch.rows', message)).toBe(
      false,
    );
    expect(checkThatSaw(value).finds('batch.rows', message)).toBe(true);
    expect(checkThatSaw(`on file: ${value}, by phone`).finds('batch.rows', message)).toBe(true);
  });
});

describe('a card number', () => {
  it.each([' ', '-', '.', ' - ', '\u0000', '\u200b', '/'])(
    'is found with %j between its digits',
    (separator) => {
      const written = Array.from(card).join(separator);
      expect(checkThatSaw(card).finds('lookup.mask', { masked: written })).toBe(true);
      expect(checkThatSaw(written).finds('lookup.mask', { masked: card })).toBe(true);
    },
  );

  it.each([`${card}99`, `77${card}`, `row 12 ${card} 3`])('is found in %s', (text) => {
    expect(checkThatSaw(card).finds('batch.rows', [text])).toBe(true);
  });

  it.each<[string, unknown]>([
    [
      'a failure’s message',
      { ok: false, failure: { code: 'x', fields: [{ name: 'value', message: `${card} is bad` }] } },
    ],
    ['the name of a member', { more: { [card]: 'x' } }],
    ['a list of lists', { rows: [['a'], ['b', card]] }],
  ])('is found in %s', (_, message) => {
    expect(checkThatSaw(card).finds('reports.metrics', message)).toBe(true);
  });
});

describe('what is no leak', () => {
  it('a token, before and after it was read again, whatever else is read meanwhile', () => {
    const check = checkThatSaw(card);
    check.showed(card);
    expect(check.finds('batch.rows', [card])).toBe(false);
    for (let n = 0; n < 1_000; n++) check.saw(cardOf(n));
    check.saw(card);
    expect(check.finds('batch.rows', [card])).toBe(false);
  });

  it.each(['token', 'caseReference', 'pattern'])('what stands in a `%s`: the window sent it', (member) => {
    expect(checkThatSaw(card).finds('lookup.mask', { [member]: card })).toBe(false);
  });

  it('an address that is the name of who signed in', () => {
    const check = checkThatSaw('jane@secret.example');
    expect(check.finds('reports.portal', { user: 'jane@secret.example' })).toBe(false);
    expect(check.finds('batch.rows', ['jane@secret.example'])).toBe(true);
  });

  it.each([
    'fd3a6058-7485-4047-9584-c4a9b13fc7f1',
    '4f891456-e974-4260-8816-08713bc63218',
    `${'41:11:'.repeat(8)}B6:23:${'D5:7B:'.repeat(6)}41:11`,
    '2026-11-24 10:20:36',
    '2026-11-24 10:20:30.12',
  ])('%s, which no mask hides', (text) => {
    expect(maskCell(text)).toBe(text);
    expect(checkThatSaw(text).finds('batch.rows', [text])).toBe(false);
  });

  it.each(['123456789', 'Jane Roe', '12 Main Street', 'X1234567', '2026-01-02', '4111118124045252'])(
    '%s, which may stand open in another file',
    (text) => {
      expect(checkThatSaw(text).finds('batch.rows', [text])).toBe(false);
    },
  );
});

/** Cells that look like what is hidden, or nearly. */
const cell = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[1-7][0-9]{11,17}$/).map(completed),
      fc.stringMatching(/^[0-9]{1,22}$/),
      fc.stringMatching(/^[0-9]{3}-[0-9]{2}-[0-9]{4}$/),
      fc.stringMatching(/^[a-z.=+*•]{1,9}@[a-z]{1,5}\.[a-z]{2,3}\.?$/),
      fc.constantFrom(
        iban,
        iban.replaceAll(' ', ''),
        iban.replaceAll(' ', '.'),
        '4111111111111111123',
        '&#52;',
      ),
      fc.constantFrom('%34', '%2D', '&nbsp;', '\\n', 'ssn', '2026-11-24 10:20:30', iban.slice(0, 9)),
      fc.constantFrom(' ', '-', '.', 'x', 'DE', 'é', '漢', '٣', '４', '\u0000', ',', '@', '…'),
      fc.string({ unit: 'binary', maxLength: 6 }),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''));

describe('no false alarm', () => {
  it('a mask shows nothing that is looked for, whatever it hides', () => {
    const once = (text: string): void => {
      // Anew for each, since two of them may share their digits.
      const check = checkThatSaw(text);
      const shown = [
        maskCell(text),
        mask('card', text),
        mask('ssn', text),
        mask('email', text),
        mask('text', text),
      ];
      expect(shown.filter((masked) => check.finds('batch.rows', [masked]))).toEqual([]);
    };
    fc.assert(fc.property(cell, once), { numRuns: 10_000, seed: 20_261 });
  });
});

describe('memory', () => {
  it('has the latest values and forgets the oldest', () => {
    const check = createLeakCheck({ slots });
    const isKnown = (n: number): boolean => check.finds('batch.rows', [cardOf(n)]);
    for (let n = 0; n < 10_000; n++) check.saw(cardOf(n));
    expect([9_999, 10_000 - slots * 0.75].map(isKnown)).toEqual([true, true]);
    expect([0, 10_000 - slots * 1.5 - 1, 10_000].map(isKnown)).toEqual([false, false, false]);
  });
});
