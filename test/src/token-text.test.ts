import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardBrand, dotted, groups, pastedLines, tidy, tidyUnits } from '../../src/token-text.ts';

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
