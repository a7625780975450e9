import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  maxBarHeight,
  rowHeight,
  barHeight,
  clampOffset,
  offsetOf,
  offsetShowing,
  scrollTopOf,
  visible,
} from '../../../src/ui/scroll-scale.ts';

const extents = fc.record({
  rows: fc.integer({ min: 0, max: 5_000_000 }),
  view: fc.integer({ min: rowHeight, max: 2_160 }),
});

describe('the scale of a long table', () => {
  it('never asks the browser for more than the cap', () => {
    fc.assert(fc.property(extents, (extent) => barHeight(extent) <= maxBarHeight));
  });

  it('reaches the last row at the end of the bar, and the first at its beginning', () => {
    const extent = { rows: 1_000_000, view: 700 };
    const end = offsetOf(barHeight(extent) - extent.view, extent);
    expect(visible(end, extent).last).toBe(999_999);
    expect(visible(offsetOf(0, extent), extent).first).toBe(0);
  });

  it('returns to the same position through the scroll bar', () => {
    fc.assert(
      fc.property(extents, fc.double({ min: 0, max: 1, noNaN: true }), (extent, share) => {
        const offset = clampOffset(share * extent.rows * rowHeight, extent);
        expect(offsetOf(scrollTopOf(offset, extent), extent)).toBeCloseTo(offset, 3);
      }),
    );
  });

  it('brings any row wholly into view', () => {
    fc.assert(
      fc.property(extents, fc.nat(), fc.nat(), (extent, n, from) => {
        fc.pre(extent.rows > 0);
        const row = n % extent.rows;
        const offset = offsetShowing(row, clampOffset(from, extent), extent);
        expect(row * rowHeight).toBeGreaterThanOrEqual(offset);
        expect((row + 1) * rowHeight).toBeLessThanOrEqual(offset + extent.view);
      }),
    );
  });
});
