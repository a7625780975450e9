import { isUtf8 } from 'node:buffer';
import { createFf1, type AesKey, type Ff1 } from './ff1.ts';
import { bad, good, type Format } from './format.ts';

export interface FreeTextOptions {
  /** The maximum length of a value, in bytes of UTF-8. */
  readonly maxBytes: number;
  readonly mask: { readonly keepFirst: number; readonly keepLast: number; readonly character: string };
}

const prefix = 'txt_';
const tokenPattern = /^txt_(?:[A-Za-z0-9_-]{16})+$/;
const checkBytes = 4;
const stepBytes = 12;
const segmenter = new Intl.Segmenter();
const emptyTweak = new Uint8Array(0);

/**
 * Any text that UTF-8 can hold, of at least one character. Its bytes, four zero bytes before and 80 00 … after,
 * fill a multiple of twelve bytes, which FF1 permutes as a whole. So a single character is encrypted in a domain of
 * 2^96, and the length shows in steps of twelve only. A string that is no token fails the check of the four zero
 * bytes, but for one in 2^32. Tokens are `txt_` and base64url, so that no spreadsheet reads a number or a formula.
 */
export function createFreeText(key: AesKey, { maxBytes, mask }: FreeTextOptions): Format {
  const ciphers = new Map<number, Ff1>();
  const cipherFor = (length: number): Ff1 => {
    let cipher = ciphers.get(length);
    if (!cipher) {
      cipher = createFf1(key, { radix: 256, length, tweakLength: emptyTweak.length });
      ciphers.set(length, cipher);
    }
    return cipher;
  };
  const lengthFor = (bytes: number): number => Math.ceil((checkBytes + bytes + 1) / stepBytes) * stepBytes;
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
      padded.write(value, checkBytes);
      padded[checkBytes + size] = 0x80;
      const y = cipherFor(padded.length).encrypt(emptyTweak, toInteger(padded));
      return good(prefix + toBytes(y, padded.length).toString('base64url'));
    },
    detokenize(token) {
      if (token.length > prefix.length + (lengthFor(maxBytes) / 3) * 4 || !tokenPattern.test(token)) {
        return bad('TokenInvalid');
      }
      const bytes = Buffer.from(token.slice(prefix.length), 'base64url');
      const padded = toBytes(cipherFor(bytes.length).decrypt(emptyTweak, toInteger(bytes)), bytes.length);
      const end = padded.findLastIndex((byte) => byte !== 0);
      const clear = padded.subarray(checkBytes, Math.max(end, checkBytes));
      const valid =
        padded.readUInt32BE(0) === 0 &&
        padded[end] === 0x80 &&
        clear.length > 0 &&
        clear.length <= maxBytes &&
        lengthFor(clear.length) === padded.length &&
        isUtf8(clear);
      return valid ? good(clear.toString('utf8')) : bad('TokenInvalid');
    },
    mask(value) {
      const graphemes = Array.from(segmenter.segment(value), ({ segment }) => segment);
      const hidden = mask.character.repeat(8);
      if (graphemes.length < 2 * (mask.keepFirst + mask.keepLast)) return hidden;
      const first = graphemes.slice(0, mask.keepFirst).join('');
      return first + hidden + graphemes.slice(graphemes.length - mask.keepLast).join('');
    },
  };
}
