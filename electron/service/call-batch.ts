import type { Failure, Outcome } from '../contract/errors.ts';
import { done } from '../contract/errors.ts';
import { readList } from './answers.ts';
import type { CallFailed, Answered } from './call-with-session.ts';
import type { BatchAnswer, Element, ElementAnswer } from './client.ts';
import { matchElements } from './match-elements.ts';
import type { ElementMembers } from './match-elements.ts';
import { operations } from './operations.ts';
import type { Operation } from '../contract/models/names.ts';
import type { ServiceProfile } from './profile.ts';

export interface BatchParts {
  readonly profile: ServiceProfile;
  readonly operation: Operation;
  /** Sends these elements in one request. */
  readonly send: (
    elements: readonly Element[],
  ) => Promise<{ readonly ok: true; readonly value: Answered } | CallFailed>;
  readonly size: () => number;
  /** A request of so many elements was too large. */
  readonly shrink: (sent: number) => void;
  /** Whether one more request may be spent on finding out which element broke an answer. */
  readonly mayRepair: () => boolean;
}

type Part = { readonly ok: true; readonly answers: readonly (ElementAnswer | null)[] } | PartFailed;
interface PartFailed {
  readonly ok: false;
  readonly failure: Failure;
  /** Halving may find the element that is at fault. */
  readonly divisible: boolean;
}

/**
 * One call's elements through one request or, where the service can't take or answer that, several smaller ones. Every
 * element ends with exactly one answer (or, for PatternMatch, none: it did not match), or the whole call fails.
 */
export async function callBatch(
  parts: BatchParts,
  elements: readonly Element[],
): Promise<Outcome<BatchAnswer>> {
  const { profile, operation, send } = parts;
  const { complete } = operations[operation];
  const members: ElementMembers = { ...profile.element, value: profile.operations[operation].answer };
  const answers = new Array<ElementAnswer | null>(elements.length).fill(null);
  let requestId = '';
  /** Failures without anything that worked in between: then it is not one element that is at fault. */
  let inARow = 0;
  const hopeless = 2 + Math.ceil(Math.log2(Math.max(2, elements.length)));

  const once = async (part: readonly Element[]): Promise<Part> => {
    const sent = await send(part);
    if (!sent.ok) {
      const divisible = sent.damaged || isAboutElements(sent.failure);
      return { ok: false, failure: sent.failure, divisible };
    }
    const rejected = (failure: Failure): PartFailed => ({
      ok: false,
      failure: {
        ...failure,
        operation,
        ...(sent.value.requestId !== '' && { requestId: sent.value.requestId }),
      },
      divisible: failure.code === 'service.mismatched-answer',
    });
    const list = readList(profile, sent.value.json);
    if (!list.ok) return rejected(list.failure);
    const matched = matchElements(part, list.value, members);
    if (!matched.ok) return rejected(matched.failure);
    requestId = sent.value.requestId;
    return { ok: true, answers: matched.value };
  };

  /** Asks once more for those that did not come back; who stays away twice has failed. */
  const askAgain = async (from: number, part: readonly Element[]): Promise<PartFailed | null> => {
    const missing: { place: number; element: Element }[] = [];
    for (const [index, element] of part.entries()) {
      if (answers[from + index] === null) missing.push({ place: from + index, element });
    }
    if (missing.length === 0) return null;
    const again = await once(missing.map(({ element }) => element));
    if (!again.ok && !again.divisible) return again;
    for (const [index, { place, element }] of missing.entries()) {
      const answer = again.ok ? again.answers[index] : null;
      answers[place] = answer ?? { ref: element.ref, ok: false, code: 'service.mismatched-answer' };
    }
    return null;
  };

  // Depth first: halves are taken in order, so that what is asked twice stays small.
  const work: { from: number; to: number }[] = [];
  const plan = (from: number, to: number): void => {
    const size = Math.max(1, parts.size());
    for (let end = to; end > from;) {
      const start = Math.max(from, from + Math.floor((end - from - 1) / size) * size);
      work.push({ from: start, to: end });
      end = start;
    }
  };
  plan(0, elements.length);

  for (let next = work.pop(); next; next = work.pop()) {
    const { from, to } = next;
    if (to - from > Math.max(1, parts.size())) {
      plan(from, to);
      continue;
    }
    const part = elements.slice(from, to);
    const result = await once(part);
    if (result.ok) {
      inARow = 0;
      for (const [index, answer] of result.answers.entries()) answers[from + index] = answer;
      const failure = complete ? await askAgain(from, part) : null;
      if (failure) return { ok: false, failure: failure.failure };
      continue;
    }
    if (result.failure.code === 'service.too-large') {
      parts.shrink(to - from);
    } else {
      inARow++;
      const damaged = result.failure.code === 'service.mismatched-answer';
      if (!result.divisible || inARow > hopeless || (damaged && !parts.mayRepair())) {
        return { ok: false, failure: result.failure };
      }
    }
    if (to - from === 1) {
      answers[from] = refusedElement(elements[from], result.failure);
      continue;
    }
    const middle = from + Math.ceil((to - from) / 2);
    work.push({ from: middle, to }, { from, to: middle });
  }

  return done({ elements: answers.filter((answer) => answer !== null), requestId });
}

/** 400: it may be one element that is invalid (spec §7 lets a single value fail the whole request). */
const isAboutElements = ({ code }: Failure): boolean =>
  code === 'service.invalid-input' || code === 'service.too-large' || code === 'service.mismatched-answer';

function refusedElement(element: Element | undefined, failure: Failure): ElementAnswer {
  const code =
    failure.code === 'service.mismatched-answer' ? 'service.mismatched-answer' : 'service.element-refused';
  return { ref: element?.ref ?? '', ok: false, code };
}
