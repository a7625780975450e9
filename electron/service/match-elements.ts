import { type Outcome, done, failed } from '../contract/errors.ts';
import { cleartext } from '../util/cleartext.ts';
import {
  echoOfAny,
  findUnusable,
  holdsSent,
  isDone,
  isEcho,
  isObject,
  memberAt,
  memberNames,
} from './answers.ts';
import type { ServiceAnswer } from './http/failures.ts';
import type { Pairs } from './http/read-pairs.ts';
import type { MatchReturns, ServiceProfile } from './profile.ts';
import type { Nothing, SuccessFlag } from './profile-fields.ts';
import { readList } from './read-answers.ts';
import { codeOf, refusalOf } from './refusals.ts';
import type { Element, ElementAnswer } from './service-client.ts';

export interface ElementMembers {
  readonly ref: readonly string[];
  readonly value: readonly string[];
  readonly error: readonly string[];
  readonly none: Nothing;
  readonly success: SuccessFlag;
  readonly emptyValues: boolean;
  /** Of a value, in characters. A longer one could not be sent back. */
  readonly maxLength: number;
  readonly elementCodes: ServiceProfile['elementCodes'];
  /** Whether an answer that repeats what was sent is a failure: see `isEcho`. */
  readonly refusesEcho: boolean;
  /** Whether one that has within it what was sent is a failure as well: see `holdsSent`. */
  readonly refusesPart: boolean;
  /** What an element that matches holds; null where nothing is to match. */
  readonly returns: MatchReturns | null;
}

/** By position in what was sent; null where nothing came back. */
export type Matched = readonly (ElementAnswer | null)[];

function stringIn(object: Readonly<Record<string, unknown>>, names: readonly string[]): string | null {
  for (const name of names) {
    // What every object inherits is no text.
    const found = object[name];
    if (typeof found === 'string') return found;
    const inner = hasPath(name) ? memberAt(object, name) : null;
    if (typeof inner === 'string') return inner;
  }
  return null;
}

/** What a batch's elements were answered with. */
export function matchAnswer(
  profile: ServiceProfile,
  answer: ServiceAnswer,
  sent: readonly Element[],
  members: ElementMembers,
): Outcome<Matched> {
  const columns = answer.pairs === null ? null : columnsOf(answer.pairs, profile, members);
  if (columns !== null) return matchColumns(sent, columns, members);
  const list = readList(profile, answer.json, {
    valueName: members.value[0] ?? '',
    mayLack: members.returns !== null,
  });
  return list.ok ? matchElements(sent, list.value, members) : list;
}

interface Columns {
  readonly refs: readonly string[];
  readonly values: readonly string[];
}

/** Which column holds the RefIds and which the values; null where the profile may read something else in them. */
function columnsOf(
  { list, names, columns }: Pairs,
  { lists, bareLists, batchAnswers }: ServiceProfile,
  members: ElementMembers,
): Columns | null {
  const isList = list === null ? bareLists : lists.includes(list);
  if (!isList || batchAnswers === 'by-reference' || members.returns !== null || !areFlat(members))
    return null;
  const [ref, value] = [members.ref, members.value].map((known) =>
    names.findIndex((name) => name === known.find((one) => names.includes(one))),
  );
  const refs = columns[ref ?? -1];
  const values = columns[value ?? -1];
  return refs === undefined || values === undefined ? null : { refs, values };
}

/** As `matchElements`: a RefId and a value are all that each element has. */
function matchColumns(
  sent: readonly Element[],
  { refs, values }: Columns,
  members: ElementMembers,
): Outcome<Matched> {
  const { answers, positionOf, judge } = pairing(sent, members);
  for (let index = 0; index < refs.length; index++) {
    const ref = refs[index] ?? '';
    const position = positionOf(ref, index);
    if (position === undefined) return failed('service.mismatched-answer');
    judge(position, ref, values[index] ?? null);
  }
  return done(answers);
}

