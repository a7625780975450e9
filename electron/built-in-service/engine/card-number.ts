import type { AesKey } from './ff1.ts';
import {
  bad,
  good,
  maskDigits,
  replaceDigits,
  type DigitMask,
  type Format,
  type FormatFailure,
  type FormatOutcome,
} from './format.ts';
import { createPermutation, type Permutation } from './permutation.ts';

/** The sum of ISO/IEC 7812-1 over digits of which the last has so many others behind it. */
function luhnSum(digits: string, behind: number): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    sum += (i + behind) % 2 === 0 ? digit : digit < 5 ? digit * 2 : digit * 2 - 9;
  }
  return sum;
}

/** Whether a string of digits passes the Luhn check (ISO/IEC 7812-1). */
export const isLuhnValid = (digits: string): boolean => luhnSum(digits, 0) % 10 === 0;

/** The one digit that makes a number pass the Luhn check, standing between `before` and `after`. */
export function luhnDigitBetween(before: string, after: string): number {
  const missing = (10 - ((luhnSum(before, after.length + 1) + luhnSum(after, 0)) % 10)) % 10;
  if (after.length % 2 === 0) return missing;
  // It counts doubled there: 1 counts 2, 5 counts 1, 9 counts 9.
  return missing % 2 === 0 ? missing / 2 : (missing + 9) / 2;
}

interface CardNumberOptions {
  /** Whether tokens pass the Luhn check. A token of `invalid` can't be mistaken for a card. */
  readonly luhn: 'valid' | 'invalid' | 'any';
  /** `keepFirst` at most 6, `keepLast` at most 4. */
  readonly mask: DigitMask;
}

const binLength = 6;
const lastLength = 4;
const shape = /^\d(?:[ -]?\d){13,18}$/;

interface Card {
  readonly digits: string;
  readonly bin: string;
  readonly middle: string;
  readonly last: string;
  readonly tweak: Buffer;
}

function parseCard(text: string): Card {
  const digits = text.replace(/[ -]/g, '');
  const bin = digits.slice(0, binLength);
  const middle = digits.slice(binLength, -lastLength);
  const last = digits.slice(-lastLength);
  return { digits, bin, middle, last, tweak: Buffer.from(bin + last, 'latin1') };
}

/*
 * The middle of a card is a rank, all its digits but the last, and a Luhn distance: how far the last digit lies above
 * the one that would pass the check.
 */
const rankOf = (card: Card): number => Number(card.middle.slice(0, -1));

function luhnDistanceOf(card: Card): number {
  const valid = luhnDigitBetween(card.bin + card.middle.slice(0, -1), card.last);
  return (Number(card.middle.at(-1)) - valid + 10) % 10;
}

function formatMiddle(card: Card, rank: number, luhnDistance: number): string {
  const before = String(rank).padStart(card.middle.length - 1, '0');
  return before + String((luhnDigitBetween(card.bin + before, card.last) + luhnDistance) % 10);
}

/** One direction: how text becomes the integer that is permuted, and how the permuted one becomes text. */
interface Conversion {
  readonly parse: (text: string) => { readonly card: Card; readonly x: number } | FormatFailure;
  readonly permute: 'encrypt' | 'decrypt';
  readonly permuteBatch: 'encryptBatch' | 'decryptBatch';
  /** The new middle, or null where the integer is none of a value. */
  readonly format: (card: Card, y: number) => string | null;
}

/**
 * 14 to 19 digits, single spaces or hyphens between them allowed and kept. The first six and the last four
 * digits stay; the middle is permuted, with the ten that stay as the tweak.
 *
 * Of the middles with n digits only 10^(n-1) belong to valid cards, as the last digit follows from Luhn. What is
 * permuted: `valid`: their ranks. `invalid`: nine integers for each rank, one for each wrong last digit, the value
 * being the first of them, so 8 of 9 strings that are no tokens are refused. `any`: all 10^n middles, and values
 * needn't pass Luhn either. 13-digit cards are refused: with ten digits kept, a hundred would be left.
 */
