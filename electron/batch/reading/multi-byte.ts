import iconv from 'iconv-lite';
import { characterAt, escapeBase, isAsciiText, type Codec } from './codec.ts';

/** East Asian encodings in which a character has one byte or several. All of them read ASCII bytes as ASCII. */
export type MultiByteEncoding = 'shift_jis' | 'euc-jp' | 'gb18030' | 'big5' | 'euc-kr';

interface Shape {
  /** First bytes of characters of two bytes, first and last of each range. */
  readonly leads: readonly (readonly [number, number])[];
  /** Whether 0x8F begins a character of three bytes (JIS X 0212). */
  readonly threeBytes?: true;
  /** Whether two bytes may be followed by two more (GB18030). */
  readonly fourBytes?: true;
  /** Codes to write only where no other has the character; readers differ about them. */
  readonly avoided?: readonly [number, number];
  readonly asciiSafe: boolean;
}

const shapes: Readonly<Record<MultiByteEncoding, Shape>> = {
  shift_jis: {
    leads: [
      [0x81, 0x9f],
      [0xe0, 0xfc],
    ],
    avoided: [0xed40, 0xeefc],
    asciiSafe: false,
  },
  'euc-jp': {
    leads: [
      [0x8e, 0x8e],
      [0xa1, 0xfe],
    ],
    threeBytes: true,
    asciiSafe: true,
  },
  // Its euro sign has two bytes; 0x80 alone is a code page of Windows.
  gb18030: { leads: [[0x81, 0xfe]], fourBytes: true, avoided: [0x80, 0x80], asciiSafe: false },
  big5: { leads: [[0x81, 0xfe]], avoided: [0x8100, 0xa0ff], asciiSafe: false },
  // Second bytes may be ASCII letters, which are neither delimiters nor quotes nor line ends.
  'euc-kr': { leads: [[0x81, 0xfe]], asciiSafe: true },
};

interface Tables {
  /** Text of each single byte from 0x80; 0 where it has none alone. */
  readonly singles: Uint16Array;
  readonly pairs: Uint16Array;
  readonly triples: Uint16Array | null;
  /** By `linearOf`, for characters of the basic plane; made when one is first met, and empty where there are none. */
  readonly quads: () => Uint16Array;
  /** By unit: its bytes as one number, most significant first; 0 where it has none. */
  readonly inverse: Uint32Array;
}

/** GB18030's four bytes of U+10000; from there on they count up with the code points. */
const firstAstral = linearOf(0x90, 0x30, 0x81, 0x30);
const lastAstral = firstAstral + 0xfffff;
const basicQuads = 39_420;

function linearOf(first: number, second: number, third: number, fourth: number): number {
  return ((first - 0x81) * 10 + (second - 0x30)) * 1_260 + (third - 0x81) * 10 + (fourth - 0x30);
}

function quadOf(linear: number): Buffer {
  const upper = Math.floor(linear / 1_260);
  const lower = linear % 1_260;
  return Buffer.from([
    0x81 + Math.floor(upper / 10),
    0x30 + (upper % 10),
    0x81 + Math.floor(lower / 10),
    0x30 + (lower % 10),
  ]);
}

/**
 * The tables are iconv-lite's, asked once for each sequence, and `encode` is their inverse: what it writes reads back as
 * the same text, where iconv-lite's own encoder would write '?'. TextDecoder's tables are ICU's, which has no Korean
 * letters beyond KS X 1001 and may differ between Node and Electron. A sequence of more than one unit (a few letters with
 * two accents in Big5) is not in a table, and so damage.
 */
