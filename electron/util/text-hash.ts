import { randomInt } from 'node:crypto';

/**
 * Sixty-four bits of a text, under a key of its own that ends with it: no text can be read from them, and two texts have
 * the same by a chance of one in 2^64. Units go in one at a time, so that a text need not be made for it.
 */
export class TextHash {
  readonly #key = [randomInt(2 ** 32), randomInt(2 ** 32)] as const;
  #a = 0;
  #b = 0;

  /** Begins another text. */
  begin(): void {
    this.#a = this.#key[0];
    this.#b = this.#key[1];
  }

  unit(unit: number): void {
    this.#a = Math.imul(this.#a ^ unit, 0x01000193);
    this.#b = Math.imul(this.#b + unit, 0x85ebca6b) ^ (this.#b >>> 15);
  }

  text(text: string): void {
    for (let at = 0; at < text.length; at++) this.unit(text.charCodeAt(at));
  }

  /** Of the units so far. */
  get high(): number {
    return mix(this.#a ^ (this.#b >>> 7));
  }

  get low(): number {
    return mix(this.#b ^ this.#a);
  }
}

/** The finalizer of MurmurHash3: every bit of the sum in every bit of the slot. */
function mix(sum: number): number {
  let mixed = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
