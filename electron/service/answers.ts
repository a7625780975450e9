import { type Failure, type Outcome, done, failed } from '../contract/errors.ts';
import type { OperationName } from './operations.ts';
import type { ServiceProfile } from './profile.ts';

/** Wrappers around an answer; what is nested deeper is not looked for. */
const maxWrappers = 3;

export const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** The names of an answer's members, never what they hold. A name that looks like a value is left out too. */
export function memberNames(json: unknown): string[] {
  if (Array.isArray(json)) return ['[]', ...memberNames(json[0]).slice(0, 30)];
  if (!isObject(json)) return [];
  return Object.keys(json)
    .slice(0, 40)
    .map((name) => (/^[A-Za-z_$@][\w.$-]{0,63}$/.test(name) && !/\d{6}/.test(name) ? name : '(unreadable)'));
}

/** An answer whose members the profile does not list. */
export const unexpectedAnswer = (json: unknown, details: Partial<Failure> = {}) =>
  failed('service.unexpected-answer', { ...details, members: memberNames(json) });

/**
 * The one string a single operation answers with (spec §4 does not show its member; the profile lists those that are
 * accepted). Anything that is not a string is refused: a number would already have lost digits.
 */
export function readSingle(
  profile: ServiceProfile,
  operation: OperationName,
  json: unknown,
): Outcome<string> {
  const names = profile.operations[operation].answer;
  let inner = json;
  for (let depth = 0; depth < maxWrappers; depth++) {
    if (typeof inner === 'string') {
      return profile.bareStrings || depth > 0 ? done(inner) : unexpectedAnswer(json);
    }
    if (!isObject(inner)) break;
    const object = inner;
    for (const name of names) {
      const found = object[name];
      if (typeof found === 'string') return done(found);
    }
    const wrapper = profile.wrappers.find(
      (name) => isObject(object[name]) || typeof object[name] === 'string',
    );
    if (wrapper === undefined) break;
    inner = object[wrapper];
  }
  return unexpectedAnswer(isObject(inner) ? inner : json);
}

/** The array of a batch answer, at the root or under a member that the profile lists. */
export function readList(
  profile: Pick<ServiceProfile, 'lists' | 'wrappers' | 'bareLists'>,
  json: unknown,
): Outcome<readonly unknown[]> {
  let inner = json;
  for (let depth = 0; depth < maxWrappers; depth++) {
    if (Array.isArray(inner)) return profile.bareLists || depth > 0 ? done(inner) : unexpectedAnswer(json);
    if (!isObject(inner)) break;
    const object = inner;
    const name =
      profile.lists.find((list) => Array.isArray(object[list])) ??
      profile.wrappers.find((wrapper) => isObject(object[wrapper]));
    if (name === undefined) break;
    inner = object[name];
  }
  return unexpectedAnswer(isObject(inner) ? inner : json);
}
