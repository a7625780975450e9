import type { Failure, Outcome } from '../contract/errors.ts';
import { done } from '../contract/errors.ts';
import type { Operation } from '../contract/models/names.ts';
import { readList } from './answers.ts';
import type { Answered, CallFailed } from './call-with-session.ts';
import type { BatchAnswer, Element, ElementAnswer } from './client.ts';
import { matchElements } from './match-elements.ts';
import type { ElementMembers, Matched } from './match-elements.ts';
import { operations } from './operations.ts';
import type { ServiceProfile } from './profile.ts';

export interface BatchParts {
  readonly profile: ServiceProfile;
  readonly operation: Operation;
  /** Sends these elements in one request. */
  readonly send: (
    elements: readonly Element[],
  ) => Promise<{ readonly ok: true; readonly value: Answered } | CallFailed>;
  /** Elements a request may hold now. */
  readonly size: () => number;
  /** A request of so many elements was too large. */
  readonly shrink: (sent: number) => void;
}

/**
 * One call's elements in one request or, where the service can't take that many, in several. Every element ends with
 * exactly one answer (or, for PatternMatch, none: it did not match), or the whole call fails.
 */
export async function callBatch(
  parts: BatchParts,
  elements: readonly Element[],
): Promise<Outcome<BatchAnswer>> {
  const { profile, operation } = parts;
  const members: ElementMembers = { ...profile.element, value: profile.operations[operation].answer };
  const answers: ElementAnswer[] = [];
  let requestId = '';

  const once = async (part: readonly Element[]): Promise<Outcome<Matched>> => {
    const sent = await parts.send(part);
    if (!sent.ok) return sent;
    const list = readList(profile, sent.value.json);
    const matched = list.ok ? matchElements(part, list.value, members) : list;
    if (matched.ok) requestId = sent.value.requestId;
    return matched.ok ? matched : withRequestId(matched.failure, sent.value.requestId);
  };

  for (let from = 0; from < elements.length;) {
    const part = elements.slice(from, from + Math.max(1, parts.size()));
    const matched = await once(part);
    if (!matched.ok) {
      if (matched.failure.code !== 'service.too-large' || elements.length === 1) return matched;
      parts.shrink(part.length);
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

/** Asks once more for those that did not come back; who stays away twice has failed. */
async function askAgain(
  part: readonly Element[],
  matched: Matched,
  once: (part: readonly Element[]) => Promise<Outcome<Matched>>,
): Promise<Outcome<Matched>> {
  const missing = part.filter((_, index) => matched[index] === null);
  if (missing.length === 0) return done(matched);
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

function withRequestId(failure: Failure, requestId: string): Outcome<never> {
  return { ok: false, failure: requestId === '' ? failure : { ...failure, requestId } };
}
