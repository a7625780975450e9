import { type Failure, type Outcome, done, failed } from '../contract/errors.ts';
import type { BatchOperation } from '../contract/operations.ts';
import { repeatsIn } from '../masking/plain-text.ts';
import { cleartext } from '../util/cleartext.ts';
import {
  findUnusable,
  echoOfAny,
  holdsSent,
  isDone,
  isEcho,
  isObject,
  memberAt,
  memberNames,
  unusableCodes,
} from './answers.ts';
import { readList } from './read-answers.ts';
import type { Answer, BatchAnswer, Element, ElementAnswer } from './service-client.ts';
import { givesToken, operations } from './operations.ts';
import type { MatchReturns, ServiceProfile } from './profile.ts';
import type { Nothing, SuccessFlag } from './profile-fields.ts';
import { codeOf, refusalOf, type Refused } from './refusals.ts';
import type { SessionAnswer } from './session/call-with-session.ts';

interface BatchOptions {
  readonly profile: ServiceProfile;
  readonly operation: BatchOperation;
  readonly refusesEcho: boolean;
  /** Sends these elements in one request. `countRefused`: elements of its answer that were refused, by code. */
  readonly send: (
    elements: readonly Element[],
    countRefused: (json: unknown) => ReadonlyMap<string, number>,
  ) => Promise<Outcome<SessionAnswer>>;
  /** Elements a request may hold now. */
  readonly size: () => number;
  /** A request of so many elements was too large. */
  readonly shrink: (sent: number) => void;
  /** An answer that the profile can't read. */
  readonly onUnreadable: (json: unknown) => void;
}

/**
 * One call's elements in one request or, where the service can't take that many, in several. Every element ends with
 * exactly one answer (or, for PatternMatch, none: it did not match), or the whole call fails.
 */
export async function callBatch(
  options: BatchOptions,
  elements: readonly Element[],
): Promise<Outcome<BatchAnswer>> {
  const { profile, operation, refusesEcho } = options;
  const { element, emptyValues, elementCodes, limits } = profile;
  const members: ElementMembers = {
    ...element,
    value: profile.operations[operation].answer,
    emptyValues,
    maxLength: limits.valueLength,
    elementCodes,
    refusesEcho,
    refusesPart: givesToken(operation),
    returns: operation === 'PatternMatch' ? profile.operations.PatternMatch.returns : null,
  };
  const answers: ElementAnswer[] = [];
  let requestId = '';

  const once = async (part: readonly Element[]): Promise<Outcome<Matched>> => {
    let read: { readonly json: unknown; readonly matched: Outcome<Matched> } | null = null;
    /** An answer is read once, though its refusals are counted before. */
    const match = (json: unknown): Outcome<Matched> => {
      if (read !== null && read.json === json) return read.matched;
      const list = readList(profile, json, {
        valueName: members.value[0] ?? '',
        mayLack: !operations[operation].complete,
      });
      const matched = list.ok ? matchElements(part, list.value, members) : list;
      read = { json, matched };
      return matched;
    };
    const sent = await options.send(part, (json) => countRefused(match(json)));
    if (!sent.ok) return sent;
    const matched = withoutSessions(match(sent.value.json), sent.value.sessions);
    if (matched.ok) requestId = sent.value.requestId;
    else if (matched.failure.members !== undefined) options.onUnreadable(sent.value.json);
    return matched.ok ? matched : withRequestId(matched.failure, sent.value.requestId);
  };

  for (let from = 0; from < elements.length;) {
    const part = elements.slice(from, from + Math.max(1, options.size()));
    const matched = await once(part);
    if (!matched.ok) {
      if (matched.failure.code !== 'service.too-large' || elements.length === 1) return matched;
      options.shrink(part.length);
      const [only] = part;
      if (part.length > 1 || !only) continue;
      answers.push({ ref: only.ref, ok: false, code: 'service.too-large' });
      from += 1;
      continue;
    }
    const complete = operations[operation].complete ? await askAgain(part, matched.value, once) : matched;
    if (!complete.ok) return complete;
    for (const answer of complete.value) if (answer !== null) answers.push(answer);
    from += part.length;
  }
  return done({ elements: answers, requestId });
}

