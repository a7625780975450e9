import { ibanIn, ibanLike } from '../../privacy/masking.ts';

/** Digits that follow each other in a text, in groups with up to three characters between two of them that are no letters. */
export interface DigitRun {
  /** 0 to 9. */
  readonly digits: number[];
  /** Index in `digits` of the first of each group, and behind them the number of digits. */
  readonly groups: number[];
  /** Where each group begins in the text. */
  readonly positions: number[];
}

/** What a unit of a text is to a run of digits. */
const unitKinds = { digit: 1, separator: 2, end: 0 } as const;
const maxGap = 3;
/** A run ends at the next group. No number that is looked for is nearly as long. */
const maxDigits = 1_024;

/**
 * Finds the runs of digits of a text in which fields end at `delimiter`, at quotes and at line ends. `minDigits`: shorter
 * ones are left out. Made for every byte of an export: it makes no object and no text, and the run is overwritten by the next.
 */
export function createRunFinder(
  delimiter: string,
  minDigits: number,
): (view: string, from: number, to: number, visit: (run: DigitRun) => void) => void {
  const kinds = new Uint8Array(0x100);
  for (let unit = 0; unit < kinds.length; unit++) {
    const character = String.fromCharCode(unit);
    if (/[0-9]/.test(character)) kinds[unit] = unitKinds.digit;
    // Above ASCII it is a part of some character: as a rule of a space or a dash.
    else if (!/["\r\na-z]/i.test(character) && character !== delimiter) kinds[unit] = unitKinds.separator;
  }
  const kindOf = (unit: number): number =>
    unit < 0x100 ? (kinds[unit] ?? 0) : isLetter(unit) ? unitKinds.end : unitKinds.separator;
  const run: DigitRun = { digits: [], groups: [], positions: [] };

  return (view, from, to, visit) => {
    let at = from;
    while (at < to) {
      const first = view.charCodeAt(at) - 0x30;
      if (first < 0 || first > 9) {
        at += 1;
        continue;
      }
      // Most runs are short, and are passed over before anything is written down.
      const begin = at;
      let count = 0;
      let gap = 0;
      for (; at < to && gap <= maxGap && count < maxDigits; at++) {
        const kind = kindOf(view.charCodeAt(at));
        if (kind === unitKinds.digit) {
          count += 1;
          gap = 0;
        } else if (kind === unitKinds.separator) gap += 1;
        else break;
      }
      if (count < minDigits) continue;
      fill(view, begin, at);
      visit(run);
    }
  };

  function fill(view: string, from: number, to: number): void {
    run.digits.length = run.groups.length = run.positions.length = 0;
    let isInGroup = false;
    for (let at = from; at < to; at++) {
      const digit = view.charCodeAt(at) - 0x30;
      const isDigit = digit >= 0 && digit <= 9;
      if (isDigit && !isInGroup) {
        run.groups.push(run.digits.length);
        run.positions.push(at);
      }
      if (isDigit) run.digits.push(digit);
      isInGroup = isDigit;
    }
    run.groups.push(run.digits.length);
  }
}

const isLetter = (unit: number): boolean => /\p{L}/u.test(String.fromCharCode(unit));

const shortest = 13;
const longest = 19;

/**
 * The index of the last group of a card number that begins with group `from`; -1 where none does. One is known by its
 * issuer's range, its length and its check digit, and is written in one piece or in groups as cards have them: one
 * number in ten of any kind passes the check, and dates, times and telephone numbers are groups as well. The number of an
 * article (EAN) is none, nor what is within an IBAN.
 */
export function cardEnd(run: DigitRun, from: number, view: string): number {
  const { digits, groups } = run;
  const start = groups[from] ?? 0;
  const first = digits[start] ?? 0;
  if (first < 2 || first > 6) return -1;
  for (let last = from; last < groups.length - 1; last++) {
    const length = (groups[last + 1] ?? 0) - start;
    if (length > longest) return -1;
    if (length < shortest || !isIssued(digits, start, length)) continue;
    if (!passesLuhn(digits, start, length) || !isCardShape(groups, from, last)) continue;
    if (length === shortest && isEan(digits, start)) continue;
    if (!isInIban(view, run.positions[from] ?? 0)) return last;
  }
  return -1;
}

/** Groups of one size, of which the last may be smaller; or 4, 6 and the rest, as on American Express and Diners. */
function isCardShape(groups: readonly number[], from: number, last: number): boolean {
  const sizeOf = (group: number): number => (groups[group + 1] ?? 0) - (groups[group] ?? 0);
  if (last === from) return true;
  if (last === from + 2 && sizeOf(from) === 4 && sizeOf(from + 1) === 6) return true;
  for (let group = from + 1; group < last; group++) if (sizeOf(group) !== sizeOf(from)) return false;
  return sizeOf(last) <= sizeOf(from);
}

/**
 * Whether a network gives out numbers of this beginning and length. Maestro's are not among them: its ranges take up
 * half of all numbers that begin with 5 or 6, in any length, and it is being withdrawn.
 */
function isIssued(digits: readonly number[], at: number, length: number): boolean {
  const digit = (index: number): number => digits[at + index] ?? 0;
  const four = digit(0) * 1_000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  const two = Math.floor(four / 100);
  const three = Math.floor(four / 10);
  const isIn = (value: number, least: number, most: number): boolean => value >= least && value <= most;
  if (isIn(two, 40, 49)) return length === 13 || length === 16 || length === 19; // Visa
  if (isIn(two, 51, 55) || isIn(four, 2221, 2720)) return length === 16; // Mastercard
  if (two === 34 || two === 37) return length === 15; // American Express
  if (isIn(three, 300, 305) || two === 36 || two === 38) return length === 14; // Diners
  if (four === 6011 || isIn(three, 644, 649) || two === 65) return length === 16; // Discover
  if (isIn(four, 3528, 3589)) return length === 16; // JCB
  return two === 62 && length >= 16; // UnionPay
}

function passesLuhn(digits: readonly number[], from: number, length: number): boolean {
  let sum = 0;
  for (let position = 0; position < length; position++) {
    const digit = digits[from + length - 1 - position] ?? 0;
    const weighted = position % 2 === 1 ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

/** By its check digit (GS1). Those of Germany begin with 4, as Visa's old numbers of 13 digits do. */
function isEan(digits: readonly number[], from: number): boolean {
  let sum = 0;
  for (let position = 0; position < 13; position++)
    sum += (digits[from + position] ?? 0) * (position % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

const longestIban = 45;

function isInIban(view: string, position: number): boolean {
  const from = Math.max(0, position - longestIban);
  const around = view.slice(from, position + longestIban);
  return Array.from(around.matchAll(ibanLike)).some(({ index, 0: found }) => {
    const iban = ibanIn(found);
    return iban !== null && from + index <= position && position < from + index + iban.length;
  });
}
