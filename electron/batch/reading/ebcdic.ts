import type { EbcdicEncoding } from '../../contract/ebcdic.ts';
import { characterAt, type Codec } from './codec.ts';

/*
 * In these code pages each byte is one character: those of Latin-1 in another order, one of them the euro sign in some.
 */

/** Code page 37: the Latin-1 character of each byte. */
const ibm037 = Buffer.from(
  'AAECA5wJhn+XjY4LDA0ODxAREhOdhQiHGBmSjxwdHh+AgYKDhAoXG4iJiouMBQYHkJEWk5SVlgSYmZqbFBWeGiCg4uTg4ePl5/GiLjwoK3wm6err6O3u' +
    '7+zfISQqKTusLS/CxMDBw8XH0aYsJV8+P/jJysvIzc7PzGA6I0AnPSLYYWJjZGVmZ2hpq7vw/f6xsGprbG1ub3Bxcqq65rjGpLV+c3R1dnd4eXqhv9Dd' +
    '3q5eo6W3qae2vL2+W12vqLTXe0FCQ0RFRkdISa309vLz9X1KS0xNTk9QUVK5+/z5+v9c91NUVVZXWFlastTW0tPVMDEyMzQ1Njc4ObPb3Nnanw==',
  'base64',
);

/** Where the others differ from it: a byte, and the character. */
const german = '43{ 4aÄ 4f! 59~ 5aÜ 5f^ 63[ 6aö 7c§ a1ß b0¢ b5@ ba¬ bb| c0ä cc¦ d0ü dc} e0Ö ec\\ fc]';
const international = '4a[ 4f! 5a] 5f^ b0¢ ba¬ bb|';
const differences: Readonly<Record<EbcdicEncoding, string>> = {
  ibm037: '',
  ibm273: german,
  ibm500: international,
  ibm1047: '5f^ ad[ b0¬ baÝ bb¨ bd]',
  ibm1140: '9f€',
  ibm1141: `${german} 9f€`,
  ibm1148: `${international} 9f€`,
};

/** The line end of most such files, in `Codec.view` as in a text. */
export const nextLine = '\x85';

const textOf = (encoding: EbcdicEncoding): string => {
  const characters = Array.from(ibm037, (byte) => String.fromCharCode(byte));
  for (const [code, character = ''] of differences[encoding].matchAll(/[0-9a-f]{2}(\S)/g))
    characters[Number.parseInt(code, 16)] = character;
  return characters.join('');
};

/** All bytes are characters, so nothing is damaged. */
export function createEbcdicCodec(encoding: EbcdicEncoding): Codec {
  const text = textOf(encoding);
  const inverse = new Map(Array.from(text, (character, byte) => [character.charCodeAt(0), byte]));
  const hasEuro = text.includes('€');
  // One unit for a byte: the euro sign is shown as the sign whose place it took.
  const shown = Buffer.from(text.replace('€', '¤'), 'latin1');
  function view(bytes: Buffer): string {
    const units = Buffer.allocUnsafe(bytes.length);
    for (let at = 0; at < bytes.length; at++) units[at] = shown[bytes[at] ?? 0] ?? 0;
    return units.toString('latin1');
  }
  return {
    asciiSafe: false,
    extendsAscii: false,
    viewUnit: 1,
    view,
    decode: (bytes) => ({ text: hasEuro ? view(bytes).replaceAll('¤', '€') : view(bytes), clean: true }),
    encode(wanted) {
      const bytes = Buffer.allocUnsafe(wanted.length);
      for (let at = 0; at < wanted.length; at++) {
        const byte = inverse.get(wanted.charCodeAt(at));
        if (byte === undefined) return { ok: false, character: characterAt(wanted, at) };
        bytes[at] = byte;
      }
      return { ok: true, bytes };
    },
    singleByte: true,
    isComplete: true,
    cutCharacter: () => 0,
  };
}

/**
 * Whether bytes are letters, digits, blanks and signs of EBCDIC, but for some that may be packed numbers, and nearly none
 * are the blanks and line ends of ASCII.
 */
export function looksEbcdic(bytes: Buffer): boolean {
  if (bytes.length < 16) return false;
  let usual = 0;
  let common = 0;
  let foreign = 0;
  // An iterator would take five times as long.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const kind = kindsOfBytes[byte] ?? 0;
    if (kind > 0) usual += 1;
    if (kind > 1) common += 1;
    if (byte === 0x0a || byte === 0x20) foreign += 1;
  }
  const share = usual / bytes.length;
  return (
    foreign * 50 <= bytes.length && share >= (foreign === 0 ? 0.75 : 0.85) && common >= bytes.length * 0.15
  );
}

/** 1: letters and signs that texts have; 2: digits, blanks, delimiters and line ends. */
const kindsOfBytes = Uint8Array.from(ibm037, (unit) => {
  const character = String.fromCharCode(unit);
  if (/[0-9 \r\n\x85,;\t|]/.test(character)) return 2;
  return /[A-Za-z.+&$*()\-/%_>?:#@'="<]/.test(character) ? 1 : 0;
});

/** The likeliest code page of bytes that look like EBCDIC, and others: no byte is wrong in any, so it is always a guess. */
export function rankEbcdic(bytes: Buffer): [EbcdicEncoding, ...EbcdicEncoding[]] {
  const withEuro = bytes.includes(0x9f);
  const pages: readonly EbcdicEncoding[] = withEuro
    ? ['ibm1140', 'ibm1141', 'ibm1148', 'ibm1047']
    : ['ibm037', 'ibm273', 'ibm500', 'ibm1047'];
  const scored = pages.map((page) => ({ page, score: scoreOf(page, bytes) }));
  const [best, ...others] = scored.toSorted((a, b) => b.score - a.score).map(({ page }) => page);
  return [best ?? 'ibm037', ...others];
}

const differing = new Set(
  [german, international, differences.ibm1047].flatMap((list) =>
    Array.from(list.matchAll(/([0-9a-f]{2})\S/g), ([, code = '']) => Number.parseInt(code, 16)),
  ),
);

/** How well the characters that code pages disagree about stand between their neighbours. */
function scoreOf(page: EbcdicEncoding, bytes: Buffer): number {
  const text = createEbcdicCodec(page).decode(bytes).text;
  let score = 0;
  for (let at = 0; at < bytes.length; at++)
    if (differing.has(bytes[at] ?? 0))
      score += likelihood(text[at] ?? '', text[at - 1] ?? '', text[at + 1] ?? '');
  return score;
}

function likelihood(character: string, before: string, after: string): number {
  const besideLetter = /[A-Za-z]/.test(before) || /[A-Za-z]/.test(after);
  if (/\p{Lu}/u.test(character) && /[a-z]/.test(before)) return 0;
  if (/\p{L}/u.test(character)) return besideLetter && character !== 'Ý' ? 1 : 0.3;
  if (character === '|') return 0.9;
  if (character === '@') return besideLetter || /\d/.test(before) ? 0.8 : 0.3;
  const standsWithin = /[A-Za-z]/.test(before) && /[a-z]/.test(after);
  if (/[[{]/.test(character)) return standsWithin ? 0 : 0.6;
  if (/[\]}!]/.test(character)) return standsWithin ? 0 : 0.5;
  return /[\\~^§]/.test(character) && !standsWithin ? 0.3 : 0;
}
