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
  if (once.length !== plain.length || twice.length !== spelled.text.length)
    return hiddenSign.repeat(plain.length);
  return joinMasks({ plain, once, spelled, twice });
}

const hiddenSign = '•';

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
    joined += hidden > 0 ? hiddenSign : (twice[at] ?? '');
  }
  return isMore ? joined : once;
}

/** At most about, of what spells a digit: a number may begin within it. */
const longestSign = 16;
/** Of more, each is told as it is written: no text of so many values is sent, and no part of a long one has as many. */
const mostDoubtful = 5_000;

/**
 * Tells the values of both readings, each once. Where they differ in what is there of one kind, what is spelled is told: the signs
 * within the other value, or just beside it, are no part of it.
 */
function createValues(
  plain: string,
  { from, to }: SpelledText,
  visit: VisitValue,
): { readonly written: VisitValue; readonly spelled: VisitValue; readonly end: () => void } {
  const told: Value[] = [];
  const doubtful: Value[] = [];
  const spelled: Value[] = [];
  const tell = (one: Value): void => {
    told.push(one);
    visit(one.kind, one.value, one.place);
  };
  return {
    written(kind, value, place) {
      if (place === null) return;
      const near = plain.slice(Math.max(0, place.from - longestSign), place.to + 1);
      const isDoubtful = /[&%\\]/.test(near) && doubtful.length < mostDoubtful;
      if (isDoubtful) doubtful.push({ kind, value, place });
      else tell({ kind, value, place });
    },
    spelled(kind, value, place) {
      if (place === null) return;
      spelled.push({ kind, value, place: { from: from[place.from] ?? 0, to: to[place.to - 1] ?? 0 } });
    },
    end() {
      for (const kind of new Set([...doubtful, ...spelled].map((one) => one.kind))) {
        const isOfKind = (one: Value): boolean => one.kind === kind;
        const others = createCover(plain.length, spelled.filter(isOfKind));
        for (const one of doubtful.filter(isOfKind))
          if (others(one.place).every((other) => bareOf(other) === bareOf(one))) tell(one);
        const known = createCover(plain.length, told.filter(isOfKind));
        for (const one of spelled.filter(isOfKind))
          if (known(one.place).length === 0) visit(kind, one.value, null);
      }
    },
  };
}

const bareOf = ({ kind, value }: Value): string =>
  kind === 'email' ? value : value.replaceAll(/[^A-Za-z0-9]/g, '');

/** Answers which of the values are within a place. */
function createCover(length: number, values: readonly Value[]): (place: Place) => Value[] {
  if (values.length === 0) return () => [];
  /** Of each unit, which value it is of, from one on. */
  const covered = new Int32Array(length);
  for (const [index, { place }] of values.entries()) covered.fill(index + 1, place.from, place.to);
  return ({ from, to }) => {
    const found: Value[] = [];
    for (let at = from; at < to; at++) {
      const value = values[(covered[at] ?? 0) - 1];
      if (value !== undefined && value !== found.at(-1)) found.push(value);
    }
    return found;
  };
}