/** What each element sent is answered with, found by RefId and settled one by one. */
function pairing(sent: readonly Element[], members: ElementMembers) {
  const { returns, refusesEcho, refusesPart } = members;
  const answers = new Array<ElementAnswer | null>(sent.length).fill(null);
  // Made only when an answer is out of order: most come back as they were sent.
  let positions: Map<string, number> | null = null;
  const isOthers = refusesPart ? echoOfAny(sent.map(({ value }) => value)) : null;
  /** Undefined for a foreign RefId, and for one that has its answer. */
  const positionOf = (ref: string, index: number): number | undefined => {
    let position: number | undefined = index;
    if (sent[index]?.ref !== ref) {
      positions ??= positionsOf(sent);
      position = positions.get(ref);
    }
    return position === undefined || answers[position] !== null ? undefined : position;
  };
  const judge = (position: number, ref: string, value: string | null): void => {
    const own = sent[position]?.value ?? '';
    const isSent =
      value !== null &&
      (((refusesEcho || returns !== null) && isEcho(own, value)) ||
        (refusesPart && holdsSent(own, value)) ||
        isOthers?.(value) === true);
    if (isSent)
      answers[position] =
        returns === null ? { ref, ok: false, code: 'service.echoed-value' } : { ref, ok: true, value: null };
    // Another value than the one that was sent: it is not known whose it is.
    else if (returns === 'element') answers[position] = { ref, ok: false, code: 'service.mismatched-answer' };
    else answers[position] = answerOf(ref, value, members);
  };
  return { answers, positionOf, judge };
}

/**
 * Pairs a batch answer with what was sent, by RefId and never by position (spec §2). An element that is foreign,
 * doubled (even identically) or without RefId makes the whole answer unusable: nobody knows what else is wrong with it.
 */
export function matchElements(
  sent: readonly Element[],
  received: readonly unknown[],
  members: ElementMembers,
): Outcome<Matched> {
  const { answers, positionOf, judge } = pairing(sent, members);
  const { returns, success } = members;
  const isFlat = areFlat(members);
  let unreadable = 0;
  for (let index = 0; index < received.length; index++) {
    const item = received[index];
    const isBare = typeof item === 'string';
    // A list of nothing but RefIds.
    const element = isBare && returns === 'reference' ? { [members.ref[0] ?? '']: item } : item;
    if (!isObject(element)) return failed('service.mismatched-answer', isBare ? { members: ['[]'] } : {});
    const ref = stringIn(element, members.ref);
    if (ref === null) return failed('service.mismatched-answer', { members: memberNames(element) });
    const position = positionOf(ref, index);
    if (position === undefined) return failed('service.mismatched-answer');
    const value = stringIn(element, members.value);
    // Most have these two members: then nothing is said against it, and no other name has to be looked for.
    const isPlain = isFlat && value !== null && hasTwoMembers(element);
    const contradicting = isPlain ? null : contradictingMember(element, ref, members);
    if (contradicting !== null)
      return failed('service.unexpected-answer', { members: memberNames({ [contradicting]: 1 }) });
    const reason = isPlain ? null : refusalOf(element, members);
    const flag = success === null ? true : isDone(element, success);
    if (reason !== null) {
      answers[position] = {
        ref,
        ok: false,
        code: codeOf(reason, members.elementCodes),
        ...(reason !== '' && { reason }),
      };
      continue;
    }
    if (flag !== true) {
      const code = flag === null ? 'service.mismatched-answer' : 'service.element-refused';
      answers[position] = { ref, ok: false, code };
      continue;
    }
    if (returns === 'reference') {
      answers[position] = { ref, ok: true, value: null };
      continue;
    }
    if (value === null) unreadable++;
    judge(position, ref, value);
  }
  if (unreadable > 0 && unreadable === received.length) {
    return failed('service.unexpected-answer', { members: memberNames(received[0]) });
  }
  return done(answers);
}

/** Another RefId, or of what should match a flag that says that it doesn't. */
function contradictingMember(
  element: Readonly<Record<string, unknown>>,
  ref: string,
  { ref: refs, error, returns }: ElementMembers,
): string | null {
  const otherRef = refs.find((name) => ![undefined, null, ref].includes(memberAt(element, name) as string));
  if (otherRef !== undefined || returns === null) return otherRef ?? null;
  return Object.keys(element).find((name) => element[name] === false && !error.includes(name)) ?? null;
}

const hasPath = (name: string): boolean => name.includes('.');
const areFlat = ({ ref, value, error, success }: ElementMembers): boolean =>
  success === null && ![ref, value, error].flat().some(hasPath);

function hasTwoMembers(element: object): boolean {
  let count = 0;
  for (const _ in element) if (++count > 2) return false;
  return count === 2;
}

export function answerOf(
  ref: string,
  value: string | null,
  rules: Pick<ElementMembers, 'emptyValues' | 'maxLength'>,
): ElementAnswer {
  if (value === null) return { ref, ok: false, code: 'service.mismatched-answer' };
  const unusable = findUnusable(value, rules);
  return unusable === null ? { ref, ok: true, value: cleartext(value) } : { ref, ok: false, code: unusable };
}

function positionsOf(sent: readonly Element[]): Map<string, number> {
  const positions = new Map(sent.map(({ ref }, index) => [ref, index]));
  if (positions.size !== sent.length) throw new Error('two elements of a call share a RefId');
  return positions;
}
