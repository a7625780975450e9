import type { ServiceProfile } from '../../service/profile.ts';
import { decodeSegment, looksLikeValue, type ExampleSecrets } from './example-secrets.ts';
import { answerNames, scoreOf, type Subject } from './roles.ts';
import { isReal, type Leaf, type SampleValues } from './sample-values.ts';

/** What a member of the profile should hold, and what of the example says so. */
export interface Change {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly from: Evidence | null;
  /** Found by its name or by what it holds; else it is what was left. */
  readonly isSure: boolean;
}

export interface Evidence {
  /** Where it stands in the example. */
  readonly place: string;
  readonly value: unknown;
  readonly holds: Holds;
}
/**
 * How it may be shown: `profile` is what the profile itself says, `reference` a RefId. Whatever else it is may be a value in
 * clear under another name.
 */
export type Holds = 'secret' | 'profile' | 'reference' | 'hidden';

/** What an example shows and the profile can't say, or what was not found in it; `names` are names of members. */
export interface Remark {
  readonly subject: Subject | null;
  readonly kind: RemarkKind;
  readonly names: string;
}
export type RemarkKind =
  | 'path-fixed'
  | 'path-unknown'
  | 'method'
  | 'request-missing'
  | 'request-nested'
  | 'session-in-header'
  | 'secret-in-header'
  | 'header-left'
  | 'query-fixed'
  | 'value-in-address'
  | 'members-left'
  | 'parameter-unclear'
  | 'elements-without-reference'
  | 'answer-missing'
  | 'answer-number'
  | 'answer-in-list'
  | 'answer-unclear'
  | 'reference-number'
  | 'reference-unclear'
  | 'conflict'
  | 'value-as-name'
  | 'example-unclear'
  | 'dates-unclear'
  | 'pages-unclear';

export interface Proposal {
  readonly changes: readonly Change[];
  readonly remarks: readonly Remark[];
}

/** Collects what one call after the other says. */
export interface Collector {
  change(path: readonly string[], value: unknown, from?: Evidence | null, isSure?: boolean): void;
  remark(subject: Subject | null, kind: RemarkKind, names?: string): void;
}

export interface Context {
  readonly profile: ServiceProfile;
  readonly samples: SampleValues;
  readonly secrets: ExampleSecrets;
  readonly collect: Collector;
  /** What stands before the paths of the profile. */
  readonly prefix: string;
  /** Names that several operations add to one list. */
  readonly added: Map<string, unknown[]>;
}

/** All that operations added to a list so far, these among it. */
export function addTo({ added }: Context, key: string, more: readonly unknown[]): unknown[] {
  const all = [...new Set([...(added.get(key) ?? []), ...more])];
  added.set(key, all);
  return all;
}

export const relative = ({ prefix }: Context, path: string): string =>
  prefix !== '' && path.startsWith(prefix) ? path.slice(prefix.length) : path;

/** The parameter whose value stands in a path: a session, a token, a value or what looks like one. Null where none does. */
export function valueInPath({ samples, secrets }: Context, path: string): string | null {
  for (const segment of path.split('/')) {
    if (segment === '' || /^\{[^{}]+\}$/.test(segment)) continue;
    const text = decodeSegment(segment);
    if ([...samples.sessions].some((session) => text.includes(session))) return 'sessionToken';
    if (secrets.holds(text) || looksLikeValue(text)) return samples.tokens.has(text) ? 'tokenValue' : 'value';
  }
  return null;
}

export const evidence = (place: string, value: unknown, holds: Holds = 'hidden'): Evidence => ({
  place,
  value,
  holds,
});

/** Names of what stands beside an answer. */
const beside =
  /^(?:.*(?:status|state|message|msg|code|requestid|traceid|correlationid|time|timestamp|date|version|region|type|title|expires|expiry|expiresin|ttl|policy|tenant|issued|server|node|warning|error|success|ok|hint|note|description|detail|unit|env|environment|href|link|url)|id)$/;

const isBeside = (name: string): boolean => beside.test(name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, ''));

/** Which of these leaves is what an operation gives; null where none is. */
export function pickLeaf(
  { samples }: Context,
  gives: keyof typeof answerNames,
  leaves: readonly Leaf[],
  { sent }: { readonly sent: ReadonlySet<unknown> },
): { leaf: Leaf; isSure: boolean } | null {
  const known =
    gives === 'session'
      ? samples.sessions
      : gives === 'token'
        ? samples.tokens
        : gives === 'cleartext'
          ? samples.clear
          : null;
  const scored = leaves
    .filter(({ value }) => typeof value === 'string')
    .map((leaf) => {
      const value = String(leaf.value);
      const own = leaf.path.at(-1) ?? '';
      const named = scoreOf(answerNames[gives], own);
      // Of several that come back elsewhere it is the one by its name: a tenant may as well.
      if (known?.has(value) === true) return { leaf, score: 40 + named };
      if (isReal(value) && sent.has(value)) return { leaf, score: -1 };
      if (named < 6 && (isBeside(own) || isTime(value))) return { leaf, score: -1 };
      const isOther = [samples.sessions, samples.tokens, samples.clear].some((texts) => texts.has(value));
      const looksMasked = gives === 'mask' && /[*•#]|[xX]{3}/.test(value) ? 12 : 0;
      return { leaf, score: isOther ? -1 : named + looksMasked };
    })
    .filter(({ score }) => score >= 0)
    .sort((one, other) => other.score - one.score);
  const [first, second] = scored;
  if (first === undefined) return null;
  if (first.score === 0) return second === undefined ? { leaf: first.leaf, isSure: false } : null;
  return { leaf: first.leaf, isSure: first.score > (second?.score ?? 0) };
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);

const flagNames =
  /^(?:success|succeeded|successful|ok|done|status|state|outcome|resultcode|returncode|responsecode|rc|code|result)$/i;
const goodValues: readonly unknown[] = [
  true,
  'OK',
  'Ok',
  'ok',
  'SUCCESS',
  'Success',
  'success',
  'DONE',
  'Done',
  'done',
  'COMPLETED',
  'completed',
  'Completed',
  'true',
  0,
  '0',
  '00',
  '000',
  '0000',
];

/** Whether a leaf says that something was done. A number of a document's schema says nothing. */
export const isFlag = ({ path, value }: Leaf, others: readonly Leaf[]): boolean =>
  flagNames.test(path.at(-1) ?? '') &&
  goodValues.includes(value) &&
  (value !== 0 || others.some((one) => isReal(one.value)));
