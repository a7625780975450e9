import { expect, test } from 'vitest';
import { isIban } from '../../electron/masking/ibans.ts';
import { cardsIn } from '../../electron/masking/find-values.ts';
import { maskAgain, maskCell, maskNumbers } from '../../electron/masking/masking.ts';

/* Ways to write a number or an address so that a person reads it and a mask does not. */

const card = '4111111111111111';
const inFours = (between: string): string => card.match(/.{4}/g)?.join(between) ?? '';
const circled = (text: string, one: number): string =>
  text.replaceAll(/[1-9]/g, (digit) => String.fromCodePoint(one + Number(digit) - 1));

/** The middle of the card, which no mask shows, whatever stands between its digits. */
const showsMiddle = (shown: string): boolean =>
  /1{11}/.test(
    shown
      .normalize('NFKC')
      .replaceAll(/[^0-9]/g, '')
      .replace(/^4/, ''),
  );

test.each([
  ['a dot of masks', inFours('•')],
  ['a dot between all digits', Array.from(card).join('•')],
  ['four dots', inFours('••••')],
  ['dots and blanks', inFours(' • ')],
  ['a Hangul filler', inFours('\u3164')],
  ['a half-width filler', inFours('\uffa0')],
  ['an initial filler', inFours('\u115f')],
  ['a medial filler', Array.from(card).join('\u1160')],
  ['a mark of no width', Array.from(card).join('\u200b')],
  ['a joiner of graphemes', Array.from(card).join('\u034f')],
])('a card with %s between its digits', (_, written) => {
  for (const text of [written, `paid by ${written} today`]) {
    expect(showsMiddle(maskCell(text))).toBe(false);
    expect(showsMiddle(maskNumbers(text))).toBe(false);
    expect(cardsIn(text)).toEqual([card]);
  }
});

test.each([
  ['double circles', 0x24f5],
  ['black circles', 0x2776],
  ['sans-serif circles', 0x2780],
  ['black sans-serif circles', 0x278a],
  ['circles', 0x2460],
])('a card in %s, or one digit of it', (_, one) => {
  for (const text of [
    circled(card, one),
    `411${circled('1', one)}111111111111`,
    circled(card, one) + '\u24ff',
  ]) {
    expect(maskCell(text)).toMatch(/^411111•{6}/);
    expect(cardsIn(text)).toEqual([card]);
  }
});

test('two masked numbers beside each other stay as they are', () => {
  for (const number of [
    card,
    '378282246310005',
    '30569309025904',
    inFours(' '),
    'DE89 3704 0044 0532 0130 00',
  ]) {
    const once = maskCell(`${number} ${number}, ${number}`);
    expect(once).toContain('•');
    expect(maskCell(once)).toBe(once);
  }
});

test('what two masks show of two numbers is no third one', () => {
  for (let account = 0; account < 200; account++) {
    const masks = `411111••••••${String(1_000 + 37 * account)} 555544••••••${String(2_000 + 13 * account)}`;
    expect(maskCell(masks)).toBe(masks);
  }
});

test.each([
  ['behind Chinese text', `${'客户的电子邮箱地址是'.repeat(8)}jane.roe@bank.example`],
  ['behind a long word', `${'x'.repeat(300)}.jane.roe@bank.example`],
  ['quoted', '"jane.roe"@bank.example'],
  ['quoted with a blank', 'write to "jane roe"@bank.example'],
  ['quoted with an @', '"jane@roe"@bank.example'],
  ['quoted in one', "'jane.roe'@bank.example"],
  ['with a comment', 'jane.roe(home)@bank.example'],
  ['with a blank before', 'jane.roe @bank.example'],
  ['with a blank behind', 'jane.roe@ bank.example'],
  ['with blanks', 'to jane.roe @ bank.example now'],
  ['with a mark of byte order', 'jane.roe\ufeff@bank.example'],
  ['with such a mark within', 'jane.r\ufeffoe@bank.example'],
  ['as a returned message has it', 'bounce+jane.roe=bank.example@list.example'],
  ['so with a number', 'bounces-12-jane.roe=bank.example@list.example'],
  ['of a machine', 'jane.roe@[192.0.2.1]'],
])('an address %s', (_, text) => {
  expect(maskCell(text)).not.toMatch(/jane|roe/);
  expect(maskNumbers(text)).not.toMatch(/jane|roe/);
});

test.each([
  '10 pcs @ 3.50',
  'meet @ noon',
  'https://x.example/@jane',
  '@jane',
  'see (1) "quoted" [2]',
  'to=x&cc=y+z=w',
])('no address: %s', (text) => {
  expect(maskCell(text)).toBe(text);
});

test('a long text without an address takes no time for it', () => {
  // A longer one is hidden whole.
  for (const text of ['x'.repeat(125_000), '"'.repeat(100_000), 'a '.repeat(62_500), ')'.repeat(125_000)])
    expect(maskCell(`${text}@`)).toHaveLength(text.length + 1);
});

test.each(['123-45 6789', '123 45-6789', '123\u201345 6789', '123•45•6789'])('an SSN as %s', (text) => {
  expect(maskCell(`ssn is ${text}`).replaceAll(/[^0-9]/g, '')).toBe('6789');
  expect(maskNumbers(text).replaceAll(/[^0-9]/g, '')).toBe('6789');
});

test('numbers with two separators of other kinds are none', () => {
  for (const text of ['150.25 2024', '105, 12 2024', '100/12-2024']) expect(maskCell(text)).toBe(text);
});

test.each(['SN08SN0100152000048500003035', 'CI93CI0080111301134291200589', 'MA64011519000001205000534921'])(
  'an IBAN of a country outside the register: %s',
  (iban) => {
    expect(isIban(iban)).toBe(true);
    expect(maskCell(`from ${iban}`)).toBe(
      `from ${iban.slice(0, 2)}${'•'.repeat(iban.length - 6)}${iban.slice(-4)}`,
    );
  },
);

test.each([
  ['card', '41111111••••1111', '411111••••••1111'],
  ['card', '4111 1111 **** 1111', '4111 11•• **** 1111'],
  ['card', '4111111*11111111', '•'.repeat(16)],
  ['ssn', '123-**-6789', '•••-**-6789'],
  ['ssn', '123-4*-6789', '•••-•*-6789'],
  ['text', '*P1234567', '•••••••••'],
  ['text', 'Jane Ro*', '••••••••'],
  ['email', 'jane.ro*@bank.example', 'j•••••••@bank.example'],
] as const)('a mask of the service that shows nearly all: %s %s', (kind, shown, masked) => {
  expect(maskAgain(shown, kind)).toEqual({ masked, again: true });
});

test.each([
  ['card', '411111******1111'],
  ['card', '************1111'],
  ['ssn', '***-**-6789'],
  ['text', 'J*** R**'],
  ['text', '****4567'],
  ['email', 'j•••@bank.example'],
] as const)('and one that hides enough: %s %s', (kind, shown) => {
  expect(maskAgain(shown, kind)).toEqual({ masked: shown, again: false });
});
