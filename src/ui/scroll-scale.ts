/**
 * Scroll positions of a table of any length. Browsers limit an element to about 16 million pixels. Above a cap the
 * scroll bar is therefore scaled down, while wheel and keys still move by true pixels.
 */
export const rowHeight = 28;
export const maxBarHeight = 8_000_000;

export interface Extent {
  rows: number;
  /** Height of the area in which rows are drawn. */
  view: number;
}

const trueHeight = ({ rows }: Extent): number => rows * rowHeight;
export const barHeight = (extent: Extent): number => Math.min(trueHeight(extent), maxBarHeight);
export const isScaled = (extent: Extent): boolean => trueHeight(extent) > maxBarHeight;

const deepest = (extent: Extent): number => Math.max(0, trueHeight(extent) - extent.view);
const deepestBar = (extent: Extent): number => Math.max(0, barHeight(extent) - extent.view);

export function clampOffset(offset: number, extent: Extent): number {
  return Math.min(Math.max(0, offset), deepest(extent));
}

export function offsetOf(scrollTop: number, extent: Extent): number {
  const bar = deepestBar(extent);
  if (bar === 0) return 0;
  return clampOffset(isScaled(extent) ? (scrollTop / bar) * deepest(extent) : scrollTop, extent);
}

export function scrollTopOf(offset: number, extent: Extent): number {
  const deep = deepest(extent);
  if (deep === 0) return 0;
  return isScaled(extent) ? (offset / deep) * deepestBar(extent) : offset;
}

/** The rows to draw, one more above and below than fit. */
export function visible(offset: number, extent: Extent): { first: number; last: number } {
  const first = Math.max(0, Math.floor(offset / rowHeight) - 1);
  const last = Math.min(extent.rows - 1, Math.ceil((offset + extent.view) / rowHeight));
  return { first, last };
}

/** Puts a row in the middle, unless it is in view. */
export function offsetCentering(row: number, offset: number, extent: Extent): number {
  const top = row * rowHeight;
  if (top >= offset && top + rowHeight <= offset + extent.view) return offset;
  return clampOffset(top + rowHeight / 2 - extent.view / 2, extent);
}

/** The smallest move that brings a row wholly into view. */
export function offsetShowing(row: number, offset: number, extent: Extent): number {
  const top = row * rowHeight;
  if (top < offset) return clampOffset(top, extent);
  if (top + rowHeight > offset + extent.view) return clampOffset(top + rowHeight - extent.view, extent);
  return offset;
}
