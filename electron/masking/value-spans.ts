import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ValueKind } from '../contract/value-kinds.ts';
import { eachValue } from './find-values.ts';
import { plainText } from './plain-text.ts';
import type { Place } from './readings.ts';

/** A value and where it stands in its text. */
export interface ValueSpan extends Place {
  readonly kind: ValueKind;
}

/** Behind an address it is the sentence's: with it the same address would be another value. */
const sentenceEnd = /[.!?]+$/;

/** Of one text: more are no note that a person wrote, and to find and place them all takes as long as there are many. */
export const mostValues = 5_000;
const tooMany = new Error('more values than one text may have');

/**
 * The values of a text that `eachValue` tells, in the order they stand in. Failures: value.many-inside; value.spelled-inside
 * where one of them has no place of its own: it is written in other characters than its own, as `&#52;111…`, or a part of it
 * is a part of another value. What is put in its place could not be taken back byte for byte.
 */
export function valueSpans(text: string, kinds: Pick<ReadonlySet<ValueKind>, 'has'>): Outcome<ValueSpan[]> {
  const told = tellValues(text);
  if (told === null) return failed('value.many-inside');
  if (told.length === 0) return done([]);
  const placeOf = createPlaces(text);
  const spans: ValueSpan[] = [];
  for (const { kind, value: written, place } of told) {
    const value = kind === 'email' ? written.replace(sentenceEnd, '') : written;
    const found = place && placeOf({ from: place.from, to: place.to - (written.length - value.length) });
    const isHere = found !== null && isWritten(kind, value, text.slice(found.from, found.to));
    if (isHere) spans.push({ kind, ...found });
    else if (kinds.has(kind)) return failed('value.spelled-inside');
  }
  spans.sort((a, b) => a.from - b.from);
  const isApart = spans.every(({ kind, from }, at) => {
    const before = spans[at - 1];
    return before === undefined || before.to <= from || !(kinds.has(kind) || kinds.has(before.kind));
  });
  return isApart ? done(spans.filter(({ kind }) => kinds.has(kind))) : failed('value.spelled-inside');
}

interface ToldValue {
  readonly kind: ValueKind;
  readonly value: string;
  readonly place: Place | null;
}

/** Null where there are too many: the others are not looked for. */
function tellValues(text: string): ToldValue[] | null {
  const told: ToldValue[] = [];
  try {
    eachValue(text, (kind, value, place) => {
      if (told.push({ kind, value, place }) > mostValues) throw tooMany;
    });
    return told;
  } catch (error) {
    if (error === tooMany) return null;
    throw error;
  }
}

const isWritten = (kind: ValueKind, value: string, written: string): boolean =>
  written === value || (kind !== 'email' && bareOf(written) === bareOf(value));

const bareOf = (text: string): string => text.replaceAll(/[^A-Za-z0-9]/g, '');

/** A letter with the marks on it becomes one sign of the plain text, or none, or several. */
const signs = /\P{M}\p{M}*|\p{M}+/gu;

/** Where a place of the plain text is in the text; null where it begins or ends within a sign. */
function createPlaces(text: string): (place: Place) => Place | null {
  const plain = plainText(text);
  if (plain === text) return (place) => place;
  const begins = new Map<number, number>();
  const ends = new Map([[0, 0]]);
  let made = '';
  for (const { index, 0: sign } of text.matchAll(signs)) {
    begins.set(made.length, index);
    made += plainText(sign);
    if (!ends.has(made.length)) ends.set(made.length, index + sign.length);
  }
  if (made !== plain) return () => null;
  return (place) => {
    const from = begins.get(place.from);
    const to = ends.get(place.to);
    return from === undefined || to === undefined ? null : { from, to };
  };
}
