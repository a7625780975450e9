import creditCardType from 'credit-card-type';
import type { DefinitionKind } from '../../electron/contract/models/connection.ts';
import { formatUnits } from './format.ts';

/** Pasted text without spaces, dashes and invisible characters, and a sentence that names what was removed. */
export interface Tidied {
  text: string;
  removed: string | null;
}

const invisible = /[\u200b-\u200d\u2060\ufeff\u0000-\u001f\u007f]/g; // eslint-disable-line no-control-regex
const spaces = /[\s\u00a0\u2007\u202f]/g;
const dashes = /[-\u2010-\u2015\u2212]/g;

/** Spaces and dashes mean nothing in a card number; in a social security number dashes can belong to the token. */
const meaningless: Record<DefinitionKind, { spaces: boolean; dashes: boolean }> = {
  card: { spaces: true, dashes: true },
  ssn: { spaces: true, dashes: false },
  email: { spaces: true, dashes: false },
  text: { spaces: false, dashes: false },
};

export function tidy(raw: string, kind: DefinitionKind): Tidied {
  const rule = meaningless[kind];
  const removed: string[] = [];
  const without = (text: string, pattern: RegExp, ...[one, many]: [string, string?]): string => {
    const hits = text.match(pattern)?.length ?? 0;
    if (hits === 0) return text;
    removed.push(formatUnits(hits, one, many));
    return text.replace(pattern, '');
  };
  let text = raw.replace(/[\r\n\t]+/g, ' ');
  text = without(text, invisible, 'hidden character');
  const trimmed = text.trim();
  if (rule.spaces) text = without(text, spaces, 'space');
  else {
    if (trimmed.length < text.length) removed.push(formatUnits(text.length - trimmed.length, 'space'));
    text = trimmed;
  }
  if (rule.dashes) text = without(text, dashes, 'dash', 'dashes');
  const list = removed.join(' and ');
  return { text, removed: list === '' ? null : `Removed ${list}.` };
}

const matches = (pattern: RegExp, unit: number): boolean => String.fromCharCode(unit).search(pattern) !== -1;

/** As `tidy`, for cleartext that must not become a string: takes UTF-16 units, returns those to be sent in a copy. */
export function tidyUnits(raw: Uint16Array, kind: DefinitionKind): Uint16Array {
  const rule = meaningless[kind];
  const tidied = new Uint16Array(raw.length);
  let length = 0;
  let wasBreak = false;
  for (const unit of raw) {
    const isBreak = unit === 0x0d || unit === 0x0a || unit === 0x09;
    const one = isBreak ? 0x20 : unit;
    const again = isBreak && wasBreak;
    wasBreak = isBreak;
    if (again || matches(invisible, one)) continue;
    if ((rule.spaces && matches(spaces, one)) || (rule.dashes && matches(dashes, one))) continue;
    tidied[length++] = one;
  }
  let start = 0;
  while (start < length && matches(spaces, tidied[start] ?? 0)) start++;
  while (length > start && matches(spaces, tidied[length - 1] ?? 0)) length--;
  const sent = tidied.slice(start, length);
  tidied.fill(0);
  return sent;
}

/** The number of lines that are not blank; with more than one a batch is offered. */
export function pastedLines(text: string): number {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '').length;
}

/**
 * The groups between which gaps are drawn, as the scheme of the card prints them. A gap is a margin, not a character, so
 * a copied value has none. The first six digits decide, which a card, its token and its mask have in common.
 */
export function groups(text: string, kind: DefinitionKind): string[] {
  if (kind !== 'card' || !isCardShaped(text)) return [text];
  const ends = [...gapsOf(text), text.length];
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end)).filter((group) => group !== '');
}

/** A card, its token or its mask, rather than any other text that a column of them may hold. */
export const isCardShaped = (text: string): boolean => /^[\d•*Xx]{12,19}$/.test(text);

const fours = [4, 8, 12, 16];

function gapsOf(text: string): readonly number[] {
  if (text.length > 15) return fours;
  const scheme = schemeOf(text);
  if (scheme !== null) return scheme.gaps;
  // A mask that hides the BIN: no other widely used scheme has 14 or 15 digits.
  const isHidden = !/^\d/.test(text);
  return isHidden && text.length >= 14 ? [4, 10] : fours;
}

/**
 * A mask with dots in place of the service's own mask character, so that masked and clear values are equally wide. A
 * letter is one only in a mask of digits: a field of a file may hold any text.
 */
export function dotted(masked: string, kind: DefinitionKind): string {
  if ((kind === 'card' || kind === 'ssn') && /^[\d\s*Xx#•-]*$/.test(masked))
    return masked.replace(/[*Xx#•]/g, '•');
  return masked.replace(/[*#•]/g, '•');
}

interface CardScheme {
  readonly name: string;
  /** Positions of the gaps. */
  readonly gaps: readonly number[];
}

/** By the leading digits; a table asks for the same few again and again. */
const schemes = new Map<string, CardScheme | null>();
const maxSchemes = 1_000;

/** The card scheme of the leading digits, of which six are enough; null where they are hidden, too few or unknown. */
function schemeOf(text: string): CardScheme | null {
  const lead = /^\d{1,6}/.exec(text)?.[0];
  if (lead === undefined) return null;
  const known = schemes.get(lead);
  if (known !== undefined) return known;
  const [type, other] = creditCardType(lead);
  const found = type === undefined || other !== undefined ? null : { name: type.niceType, gaps: type.gaps };
  if (schemes.size >= maxSchemes) schemes.clear();
  schemes.set(lead, found);
  return found;
}

/** The card scheme's name, as `schemeOf` finds it. */
export const cardBrand = (masked: string): string | null => schemeOf(masked)?.name ?? null;

/** Where a card number begins and ends in a text, in UTF-16 units. */
export interface CardPosition {
  readonly from: number;
  readonly to: number;
}

/**
 * The first card number in a text: 13 to 19 digits that stand alone and pass Luhn's check, with spaces and dashes
 * between them. Works on numbers, so that the card number never becomes a string.
 */
export function findCard(units: Uint16Array): CardPosition | null {
  for (let from = 0; from < units.length; from++) {
    if (!isDigit(units[from]) || (from > 0 && isWord(units[from - 1]))) continue;
    const digits: number[] = [];
    let to = from;
    let end = from;
    for (; end < units.length && (isDigit(units[end]) || isSeparator(units[end])); end++) {
      if (!isDigit(units[end])) continue;
      digits.push((units[end] ?? 0) - 0x30);
      to = end + 1;
    }
    if (!isWord(units[end]) && digits[0] !== 0 && passesLuhn(digits)) return { from, to };
    digits.fill(0);
    from = end;
  }
  return null;
}

const isDigit = (unit = 0): boolean => unit >= 0x30 && unit <= 0x39;
const isWord = (unit = 0): boolean => matches(/[\p{L}\d]/u, unit);
const isSeparator = (unit = 0): boolean =>
  matches(spaces, unit) || matches(dashes, unit) || matches(invisible, unit);

function passesLuhn(digits: readonly number[]): boolean {
  if (digits.length < 13 || digits.length > 19) return false;
  const sum = digits.reduce((total, digit, index) => {
    const weighted = (digits.length - index) % 2 === 0 ? digit * 2 : digit;
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}