/** Asks once more for the elements that did not come back; an element missing twice has failed. */
async function askAgain(
  part: readonly Element[],
  matched: Matched,
  once: (part: readonly Element[]) => Promise<Outcome<Matched>>,
): Promise<Outcome<Matched>> {
  if (!matched.includes(null)) return done(matched);
  const missing = part.filter((_, index) => matched[index] === null);
  const again = await once(missing);
  if (!again.ok && again.failure.code !== 'service.mismatched-answer') return again;
  const found = again.ok ? again.value.values() : [].values();
  return done(
    part.map(({ ref }, index): ElementAnswer => {
      const answer = matched[index] ?? found.next().value ?? null;
      return answer ?? { ref, ok: false, code: 'service.mismatched-answer' };
    }),
  );
}

/**
 * One call's elements, each in a request of its own. A value that was refused, or that nothing usable came back for, is
 * an element's failure; any other failure is the whole call's.
 */
export async function callEach(
  elements: readonly Element[],
  { emptyValues, limits }: Pick<ServiceProfile, 'emptyValues' | 'limits'>,
  send: (value: string) => Promise<Outcome<Answer>>,
): Promise<Outcome<BatchAnswer>> {
  const rules = { emptyValues, maxLength: limits.valueLength };
  const answers: ElementAnswer[] = [];
  let requestId = '';
  for (const { ref, value } of elements) {
    const answer = await send(value);
    if (answer.ok) {
      requestId = answer.value.requestId;
      answers.push(answerOf(ref, answer.value.value, rules));
      continue;
    }
    const { failure } = answer;
    const code = refusedCodes.find((refused) => refused === failure.code);
    if (code === undefined) return answer;
    requestId = failure.requestId ?? '';
    // What is known by a code of the profile's needs no other words.
    answers.push({ ref, ok: false, code });
  }
  return done({ elements: answers, requestId });
}

const refusedCodes: readonly Refused['code'][] = [
  'service.value-invalid',
  'service.value-too-long',
  'service.token-invalid',
  'service.element-refused',
  'service.echoed-value',
  ...unusableCodes,
];

/** A service may say in its reason which session it was. */
function withoutSessions(matched: Outcome<Matched>, sessions: readonly string[]): Outcome<Matched> {
  if (!matched.ok || !matched.value.some((answer) => answer?.ok === false && answer.reason !== undefined))
    return matched;
  return done(
    matched.value.map((answer) => {
      if (answer === null || answer.ok || answer.reason === undefined) return answer;
      const { reason, ...rest } = answer;
      return sessions.some(repeatsIn(reason)) ? rest : answer;
    }),
  );
}

function withRequestId(failure: Failure, requestId: string): Outcome<never> {
  return { ok: false, failure: requestId === '' ? failure : { ...failure, requestId } };
}

interface ElementMembers {
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
type Matched = readonly (ElementAnswer | null)[];

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

const refusals: readonly string[] = [
  'service.value-invalid',
  'service.value-too-long',
  'service.token-invalid',
  'service.element-refused',
] satisfies Refused['code'][];

function countRefused(matched: Outcome<Matched>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const answer of matched.ok ? matched.value : []) {
    if (answer === null || answer.ok || !refusals.includes(answer.code)) continue;
    counts.set(answer.code, (counts.get(answer.code) ?? 0) + 1);
  }
  return counts;
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
  const answers = new Array<ElementAnswer | null>(sent.length).fill(null);
  // Made only when an answer is out of order: most come back as they were sent.
  let positions: Map<string, number> | null = null;
  const { returns, refusesEcho, refusesPart, success } = members;
  const isFlat = success === null && ![members.ref, members.value, members.error].flat().some(hasPath);
  const isOthers = refusesPart ? echoOfAny(sent.map(({ value }) => value)) : null;
  let unreadable = 0;
  for (let index = 0; index < received.length; index++) {
    const item = received[index];
    const isBare = typeof item === 'string';
    // A list of nothing but RefIds.
    const element = isBare && returns === 'reference' ? { [members.ref[0] ?? '']: item } : item;
    if (!isObject(element)) return failed('service.mismatched-answer', isBare ? { members: ['[]'] } : {});
    const ref = stringIn(element, members.ref);
    if (ref === null) return failed('service.mismatched-answer', { members: memberNames(element) });
    let position: number | undefined = index;
    if (sent[index]?.ref !== ref) {
      positions ??= positionsOf(sent);
      position = positions.get(ref);
    }
    if (position === undefined || answers[position] !== null) return failed('service.mismatched-answer');
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

function hasTwoMembers(element: object): boolean {
  let count = 0;
  for (const _ in element) if (++count > 2) return false;
  return count === 2;
}

function answerOf(
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
