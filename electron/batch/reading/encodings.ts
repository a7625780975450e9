import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { isEbcdic } from '../../contract/ebcdic.ts';
import type { Encoding } from '../../contract/models/batch.ts';
import { characterAt, escapeBase, isAsciiText, type Codec, type Encoded } from './codec.ts';
import { createEbcdicCodec } from './ebcdic.ts';
import { yieldToOthers } from '../../util/turns.ts';
import { createMultiByteCodec, type MultiByteEncoding } from './multi-byte.ts';

const codecs = new Map<Encoding, Codec>();

/** Tables are made when an encoding is first used: single bytes in 1 ms, the East Asian ones in 50 to 180 ms. */
export function codecOf(encoding: Encoding): Codec {
  const existing = codecs.get(encoding);
  if (existing !== undefined) return existing;
  const codec = createCodec(encoding);
  codecs.set(encoding, codec);
  return codec;
}

/** Makes the tables of an encoding in turns of their own: of an East Asian one iconv-lite's, ours from these, and ours of four bytes. */
export async function prepareCodec(encoding: Encoding): Promise<void> {
  if (codecs.has(encoding) || !isMultiByte(encoding)) return;
  iconv.getDecoder(encoding);
  await yieldToOthers();
  const codec = codecOf(encoding);
  await yieldToOthers();
  if (encoding === 'gb18030') {
    // A letter that has no fewer bytes: its tables are made when it is asked for.
    codec.encode('\u0e01');
    await yieldToOthers();
  }
}

function createCodec(encoding: Encoding): Codec {
  switch (encoding) {
    case 'utf-8':
      return utf8;
    case 'utf-16le':
    case 'utf-16be':
      return createUtf16Codec(encoding === 'utf-16be');
    default:
      if (isEbcdic(encoding)) return createEbcdicCodec(encoding);
      return isMultiByte(encoding) ? createMultiByteCodec(encoding) : createSingleByteCodec(encoding);
  }
}

/** `Codec.extendsAscii`, without the tables of that codec. */
export const extendsAscii = (encoding: Encoding): boolean =>
  !isEbcdic(encoding) && encoding !== 'utf-16le' && encoding !== 'utf-16be';

const multiByteEncodings: readonly Encoding[] = [
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
] satisfies MultiByteEncoding[];

export const isMultiByte = (encoding: Encoding): encoding is MultiByteEncoding =>
  multiByteEncodings.includes(encoding);

const utf8: Codec = {
  asciiSafe: true,
  extendsAscii: true,
  viewUnit: 1,
  view: (bytes) => bytes.toString('latin1'),
  decode: (bytes) =>
    isUtf8(bytes)
      ? { text: bytes.toString('utf8'), clean: true }
      : { text: decodeDamaged(bytes), clean: false },
  encode: (text) => encodeWellFormed(text, (whole) => Buffer.from(whole)),
  singleByte: false,
  isComplete: false,
  cutCharacter(bytes) {
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      const byte = bytes[bytes.length - back] ?? 0;
      if (byte < 0x80) return 0;
      if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
    }
    return 0;
  },
};

/** UTF-8, with the bytes put back that were not UTF-8 when it was decoded. */
export function restoreBytes(text: string): Buffer {
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

function createUtf16Codec(bigEndian: boolean): Codec {
  const inOrder = (bytes: Buffer): Buffer => (bigEndian ? Buffer.from(bytes).swap16() : bytes);
  const unitAt = (bytes: Buffer, at: number): number =>
    bigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at);
  const view = (bytes: Buffer): string =>
    inOrder(bytes.subarray(0, bytes.length & ~1)).toString('utf16le') +
    // Half a unit is damage: it is shown as the escaped byte.
    (bytes.length % 2 === 0 ? '' : String.fromCharCode(escapeBase + (bytes.at(-1) ?? 0)));
  return {
    asciiSafe: false,
    extendsAscii: false,
    viewUnit: 2,
    view,
    decode(bytes) {
      const text = view(bytes);
      return { text, clean: text.isWellFormed() };
    },
    encode: (text) => encodeWellFormed(text, (whole) => inOrder(Buffer.from(whole, 'utf16le'))),
    singleByte: false,
    isComplete: false,
    cutCharacter(bytes) {
      const half = bytes.length % 2;
      const last = bytes.length - half - 2;
      const isHighSurrogate = last >= 0 && (unitAt(bytes, last) & 0xfc00) === 0xd800;
      return isHighSurrogate ? half + 2 : half;
    },
  };
}

function encodeWellFormed(text: string, encode: (text: string) => Buffer): Encoded {
  if (text.isWellFormed()) return { ok: true, bytes: encode(text) };
  return { ok: false, character: /\p{Surrogate}/u.exec(text)?.[0] ?? '' };
}

/** WHATWG's windows-1252 for 0x80 to 0x9F; written out because Node's TextDecoder has answered Latin-1 there. */
const windows1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function createSingleByteCodec(encoding: Exclude<Encoding, MultiByteEncoding>): Codec {
  const units = new Uint16Array(256);
  const inverse = new Map<number, number>();
  const upper = upperHalf(encoding);
  for (let byte = 0; byte < 256; byte++) {
    const unit = byte < 0x80 ? byte : upper.charCodeAt(byte - 0x80);
    units[byte] = unit === 0xfffd ? escapeBase + byte : unit;
    if (unit !== 0xfffd) inverse.set(unit, byte);
  }
  const isComplete = inverse.size === 256;
  return {
    asciiSafe: true,
    extendsAscii: true,
    viewUnit: 1,
    view: (bytes) => bytes.toString('latin1'),
    decode(bytes) {
      if (isAscii(bytes)) return { text: bytes.toString('latin1'), clean: true };
      const decoded = new Uint16Array(bytes.length);
      for (let i = 0; i < bytes.length; i++) decoded[i] = units[bytes[i] ?? 0] ?? 0;
      const text = Buffer.from(decoded.buffer).toString('utf16le');
      return { text, clean: isComplete || text.isWellFormed() };
    },
    encode(text) {
      if (isAsciiText(text)) return { ok: true, bytes: Buffer.from(text, 'latin1') };
      const bytes = Buffer.allocUnsafe(text.length);
      for (let i = 0; i < text.length; i++) {
        const byte = inverse.get(text.charCodeAt(i));
        if (byte === undefined) return { ok: false, character: characterAt(text, i) };
        bytes[i] = byte;
      }
      return { ok: true, bytes };
    },
    singleByte: true,
    isComplete,
    cutCharacter: () => 0,
  };
}

function upperHalf(encoding: Encoding): string {
  const bytes = Uint8Array.from({ length: 128 }, (_, i) => 0x80 + i);
  const latin1 = Buffer.from(bytes).toString('latin1');
  // To TextDecoder iso-8859-1 is another name of windows-1252.
  if (encoding === 'iso-8859-1') return latin1;
  if (encoding === 'windows-1252') return windows1252 + latin1.slice(0x20);
  // Code pages of DOS, which TextDecoder does not know.
  if (['ibm437', 'ibm850', 'ibm852'].includes(encoding)) return iconv.decode(Buffer.from(bytes), encoding);
  return new TextDecoder(encoding).decode(bytes);
}
