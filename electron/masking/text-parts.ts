/*
 * To look for values in a text takes as long as the text is. A text of megabytes is looked at in parts, and whoever looks gives
 * way between two of them.
 */

/** A part of a long text: units from one to before another. */
export interface TextPart {
  readonly from: number;
  readonly to: number;
  /** Up to there it is in the part before as well, so that no value is divided by both: what is in that is found twice. */
  readonly again: number;
}

interface Cuts {
  readonly unitAt: (at: number) => number;
  /** The last place up to `at` where a character begins, as one does at `from`. Absent: at each. */
  readonly characterAt?: (from: number, at: number) => number;
}

const maxAtOnce = 64 * 1024;
const ownLength = 32 * 1024;
/** No number is longer, with what is between its digits and what they are spelled with. Of an address the end is enough. */
const sharedLength = 2 * 1024;
/** So near a place where no number or word is cut is looked for. */
const maxBack = 256;

export const isLongText = (length: number): boolean => length > maxAtOnce;

/** A short text is one part. */
export function* partsOf(from: number, to: number, cuts: Cuts): Generator<TextPart, void> {
  if (!isLongText(to - from)) {
    yield { from, to, again: from };
    return;
  }
  let at = from;
  for (let again = from; again < to;) {
    const whole = at + ownLength + sharedLength;
    const end = whole < to ? cutBefore(at, whole, cuts) : to;
    yield { from: at, to: end, again: Math.max(again, at) };
    again = end;
    at = cutBefore(at, at + ownLength, cuts);
  }
}

function cutBefore(from: number, at: number, { unitAt, characterAt }: Cuts): number {
  for (let place = at; place > at - maxBack; place--) if (divides(unitAt(place - 1))) return place;
  return characterAt?.(from, at) ?? at;
}

/** Blanks, line ends, commas and quotes: in no encoding are they a part of another character. */
const divides = (unit: number): boolean => unit <= 0x20 || unit === 0x2c || unit === 0x22;
