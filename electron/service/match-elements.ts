import type { Outcome } from '../contract/errors.ts';
import { done, failed } from '../contract/errors.ts';
import { isObject, memberNames } from './answers.ts';
import type { Element, ElementAnswer } from './client.ts';

export interface ElementMembers {
  readonly ref: readonly string[];
  readonly value: readonly string[];
  readonly error: readonly string[];
}

/** By place in what was sent; null where nothing came back. */
export type Matched = readonly (ElementAnswer | null)[];

function stringIn(object: Record<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const found = object[name];
    if (typeof found === 'string') return found;
  }
  return null;
}

function isRefused(object: Record<string, unknown>, names: readonly string[]): boolean {
  for (const name of names) {
    const found = object[name];
    if (found !== undefined && found !== null && found !== '' && found !== false) return true;
  }
  return false;
}

/**
 * Pairs a batch answer with what was sent, by RefId and never by position (spec §2). An element that is foreign,
 * doubled (even identically) or without RefId spoils the whole answer: it can't be told what else is wrong with it.
 */
export function matchElements(
  sent: readonly Element[],
  received: readonly unknown[],
  members: ElementMembers,
): Outcome<Matched> {
  const answers = new Array<ElementAnswer | null>(sent.length).fill(null);
  // Made only when an answer is out of order: most come back as they were sent.
  let places: Map<string, number> | null = null;
  let unreadable = 0;
  for (const [index, element] of received.entries()) {
    if (!isObject(element)) return failed('service.mismatched-answer');
    const ref = stringIn(element, members.ref);
    if (ref === null) return failed('service.mismatched-answer', { members: memberNames(element) });
    let place: number | undefined = index;
    if (sent[index]?.ref !== ref) {
      places ??= placesOf(sent);
      place = places.get(ref);
    }
    if (place === undefined || answers[place] !== null) return failed('service.mismatched-answer');
    if (isRefused(element, members.error)) {
      answers[place] = { ref, ok: false, code: 'service.element-refused' };
      continue;
    }
    const value = stringIn(element, members.value);
    if (value === null) unreadable++;
    answers[place] =
      value === null ? { ref, ok: false, code: 'service.mismatched-answer' } : { ref, ok: true, value };
  }
  if (unreadable > 0 && unreadable === received.length) {
    return failed('service.unexpected-answer', { members: memberNames(received[0]) });
  }
  return done(answers);
}

function placesOf(sent: readonly Element[]): Map<string, number> {
  const places = new Map(sent.map(({ ref }, index) => [ref, index]));
  if (places.size !== sent.length) throw new Error('two elements of a call share a RefId');
  return places;
}
