import { isIssued, longestCard, shortestCard } from '../../masking/cards.ts';
import { replaceIbans } from '../../masking/ibans.ts';
import type { Units } from '../reading/table.ts';

/**
 * Digits that follow each other in a text, in groups with up to six characters between two of them that are no letters.
 * It is overwritten by the next one.
 */
export interface DigitRun {
  units: Units;
  /** How many groups there are. */
  count: number;
  /** Where each group begins in the text. */
  readonly positions: Int32Array;
  /** How many digits come before each group, and behind them all digits. */
  readonly before: Int32Array;
}

/** What a unit of a text is to a run of digits. */
const unitKinds = { digit: 1, separator: 2, end: 0 } as const;
/** As in a mask. */
const maxGap = 6;
/** A run ends there. No number that is looked for has nearly as many. */
const maxGroups = 256;

/**
 * Calls `visit` with the runs of digits of a text in which fields end at `delimiter`, at quotes and at line ends. Those with
 * fewer than `minDigits` are left out. It goes through all that an export copies, so it makes nothing. `visitOther` gets a
 * place where digits of other scripts may be: so many units in a row that are no letters, and not of ASCII.
 */
export function createRunFinder(
  delimiter: string,
  minDigits: number,
  visit: (run: DigitRun) => void,
  visitOther: (position: number) => void = () => undefined,
): (units: Units, from: number, to: number) => void {
  const kinds = new Uint8Array(0x100);
  for (let unit = 0; unit < kinds.length; unit++) {
    const character = String.fromCharCode(unit);
    if (/[0-9]/.test(character)) kinds[unit] = unitKinds.digit;
    // Above ASCII it is a part of some character: as a rule of a space or a dash.
    else if (!/["\r\na-z]/i.test(character) && character !== delimiter) kinds[unit] = unitKinds.separator;
  }
  const positions = new Int32Array(maxGroups);
  const before = new Int32Array(maxGroups + 1);
  const run: DigitRun = { units: new Uint8Array(0), count: 0, positions, before };

  function kindOf(unit: number): number {
    if (unit < 0x100) return kinds[unit] ?? 0;
    return isLetter(unit) ? unitKinds.end : unitKinds.separator;
  }

  return (units, from, to) => {
    let at = from;
    while (at + minDigits <= to) {
      // Of most texts one unit in ten is looked at: before what ends a run there is none that is long enough.
      let last = at + minDigits - 1;
      while (last >= at && kindOf(units[last] ?? 0) !== unitKinds.end) last -= 1;
      at = last >= at ? last + 1 : findInStretch(units, at, to);
    }
  };

  /** Up to the next unit that ends a run; answers where it is. */
  function findInStretch(units: Units, from: number, to: number): number {
    let at = from;
    let others = 0;
    while (at < to) {
      const unit = units[at] ?? 0;
      const kind = kindOf(unit);
      if (kind === unitKinds.end) break;
      if (kind === unitKinds.digit) at = findRun(units, at, to);
      else {
        if (unit >= 0x80) others += 1;
        at += 1;
      }
    }
    if (others >= minDigits) visitOther(from);
    return at;
  }

  function findRun(units: Units, from: number, to: number): number {
    let at = from;
    let groups = 0;
    let digits = 0;
    let end = at;
    // To the end of a group, and over what is between it and the next.
    while (groups < maxGroups) {
      positions[groups] = at;
      before[groups] = digits;
      groups += 1;
      while (at < to && isDigit(units[at] ?? 0)) at += 1;
      digits += at - end;
      end = at;
      while (at < to && at - end < maxGap && kindOf(units[at] ?? 0) === unitKinds.separator) at += 1;
      if (at >= to || !isDigit(units[at] ?? 0)) break;
      end = at;
    }
    if (digits >= minDigits) {
      before[groups] = digits;
      run.units = units;
      run.count = groups;
      visit(run);
    }
    return at;
  }
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const isLetter = (unit: number): boolean => /\p{L}/u.test(String.fromCharCode(unit));

const card = new Uint8Array(longestCard);

/** Calls `each` with so many digits from a group on. */
export function eachDigit(
  { units, positions }: DigitRun,
  group: number,
  count: number,
  each: (digit: number, index: number) => void,
): void {
  let index = 0;
  for (let at = positions[group] ?? 0; index < count; at++) {
    const digit = (units[at] ?? 0x30) - 0x30;
    if (digit >= 0 && digit <= 9) each(digit, index++);
  }
}

/**
 * The index of the last group of a card number that begins with group `from`; -1 where none does. One is known by its
 * issuer's range, its length and its check digit, and is written in one piece or in groups as cards have them: of one
 * size, of which the last may be smaller, or of 4, 6 and the rest, as on American Express and Diners. One number in ten of
 * any kind passes the check, and dates, times and telephone numbers are groups as well. The number of an article (EAN) is
 * none, nor what is within an IBAN.
 */
export function cardEnd(run: DigitRun, from: number): number {
  const { units, positions, before } = run;
  const start = before[from] ?? 0;
  const first = (units[positions[from] ?? 0] ?? 0) - 0x30;
  if (first === 0 || first === 7) return -1;
  const sizeOf = (group: number): number => (before[group + 1] ?? 0) - (before[group] ?? 0);
  const size = sizeOf(from);
  const isUneven = size === 4 && from + 1 < run.count && sizeOf(from + 1) === 6;
  for (let last = from; last < run.count; last++) {
    const length = (before[last + 1] ?? 0) - start;
    if (length > longestCard) return -1;
    const isRest = last === from + 2 && isUneven;
    // Many lists are of small numbers, and some part of a list passes for a card: then it has to be all of it.
    const isPart = size < 3 && (from > 0 || last < run.count - 1);
    if (sizeOf(last) > size && !isUneven) return -1;
    const isWhole = length >= shortestCard && !isPart && (!isUneven || isRest);
    if (isWhole && isCard(run, from, length)) return last;
    if (isRest || (sizeOf(last) < size && !isUneven)) return -1;
  }
  return -1;
}

function isCard(run: DigitRun, from: number, length: number): boolean {
  eachDigit(run, from, length, (digit, index) => (card[index] = digit));
  if (!isIssued(card, 0, length) || !passesLuhn(length) || (length === shortestCard && isEan())) return false;
  return !isInIban(run.units, run.positions[from] ?? 0);
}

function passesLuhn(length: number): boolean {
  let sum = 0;
  for (let position = 0; position < length; position++) {
    const digit = card[length - 1 - position] ?? 0;
    const weighted = position % 2 === 1 ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

/** By its check digit (GS1). Those of Germany begin with 4, as Visa's old numbers of 13 digits do. */
function isEan(): boolean {
  let sum = 0;
  for (let position = 0; position < 13; position++)
    sum += (card[position] ?? 0) * (position % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

const longestIban = 45;

function isInIban(units: Units, position: number): boolean {
  const from = Math.max(0, position - longestIban);
  const around = String.fromCharCode(...units.subarray(from, position + longestIban));
  let isWithin = false;
  replaceIbans(around, (iban, index) => {
    isWithin ||= from + index <= position && position < from + index + iban.length;
    return iban;
  });
  return isWithin;
}
