import { type Failure, type Outcome, done } from '../contract/errors.ts';
import type { BatchOperation } from '../contract/operations.ts';
import { repeatsIn } from '../masking/plain-text.ts';
import { unusableCodes } from './answers.ts';
import type { ServiceAnswer } from './http/failures.ts';
import { answerOf, matchAnswer, type ElementMembers, type Matched } from './match-elements.ts';
import type { Answer, BatchAnswer, Element, ElementAnswer } from './service-client.ts';
import { givesToken, operations } from './operations.ts';
import type { ServiceProfile } from './profile.ts';
import type { Refused } from './refusals.ts';
import type { SessionAnswer } from './session/call-with-session.ts';

interface BatchOptions {
  readonly profile: ServiceProfile;
  readonly operation: BatchOperation;
  readonly refusesEcho: boolean;
  /** Sends these elements in one request. `countRefused`: elements of its answer that were refused, by code. */
  readonly send: (
    elements: readonly Element[],
    countRefused: (answer: ServiceAnswer) => ReadonlyMap<string, number>,
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
    let read: { readonly answer: ServiceAnswer; readonly matched: Outcome<Matched> } | null = null;
    /** An answer is read once, though its refusals are counted before. */
    const match = (answer: ServiceAnswer): Outcome<Matched> => {
      if (read?.answer === answer) return read.matched;
      const matched = matchAnswer(profile, answer, part, members);
      read = { answer, matched };
      return matched;
    };
    const sent = await options.send(part, (answer) => countRefused(match(answer)));
    if (!sent.ok) return sent;
    const { answer, sessions } = sent.value;
    const matched = withoutSessions(match(answer), sessions);
    if (matched.ok) requestId = answer.requestId;
    else if (matched.failure.members !== undefined) options.onUnreadable(answer.json);
    return matched.ok ? matched : withRequestId(matched.failure, answer.requestId);
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

const hasReason = (answer: ElementAnswer | null): boolean =>
  answer?.ok === false && answer.reason !== undefined;

/** A service may say in its reason which session it was. */
function withoutSessions(matched: Outcome<Matched>, sessions: readonly string[]): Outcome<Matched> {
  if (!matched.ok || !matched.value.some(hasReason)) return matched;
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
