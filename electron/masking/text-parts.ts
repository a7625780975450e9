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

const maxAtOnce = 64 * 1024;
const ownLength = 32 * 1024;
/** No number is longer, with what is between its digits and what they are spelled with. Of an address the end is enough. */
const sharedLength = 2 * 1024;

export const isLongText = (length: number): boolean => length > maxAtOnce;

/** A short text is one part. */
export function* partsOf(from: number, to: number): Generator<TextPart, void> {
  if (!isLongText(to - from)) {
    yield { from, to, again: from };
    return;
  }
  for (let at = from; ; at += ownLength) {
    const end = Math.min(at + ownLength + sharedLength, to);
    yield { from: at, to: end, again: at === from ? at : Math.min(at + sharedLength, to) };
    if (end === to) return;
  }
}
