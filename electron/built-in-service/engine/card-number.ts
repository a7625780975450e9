import type { AesKey } from './ff1.ts';
import {
  bad,
  good,
  type Format,
  type FormatFailure,
  type FormatOutcome,
  maskDigits,
  refillDigits,
  type DigitMask,
} from './format.ts';
import { createPermutation, type Permutation } from './free-text.ts';

/** Whether a string of digits passes the Luhn check (ISO/IEC 7812-1). */
export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    sum += i % 2 === 0 ? digit : digit < 5 ? digit * 2 : digit * 2 - 9;
  }
  return sum % 10 === 0;
}

/** The one digit which, between `before` and `after`, makes the whole pass the Luhn check. */
export function luhnDigitBetween(before: string, after: string): number {
  for (let digit = 0; digit < 9; digit++) if (isLuhnValid(`${before}${digit}${after}`)) return digit;
  return 9;
}

/** What the Luhn check says of every token. `invalid` can never be mistaken for a card. */
export type LuhnOutcome = 'valid' | 'invalid' | 'any';

export interface CardNumberOptions {
  readonly luhn: LuhnOutcome;
  /** `keepFirst` at most 6, `keepLast` at most 4. */
  readonly mask: DigitMask;
}

const BIN = 6;
const LAST = 4;
const SHAPE = /^\d(?:[ -]?\d){13,18}$/;

/**
 * 14 to 19 digits, single spaces or hyphens between them allowed and kept. The first six and the last four
 * digits stay; those between are permuted, under a tweak of the ten that stay.
 *
 * With n digits between, a valid card has only 10^(n-1) of them, as the last follows from Luhn. What is permuted:
 * `valid`: that rank, again spelled as a Luhn-valid middle. `invalid`: nine places for each rank, one for each
 * wrong last digit, the value at the first, so 8 of 9 strings made up by hand are refused. `any`: all 10^n, and
 * values needn't pass Luhn either. 13-digit cards are refused: with ten digits kept, a hundred would be left.
 */
export function createCardNumber(key: AesKey, { luhn, mask }: CardNumberOptions): Format {
  const permutations = new Map<number, Permutation>();
  const permutationFor = (middleLength: number): Permutation => {
    let found = permutations.get(middleLength);
    if (!found) {
      const size = { valid: 1, invalid: 9, any: 10 }[luhn] * 10 ** (middleLength - 1);
      found = createPermutation(key, size, BIN + LAST);
      permutations.set(middleLength, found);
    }
    return found;
  };

  const take = (text: string) => {
    const digits = text.replace(/[ -]/g, '');
    const bin = digits.slice(0, BIN);
    const last = digits.slice(-LAST);
    return { digits, bin, last, middle: digits.slice(BIN, -LAST), tweak: Buffer.from(bin + last, 'latin1') };
  };
  type Taken = ReturnType<typeof take>;

  /** Digits between, from a rank and the distance of their last digit to the one Luhn asks for. */
  const spell = (card: Taken, rank: number, distance: number): string => {
    const before = String(rank).padStart(card.middle.length - 1, '0');
    return before + String((luhnDigitBetween(card.bin + before, card.last) + distance) % 10);
  };
  const rankOf = (card: Taken): number => Number(card.middle.slice(0, -1));
  const distanceOf = (card: Taken): number => {
    const asked = luhnDigitBetween(card.bin + card.middle.slice(0, -1), card.last);
    return (Number(card.middle.at(-1)) - asked + 10) % 10;
  };
  const rejoin = (template: string, card: Taken, middle: string) =>
    good(refillDigits(template, card.bin + middle + card.last));
  const whole = (card: Taken, number: number) => String(number).padStart(card.middle.length, '0');

  /** A way through: what is permuted of a text, or why nothing is, and the text that comes of it. */
  interface Way {
    readonly enter: (text: string) => (Taken & { readonly x: number }) | FormatFailure;
    readonly leave: (template: string, card: Taken, y: number) => FormatOutcome;
    readonly one: 'forward' | 'backward';
    readonly all: 'forwardAll' | 'backwardAll';
  }
  const tokenizing: Way = {
    one: 'forward',
    all: 'forwardAll',
    enter(value) {
      if (value === '') return 'ValueEmpty';
      if (!SHAPE.test(value)) return 'ValueInvalid';
      const card = take(value);
      if (luhn === 'any') return { ...card, x: Number(card.middle) };
      if (!isLuhnValid(card.digits)) return 'ValueInvalid';
      return { ...card, x: luhn === 'valid' ? rankOf(card) : rankOf(card) * 9 };
    },
    leave(template, card, y) {
      if (luhn === 'any') return rejoin(template, card, whole(card, y));
      if (luhn === 'valid') return rejoin(template, card, spell(card, y, 0));
      return rejoin(template, card, spell(card, Math.floor(y / 9), (y % 9) + 1));
    },
  };
  const detokenizing: Way = {
    one: 'backward',
    all: 'backwardAll',
    enter(token) {
      if (!SHAPE.test(token)) return 'TokenInvalid';
      const card = take(token);
      if (luhn === 'any') return { ...card, x: Number(card.middle) };
      const distance = distanceOf(card);
      if ((distance === 0) !== (luhn === 'valid')) return 'TokenInvalid';
      return { ...card, x: luhn === 'valid' ? rankOf(card) : rankOf(card) * 9 + distance - 1 };
    },
    leave(template, card, x) {
      if (luhn === 'any') return rejoin(template, card, whole(card, x));
      if (luhn === 'valid') return rejoin(template, card, spell(card, x, 0));
      return x % 9 === 0 ? rejoin(template, card, spell(card, x / 9, 0)) : bad('TokenInvalid');
    },
  };

  const through = ({ enter, leave, one }: Way, text: string): FormatOutcome => {
    const card = enter(text);
    if (typeof card === 'string') return bad(card);
    return leave(text, card, permutationFor(card.middle.length)[one](card.tweak, card.x));
  };
  const allThrough = ({ enter, leave, all }: Way, texts: readonly string[]): FormatOutcome[] => {
    const entered = texts.map(enter);
    const outcomes = entered.map((card) => bad(typeof card === 'string' ? card : 'ValueInvalid'));
    const cards = entered.flatMap((card, at) => (typeof card === 'string' ? [] : [{ card, at }]));
    for (const [length, group] of Map.groupBy(cards, ({ card }) => card.middle.length)) {
      const [tweaks, xs] = [group.map(({ card }) => card.tweak), group.map(({ card }) => card.x)];
      const ys = permutationFor(length)[all](tweaks, xs);
      for (const [index, { card, at }] of group.entries())
        outcomes[at] = leave(texts[at] ?? '', card, ys[index] ?? 0);
    }
    return outcomes;
  };

  return {
    tokenize: (value) => through(tokenizing, value),
    detokenize: (token) => through(detokenizing, token),
    tokenizeAll: (values) => allThrough(tokenizing, values),
    detokenizeAll: (tokens) => allThrough(detokenizing, tokens),
    mask: (value) => maskDigits(value, mask),
  };
}
