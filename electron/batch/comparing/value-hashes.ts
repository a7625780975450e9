import { createCipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto';

export const hashBytes = 16;

/** To encrypt so many together takes a few times as long as to begin one HMAC. */
const valuesAtOnce = 1_024;
/** What no text has in UTF-8. */
const filler = 0xff;

/**
 * A keyed hash of each value, many at a time. A value of up to sixteen bytes, as most are, is filled up to a block; of a longer
 * one the first 128 bits of its HMAC-SHA256 are the block. A block is encrypted with AES-256 and added to what comes out
 * (Davies-Meyer), so that no key gives the value back. That two well-formed values have the same hash has a chance that does
 * not occur. The keys are made here and never stored: without them nobody can make such a hash of a guess.
 */
export class ValueHashes {
  readonly #longKey = createSecretKey(randomBytes(32));
  readonly #cipher = createCipheriv('aes-256-ecb', randomBytes(32), null).setAutoPadding(false);
  readonly #blocks = Buffer.allocUnsafeSlow(hashBytes * (valuesAtOnce + 1));
  #count = 0;

  add(value: string): void {
    const start = this.#count * hashBytes;
    // No character has more than four bytes, and none is written in part: of a longer value more than a block is.
    const length = this.#blocks.write(value, start, hashBytes + 4);
    if (length <= hashBytes) this.#blocks.fill(filler, start + length, start + hashBytes);
    else createHmac('sha256', this.#longKey).update(value).digest().copy(this.#blocks, start, 0, hashBytes);
    this.#count += 1;
  }

  /** Whether `take` is to be called before the next `add`. */
  get isFull(): boolean {
    return this.#count === valuesAtOnce;
  }

  /** The hashes of what was added since the last call, one behind the other. */
  take(): Buffer {
    const blocks = this.#blocks.subarray(0, this.#count * hashBytes);
    const hashes = this.#cipher.update(blocks);
    for (let at = 0; at < hashes.length; at++) hashes[at] = (hashes[at] ?? 0) ^ (blocks[at] ?? 0);
    // Values in clear.
    blocks.fill(0);
    this.#count = 0;
    return hashes;
  }
}
