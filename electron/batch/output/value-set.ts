import { TextHash } from '../../util/text-hash.ts';

const firstSlots = 4_096;

/**
 * A set of texts as the 64 bits of `TextHash`: two are taken for one by a chance of its size in 2^64. Once it is full it
 * takes no more.
 */
export class ValueSet {
  readonly #maxSize: number;
  #high = new Uint32Array(firstSlots);
  #low = new Uint32Array(firstSlots);
  #size = 0;
  readonly #hash = new TextHash();

  /** Sixteen bytes for each text, and as much again while it grows. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#size;
  }

  /** Begins another text: its units follow, then `add` or `has`. */
  begin(): void {
    this.#hash.begin();
  }

  unit(unit: number): void {
    this.#hash.unit(unit);
  }

  add(): void {
    if (this.#size >= this.#maxSize) return;
    if (this.#size * 2 >= this.#high.length) this.#grow();
    this.#put(...this.sum());
  }

  has(): boolean {
    return this.hasSum(this.sum());
  }

  /** The text in place of which `hasSum` may be asked later. */
  sum(): readonly [high: number, low: number] {
    const { high, low } = this.#hash;
    // Zero is an empty slot.
    return [high === 0 ? 1 : high, low];
  }

  hasSum([high, low]: readonly [high: number, low: number]): boolean {
    return this.#high[this.#slotOf(high, low)] !== 0;
  }

  #slotOf(high: number, low: number): number {
    const mask = this.#high.length - 1;
    let slot = low & mask;
    while (this.#high[slot] !== 0 && (this.#high[slot] !== high || this.#low[slot] !== low))
      slot = (slot + 1) & mask;
    return slot;
  }

  #put(high: number, low: number): void {
    const slot = this.#slotOf(high, low);
    if (this.#high[slot] !== 0) return;
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#size += 1;
  }

  #grow(): void {
    const [high, low] = [this.#high, this.#low];
    this.#high = new Uint32Array(high.length * 2);
    this.#low = new Uint32Array(high.length * 2);
    this.#size = 0;
    for (let slot = 0; slot < high.length; slot++)
      if (high[slot] !== 0) this.#put(high[slot] ?? 0, low[slot] ?? 0);
  }
}
