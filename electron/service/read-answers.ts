import { done, failed, type Outcome } from '../contract/errors.ts';
import { isObject, memberAt, memberNames, unexpectedAnswer } from './answers.ts';
import type { OperationName } from './operations.ts';
import type { ServiceProfile } from './profile.ts';
import { codeOf, isCode, refusalOf, refusingMember } from './refusals.ts';

/** Wrappers around an answer; what is nested deeper is not looked for. */
const maxWrappers = 3;

type Members = Readonly<Record<string, unknown>>;

/**
 * The one string a single operation answers with (spec §4 does not show its member; the profile lists those that are
 * accepted). Anything that is not a string is refused: a number would already have lost digits. So is one beside which
 * stands that it was refused, as in an element of a batch.
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
      const isText = profile.bareStrings || depth > 0;
      return isText && !holdsAnswer(inner, [...names, ...profile.wrappers])
        ? done(inner)
        : unexpectedAnswer(json);
    }
    if (!isObject(inner)) break;
    const object = inner;
    const refusal = refusalOf(object, profile.element);
    if (refusal !== null)
      return failed(codeOf(refusal, profile.elementCodes), { ...(isCode(refusal) && { codes: [refusal] }) });
    for (const name of names) {
      const found = memberAt(object, name);
      if (typeof found === 'string') return done(found);
    }
    // A text beside other members is as likely a word on the answer: `{"result":"OK","tkn":"…"}`.
    const isAlone = Object.keys(object).length === 1;
    const wrapper = profile.wrappers.find((name) => {
      const found = memberAt(object, name);
      return isObject(found) || (isAlone && typeof found === 'string');
    });
    if (wrapper === undefined) break;
    inner = memberAt(object, wrapper);
  }
  return unexpectedAnswer(isObject(inner) ? inner : json);
}

/** Whether a text is itself an answer, which was made JSON twice. */
function holdsAnswer(text: string, names: readonly string[]): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    const inner = JSON.parse(text) as unknown;
    return isObject(inner) && names.some((name) => memberAt(inner, name) !== undefined);
  } catch {
    return false;
  }
}

type ListProfile = Pick<
  ServiceProfile,
  'lists' | 'wrappers' | 'bareLists' | 'batchAnswers' | 'element' | 'reporting'
>;

/**
 * The elements of a batch answer, at the root or under a member that the profile lists. Where the answer is an object by
 * RefId, each gets its own as a member, under the first name that the profile has for it. `mayLack`: an element that isn't
 * there means something, so an answer that says that it is a part, or that it failed, is refused with the member that
 * says so.
 */
export function readList(
  profile: ListProfile,
  json: unknown,
  { valueName, mayLack }: { readonly valueName: string; readonly mayLack: boolean },
): Outcome<readonly unknown[]> {
  const byReference = profile.batchAnswers === 'by-reference';
  const holdsElements = (found: unknown): boolean => (byReference ? isObject(found) : Array.isArray(found));
  let inner = json;
  for (let depth = 0; depth < maxWrappers; depth++) {
    if (Array.isArray(inner)) {
      if (byReference) break;
      return profile.bareLists || depth > 0 ? done(inner) : unexpectedAnswer(json);
    }
    if (!isObject(inner)) break;
    const object = inner;
    const list = profile.lists.find((name) => holdsElements(memberAt(object, name)));
    const name = list ?? profile.wrappers.find((wrapper) => isObject(memberAt(object, wrapper)));
    if (name === undefined && byReference && profile.bareLists && depth === 0)
      return elementsByReference(object, profile, valueName);
    const partly = mayLack ? saysPart(object, name, profile) : null;
    if (partly !== null)
      return failed('service.unexpected-answer', { members: memberNames({ [partly]: 1 }) });
    const elements = list === undefined ? undefined : memberAt(object, list);
    if (elements !== undefined && byReference) return elementsByReference(elements, profile, valueName);
    if (Array.isArray(elements)) return done(elements);
    if (name === undefined) break;
    inner = memberAt(object, name);
  }
  return unexpectedAnswer(isObject(inner) ? inner : json);
}

/** The member by which an object around a list says that this is not all, or that it failed; null where none does. */
function saysPart(
  object: Members,
  list: string | undefined,
  { element, reporting }: Pick<ListProfile, 'element' | 'reporting'>,
): string | null {
  const refusing = refusingMember(object, element);
  if (refusing !== null) return refusing;
  const more = moreMember(object, reporting.metrics.more);
  if (more !== null) return more;
  // Another list, such as of what failed, or the one that has the elements.
  const isOther = (name: string): boolean => name !== list && list?.startsWith(`${name}.`) !== true;
  return (
    Object.keys(object).find(
      (name) => isOther(name) && Array.isArray(object[name]) && object[name].length > 0,
    ) ?? null
  );
}

/** The member by which an answer says that there is another page; null where none does. */
const moreMember = (object: Members, names: readonly string[]): string | null =>
  names.find((name) => saysMore(memberAt(object, name))) ?? null;

/** Whether what such a member holds is something. */
export function saysMore(found: unknown): boolean {
  if (typeof found === 'object' && found !== null) return Object.keys(found).length > 0;
  return (
    found === true || (typeof found === 'string' && found !== '') || (typeof found === 'number' && found > 0)
  );
}

function elementsByReference(
  object: unknown,
  { element }: Pick<ServiceProfile, 'element'>,
  valueName: string,
): Outcome<readonly unknown[]> {
  const [refName = ''] = element.ref;
  const elements: unknown[] = [];
  for (const [ref, item] of Object.entries(object as Readonly<Record<string, unknown>>)) {
    const members = typeof item === 'string' ? { [valueName]: item } : item;
    // What names another RefId than the one it stands under is nobody's.
    if (!isObject(members) || element.ref.some((name) => ![undefined, ref].includes(textAt(members, name))))
      return failed('service.mismatched-answer', { members: memberNames(members) });
    elements.push({ ...members, [refName]: ref });
  }
  return done(elements);
}

/** A text, or what stands in its place as JSON. */
function textAt(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const found = memberAt(object, name);
  return found === undefined || typeof found === 'string' ? found : JSON.stringify(found);
}
