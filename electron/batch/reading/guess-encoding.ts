import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import { encoding as encodingSchema, type Encoding } from '../../contract/models/batch.ts';
import { looksEbcdic, rankEbcdic } from './ebcdic.ts';
import { codecOf, isMultiByte, prepareCodec } from './encodings.ts';
import { yieldToOthers } from '../../util/turns.ts';

export interface EncodingGuess {
  readonly encoding: Encoding;
  /** What it might be instead, likeliest first; null where the bytes leave no doubt. */
  readonly alternatives: readonly Encoding[] | null;
}

/** So much of the lines that have other bytes than ASCII is decoded on trial. */
const trialBytes = 8 * 1024;
const maxAlternatives = 3;

/** For the beginning of a source without a byte order mark. `bytes` may end within a character. */
export async function guessEncoding(bytes: Buffer): Promise<EncodingGuess> {
  const utf16 = guessUtf16(bytes);
  if (utf16 !== null) return { encoding: utf16, alternatives: null };
  const utf8 = codecOf('utf-8');
  const whole = bytes.subarray(0, bytes.length - utf8.cutCharacter(bytes));
  if (isUtf8(whole)) return { encoding: 'utf-8', alternatives: null };

  if (looksEbcdic(bytes)) {
    const [encoding, ...alternatives] = rankEbcdic(bytes);
    return { encoding, alternatives };
  }

  const { good, bad } = countRuns(whole);
  const ranked = await rankByTrial(sampleOf(whole));
  const others = ranked.slice(0, maxAlternatives);
  const [best] = ranked;
  // Letters of other encodings make valid UTF-8 by chance, though seldom: a Chinese text has some such characters. In
  // damaged UTF-8, or UTF-8 with some lines in another encoding, they are many, and the other rows are flagged.
  const isDamagedUtf8 =
    good >= bad * 2 || (good > 0 && good * 4 >= bad && (best === undefined || !isMultiByte(best)));
  if (isDamagedUtf8) {
    const isSure = good >= bad * 10;
    return { encoding: 'utf-8', alternatives: isSure ? null : others.slice(0, 2) };
  }
  if (best !== undefined) {
    const alternatives = [...others.slice(1), ...(good > 0 ? (['utf-8'] as const) : [])];
    return { encoding: best, alternatives: alternatives.slice(0, maxAlternatives) };
  }
  // Nothing decodes it into text: Latin-1 has a character for every byte.
  return { encoding: 'iso-8859-1', alternatives: ['utf-8'] };
}

/** Text has no NULs, so a file with many of them, always in the same half of a unit, has units of two bytes. */
function guessUtf16(bytes: Buffer): Encoding | null {
  const some = bytes.subarray(0, 4_096);
  const nuls = { even: 0, odd: 0 };
  for (let i = 0; i < some.length; i++) if (some[i] === 0) nuls[i % 2 === 0 ? 'even' : 'odd'] += 1;
  const many = some.length / 6;
  if (nuls.odd > many && nuls.even < many / 4) return 'utf-16le';
  if (nuls.even > many && nuls.odd < many / 4) return 'utf-16be';
  if (nuls.even + nuls.odd === 0) return null;
  // In text of other scripts only delimiters and line ends have a NUL.
  const found = (['utf-16le', 'utf-16be'] as const).find((encoding) => {
    const codec = codecOf(encoding);
    const { text, clean } = codec.decode(some.subarray(0, some.length - codec.cutCharacter(some)));
    return clean && !/[\0\p{Cn}\p{Co}]/u.test(text) && /[\r\n]/.test(text) && /[,;\t|]/.test(text);
  });
  return found ?? null;
}

/** Runs of bytes that are not ASCII: those that are UTF-8 as a whole, and the others. */
function countRuns(bytes: Buffer): { good: number; bad: number } {
  let good = 0;
  let bad = 0;
  for (let at = 0; at < bytes.length; at++) {
    if ((bytes[at] ?? 0) < 0x80) continue;
    const start = at;
    while ((bytes[at] ?? 0) >= 0x80) at += 1;
    // No character of UTF-8 is one such byte.
    if (at - start > 1 && isUtf8(bytes.subarray(start, at))) good += 1;
    else bad += 1;
  }
  return { good, bad };
}

/** The lines that have other bytes than ASCII. */
function sampleOf(bytes: Buffer): Buffer {
  const lines: Buffer[] = [];
  let length = 0;
  for (let start = 0; start < bytes.length && length < trialBytes;) {
    let end = start;
    let isAscii = true;
    for (; end < bytes.length && bytes[end] !== 0x0a && bytes[end] !== 0x0d; end++) {
      if ((bytes[end] ?? 0) >= 0x80) isAscii = false;
    }
    const line = bytes.subarray(start, Math.min(end + 1, start + trialBytes));
    // The last line may be cut within a character.
    if (!isAscii && (end < bytes.length || lines.length === 0)) {
      lines.push(line);
      length += line.length;
    }
    start = end + 1;
  }
  return Buffer.concat(lines);
}

/** Names of chardet for which others of ours have the same letters in most places. */
const relatives: Readonly<Record<string, readonly Encoding[]>> = {
  'ISO-8859-1': ['windows-1252', 'iso-8859-1', 'iso-8859-15', 'macintosh', 'ibm850', 'ibm437'],
  'windows-1252': ['windows-1252', 'iso-8859-15', 'macintosh', 'ibm850', 'ibm437'],
  'ISO-8859-2': ['iso-8859-2', 'windows-1250', 'ibm852'],
  'windows-1250': ['windows-1250', 'ibm852'],
  'windows-1251': ['windows-1251', 'x-mac-cyrillic'],
  'ISO-8859-7': ['windows-1253', 'iso-8859-7'],
  'ISO-8859-8': ['windows-1255', 'iso-8859-8'],
  'ISO-8859-9': ['windows-1254'],
  'KOI8-R': ['koi8-r', 'koi8-u'],
};

