import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareCell } from '../../../../electron/batch/mending/compare-cell.ts';
import { neutralise } from '../../../../electron/storage/csv.ts';

const compare = (value: string, listed: string) => compareCell(listed, { value, masks: [], leftEmpty: 'no' });

describe('a cell of a corrected list', () => {
  it.each([
    ['00123456', '123456', 'zeros'],
    ['007', '7', 'zeros'],
    ['4111111111111111', '4.11111E+15', 'rounded'],
    ['4111111111111111', '4,11111E+15', 'rounded'],
    ['4111111111111115', '4111111111111110', 'rounded'],
    ['3.14159265', '3.14', 'rounded'],
    ['1.50', '1.5', 'number'],
    ['1234.5', '1,234.50', 'number'],
    ['1234.5', '1234,5', 'number'],
    ['5%', '0.05', 'number'],
    ['1E5', '100000', 'number'],
    ['-5', '(5)', 'number'],
    ['2026-01-31', '31.01.2026', 'date'],
    ['2026-01-31', '1/31/26', 'date'],
    ['2026-01-31', '46053', 'date'],
    ['31.01.2026', 'Saturday, January 31, 2026', 'date'],
    ['31 Dez 2025', '2025-12-31', 'date'],
    ['1/2', '01. Feb', 'date'],
    ['MAR1', '1-Mar', 'date'],
    ['2026-01-31T10:30:00Z', '31/01/2026 10:30', 'date'],
    ['10:30', '10:30:00', 'date'],
    ['10:30', '0.4375', 'date'],
    ['=1+1', '2', 'formula'],
    ['-- Bob', '#NAME?', 'formula'],
    ['2026-01-31', '########', 'formula'],
    [' x ', 'x', 'spaces'],
    ['x', ' x', 'spaces'],
    ['   ', '', 'spaces'],
    ['a\u00a0b', 'a b', 'spaces'],
    ["'x", 'x', 'apostrophe'],
    ['x', "'x", 'apostrophe'],
    ['O’Neill', "O'Neill", 'apostrophe'],
    ['a\r\nb', 'a\nb', 'line-ends'],
    ['A\u030angstro\u0308m', 'Ångström', 'letters'],
    ['true', 'TRUE', 'letters'],
    ['Łódź', '?ódz', 'letters'],
    ['Müller', 'MÃ¼ller', 'letters'],
  ])('may be a spreadsheet’s doing: %j, now %j: %s', (value, listed, doubt) => {
    expect(compare(value, listed)).toEqual({ doubt });
  });

  it.each([
    ['BAD1', 'good1'],
    ['4111111111111112', '4111111111111111'],
    ['4111 1x11', '4111111111111111'],
    ['4111111111111111', '4111 1111 1111 1111'],
    ['123', '00123'],
    ['1234567', '1230000'],
    ['12.5', '125'],
    ['-5', '5'],
    ['2026-01-31', '2026-02-01'],
    ['10:30', '11:30'],
    ['1.2', '2.1'],
    ['Müller', 'Mueller'],
    ['note', ''],
    ['', '0'],
    ['a b', 'ab'],
    ['true', 'FALSE'],
  ])('is corrected: %j, now %j', (value, listed) => {
    expect(compare(value, listed)).toEqual({ doubt: null });
  });

  it('is the same with what the app writes in its place', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(compare(value, value)).toBe('same');
        expect(compare(value, neutralise(value))).toBe('same');
        expect(compareCell('', { value, masks: [], leftEmpty: 'yes' })).toBe('same');
      }),
    );
    const cell = { value: '4111111111111111', masks: ['411111••••••1111'], leftEmpty: 'no' } as const;
    for (const listed of ['411111••••••1111', '411111******1111', ' 411111******1111', '411111??????1111'])
      expect(compareCell(listed, cell)).toBe('same');
    for (const listed of ['411112******1111', '41111•']) expect(compareCell(listed, cell)).toBe('masked');
    expect(compareCell('378282246310005', cell)).toEqual({ doubt: null });
  });

  it('is in doubt wherever the digits of a long number were cut, and its zeros', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 15n, max: 10n ** 25n }), fc.nat({ max: 5 }), (number, zeros) => {
        const value = '0'.repeat(zeros) + String(number);
        const cut = String(number).slice(0, 15).padEnd(String(number).length, '0');
        for (const listed of [cut, Number(number).toExponential(5).replace('e', 'E')]) {
          const compared = compare(value, listed);
          expect(compared === 'same' || (compared !== 'masked' && compared.doubt !== null)).toBe(true);
        }
      }),
    );
  });

  it('is compared in time linear in its length', () => {
    for (const part of ['0', '1,', ' ', "'", '\u00a0', 'é', '1/', '=,', '1 ', '(', '٣'])
      compare(part.repeat(200_000), `${part.repeat(200_000)}x`);
  }, 5_000);
});
