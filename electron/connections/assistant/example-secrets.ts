import { bareText, replaceRepeated } from '../../masking/plain-text.ts';
import { isObject, type CallExample } from '../../parsing/service-examples/example.ts';
import { isSecretHeader } from '../../service/profile-fields.ts';
import { memberNames } from '../../service/answers.ts';
import { answerNames, flat, parameterNames, portalSubjects, scoreOf, type Subject } from './roles.ts';
import { isReal, type SampleValues } from './sample-values.ts';

/** What of the examples may stand neither in a profile nor in the window. */
export interface ExampleSecrets {
  /** Names of the connection's definitions, which are none. */
  readonly definitions: ReadonlySet<string>;
  /** Whether a text, or a part of it between dots, is a secret or a value of the examples. */
  readonly is: (text: string) => boolean;
  /** Whether a text is a secret or a value of the examples, or has one in it, in whatever way it is written. */
  readonly holds: (text: string) => boolean;
  /** The text with dots in their place. */
  readonly hide: (text: string) => string;
  /** Names of members, headers and paths as they may be shown: an object may have values for names. */
  readonly hideNames: (names: string) => string;
}

export const dots = '••••••••';

/** Names of what is no secret, and that a profile may hold as it is. */
const openNames = /(?:version|tenant|account|region|format)(?:id|name|code)?$/;
export const isOpenName = (name: string): boolean => openNames.test(flat(name));

const speaksOfSecret = (name: string): boolean =>
  scoreOf(parameterNames.tokenName, name) < 10 &&
  (scoreOf(parameterNames.policyPassword, name) > 0 ||
    scoreOf(parameterNames.apiKey, name) >= 6 ||
    scoreOf(answerNames.session, name) >= 6 ||
    scoreOf(answerNames.token, name) >= 7 ||
    scoreOf(answerNames.cleartext, name) >= 7);

/** Words, days and addresses say nothing of anybody. */
const saysNothing =
  /^[A-Za-z][A-Za-z_-]*$|^\d{4}[-/.]\d\d[-/.]\d\d(?:T.*)?$|^https?:\/\/|^application\/|^\$\{?\w+\}?$/;
/** Fewer signs are no value that could be told from a word of the service's. */
const minUnnamed = 6;
/** Fewer letters and digits are in other texts by chance. */
const minWithin = 4;
const maxDepth = 12;

/** Texts, numbers among them, with the name of the member that they stand in. */
function* textsOf(json: unknown, name = '', depth = 0): Generator<readonly [name: string, text: string]> {
  if (depth > maxDepth) return;
  if (typeof json === 'string' || typeof json === 'number') yield [name, String(json)];
  else if (Array.isArray(json)) for (const one of json as unknown[]) yield* textsOf(one, name, depth + 1);
  else if (isObject(json)) for (const [own, one] of Object.entries(json)) yield* textsOf(one, own, depth + 1);
}

/** What stands in an address and is no word of it: a long number, or letters and digits mixed as in an ID. */
export function looksLikeValue(text: string): boolean {
  // A day or a number behind a v names a version.
  if (/^(?:\d{4}-\d\d-\d\d|v\d{1,8})$/i.test(text)) return false;
  if (/\d{5}/.test(text)) return true;
  const mixed = text
    .split(/[-_.~]/)
    .filter((part) => /[a-z]/i.test(part) && /\d.*\d/.test(part) && !/^[a-z]+\d{1,4}$/i.test(part));
  return mixed.some(({ length }) => length >= 8) || mixed.length >= 3;
}

export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

interface SecretsOptions {
  readonly examples: readonly CallExample[];
  readonly matched: ReadonlyMap<Subject, CallExample>;
  readonly samples: SampleValues;
}