/** Encodings that make text of `bytes`, likeliest first, and of those that make the same text only the usual one. */
async function rankByTrial(bytes: Buffer): Promise<Encoding[]> {
  const confidences = new Map<string, number>();
  for (const { name, confidence } of analyse(bytes)) {
    for (const encoding of relatives[name] ?? [name.toLowerCase()]) {
      confidences.set(encoding, Math.max(confidences.get(encoding) ?? 0, confidence / 100));
    }
  }
  const texts = new Set<string>();
  const ranked: { readonly encoding: Encoding; readonly score: number }[] = [];
  for (const encoding of encodingSchema.options) {
    const isMulti = isMultiByte(encoding);
    // Tables of East Asian encodings take a while to make: only where the bytes have their structure.
    if (isMulti && !confidences.has(encoding)) continue;
    // Each is a turn.
    await yieldToOthers();
    await prepareCodec(encoding);
    const codec = codecOf(encoding);
    if (!isMulti && (!codec.extendsAscii || encoding === 'utf-8')) continue;
    if (isMulti) await yieldToOthers();
    const cut = bytes.length - codec.cutCharacter(bytes);
    const { text, clean } = codec.decode(bytes.subarray(0, cut));
    // No text has control characters from 0x80 on, private or unassigned ones.
    if (!clean || /[\x80-\x9f\p{Co}\p{Cn}]/u.test(text) || texts.has(text)) continue;
    texts.add(text);
    if (isMulti) await yieldToOthers();
    const likelihood = isMulti ? shareOfCommon(text, encoding) : shareOfWords(text);
    ranked.push({ encoding, score: likelihood + 0.4 * (confidences.get(encoding) ?? 0) });
  }
  return ranked.sort((a, b) => b.score - a.score).map(({ encoding }) => encoding);
}

/** First bytes of everyday characters: kana, and the ideographs or syllables that each standard has as its first level. */
const commonLeads: Readonly<Partial<Record<Encoding, readonly (readonly [number, number])[]>>> = {
  shift_jis: [
    [0x82, 0x83],
    [0x88, 0x97],
  ],
  'euc-jp': [
    [0xa4, 0xa5],
    [0xb0, 0xcf],
  ],
  gb18030: [[0xb0, 0xd7]],
  big5: [[0xa4, 0xc6]],
  'euc-kr': [[0xb0, 0xc8]],
};

function shareOfCommon(text: string, encoding: Encoding): number {
  const leads = commonLeads[encoding] ?? [];
  let common = 0;
  let count = 0;
  for (const [character] of text.matchAll(/[^\0-\x7f]/gu)) {
    const encoded = codecOf(encoding).encode(character);
    const lead = encoded.ok ? (encoded.bytes[0] ?? 0) : 0;
    count += 1;
    if (leads.some(([first, last]) => lead >= first && lead <= last)) common += 1;
    // Punctuation, and katakana of half width.
    else if (/[\u3000-\u303f\uff01-\uff9f]/.test(character)) common += 0.5;
  }
  // An ASCII letter right after such a character is more often the second half of none.
  const mixed = text.match(/[a-z][^\0-\x7f]|[^\0-\x7f][a-z]/gi)?.length ?? 0;
  return count === 0 ? 0 : Math.max(0, common - mixed) / count;
}

const isLetter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{M}]/u.test(character);
const isUpper = (character: string | undefined): boolean =>
  character !== undefined && /\p{Lu}/u.test(character);
const isLower = (character: string | undefined): boolean =>
  character !== undefined && /\p{Ll}/u.test(character);

/** How much of what is not ASCII stands as letters and signs do in words and amounts: between 0 and 1. */
function shareOfWords(text: string): number {
  let good = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character < '\x80') continue;
    count += 1;
    const before = text[i - 1];
    const after = text[i + 1];
    if (isLetter(character)) good += shareOfLetter(character, before, after, text[i - 2]);
    else if (isLetter(before) && isLetter(after)) good += /[’·]/.test(character) ? 1 : 0;
    else if (/[\u00a0€£°§«»“”„‘’‚–—…¿¡©®™№]/.test(character)) good += 1;
    else good += 0.3;
  }
  // Hebrew and Arabic, which have no capitals, read as Greek or Cyrillic without any.
  const lacksCapitals = /[\p{Script=Greek}\p{Script=Cyrillic}]/u.test(text) && !/[\p{Lu}--[A-Z]]/v.test(text);
  return count === 0 ? 0 : (good / count) * (lacksCapitals ? 0.85 : 1);
}

function shareOfLetter(letter: string, before?: string, after?: string, beforeThat?: string): number {
  // "MüLLER" is as unlikely as "iVANOV".
  if (isUpper(letter) && isLower(before)) return 0;
  if (isLower(letter) && isUpper(before) && isUpper(beforeThat)) return 0;
  const isLatin = /\p{Script=Latin}/u.test(letter);
  const isBesideAscii = /[a-z]/i.test(before ?? '') || /[a-z]/i.test(after ?? '');
  if (!isLatin) return isBesideAscii ? 0 : 1;
  // Accented letters stand between plain ones. Three in a row are another script.
  const isForeign = (other: string | undefined): boolean =>
    other !== undefined && other > '\x7f' && isLetter(other);
  if (isForeign(before) && (isForeign(after) || isForeign(beforeThat))) return 0;
  return isBesideAscii ? 1 : 0.6;
}
