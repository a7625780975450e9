import { type Failure, failed } from '../contract/errors.ts';
import type { UnreadAnswer } from '../contract/models/connection.ts';
import { bareText, repeatsIn, saysTheSame, whatItSays } from '../masking/plain-text.ts';
import { isBlank } from '../util/blank.ts';
import type { SuccessFlag } from './profile-fields.ts';

export const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** The member of this name, else the one at this path: `Outcome.Tkn`. Its own ones only. */
export function memberAt(object: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  if (!name.includes('.')) return undefined;
  let inner: unknown = object;
  for (const part of name.split('.')) {
    if (!isObject(inner) || !Object.hasOwn(inner, part)) return undefined;
    inner = inner[part];
  }
  return inner;
}

/** Whether the flag says that it was done; null where it isn't there. */
export function isDone(
  object: Readonly<Record<string, unknown>>,
  { member, values }: NonNullable<SuccessFlag>,
): boolean | null {
  const found = memberAt(object, member);
  return found === undefined ? null : values.some((value) => value === found);
}

/** Whether a member's name may be told: a service may answer with an object whose names are values. */
const isName = (name: string): boolean =>
  /^[A-Za-z_$@][\w.$-]{0,39}$/.test(name) && !/\d{4}|(?:\d.*){7}/.test(name);

/** The names of an answer's members, never what they hold. A name that looks like a value is left out too. */
export function memberNames(json: unknown): string[] {
  if (Array.isArray(json)) return ['[]', ...memberNames(json[0]).slice(0, 30)];
  if (!isObject(json)) return [];
  return Object.keys(json)
    .slice(0, 40)
    .map((name) => (isName(name) ? name : '(unreadable)'));
}

/** A failure without the names of members, and without codes, that repeat what was sent. */
export function withoutRepeats(failure: Failure, submitted: Iterable<string>): Failure {
  const { members, codes } = failure;
  if (members === undefined && codes === undefined) return failure;
  const values = [...submitted];
  const harmless = (names: readonly string[]): string[] =>
    names.filter((name) => !values.some(repeatsIn(name)));
  return {
    ...failure,
    ...(members !== undefined && { members: harmless(members) }),
    ...(codes !== undefined && { codes: harmless(codes) }),
  };
}

const maxMembers = 60;
const maxDepth = 4;

/**
 * The members of an answer, each with its path from the root and the kind of what it holds, never what that is. `[]`
 * stands for the elements of a list, of which the first is looked at. Members whose names look like values, or repeat
 * what was sent, are left out. With `namesSent`, a text that is what was sent is told from others.
 */
export function answerMembers(
  json: unknown,
  submitted: Iterable<string>,
  { namesSent = false }: { readonly namesSent?: boolean } = {},
): UnreadAnswer['members'] {
  const values = [...submitted].filter((value) => value !== '');
  const repeatsSent = (name: string): boolean => {
    const repeats = repeatsIn(name);
    return values.some(repeats);
  };
  const isSent = (text: unknown): boolean =>
    namesSent && typeof text === 'string' && values.some((value) => isEcho(value, text));
  const members: UnreadAnswer['members'] = [];
  const visit = (inner: unknown, path: readonly string[]): void => {
    if (path.length >= maxDepth || members.length >= maxMembers) return;
    const entries = Array.isArray(inner)
      ? [['[]', inner[0]] as const]
      : isObject(inner)
        ? Object.entries(inner).filter(([name]) => isName(name) && !repeatsSent(name))
        : [];
    for (const [name, value] of entries) {
      if (members.length >= maxMembers) return;
      if (name !== '[]' || typeof value === 'string')
        members.push({ path: [...path, name], kind: isSent(value) ? 'sent' : kindOf(value) });
      visit(value, [...path, name]);
    }
  };
  visit(json, []);
  return members;
}

function kindOf(json: unknown): UnreadAnswer['members'][number]['kind'] {
  if (typeof json === 'string') return 'text';
  if (typeof json === 'number') return 'number';
  if (Array.isArray(json)) return 'list';
  return isObject(json) ? 'object' : 'other';
}

/** An answer whose members the profile does not list. */
export const unexpectedAnswer = (json: unknown, details: Partial<Failure> = {}) =>
  failed('service.unexpected-answer', { ...details, members: memberNames(json) });

export const unusableCodes = [
  'service.empty-value',
  'service.blank-value',
  'service.nul-value',
  'service.long-value',
  'service.broken-value',
] as const;
export type UnusableCode = (typeof unusableCodes)[number];

