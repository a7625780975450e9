/**
 * Text in which every byte can be found again. A byte that has no meaning in its encoding becomes a lone surrogate,
 * U+DC00 and the byte (as Python's surrogateescape does), so that only text with a lone surrogate is damaged. UTF-16 may
 * have lone surrogates of its own, which stay.
 */
interface Decoded {
  readonly text: string;
  /** Whether all of it was valid in its encoding; if so, `text` is well formed. */
  readonly clean: boolean;
}

/** Bytes that read back as the same text, or the first character that the encoding has none for. */
export type Encoded =
  { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly character: string };

export const escapeBase = 0xdc00;

/** One encoding, both ways. None of its functions handles a byte order mark: to them it is U+FEFF. */
export interface Codec {
  /**
   * Whether delimiters, quotes and line ends are those bytes and no part of another character, so that a latin1 view of
   * the bytes shows them and no others.
   */
  readonly asciiSafe: boolean;
  /** Whether each character of ASCII is that byte and no other. In UTF-16 and EBCDIC it is not. */
  readonly extendsAscii: boolean;
  /** Bytes of one unit of `view`. */
  readonly viewUnit: 1 | 2;
  /**
   * One unit for each byte (UTF-16: two bytes), and an ASCII character only where the source has that character. It finds
   * delimiters, quotes and line ends by their offset in the bytes without decoding what is between them.
   */
  view(bytes: Buffer): string;
  decode(bytes: Buffer): Decoded;
  /** Never replaces a character by another. A lone surrogate has no bytes in any encoding. */
  encode(text: string): Encoded;
  /** Whether each byte is a character. */
  readonly singleByte: boolean;
  /** Whether whatever bytes there are, they are characters: nothing is damaged. */
  readonly isComplete: boolean;
  /** How many bytes at the end are the beginning of a character that is not all there. */
  cutCharacter(bytes: Buffer): number;
}

// eslint-disable-next-line no-control-regex -- all of ASCII
export const isAsciiText = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

/** The character of which `text[i]` is the first unit. */
export const characterAt = (text: string, i: number): string =>
  String.fromCodePoint(text.codePointAt(i) ?? 0);
