import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { calls } from '../../../../electron/contract/calls.ts';
import type { Notice } from '../../../../electron/contract/models/batch.ts';
import { detokenize, openApp, planOf, valueOf, type TestApp } from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

/** Sixteen digits that pass Luhn's check, or fail it. */
function digits(index: number, passes: boolean): string {
  const start = `400000${String(index * 7_919).padStart(9, '0')}`;
  const sum = Array.from(start).reduce((total, digit, place) => {
    const twice = Number(digit) * (place % 2 === 0 ? 2 : 1);
    return total + (twice > 9 ? twice - 9 : twice);
  }, 0);
  return `${start}${(10 - (sum % 10) + (passes ? 0 : 3)) % 10}`;
}
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const cards = many(40, (i) => digits(i, true));
const tokens = many(40, (i) => digits(i, i % 10 === 0));
const realSsns = many(40, (i) => `${457 + i}-55-${5_000 + i}`);
const ssnTokens = many(40, (i) => `${100 + i * 23}-55-${5_000 + i}`);
const emails = many(40, (i) => `ada${i}@example.com`);
const ibans = ['DE89370400440532013000', 'GB29NWBK60161331926819', 'FR1420041010050500013M02606'];

async function columnOf(header: string, values: readonly string[]) {
  const content = `${header},n\n${values.map((value, i) => `${value},${i}\n`).join('')}`;
  const sourceId = await app.open(await app.write('in.csv', content));
  const shown = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  const column = shown.columns[0];
  return { content: column?.content, masked: column?.masked, shown: shown.rows.map(([cell]) => cell) };
}

describe('what a column holds', () => {
  it.each([
    ['cards under a neutral name', 'reference', cards, 'cleartext'],
    ['cards that are called tokens', 'card_token', cards, 'cleartext'],
    [
      'cards with typing errors that are called tokens',
      'token',
      [...cards.slice(0, 30), ...tokens.slice(1, 9)],
      'cleartext',
    ],
    ['one card that is called a token', 'card_token', cards.slice(0, 1), 'cleartext'],
    ['tokens under the name of cards', 'card_number', tokens, 'tokens'],
    ['a few tokens under the name of cards', 'card_number', tokens.slice(1, 4), 'cleartext'],
    ['tokens that are called so', 'card_token', tokens, 'tokens'],
    ['long numbers of another kind', 'order_id', tokens, null],
    ['social security numbers that are called tokens', 'ssn_token', realSsns, 'cleartext'],
    ['social security numbers under a neutral name', 'reference', realSsns, 'cleartext'],
    ['their tokens', 'ssn_token', ssnTokens, 'tokens'],
    ['nine digits of another kind', 'customer', many(40, (i) => String(512_000_000 + i)), null],
    ['addresses under a neutral name', 'contact', emails, 'cleartext'],
    ['tokens of addresses', 'email_token', emails, 'tokens'],
    ['bank accounts', 'account', ibans, 'cleartext'],
    ['what looks like bank accounts', 'account', ibans.map((iban) => iban.replace(/\d/, '0')), null],
  ])('is decided by its values: %s', async (_, header, values, expected) => {
    const found = await columnOf(header, values);
    expect(found.content).toBe(expected);
    expect(found.masked).toBe(expected === 'cleartext');
    // What passes a card's check is hidden where it stands, whatever its column.
    const passes = (value: string): boolean => expected !== 'cleartext' && cards.includes(value);
    found.shown.forEach((cell, i) => {
      const isShown = cell === values[i];
      expect(isShown, values[i]).toBe(expected !== 'cleartext' && !passes(values[i] ?? ''));
    });
  });
});

describe('the rows of a notice', () => {
  const lines = [
    ...many(3_000, (i) => `${digits(i, true)},D-${i}`),
    'no card,D-x',
    `${cards[3] ?? ''},D-y,one too many`,
    cards[4] ?? '',
    'card,case',
    '4.11E+15,D-z',
  ];
  const content = `card,case\n${lines.join('\n')}\n`;
  const plan = planOf([detokenize(0, { operation: 'tokenize' })]);
  const noticed = async (kind: Notice['kind'], column = '') => {
    const sourceId = await app.open(await app.write('in.csv', content));
    const input = { sourceId, reading: {}, masked: [], plan, notice: { kind, row: 1, column } };
    return calls['batch.noticedRows'].output.parse(valueOf(await app.batch['batch.noticedRows'](input)));
  };

  it('are found wherever they are, by their numbers and masked', async () => {
    expect(await noticed('row-malformed')).toEqual([
      { row: 3_002, cells: [expect.stringMatching(/^\d{6}•+\d{4}$/), 'D-y', 'one too many'] },
      { row: 3_003, cells: [expect.stringMatching(/^\d{6}•+\d{4}$/)] },
    ]);
    expect(await noticed('header-repeated')).toEqual([{ row: 3_004, cells: ['card', 'case'] }]);
    expect((await noticed('value-unfit', 'card')).map(({ row }) => row)).toEqual([3_001, 3_005]);
    expect((await noticed('excel-rounded', 'card')).map(({ row }) => row)).toEqual([3_005]);
    expect(await noticed('value-unfit', 'case')).toEqual([]);
    expect(JSON.stringify(await noticed('value-unfit', 'card'))).not.toContain('4.11E+15');
  });

  it('are fifty at most', async () => {
    const sourceId = await app.open(await app.write('in.csv', `card,case\n${'1,2,3\n'.repeat(400)}`));
    const notice = { kind: 'row-malformed' as const, row: 1, column: '' };
    const input = { sourceId, reading: {}, masked: null, plan: null, notice };
    expect(valueOf(await app.batch['batch.noticedRows'](input))).toHaveLength(50);
  });

  it('are not those of cards that end in zeros by themselves', async () => {
    const zeros = many(3_000, (i) => digits(i, true)).filter((card) => card.endsWith('0'));
    expect(zeros.length).toBeGreaterThan(100);
    const lost = `4.11E+15,2\n4111111111110000,3\n`;
    const sourceId = await app.open(await app.write('in.csv', `card,n\n${zeros.join(',1\n')},1\n${lost}`));
    const { notices } = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
    expect(notices).toEqual([{ kind: 'excel-rounded', row: zeros.length + 1, column: 'card', count: 2 }]);
  });
});
