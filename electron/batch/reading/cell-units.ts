import type { Encoding } from '../../contract/models/batch.ts';
import { isAsciiText } from './codec.ts';
import { codecOf } from './encodings.ts';

/** Texts as units of a source's bytes: bytes as latin1, or UTF-16 units. See `Table.slice`. */
export interface CellUnits {
  /** Null where the encoding has not all of the characters. */
  encode(text: string): string | null;
  /** Characters of ASCII, which every encoding has. */
  ascii(text: string): string;
  /** Words of our own, such as a mask or a reason, lose the characters that the encoding has not. */
  words(text: string): string;
  /** Whether the encoding has every character of a text. */
  canHold(text: string): boolean;
}

export const isUnicode = (encoding: Encoding): boolean => encoding.startsWith('utf-');

/** Sign by sign: a long mask has millions of dots, and `replaceAll` takes ten times as long for them. */
export function plainWords(words: string, canHold: (text: string) => boolean): string {
  const units = Buffer.from(words, 'utf16le');
  for (let at = 0; at < units.length; at += 2) {
    const sign = plainSigns.get(units.readUInt16LE(at));
    if (sign !== undefined) units.writeUInt16LE(sign, at);
  }
  const plain = units.toString('utf16le').replaceAll('…', '...');
  return canHold(plain) ? plain : Array.from(plain, (char) => (canHold(char) ? char : '?')).join('');
}
const plainSigns: ReadonlyMap<number, number> = new Map([
  [0x2022, 0x2a], // • *
  [0x2019, 0x27], // ’ '
]);

export function createCellUnits(encoding: Encoding): CellUnits {
  const codec = codecOf(encoding);
  function encode(text: string): string | null {
    if (codec.viewUnit === 2) return text.toWellFormed();
    if (codec.extendsAscii && isAsciiText(text)) return text;
    const encoded = codec.encode(text.toWellFormed());
    return encoded.ok ? encoded.bytes.toString('latin1') : null;
  }
  return {
    encode,
    ascii: codec.extendsAscii || codec.viewUnit === 2 ? (text) => text : (text) => encode(text) ?? '',
    words: (text) => encode(text) ?? encode(plainWords(text, (char) => encode(char) !== null)) ?? '',
    canHold: (text) => isUnicode(encoding) || encode(text) !== null,
  };
}
