import type { ValueKind } from '../contract/value-kinds.ts';
import { spelledWithPlaces, type SpelledText } from './plain-text.ts';

/*
 * A text is read as it is written and as what it spells. Either reading may take a part of a value for another one: of
 * `4111%201111…` the digits of a blank that is spelled count as digits in the first one. So each reads the whole text.
 */

/** What a mask made here hides with. */
export const dot = '•';

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
/** What is masked and no value for those who count is not told, and keeps no other from being told. */
export type IsValue = (kind: ValueKind, value: string) => boolean;

/**
 * What either reading hides is hidden, in the text as it is where that hides all of it, otherwise in what it spells. Each
 * value is told once.
 */
export function maskBoth(
  plain: string,
  masked: MaskReading,
  visit?: VisitValue,
  isValue: IsValue = () => true,
): string {
  const only = (tell: VisitValue | undefined): VisitValue | undefined =>
    tell &&
    ((kind, value, place) => {
      if (isValue(kind, value)) tell(kind, value, place);
    });
  const spelled = spelledWithPlaces(plain);
  if (spelled === null) return masked(plain, only(visit));
  const values = visit && createValues(plain, spelled, visit);
  const once = masked(plain, only(values?.written));
  const twice = masked(spelled.text, only(values?.spelled));
  values?.end();
  if (twice === spelled.text) return once;
  // A dot stands for both units of some characters: nobody knows which is whose.
  if (once.length !== plain.length || twice.length !== spelled.text.length) return dot.repeat(plain.length);
  return joinMasks({ plain, once, spelled, twice });
}

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
  let joined = '';
  let isMore = false;
  for (let at = 0; at < twice.length; at++) {
    const [from, to] = [spelled.from[at] ?? 0, spelled.to[at] ?? 0];
    let hidden = 0;
    for (let unit = from; unit < to; unit++) if (once[unit] !== plain[unit]) hidden += 1;
    // What is left of a sign may tell what it spells.
    isMore ||= hidden < to - from && twice[at] !== spelled.text[at];
    joined += hidden > 0 ? dot : (twice[at] ?? '');
  }
  return isMore ? joined : once;
}

/** Of more, each is told as it is written: no text of so many values is sent, and no part of a long one has as many. */
const mostDoubtful = 5_000;

/**
 * Tells the values of both readings, each once. Where they differ in what stands at a place, what is spelled is told, without a
 * place: a sign that is read as digits may change all numbers of a run.
 */
function createValues(
  plain: string,
  { from, to }: SpelledText,
  visit: VisitValue,
): { readonly written: VisitValue; readonly spelled: VisitValue; readonly end: () => void } {
  const told = new Set<string>();
  const doubtful: Value[] = [];
  const spelled: Value[] = [];
  const tell = (one: Value, place: Place | null): void => {
    told.add(keyOf(one));
    visit(one.kind, one.value, place);
  };
  return {
    written(kind, value, place) {
      if (place === null) return;
      if (doubtful.length < mostDoubtful) doubtful.push({ kind, value, place });
      else tell({ kind, value, place }, place);
    },
    spelled(kind, value, place) {
      if (place === null) return;
      spelled.push({ kind, value, place: { from: from[place.from] ?? 0, to: to[place.to - 1] ?? 0 } });
    },
    end() {
      const same = new Set(spelled.map(keyOf));
      const isTaken = takenBy(plain.length, spelled);
      const cutsSign = signsOf(plain.length, { from, to });
      for (const one of doubtful)
        if (same.has(keyOf(one))) tell(one, one.place);
        else if (!isTaken(one.place)) tell(one, cutsSign(one.place) ? null : one.place);
      for (const one of spelled) if (!told.has(keyOf(one))) tell(one, null);
    },
  };
}

const keyOf = ({ kind, value, place }: Value): string =>
  `${kind} ${place.from} ${place.to} ${kind === 'email' ? value : value.replaceAll(/[^A-Za-z0-9]/g, '')}`;

/** Answers whether a part of a place is one of the values'. */
function takenBy(length: number, values: readonly Value[]): (place: Place) => boolean {
  const taken = new Uint8Array(length);
  for (const { place } of values) taken.fill(1, place.from, place.to);
  return ({ from, to }) => taken.subarray(from, to).includes(1);
}

/** Answers whether a place begins or ends within what spells one character. */
function signsOf(length: number, { from, to }: Omit<SpelledText, 'text'>): (place: Place) => boolean {
  const within = new Uint8Array(length + 1);
  for (let at = 0; at < from.length; at++) within.fill(1, (from[at] ?? 0) + 1, to[at] ?? 0);
  return (place) => within[place.from] === 1 || within[place.to] === 1;
}
