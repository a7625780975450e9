import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cardBrand,
  dotted,
  findCard,
  groups,
  pastedLines,
  tidy,
  tidyUnits,
} from '../../../src/lib/token-text.ts';

describe('tidy', () => {
  it('removes spaces and dashes from a card number and reports it', () => {
    expect(tidy(' 4111 1173-0921 1111\n', 'card')).toEqual({
      text: '4111117309211111',
      removed: 'Removed 4 spaces and 1 dash.',
    });
  });

  it('keeps the dashes of a social security number', () => {
    expect(tidy('917-22-4410', 'ssn')).toEqual({ text: '917-22-4410', removed: null });
  });

  it('removes invisible characters', () => {
    expect(tidy('\ufeff4111\u200b1173', 'card')).toEqual({
      text: '41111173',
      removed: 'Removed 2 hidden characters.',
    });
  });

  it('keeps spaces and dashes inside free text', () => {
    expect(tidy('  a - b ', 'text')).toEqual({ text: 'a - b', removed: 'Removed 3 spaces.' });
  });

  it('never changes digits, and is idempotent', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('card', 'ssn', 'email', 'text'), (raw, kind) => {
        const once = tidy(raw, kind).text;
        expect(once.replace(/\D/g, '')).toBe(raw.replace(/\D/g, ''));
        expect(tidy(once, kind)).toEqual({ text: once, removed: null });
      }),
    );
  });
});

describe('groups', () => {
  it('groups a card and its mask alike', () => {
    expect(groups('4111117309211111', 'card')).toEqual(['4111', '1173', '0921', '1111']);
    expect(groups(dotted('411111******1111', 'card'), 'card')).toEqual(['4111', '11••', '••••', '1111']);
  });

  it('takes a letter for a mask character only among digits', () => {
    expect(dotted('XXX-XX-4410', 'ssn')).toBe('•••-••-4410');
    expect(dotted('411111xxxxxx1111', 'card')).toBe('411111••••••1111');
    expect(dotted('Ada Example', 'card')).toBe('Ada Example');
  });

  it('loses no character', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('card', 'ssn', 'email', 'text'), (text, kind) => {
        expect(groups(text, kind).join('')).toBe(text);
      }),
    );
  });
});

it('counts lines that are not blank', () => {
  expect(pastedLines('a\r\n\r\nb\rc\n')).toBe(3);
  expect(pastedLines('a')).toBe(1);
});

it('tells the card scheme from a mask', () => {
  expect(cardBrand('411111••••••1111')).toBe('Visa');
  expect(cardBrand('5500••••••••0004')).toBe('Mastercard');
  expect(cardBrand('34••')).toBe('American Express');
  expect(cardBrand('••••')).toBeNull();
});

describe('tidyUnits', () => {
  const unit = fc.oneof(
    fc.constantFrom(' ', '\t', '\n', '\r', '\u200b', '\ufeff', '\u00a0', '-', '\u2014', '4'),
    fc.string({ maxLength: 2 }),
  );
  const unitsOf = (text: string) => Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));

  it('gives the same result as tidy', () => {
    fc.assert(
      fc.property(fc.array(unit), fc.constantFrom('card', 'ssn', 'email', 'text'), (parts, kind) => {
        const raw = parts.join('');
        expect(String.fromCharCode(...tidyUnits(unitsOf(raw), kind))).toBe(tidy(raw, kind).text);
      }),
    );
  });

  it('does not change its input', () => {
    const raw = unitsOf('4111 1173');
    tidyUnits(raw, 'card');
    expect(String.fromCharCode(...raw)).toBe('4111 1173');
  });
});

describe('a card is grouped and named by its first six digits', () => {
  it.each([
    ['378282•••••0005', 'American Express', ['3782', '82••••', '•0005']],
    ['378282246310005', 'American Express', ['3782', '822463', '10005']],
    ['305693••••5904', 'Diners Club', ['3056', '93••••', '5904']],
    ['620000••••••0005', 'UnionPay', ['6200', '00••', '••••', '0005']],
    ['621094•••••••••0005', 'UnionPay', ['6210', '94••', '••••', '•••0', '005']],
    ['220000••••••0004', 'Mir', ['2200', '00••', '••••', '0004']],
    ['675964••••••0005', 'Maestro', ['6759', '64••', '••••', '0005']],
    ['353011••••••0000', 'JCB', ['3530', '11••', '••••', '0000']],
    ['••••••••••••1111', null, ['••••', '••••', '••••', '1111']],
    ['•••••••••••0005', null, ['••••', '••••••', '•0005']],
  ] as const)('%s', (text, brand, shape) => {
    expect(cardBrand(text)).toBe(brand);
    expect(groups(text, 'card')).toEqual(shape);
  });
});

describe('a card number is found', () => {
  const found = (text: string): string | null => {
    const at = findCard(Uint16Array.from(text, (character) => character.charCodeAt(0)));
    return at === null ? null : text.slice(at.from, at.to);
  };

  it.each([
    ['4111111111111111', '4111111111111111'],
    [' 4111 1111-1111 1111 ', '4111 1111-1111 1111'],
    ['4222222222222', '4222222222222'],
    ['4111\u200b111111111111', '4111\u200b111111111111'],
    ['card 378282246310005, thanks', '378282246310005'],
    ['first 4111117309211111 then 5555555555554444', '5555555555554444'],
  ])('%j', (text, card) => {
    expect(found(text)).toBe(card);
  });

  it.each([
    '4111117309211111',
    '41111173092111114111117309211111',
    '0000000000000000',
    '917-22-4410',
    'tok4111111111111111',
    'D-20931',
    '',
  ])('not in %j', (text) => {
    expect(found(text)).toBeNull();
  });
});
