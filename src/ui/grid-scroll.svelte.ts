import { clampOffset, isScaled, offsetOf, rowHeight, scrollTopOf, type Extent } from './scroll-scale.ts';

/** Where a grid is scrolled to, in true pixels, while its scroll bar may be a scaled one. */
export class GridScroll {
  /** From the top, whatever the scroll bar says. */
  offset = $state(0);
  left = $state(0);
  readonly #grid: () => { element: HTMLElement | undefined; extent: Extent };
  /** The position that was set from code: its scroll event must not replace the exact offset by a rounded one. */
  #setTop = -1;

  constructor(grid: () => { element: HTMLElement | undefined; extent: Extent }) {
    this.#grid = grid;
  }

  moveTo(offset: number): void {
    const { element, extent } = this.#grid();
    this.offset = clampOffset(offset, extent);
    if (element === undefined) return;
    element.scrollTop = scrollTopOf(this.offset, extent);
    this.#setTop = element.scrollTop;
  }

  moveAcross(left: number): void {
    const { element } = this.#grid();
    if (element === undefined || left === this.left) return;
    element.scrollLeft = left;
    this.left = left;
  }

  /** After the element was scrolled. */
  follow(): void {
    const { element, extent } = this.#grid();
    if (element === undefined) return;
    this.left = element.scrollLeft;
    if (Math.abs(element.scrollTop - this.#setTop) < 1) return;
    this.#setTop = -1;
    this.offset = offsetOf(element.scrollTop, extent);
  }

  /** With a scaled scroll bar the browser's own wheel step would skip rows, so the wheel moves by true pixels. */
  wheel = (node: HTMLElement): (() => void) => {
    const turn = (event: WheelEvent): void => {
      if (!isScaled(this.#grid().extent) || event.ctrlKey || event.deltaY === 0 || event.shiftKey) return;
      event.preventDefault();
      const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? rowHeight : 1;
      this.moveTo(this.offset + event.deltaY * step);
    };
    node.addEventListener('wheel', turn, { passive: false });
    return () => {
      node.removeEventListener('wheel', turn);
    };
  };
}
