import { isUtf8 } from 'node:buffer';
import type { Encoding } from '../../contract/models/batch.ts';

/**
 * Text in which every byte can be found again. Bytes that are not UTF-8 become lone surrogates U+DC80 to U+DCFF (as
 * Python's surrogateescape does), so that a damaged row leaves with the very bytes it came with. A lone surrogate in
 * UTF-16 has no counterpart in UTF-8 and becomes U+FFFD.
 */
export interface Decoded {
  readonly text: string;
  /** Whether all of it was valid in its encoding. */
  readonly clean: boolean;
}

const escapeBase = 0xdc00;

/** WHATWG's windows-1252 for 0x80 to 0x9F; written out because Node's TextDecoder has answered Latin-1 there. */
const windows1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

export function decode(bytes: Buffer, encoding: Encoding): Decoded {
  switch (encoding) {
    case 'utf-8':
      return isUtf8(bytes)
        ? { text: bytes.toString('utf8'), clean: true }
        : { text: decodeDamaged(bytes), clean: false };
    case 'utf-16le':
      return wellFormed(bytes.toString('utf16le', 0, bytes.length & ~1));
    case 'utf-16be':
      return wellFormed(
        Buffer.from(bytes.subarray(0, bytes.length & ~1))
          .swap16()
          .toString('utf16le'),
      );
    case 'iso-8859-1':
      return { text: bytes.toString('latin1'), clean: true };
    case 'windows-1252':
      return {
        text: bytes
          .toString('latin1')
          .replace(/[\x80-\x9f]/g, (char) => windows1252.charAt(char.charCodeAt(0) - 0x80)),
        clean: true,
      };
  }
}

/** How many bytes `text` had in its source. `clean` as answered by `decode`. */
export function sourceLength(text: string, encoding: Encoding, clean: boolean): number {
  switch (encoding) {
    case 'utf-8':
      return clean ? Buffer.byteLength(text) : toBytes(text).length;
    case 'utf-16le':
    case 'utf-16be':
      return text.length * 2;
    case 'iso-8859-1':
    case 'windows-1252':
      return text.length;
  }
}

/** UTF-8 for the output, with escaped bytes put back. */
export function toBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const buffers: Buffer[] = [];
  // A pair matches as one with the u flag, so this splits at lone surrogates only.
  for (const part of text.split(/([\udc80-\udcff]+)/u)) {
    const escaped = /^[\udc80-\udcff]/u.test(part);
    buffers.push(
      escaped ? Buffer.from(Array.from(part, (char) => char.charCodeAt(0) - escapeBase)) : Buffer.from(part),
    );
  }
  return Buffer.concat(buffers);
}

/** How many bytes at the end are the beginning of a character that is not all there. */
export function cutCharacter(bytes: Buffer, encoding: Encoding): number {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return bytes.length & 1;
  if (encoding !== 'utf-8') return 0;
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

function wellFormed(text: string): Decoded {
  return text.isWellFormed() ? { text, clean: true } : { text: text.toWellFormed(), clean: false };
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

function decodeDamaged(bytes: Buffer): string {
  const texts: string[] = [];
  let from = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes[at] ?? 0);
    if (
      length === 1 ||
      (length > 1 && isUtf8(bytes.subarray(at, at + length)) && at + length <= bytes.length)
    ) {
      at += length;
      continue;
    }
    if (at > from) texts.push(bytes.toString('utf8', from, at));
    texts.push(String.fromCharCode(escapeBase + (bytes[at] ?? 0)));
    at += 1;
    from = at;
  }
  if (at > from) texts.push(bytes.toString('utf8', from, at));
  return texts.join('');
}
