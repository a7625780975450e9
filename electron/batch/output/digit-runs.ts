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
 * Calls `visit` with the runs of digits of a text in which fields end at each of `ends`, at quotes and at line ends. Those with
 * fewer than `minDigits` are left out. It goes through all that an export copies, so it makes nothing. `visitOther` gets a
 * place where digits of other scripts and forms may be, alone or among plain ones: units in a row that are no letters of
 * ASCII, some of them not of ASCII, and as many of these and of digits.
 */
export function createRunFinder(
  ends: string,
  minDigits: number,
  visit: (run: DigitRun) => void,
  visitOther: (position: number) => void = () => undefined,
): (units: Units, from: number, to: number) => void {
  const kinds = new Uint8Array(0x100);
  for (let unit = 0; unit < kinds.length; unit++) {
    const character = String.fromCharCode(unit);
    if (/[0-9]/.test(character)) kinds[unit] = unitKinds.digit;
    // Above ASCII it is a part of some character: as a rule of a space or a dash.
    else if (!/["\r\na-z]/i.test(character) && !ends.includes(character)) kinds[unit] = unitKinds.separator;
  }
  const positions = new Int32Array(maxGroups);
  const before = new Int32Array(maxGroups + 1);
  const run: DigitRun = { units: new Uint8Array(0), count: 0, positions, before };
  /** Of the stretch that is looked at: digits, and units that are not of ASCII. */
  let allDigits = 0;
  let others = 0;

  function kindOf(unit: number): number {
    if (unit < 0x100) return kinds[unit] ?? 0;
    return isLetter(unit) && !blankLetters.includes(unit) ? unitKinds.end : unitKinds.separator;
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
    others = 0;
    allDigits = 0;
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
    // A digit in a circle is one unit at least.
    if (others > 0 && others + allDigits >= minDigits) visitOther(from);
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
      while (at < to && at - end < maxGap && kindOf(units[at] ?? 0) === unitKinds.separator) {
        if ((units[at] ?? 0) >= 0x80) others += 1;
        at += 1;
      }
      if (at >= to || !isDigit(units[at] ?? 0)) break;
      end = at;
    }
    allDigits += digits;
    if (digits >= minDigits) {
      before[groups] = digits;
      run.units = units;
      run.count = groups;
      visit(run);
    }
    return at;
  }
}

/** Those that stand for a blank or a dash between digits, as `plainText` and the masks have it. */
const blankLetters = [0x115f, 0x1160, 0x3164, 0xffa0, 0x30fc, 0xff70];
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const isLetter = (unit: number): boolean => /\p{L}/u.test(String.fromCharCode(unit));

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

/** The digits from one group to another, that included. */
export function digitsOf(run: DigitRun, group: number, last: number): string {
  let digits = '';
  eachDigit(
    run,
    group,
    (run.before[last + 1] ?? 0) - (run.before[group] ?? 0),
    (digit) => (digits += String(digit)),
  );
  return digits;
}

/** The run as it is written; what is not of ASCII in it as bytes. */
export function textOf({ units, count, positions, before }: DigitRun): string {
  const last = count - 1;
  const [from, to] = [positions[0] ?? 0, (positions[last] ?? 0) + (before[count] ?? 0) - (before[last] ?? 0)];
  const { buffer, byteOffset, BYTES_PER_ELEMENT: size } = units;
  const bytes = Buffer.from(buffer, byteOffset + size * from, size * (to - from));
  return bytes.toString(size === 2 ? 'utf16le' : 'latin1');
}
