import { withoutNumbers } from '../audit/redact.ts';
import { failed, type Failure, type Outcome } from '../contract/errors.ts';

export type Members = Readonly<Record<string, unknown>>;

export const isObject = (json: unknown): json is Members =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** The first of these members that is there and not null. */
export function firstOf(object: Members, names: readonly string[]): unknown {
  for (const name of names) {
    if (Object.hasOwn(object, name) && object[name] !== null) return object[name];
  }
  return undefined;
}

/** A number that counts something; digits in a string are one too. Null for anything else. */
export function countOf(json: unknown): number | null {
  const number = typeof json === 'string' && /^\d{1,15}$/.test(json) ? Number(json) : json;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : null;
}

const longest = 200;

/** As people read it. What looks like a card number or an SSN has no place in a report, wherever it came from. */
export function textOf(json: unknown): string {
  if (json === undefined || json === null) return '';
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return withoutNumbers(text.slice(0, 4 * longest)).slice(0, longest);
}

/** The members no list of names knows. */
export function otherMembers(object: Members, known: readonly (readonly string[])[]): Record<string, string> {
  const taken = new Set(known.flat());
  const others = Object.entries(object).filter(([name]) => !taken.has(name) && name !== '__proto__');
  return Object.fromEntries(others.slice(0, 30).map(([name, json]) => [name.slice(0, 100), textOf(json)]));
}

/** The array in an answer: the answer itself, one of these members, or one of them a level down. */
export function listIn(json: unknown, lists: readonly string[]): readonly unknown[] | null {
  if (isList(json)) return json;
  if (!isObject(json)) return null;
  for (const name of lists) {
    const found = json[name];
    if (isList(found)) return found;
    if (isObject(found)) {
      const inner = lists.map((name) => found[name]).find(isList);
      if (inner !== undefined) return inner;
    }
  }
  return null;
}

const isList = (json: unknown): json is readonly unknown[] => Array.isArray(json);

/** An answer whose members the profile does not list: names them, never what they hold. */
export function unexpected(json: unknown, details: Omit<Failure, 'code'>): Outcome<never> {
  const sample = isList(json) ? json[0] : json;
  const members = isObject(sample) ? Object.keys(sample).slice(0, 40) : [];
  return failed('service.unexpected-answer', {
    ...details,
    members: members.map((name) => name.slice(0, 100)),
  });
}