export function createMultiByteCodec(encoding: MultiByteEncoding): Codec {
  const shape = shapes[encoding];
  const { singles, pairs, triples, quads, inverse } = createTables(encoding, shape);
  const isLead = new Uint8Array(256);
  for (const [first, last] of shape.leads) isLead.fill(1, first, last + 1);

  /** The character at `at`: its bytes, and one code point; 0 for a byte that is none. */
  const found = { length: 1, codePoint: 0 };
  function read(bytes: Buffer, at: number): void {
    const first = bytes[at] ?? 0;
    found.length = 1;
    found.codePoint = first < 0x80 ? first : (singles[first] ?? 0);
    if (first < 0x80) return;
    const second = bytes[at + 1] ?? 0;
    if (triples !== null && first === 0x8f) {
      set(3, triples[second * 256 + (bytes[at + 2] ?? 0)] ?? 0);
    } else if (shape.fourBytes === true && isLead[first] === 1 && isDigit(second)) {
      const third = bytes[at + 2] ?? 0;
      const fourth = bytes[at + 3] ?? 0;
      if (third < 0x81 || third > 0xfe || !isDigit(fourth)) return;
      const linear = linearOf(first, second, third, fourth);
      const isAstral = linear >= firstAstral && linear <= lastAstral;
      set(4, isAstral ? 0x10000 + linear - firstAstral : (quads()[linear] ?? 0));
    } else if (isLead[first] === 1) set(2, pairs[first * 256 + second] ?? 0);
  }
  function set(length: number, codePoint: number): void {
    if (codePoint === 0) return;
    found.length = length;
    found.codePoint = codePoint;
  }

  /** How many bytes a character with these first bytes has, as far as they tell. */
  function expectedLength(first: number, second: number | undefined): number {
    if (triples !== null && first === 0x8f) return 3;
    if (isLead[first] !== 1) return 1;
    return shape.fourBytes === true && second !== undefined && isDigit(second) ? 4 : 2;
  }

  return {
    asciiSafe: shape.asciiSafe,
    extendsAscii: true,
    viewUnit: 1,
    view(bytes) {
      if (shape.asciiSafe) return bytes.toString('latin1');
      const masked = Buffer.from(bytes);
      for (let at = 0; at < bytes.length; at += found.length) {
        if ((bytes[at] ?? 0) < 0x80) {
          found.length = 1;
          continue;
        }
        read(bytes, at);
        // Not filled: to call for each character costs more than the rest.
        if (found.length > 1) for (let n = 0; n < found.length; n++) masked[at + n] = 0x80;
      }
      return masked.toString('latin1');
    },
    decode(bytes) {
      const units = new Uint16Array(bytes.length);
      let count = 0;
      let clean = true;
      for (let at = 0; at < bytes.length; at += found.length) {
        const byte = bytes[at] ?? 0;
        if (byte < 0x80) {
          units[count++] = byte;
          found.length = 1;
          continue;
        }
        read(bytes, at);
        const { codePoint } = found;
        if (codePoint > 0xffff) {
          units[count++] = 0xd7c0 + (codePoint >> 10);
          units[count++] = 0xdc00 + (codePoint & 0x3ff);
        } else if (codePoint > 0) units[count++] = codePoint;
        else {
          units[count++] = escapeBase + byte;
          clean = false;
        }
      }
      return { text: Buffer.from(units.buffer, 0, count * 2).toString('utf16le'), clean };
    },
    encode(text) {
      if (isAsciiText(text)) return { ok: true, bytes: Buffer.from(text, 'latin1') };
      const bytes = Buffer.allocUnsafe(text.length * (shape.fourBytes === true ? 4 : 3));
      let length = 0;
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        if (unit < 0x80) {
          bytes[length++] = unit;
          continue;
        }
        let code = inverse[unit] ?? 0;
        if (code === 0 && quads().length > 0) code = inverse[unit] ?? 0;
        if (code === 0) {
          const codePoint = text.codePointAt(i) ?? 0;
          if (quads().length === 0 || codePoint < 0x10000)
            return { ok: false, character: characterAt(text, i) };
          code = quadOf(codePoint - 0x10000 + firstAstral).readUInt32BE();
          i += 1;
        }
        length = writeCode(bytes, length, code);
      }
      return { ok: true, bytes: bytes.subarray(0, length) };
    },
    singleByte: false,
    isComplete: false,
    cutCharacter(bytes) {
      // No character has a byte below 0x30 after its first, so one begins right after such a byte.
      let at = bytes.length;
      while (at > 0 && (bytes[at - 1] ?? 0) >= 0x30) at -= 1;
      for (; at < bytes.length; at += found.length) {
        read(bytes, at);
        const isCut = at + expectedLength(bytes[at] ?? 0, bytes[at + 1]) > bytes.length;
        if (isCut && found.length === 1) return bytes.length - at;
      }
      return 0;
    },
  };
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** Answers where the next one begins. */
function writeCode(bytes: Uint8Array, at: number, code: number): number {
  let end = at;
  if (code > 0xffffff) bytes[end++] = code >>> 24;
  if (code > 0xffff) bytes[end++] = (code >>> 16) & 0xff;
  if (code > 0xff) bytes[end++] = (code >>> 8) & 0xff;
  bytes[end++] = code & 0xff;
  return end;
}

