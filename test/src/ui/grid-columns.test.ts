import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areAmounts,
  columnsInView,
  countFrozen,
  fitWidth,
  maxWidth,
  minWidth,
  positionsOf,
  rowHead,
  scrollShowing,
  splitName,
  type GridColumn,
} from '../../../src/ui/grid-columns.ts';
import { isInRange, moveCell, rangeOf } from '../../../src/ui/grid-keys.ts';

const widths = fc.array(fc.integer({ min: 40, max: 400 }), { minLength: 1, maxLength: 300 });

describe('the columns of a grid', () => {
  it('are drawn where the view shows any of them, and hardly more', () => {
    fc.assert(
      fc.property(widths, fc.nat(100_000), fc.integer({ min: 100, max: 2_000 }), (list, at, view) => {
        const positions = positionsOf(list.map((width) => ({ width })));
        const total = positions.at(-1) ?? 0;
        const left = Math.min(at, Math.max(0, total - view));
        const { first, last } = columnsInView(positions, left, view);
        list.forEach((width, column) => {
          const start = positions[column] ?? 0;
          if (start < left + view && start + width > left) {
            expect(column).toBeGreaterThanOrEqual(first);
            expect(column).toBeLessThanOrEqual(last);
          }
        });
        expect(last - first).toBeLessThanOrEqual(Math.ceil(view / 40) + 3);
      }),
    );
  });

  it('come wholly into view with the smallest move', () => {
    fc.assert(
      fc.property(widths, fc.nat(), fc.nat(10_000), (list, n, left) => {
        const positions = positionsOf(list.map((width) => ({ width })));
        const column = n % list.length;
        const next = scrollShowing(positions, column, left, 500);
        expect(positions[column]).toBeGreaterThanOrEqual(next);
        expect(positions[column + 1]).toBeLessThanOrEqual(next + 500);
        if ((positions[column] ?? 0) >= left && (positions[column + 1] ?? 0) <= left + 500)
          expect(next).toBe(left);
      }),
    );
  });

  it('are as wide as nine tenths of their texts need, within limits', () => {
    const cards = Array.from({ length: 100 }, () => '4111111111111111');
    expect(fitWidth('n', cards)).toBe(133);
    expect(fitWidth('n', [...cards, 'x'.repeat(200)])).toBe(133);
    expect(fitWidth('n', [...cards, 'x'.repeat(30)], 1)).toBe(235);
    expect(fitWidth('n', ['x'.repeat(200)])).toBe(maxWidth);
    expect(fitWidth('n', [])).toBe(minWidth);
    // Mostly empty: those that are not count.
    expect(fitWidth('n', [...Array.from({ length: 90 }, () => ''), 'a note of some length'])).toBe(169);
  });

  it('are set at the end where they hold amounts', () => {
    expect(areAmounts(['37.50', '', '-1,204.00', '12'])).toBe(true);
    expect(areAmounts(['1.204,00', '7,50'])).toBe(true);
    // Numbers that only name something, and anything that is no number.
    expect(areAmounts(['20001', '917'])).toBe(false);
    expect(areAmounts(['37.50', 'EUR'])).toBe(false);
    expect(areAmounts(['2026-11-20', '37.50'])).toBe(false);
    expect(areAmounts([])).toBe(false);
  });

  it('keep the end of a long name, by which it differs from others', () => {
    expect(splitName('attribute_with_a_long_name_118')).toEqual(['attribute_with_a_long_na', 'me_118']);
    expect(splitName('amount')).toEqual(['amount', '']);
  });

  it('stay in view as far as they leave room for the others, the row’s head always', () => {
    const column = (id: number, width: number, frozen = true): GridColumn => ({
      id,
      name: '',
      width,
      frozen,
    });
    expect(countFrozen([column(rowHead, 88), column(1, 150), column(0, 100, false)], 900)).toBe(2);
    expect(countFrozen([column(rowHead, 88), column(1, 300), column(2, 300)], 900)).toBe(2);
    expect(countFrozen([column(rowHead, 88), column(1, 300)], 80)).toBe(1);
    expect(countFrozen([column(0, 88, false)], 900)).toBe(0);
  });
});

describe('a selection', () => {
  it('is the rectangle between two cells, whichever was first', () => {
    const range = rangeOf({ row: 7, column: 3 }, { row: 2, column: 5 });
    expect(range).toEqual({ firstRow: 2, lastRow: 7, firstColumn: 3, lastColumn: 5 });
    expect([isInRange(range, 2, 3), isInRange(range, 7, 5), isInRange(range, 8, 4)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each([
    ['ArrowRight', false, { row: 5, column: 3 }],
    ['ArrowRight', true, { row: 5, column: 9 }],
    ['ArrowLeft', true, { row: 5, column: 0 }],
    ['ArrowDown', true, { row: 99, column: 2 }],
    ['PageDown', false, { row: 25, column: 2 }],
    ['Home', false, { row: 5, column: 0 }],
    ['End', true, { row: 99, column: 9 }],
  ] as const)('moves with %s (Ctrl %s) to %o', (key, control, expected) => {
    expect(moveCell({ row: 5, column: 2 }, key, control, { rows: 100, columns: 10, screen: 20 })).toEqual(
      expected,
    );
  });
});
