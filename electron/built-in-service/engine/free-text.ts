import { isUtf8 } from 'node:buffer';
import { createSmallFf1, SMALLEST_DOMAIN, type AesKey, createLanes, createFf1, type Ff1 } from './ff1.ts';
import { bad, good, type Format } from './format.ts';

/** A keyed permutation of 0 … size - 1, another one for each tweak. */
export interface Permutation {
  forward(tweak: Uint8Array, x: number): number;
  backward(tweak: Uint8Array, y: number): number;
  /** The same of many, each under the tweak at its place. */
  forwardAll(tweaks: readonly Uint8Array[], xs: readonly number[]): number[];
  backwardAll(tweaks: readonly Uint8Array[], ys: readonly number[]): number[];
}

/**
 * FF1 on the next power of ten, walked until it lands inside: a walk keeps the strength of the larger domain,
 * so a small set (the five free digits of a 15-digit card) is still permuted by FF1 on a million elements.
 * Costs 10^digits / size steps on average. `size` is at most 10^12, `tweakLength` at most 12.
 */
export function createPermutation(key: AesKey, size: number, tweakLength: number): Permutation {
  const length = String(Math.max(size, SMALLEST_DOMAIN) - 1).length;
  const shape = { radix: 10, length, tweakLength };
  const ff1 = createSmallFf1(key, shape);
  const lanes = createLanes(key, shape, size, ff1);
  return {
    forward(tweak, x) {
      let y = x;
      do y = ff1.encrypt(tweak, y);
      while (y >= size);
      return y;
    },
    backward(tweak, y) {
      let x = y;
      do x = ff1.decrypt(tweak, x);
      while (x >= size);
      return x;
    },
    forwardAll: (tweaks, xs) => lanes.encrypt(tweaks, xs),
    backwardAll: (tweaks, ys) => lanes.decrypt(tweaks, ys),
  };
}

export interface FreeTextOptions {
  /** The longest value, in bytes of UTF-8. */
  readonly maxBytes: number;
  readonly mask: { readonly keepFirst: number; readonly keepLast: number; readonly character: string };
}

const PREFIX = 'txt_';
const BODY = /^txt_(?:[A-Za-z0-9_-]{16})+$/;
const CHECK_BYTES = 4;
const STEP = 12;
const graphemes = new Intl.Segmenter();
const NO_TWEAK = new Uint8Array(0);

/**
 * Any text that UTF-8 can hold, of at least one character. Its bytes, four zero bytes before and 80 00 … after,
 * fill a multiple of twelve bytes, which FF1 permutes as a whole: even one character is hidden in a domain of
 * 2^96, its length shows in steps of twelve only, and a string that is no token fails the zeroes (1 in 2^32).
 * Tokens are written `txt_` and base64url, so that no spreadsheet takes one for a number or a formula.
 */
export function createFreeText(key: AesKey, { maxBytes, mask }: FreeTextOptions): Format {
  const ciphers = new Map<number, Ff1>();
  const cipherFor = (length: number): Ff1 => {
    let found = ciphers.get(length);
    if (!found) {
      found = createFf1(key, { radix: 256, length, tweakLength: NO_TWEAK.length });
      ciphers.set(length, found);
    }
    return found;
  };
  const lengthFor = (bytes: number): number => Math.ceil((CHECK_BYTES + bytes + 1) / STEP) * STEP;
  const toInteger = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);
  const toBytes = (x: bigint, length: number): Buffer =>
    Buffer.from(x.toString(16).padStart(length * 2, '0'), 'hex');

  return {
    tokenize(value) {
      if (value === '') return bad('ValueEmpty');
      if (!value.isWellFormed()) return bad('ValueInvalid');
      const size = Buffer.byteLength(value);
      if (size > maxBytes) return bad('ValueTooLong');
      const padded = Buffer.alloc(lengthFor(size));
      padded.write(value, CHECK_BYTES);
      padded[CHECK_BYTES + size] = 0x80;
      const y = cipherFor(padded.length).encrypt(NO_TWEAK, toInteger(padded));
      return good(PREFIX + toBytes(y, padded.length).toString('base64url'));
    },
    detokenize(token) {
      if (token.length > PREFIX.length + (lengthFor(maxBytes) / 3) * 4 || !BODY.test(token)) {
        return bad('TokenInvalid');
      }
      const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url');
      const padded = toBytes(cipherFor(bytes.length).decrypt(NO_TWEAK, toInteger(bytes)), bytes.length);
      const end = padded.findLastIndex((byte) => byte !== 0);
      const clear = padded.subarray(CHECK_BYTES, Math.max(end, CHECK_BYTES));
      const sound =
        padded.readUInt32BE(0) === 0 &&
        padded[end] === 0x80 &&
        clear.length > 0 &&
        clear.length <= maxBytes &&
        lengthFor(clear.length) === padded.length &&
        isUtf8(clear);
      return sound ? good(clear.toString('utf8')) : bad('TokenInvalid');
    },
    mask(value) {
      const characters = Array.from(graphemes.segment(value), ({ segment }) => segment);
      const hidden = mask.character.repeat(8);
      if (characters.length < 2 * (mask.keepFirst + mask.keepLast)) return hidden;
      const first = characters.slice(0, mask.keepFirst).join('');
      return first + hidden + characters.slice(characters.length - mask.keepLast).join('');
    },
  };
}