export function createCardNumber(key: AesKey, { luhn, mask }: CardNumberOptions): Format {
  const permutations = new Map<number, Permutation>();
  const permutationFor = (middleLength: number): Permutation => {
    let permutation = permutations.get(middleLength);
    if (!permutation) {
      const size = { valid: 1, invalid: 9, any: 10 }[luhn] * 10 ** (middleLength - 1);
      permutation = createPermutation(key, size, binLength + lastLength);
      permutations.set(middleLength, permutation);
    }
    return permutation;
  };

  const formatAny = (card: Card, x: number) => String(x).padStart(card.middle.length, '0');
  const tokenizing: Conversion = {
    permute: 'encrypt',
    permuteBatch: 'encryptBatch',
    parse(value) {
      if (value === '') return 'ValueEmpty';
      if (!shape.test(value)) return 'ValueInvalid';
      const card = parseCard(value);
      if (luhn === 'any') return { card, x: Number(card.middle) };
      if (!isLuhnValid(card.digits)) return 'ValueInvalid';
      return { card, x: luhn === 'valid' ? rankOf(card) : rankOf(card) * 9 };
    },
    format(card, y) {
      if (luhn === 'any') return formatAny(card, y);
      if (luhn === 'valid') return formatMiddle(card, y, 0);
      return formatMiddle(card, Math.floor(y / 9), (y % 9) + 1);
    },
  };
  const detokenizing: Conversion = {
    permute: 'decrypt',
    permuteBatch: 'decryptBatch',
    parse(token) {
      if (!shape.test(token)) return 'TokenInvalid';
      const card = parseCard(token);
      if (luhn === 'any') return { card, x: Number(card.middle) };
      const distance = luhnDistanceOf(card);
      if ((distance === 0) !== (luhn === 'valid')) return 'TokenInvalid';
      return { card, x: luhn === 'valid' ? rankOf(card) : rankOf(card) * 9 + distance - 1 };
    },
    format(card, x) {
      if (luhn === 'any') return formatAny(card, x);
      if (luhn === 'valid') return formatMiddle(card, x, 0);
      return x % 9 === 0 ? formatMiddle(card, x / 9, 0) : null;
    },
  };

  const finish = (template: string, card: Card, middle: string | null): FormatOutcome =>
    middle === null ? bad('TokenInvalid') : good(replaceDigits(template, card.bin + middle + card.last));

  const convert = ({ parse, permute, format }: Conversion, text: string): FormatOutcome => {
    const parsed = parse(text);
    if (typeof parsed === 'string') return bad(parsed);
    const { card, x } = parsed;
    return finish(text, card, format(card, permutationFor(card.middle.length)[permute](card.tweak, x)));
  };

  const convertAll = (
    { parse, permuteBatch, format }: Conversion,
    texts: readonly string[],
  ): FormatOutcome[] => {
    const outcomes: FormatOutcome[] = [];
    const valid: {
      readonly index: number;
      readonly text: string;
      readonly card: Card;
      readonly x: number;
    }[] = [];
    for (const [index, text] of texts.entries()) {
      const parsed = parse(text);
      if (typeof parsed === 'string') outcomes[index] = bad(parsed);
      else valid.push({ index, text, ...parsed });
    }
    for (const [middleLength, group] of Map.groupBy(valid, ({ card }) => card.middle.length)) {
      const tweaks = group.map(({ card }) => card.tweak);
      const xs = group.map(({ x }) => x);
      const ys = permutationFor(middleLength)[permuteBatch](tweaks, xs);
      for (const [at, { index, text, card }] of group.entries())
        outcomes[index] = finish(text, card, format(card, ys[at] ?? 0));
    }
    return outcomes;
  };

  return {
    tokenize: (value) => convert(tokenizing, value),
    detokenize: (token) => convert(detokenizing, token),
    tokenizeAll: (values) => convertAll(tokenizing, values),
    detokenizeAll: (tokens) => convertAll(detokenizing, tokens),
    mask: (value) => maskDigits(value, mask),
  };
}
