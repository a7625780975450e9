import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cardsIn } from '../../../electron/masking/find-values.ts';
import { maskCell, maskNumbers, maxMasked } from '../../../electron/masking/masking.ts';
import { plainText, spelledOut } from '../../../electron/masking/plain-text.ts';

const card = '4111111111111111';
const asUtf16 = (text: string, bigEndian: boolean): string => {
  const bytes = Buffer.from(text.length % 2 === 0 ? text : `${text} `, 'latin1');
  return (bigEndian ? bytes.swap16() : bytes).toString('utf16le');
};

describe('what stands in a cell', () => {
  test.each([
    ['4111111111111111', '411111••••••1111'],
    ['paid with 4111 1111 1111 1111 by phone', 'paid with 4111 11•• •••• 1111 by phone'],
    ['card:4111-1111-1111-1111;cvv 123', 'card:4111-11••-••••-1111;cvv 123'],
    ['4111.1111.1111.1111 12/27', '4111.11••.••••.1111 12/27'],
    ['4111111111111111|123|100.00', '411111••••••1111|123|100.00'],
    ['378282246310005', '378282•••••0005'],
    // Within it another window passes, whose last four digits are the card's first.
    ['411111111111111112310037714111111111111111123', '411111••••••11111•••••••••411111••••••1111123'],
    ['00014111111111111111000100', '0001411111••••••1111000100'],
    ['４１１１１１１１１１１１１１１１', '411111••••••1111'],
    ['٤١١١١١١١١١١١١١١١', '411111••••••1111'],
    ['caller gave 078-05-1120', 'caller gave •••-••-1120'],
    ['caller gave 078051120', 'caller gave •••••1120'],
    ['write to jane.roe@bank.example now', 'write to j•••••••@bank.example now'],
    ['cc jane.roe@bank.example|max.power@corp.example', 'cc j•••••••@bank.example|m••••••••@corp.example'],
    [
      `https://x.example/${'reset/'.repeat(12)}and?user=jane.roe@bank.example`,
      `https://x.example/${'reset/'.repeat(12)}and?user=j•••••••@bank.example`,
    ],
    ['x.jane@x.jane.roe@bank.example', '•'.repeat(30)],
    ['4111ー1111ー1111ー1111', '4111ー11••ー••••ー1111'],
    ['4111    1111    1111    1111', '4111    11••    ••••    1111'],
    ['4111 -- 1111 -- 1111 -- 1111', '4111 -- 11•• -- •••• -- 1111'],
    ['078 - 05 - 1120', '••• - •• - 1120'],
    ['DE89 3704 0044 0532 0130 00 by transfer', 'DE•• •••• •••• •••• ••30 00 by transfer'],
    ['iban GB82WEST12345698765432', 'iban GB••••••••••••••••5432'],
    ['DE89.3704.0044.0532.0130.00', 'DE••.••••.••••.••••.••30.00'],
    ['DE89-3704-0044-0532-0130-00', 'DE••-••••-••••-••••-••30-00'],
    ['DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000', 'DE•• •••• •••• •••• ••30 00'],
    ['DE89/3704/0044/0532/0130/00', 'DE••/••••/••••/••••/••30/00'],
    ['DE 89 3704 0044 0532 0130 00', 'DE •• •••• •••• •••• ••30 00'],
    ['D-E-8-9-3704004405320130-00', 'D-•-•-•-••••••••••••••30-00'],
    ['kontoDE89370400440532013000bitte', 'kontoDE••••••••••••••••3000bitte'],
    ['x1gb82west12345698765432y', 'x1gb••••••••••••••••5432y'],
    ['ssn078-05-1120x', 'ssn•••-••-1120x'],
    ['SSN078051120', 'SSN•••••1120'],
    [`${card}123`, '411111••••••1111123'],
    [`${card}99`, '411111••••••111199'],
    [`12${card}`, '12411111••••••1111'],
    ['4111 1111 1111 1111123', '4111 11•• •••• 1111123'],
    ['724111 1111 1111 1111', '724111 11•• •••• 1111'],
    ['135410014004955', '135410•••••4955'],
    ['8171999900000018', '817199••••••0018'],
    ['9792020000000001', '979202••••••0001'],
    ['&#52;111&nbsp;1111&#32;1111 1111', '4111 11•• •••• 1111'],
    ['&#x34;&#49;11111111111111', '411111••••••1111'],
    ['&amp;#52;111111111111111', '411111••••••1111'],
    ['4111%201111%2D1111 1111', '4111 11••-•••• 1111'],
    ['4111\\n1111\\t1111 1111', '4111 11•• •••• 1111'],
    ['\\u0034111 1111 1111 1111', '\\u0034111 11•• •••• 1111'],
    ['\\u{34}111111111111111', '411111••••••1111'],
    ['jane.roe&#64;bank.example', 'j•••••••@bank.example'],
  ])('%s', (text, shown) => {
    expect(maskCell(text)).toBe(shown);
  });

  test.each([
    'Jane Roe',
    '2026-11-24 10:20:30',
    'ÅÄÖ ﬁne ½ ①',
    '078051120',
    '4111111111111112',
    'order 1234567890123',
    '一二三四五六七八九十 日本語の文',
    'DE89 3704 0044 0532 013',
    '+49 30 1234567',
    '',
    'ORD123456789',
    'заказ № 5551234567890123',
    '€ 5551234567890123 – 42',
    'deadbeef078051120cafe',
    '2026-11-24 10:20:30.123456',
    'at 20 2611 2410 2030 1234',
    'AT&T &nbsp; 50% C:\\new\\table 12345',
    '1732442430123456',
    'DE90370400440532013000',
  ])('%s stays as it is', (text) => {
    expect(maskCell(text)).toBe(text);
  });

  test('digits of every script that the system writes numbers in are digits', () => {
    for (const numberingSystem of Intl.supportedValuesOf('numberingSystem')) {
      const format = new Intl.NumberFormat('en', { numberingSystem, useGrouping: false });
      const digits = Array.from({ length: 10 }, (_, digit) => format.format(digit));
      // Some count in letters or words.
      if (!digits.every((digit) => /^\p{Nd}$/u.test(digit))) continue;
      expect(plainText(digits.join('')), numberingSystem).toBe('0123456789');
      const written = card.replaceAll(/[0-9]/g, (digit) => digits[Number(digit)] ?? '');
      expect(maskCell(written), numberingSystem).toBe('411111••••••1111');
      expect(maskNumbers(written), numberingSystem).toBe('411111••••••1111');
    }
  });

  test('rows of ten digits that adjoin', () => {
    // Myanmar Pao Karen and Eastern Pwo Karen: twenty in a row in Unicode 16. Elsewhere they are no digits.
    if (!/\p{Nd}/u.test('\u{116da}')) return;
    expect(plainText('\u{116d0}\u{116d9}\u{116da}\u{116e3}')).toBe('0909');
  });

  test.each([false, true])('is hidden whole where it was read as UTF-16, big-endian: %s', (bigEndian) => {
    for (const text of [`Jane;${card};x`, `aJane;${card};x`, 'a,jane@bank.example,b', '1;078-05-1120;x'])
      expect(maskCell(asUtf16(text, bigEndian)), text).toMatch(/^•+$/);
  });

  test('hidden whole where it is too long to be looked through, and may hold a number', () => {
    const prose = 'No number is here. '.repeat(10_000);
    expect(maskCell(prose)).toBe(prose);
    expect(maskCell(`${prose}a@b.example`)).toBe('•'.repeat(1_024));
    const long = `${'x'.repeat(maxMasked - 18)} ${card} `;
    expect(maskCell(long).slice(-18)).toBe(' 411111••••••1111 ');
    expect(maskCell(`${long} `)).toBe('•'.repeat(1_024));
  });

  test('an address in another one, however long', () => {
    for (const before of [5, 66, 250])
      expect(maskCell(`${'a'.repeat(before)}+x=victim.com@list.example`)).toMatch(/^a•+@list.example$/);
  });

  test('no more than six and four digits, and one card, however digits and blanks of it are spelled', () => {
    const spellings: ((digits: string) => string)[] = [
      (digits) => fours(digits).join('%20'),
      (digits) => fours(digits).join('&#32;'),
      (digits) => fours(digits).join('%2D'),
      (digits) => digits.replaceAll(/./g, '%3$&'),
      (digits) => digits.replaceAll(/./g, '&#x3$&;'),
      (digits) => digits.replaceAll(/[1358]/g, '%3$&'),
      (digits) => digits.replaceAll(/[0246]/g, '\\u003$&'),
    ];
    const cardNumber = fc.stringMatching(/^4[0-9]{14}$/).map((digits) => digits + checkDigit(digits));
    fc.assert(
      fc.property(
        cardNumber,
        fc.constantFrom(...spellings),
        fc.constantFrom('', 'q?card=', 'a%40b.de '),
        (digits, spell, before) => {
          const cell = `${before}${spell(digits)} y`;
          expect(cardsIn(cell)).toEqual([digits]);
          const shown = spelledOut(maskCell(cell)).slice(spelledOut(before).length);
          expect(shown.replaceAll(/[^0-9]/g, '').length, shown).toBeLessThanOrEqual(10);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['50%4111111111111111 a%40b.de', '50A1111••••••1111 •@b.de'],
    ['4111%1111%1111%1111 a%40bank.de', '4111\u0011•••••\u001111 •@bank.de'],
  ])('%s: what only one reading has is hidden in the other as well', (text, shown) => {
    expect(maskCell(text)).toBe(shown);
    expect(cardsIn(text)).toHaveLength(1);
  });
});

const fours = (digits: string): string[] => digits.match(/.{1,4}/g) ?? [];

/** By Luhn's rule. */
function checkDigit(digits: string): string {
  const sum = Array.from(digits)
    .map(Number)
    .reduce((all, digit, at) => all + (at % 2 === 1 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit), 0);
  return String((10 - (sum % 10)) % 10);
}
