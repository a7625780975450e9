import type { ValueKind } from '../contract/value-kinds.ts';
import { spelledWithPlaces, type SpelledText } from './plain-text.ts';

/*
 * A text is read as it is written and as what it spells. Either reading may take a part of a value for another one: of
 * `4111%201111…` the digits of a blank that is spelled count as digits in the first one. So each reads the whole text.
 */

/** Where a value stands in the plain text that is read. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/** Gets a value as it is written, of a card its digits; without a place where only what the text spells has it. */
export type VisitValue = (kind: ValueKind, value: string, place: Place | null) => void;

interface Value {
  readonly kind: ValueKind;
  readonly value: string;
  /** In the text as it is written. */
  readonly place: Place;
}

type MaskReading = (text: string, visit?: VisitValue) => string;

/**
 * What either reading hides is hidden, in the text as it is where that hides all of it, otherwise in what it spells. Each
 * value is told once.
 */
export function maskBoth(plain: string, masked: MaskReading, visit?: VisitValue): string {
  const spelled = spelledWithPlaces(plain);
  if (spelled === null) return masked(plain, visit);
  const [values, spelledValues]: [Value[], Value[]] = [[], []];
  const once = masked(plain, (kind, value, place) => {
    if (place !== null) values.push({ kind, value, place });
  });
  const twice = masked(spelled.text, (kind, value, place) => {
    if (place !== null) spelledValues.push({ kind, value, place: placeIn(spelled, place) });
  });
  if (visit !== undefined) tellBoth(plain, { values, spelledValues }, visit);
  if (twice === spelled.text) return once;
  // A dot stands for both units of some characters: nobody knows which is whose.
  if (once.length !== plain.length || twice.length !== spelled.text.length)
    return hiddenSign.repeat(plain.length);
  return joinMasks({ plain, once, spelled, twice });
}

const hiddenSign = '•';

const placeIn = ({ from, to }: SpelledText, place: Place): Place => ({
  from: from[place.from] ?? 0,
  to: to[place.to - 1] ?? 0,
});

function joinMasks({
  plain,
  once,
  spelled,
  twice,
}: {
  readonly plain: string;
  readonly once: string;
  readonly spelled: SpelledText;
  readonly twice: string;
}): string {
  const isHidden = (at: number): boolean => once[at] !== plain[at];
  let joined = '';
  let isMore = false;
  for (let at = 0; at < twice.length; at++) {
    let hidden = false;
    for (let unit = spelled.from[at] ?? 0; unit < (spelled.to[at] ?? 0); unit++) hidden ||= isHidden(unit);
    isMore ||= !hidden && twice[at] !== spelled.text[at];
    joined += hidden ? hiddenSign : (twice[at] ?? '');
  }
  return isMore ? joined : once;
}

/**
 * Of a number that only one reading can have right, the spelled one is told: the signs within the other one's spell
 * something.
 */
function tellBoth(
  plain: string,
  { values, spelledValues }: { readonly values: readonly Value[]; readonly spelledValues: readonly Value[] },
  visit: VisitValue,
): void {
  const isSpelled = createCover(plain.length, spelledValues.filter(isNumber));
  const told = values.filter(
    (one) =>
      !isNumber(one) ||
      !/[&%\\]/.test(plain.slice(one.place.from, one.place.to)) ||
      isSpelled(one.place).every((other) => bareOf(other) === bareOf(one)),
  );
  for (const { kind, value, place } of told) visit(kind, value, place);
  const isTold = createCover(plain.length, told);
  for (const { kind, value, place } of spelledValues)
    if (isTold(place).length === 0) visit(kind, value, null);
}

const isNumber = ({ kind }: Value): boolean => kind !== 'email';
const bareOf = ({ kind, value }: Value): string => kind + value.replaceAll(/[^A-Za-z0-9]/g, '');

/** Answers which of the values are within a place. */
function createCover(length: number, values: readonly Value[]): (place: Place) => readonly Value[] {
  if (values.length === 0) return () => [];
  const covered = new Int32Array(length);
  for (const [index, { place }] of values.entries()) covered.fill(index + 1, place.from, place.to);
  return ({ from, to }) =>
    [...new Set(covered.subarray(from, to))].flatMap((index) => values[index - 1] ?? []);
}
