import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorCodes, fieldMessages } from '../../../electron/service/http/failures.ts';

const body = (...messages: unknown[]) => ({ errors: { code: ['X'], Validation: messages } });
const nothing = () => [];

describe('a failure body', () => {
  it('has its codes under errors, in each of the shapes', () => {
    expect(errorCodes({ errors: 'SessionExpired' })).toEqual(['SessionExpired']);
    expect(errorCodes(body())).toEqual(['X']);
    expect(errorCodes({ errors: { code: 'One' } })).toEqual(['One']);
    for (const other of [null, 'x', [], { errors: 7 }, { errors: null }, { errors: { code: [1] } }]) {
      expect(errorCodes(other)).toEqual([]);
    }
  });

  it('names fields as they are', () => {
    expect(fieldMessages(body('tokenName is invalid', 'Too short'), nothing)).toEqual([
      { name: 'tokenName', message: 'tokenName is invalid' },
      { name: '', message: 'Too short' },
    ]);
  });

  it('drops what may hold a value', () => {
    const risky = [
      '4111 1111 1111 1111 is invalid',
      '123-45-6789 is bad',
      'a@b.example is bad',
      'x\u0000',
      7,
    ];
    expect(fieldMessages(body(...risky), nothing)).toEqual([]);
    expect(fieldMessages(body('Value ABCdef is invalid'), () => ['abcDEF'])).toEqual([]);
    expect(fieldMessages({ errors: { Validation: 'x is invalid' } }, nothing)).toEqual([]);
  });

  it('never passes on a message that repeats what was sent', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string(), (value, before, after) => {
        const told = fieldMessages(body(`${before}${value}${after}`), () => [value]);
        expect(value.trim() === '' || told.length === 0).toBe(true);
      }),
    );
  });
});