/** All that signs in, and all that is, or by its name or look may be, a session, a token or a value. */
export function secretsOf({ examples, matched, samples }: SecretsOptions): ExampleSecrets {
  const found = new Set([...samples.sessions, ...samples.tokens, ...samples.clear]);
  const add = (text: string): void => {
    if (isReal(text) && !samples.definitions.has(text)) found.add(text);
  };
  const kinds = new Map<string, { readonly isSecret: boolean; readonly isOpen: boolean }>();
  const kindOf = (name: string) => {
    const known = kinds.get(name);
    if (known !== undefined) return known;
    const kind = { isSecret: speaksOfSecret(name), isOpen: isOpenName(name) || isName(name) };
    kinds.set(name, kind);
    return kind;
  };
  for (const { request, answer, query, headers } of examples) {
    for (const [name, text] of [...textsOf(request), ...textsOf(answer), ...query]) {
      // A document's word for what stands there.
      if (flat(text) === flat(name)) continue;
      const { isSecret, isOpen } = kindOf(name);
      const isUnnamed = !isOpen && text.length >= minUnnamed && !saysNothing.test(text);
      if (isSecret || isUnnamed) add(text);
    }
    for (const [name, value] of headers)
      if (isSecretHeader(name)) add(value.replace(/^(?:bearer|basic|digest|negotiate)\s+/i, ''));
  }
  for (const subject of ['CreateSession', portalSubjects[0]] as const)
    for (const [name, text] of textsOf(matched.get(subject)?.request))
      if (!isOpenName(name) && scoreOf(parameterNames.policy, name) < 8) add(text);
  const exact = new Set([...found].map((text) => text.toLowerCase()));
  // By how they begin: a text is looked through once, however many there are.
  const byStart = new Map<string, { readonly secret: string; readonly bare: string }[]>();
  for (const secret of found) {
    const bare = bareText(secret);
    // A word may be a part of another: a value that is one is told where it stands alone.
    if (bare.length < minWithin || /^[A-Za-z]+$/.test(secret)) continue;
    const start = bare.slice(0, minWithin);
    const known = byStart.get(start);
    if (known === undefined) byStart.set(start, [{ secret, bare }]);
    else known.push({ secret, bare });
  }
  const heldBy = (text: string): string[] => {
    const bare = bareText(text);
    const held = new Set<string>();
    for (let at = 0; at + minWithin <= bare.length; at++)
      for (const one of byStart.get(bare.slice(at, at + minWithin)) ?? [])
        if (bare.startsWith(one.bare, at)) held.add(one.secret);
    return [...held].sort((one, other) => other.length - one.length);
  };

  const holds = (text: string): boolean => exact.has(text.trim().toLowerCase()) || heldBy(text).length > 0;
  const hide = (text: string): string => {
    if (exact.has(text.trim().toLowerCase())) return dots;
    const shown = heldBy(text).reduce((less, secret) => replaceRepeated(less, secret, dots), text);
    return shown.replaceAll(/[^\s/]+/g, (word) => {
      const own = decodeSegment(word);
      const isHidden = exact.has(own.toLowerCase()) || looksLikeValue(own) || (own !== word && holds(own));
      return isHidden ? dots : word;
    });
  };
  return {
    definitions: samples.definitions,
    is: (text) => [text, ...text.split('.')].some((part) => exact.has(part.toLowerCase())),
    holds,
    hide,
    hideNames: (names) =>
      names.replaceAll(/[^,/]+/g, (part) => {
        const own = part.trim();
        return own === '' || (isPlainName(own) && !holds(own)) ? part : part.replace(own, dots);
      }),
  };
}

/** Of a policy, a definition or a number of the service's own. */
const isName = (name: string): boolean =>
  scoreOf(parameterNames.policy, name) >= 8 || scoreOf(parameterNames.tokenName, name) >= 10;

/** As in an answer, and a variable of an address or a place with dots. */
const isPlainName = (name: string): boolean =>
  name
    .split(/\.|\[\]/)
    .filter((part) => part !== '')
    .every((part) => {
      const inner = /^\{(.+)\}$/.exec(part)?.[1] ?? part;
      return memberNames({ [inner]: null })[0] === inner || /^v?\d{1,3}$/.test(inner);
    });