/**
 * Why an answer is no value, whatever was sent: a file could not hold it, or it would be another cell when the file is
 * read again. Null for all others.
 */
export function findUnusable(
  answer: string,
  { emptyValues, maxLength }: { readonly emptyValues: boolean; readonly maxLength: number },
): UnusableCode | null {
  if (answer === '') return emptyValues ? null : 'service.empty-value';
  if (answer.length > maxLength) return 'service.long-value';
  if (answer.includes('\0')) return 'service.nul-value';
  // JSON can escape half a surrogate pair, which a file would get as another character.
  if (!answer.isWellFormed()) return 'service.broken-value';
  return !emptyValues && isBlank(answer) ? 'service.blank-value' : null;
}

/**
 * Whether an answer repeats what was sent: as written or but for case, spaces and hyphens, and where that are four letters and digits
 * or more, but for script, spelling and all that stands between them. A service that answers Tokenize or GetMasked so
 * has answered with cleartext; one that answers Detokenize so, with the token. Translate may within one definition, which
 * gives the same token.
 */
export function isEcho(sent: string, answer: string): boolean {
  // The same letters are what all of these have in common: most are told apart by their first ones.
  if (sent === answer) return true;
  if (differsInLetters(sent, answer)) return false;
  const bare = withoutSeparators(sent);
  return (bare !== '' && bare === withoutSeparators(answer)) || saysTheSame(sent, answer);
}

/** The same for all texts of which `isEcho` says that one repeats another, whatever width their signs have. */
export function echoForm(text: string): string {
  if (/^[A-Za-z0-9]+$/.test(text)) return text.toUpperCase();
  const said = whatItSays(text);
  if (said !== null) return said;
  const bare = withoutSeparators(text.normalize('NFKC'));
  return bare === '' ? text : bare.toUpperCase();
}

/** Shorter ones are another's token by chance: one in a million batches of 500 has one of ten digits. */
const minOthers = 10;

/**
 * Finds the tokens that are the value of another element: whoever mixes up elements so has answered with cleartext. Values
 * too short to tell are not looked for.
 */
export function echoOfAny(values: Iterable<string>): (token: string) => boolean {
  let forms: Set<string> | null = null;
  return (token) => {
    if (token.length < minOthers) return false;
    forms ??= new Set([...values].filter((value) => value.length >= minOthers).map(echoForm));
    return forms.size > 0 && forms.has(echoForm(token));
  };
}

/** Fewer letters and digits are in a token by chance: digits in one of ten million, with a letter in fewer. */
const [minDigitsWithin, minLettersWithin] = [8, 6];

/** Whether a token shows the value that it stands for: with something before or behind it, in whatever way it is written. */
export function holdsSent(sent: string, token: string): boolean {
  if (token.length < minLettersWithin) return false;
  const arePlain = isPlain(sent) && isPlain(token);
  // As nearly all are that a million rows hold: digits have one form.
  if (arePlain && allDigits.test(sent)) return sent.length >= minDigitsWithin && token.includes(sent);
  const value = arePlain ? sent.toLowerCase() : bareText(sent).toLowerCase();
  if (value.length < (allDigits.test(value) ? minDigitsWithin : minLettersWithin)) return false;
  return (arePlain ? token : bareText(token)).toLowerCase().includes(value);
}

/** As a pattern this would take longer than all the rest. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isPlainLetter(text.charCodeAt(at))) return false;
  return true;
}
const allDigits = /^[0-9]*$/;

/** Whether two texts differ in a letter or digit before anything stands in one that may be another's form of one. */
function differsInLetters(one: string, other: string): boolean {
  for (let at = 0, otherAt = 0; ; at++, otherAt++) {
    at = nextLetter(one, at);
    otherAt = nextLetter(other, otherAt);
    if (at < 0 || otherAt < 0) return false;
    if (at === one.length || otherAt === other.length)
      return (at === one.length) !== (otherAt === other.length);
    const unlike = one.charCodeAt(at) ^ other.charCodeAt(otherAt);
    // One bit is the case of a letter.
    if (unlike !== 0 && unlike !== 0x20) return true;
  }
}

/** Where the next letter or digit of ASCII is, the length where there is none; -1 where something else may be one. */
function nextLetter(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isPlainLetter(unit)) return at;
    // `&`, `%` and `\` begin what is spelled.
    if (unit > 0x7f || unit === 0x26 || unit === 0x25 || unit === 0x5c) return -1;
  }
  return at;
}

const withoutSeparators = (text: string): string => text.replace(allSeparators, '').toLowerCase();

const allSeparators = /[\s-]/g;
const isPlainLetter = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a);