function createTables(encoding: MultiByteEncoding, shape: Shape): Tables {
  const inverse = new Uint32Array(0x10000);
  const codes = (length: number, codeOf: (i: number) => number): number[] =>
    Array.from({ length }, (_, i) => codeOf(i));

  /** Tells each code with the one unit that it is read as. A line feed is no part of a longer character. */
  function eachKnown(asked: readonly number[], visit: (code: number, unit: number) => void): void {
    const bytes = new Uint8Array(asked.length * 5);
    let length = 0;
    for (const code of asked) {
      length = writeCode(bytes, length, code);
      bytes[length++] = 0x0a;
    }
    const text = iconv.decode(Buffer.from(bytes.buffer, 0, length), encoding, { stripBOM: false });
    let from = 0;
    for (const code of asked) {
      let end = from;
      while (end < text.length && text.charCodeAt(end) !== 0x0a) end += 1;
      const unit = text.charCodeAt(from);
      if (end === from + 1 && unit !== 0xfffd) visit(code, unit);
      from = end + 1;
    }
  }
  function add(code: number, unit: number): void {
    const before = inverse[unit] ?? 0;
    const [from, to] = shape.avoided ?? [0, 0];
    if (before === 0 || (before >= from && before <= to)) inverse[unit] = code;
  }

  const singles = new Uint16Array(256);
  eachKnown(
    codes(128, (i) => 0x80 + i),
    (code, unit) => {
      singles[code] = unit;
      add(code, unit);
    },
  );
  const pairs = new Uint16Array(0x10000);
  for (const [first, last] of shape.leads) {
    const asked = codes(
      (last - first + 1) * 0xcf,
      (i) => (first + Math.floor(i / 0xcf)) * 256 + 0x30 + (i % 0xcf),
    );
    eachKnown(asked, (code, unit) => {
      pairs[code] = unit;
      add(code, unit);
    });
  }
  let triples: Uint16Array | null = null;
  if (shape.threeBytes === true) {
    const table = (triples = new Uint16Array(0x10000));
    const asked = codes(94 * 94, (i) => 0x8f0000 + (0xa1 + Math.floor(i / 94)) * 256 + 0xa1 + (i % 94));
    eachKnown(asked, (code, unit) => {
      table[code & 0xffff] = unit;
      add(code, unit);
    });
  }
  let quads: Uint16Array | null = null;
  function makeQuads(): Uint16Array {
    if (shape.fourBytes !== true) return new Uint16Array(0);
    const table = new Uint16Array(basicQuads);
    const asked = codes(basicQuads, (i) => quadOf(i).readUInt32BE());
    eachKnown(asked, (code, unit) => {
      table[linearOf(code >>> 24, (code >>> 16) & 0xff, (code >>> 8) & 0xff, code & 0xff)] = unit;
      add(code, unit);
    });
    return table;
  }
  return { singles, pairs, triples, quads: () => (quads ??= makeQuads()), inverse };
}
