import { anyName, madeUp } from '../../parsing/service-examples/openapi.ts';
import { isObject, listOf, type CallExample } from '../../parsing/service-examples/example.ts';
import type { Subject } from './roles.ts';

/** A text, number or flag of a sample, with its way from the root; `[]` stands for the elements of a list. */
export interface Leaf {
  readonly path: readonly string[];
  readonly value: string | number | boolean | null;
}

const maxDepth = 6;

/** All leaves; of lists those of the first element. */
export function leavesOf(json: unknown, path: readonly string[] = []): Leaf[] {
  if (path.length > maxDepth) return [];
  if (Array.isArray(json)) return json.length === 0 ? [] : leavesOf(json[0], [...path, '[]']);
  if (isObject(json)) return Object.entries(json).flatMap(([name, one]) => leavesOf(one, [...path, name]));
  return json === undefined ? [] : [{ path, value: json as Leaf['value'] }];
}

/** The same of all elements of lists. */
export function everyLeaf(json: unknown, path: readonly string[] = []): Leaf[] {
  if (path.length > maxDepth) return [];
  if (Array.isArray(json)) return json.flatMap((one) => everyLeaf(one, [...path, '[]']));
  if (isObject(json)) return Object.entries(json).flatMap(([name, one]) => everyLeaf(one, [...path, name]));
  return leavesOf(json, path);
}

/** Whether a text is an example of something: not what a document's schema or a variable stands for. */
export const isReal = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length > 1 &&
  value !== madeUp &&
  value !== anyName &&
  !/^\{\{.*\}\}$|^<.*>$/.test(value);

/** Texts that tell what is what, because they come back elsewhere. */
export interface SampleValues {
  readonly sessions: ReadonlySet<string>;
  /** Of the connection, and texts that stand in requests of several operations. */
  readonly definitions: ReadonlySet<string>;
  readonly common: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
  readonly clear: ReadonlySet<string>;
}

/** `definitions`: names that the connection has. */
export function findSampleValues(
  examples: ReadonlyMap<Subject, CallExample>,
  definitions: readonly string[],
): SampleValues {
  const textsOf = (json: unknown): Set<string> => new Set(allTexts(json).filter(isReal));
  const request = (name: Subject) => textsOf(examples.get(name)?.request);
  const answer = (name: Subject) => textsOf(examples.get(name)?.answer);
  const both = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
    [...one].filter((text) => other.has(text));
  const later = new Set(
    [...examples]
      .filter(([name]) => name !== 'CreateSession')
      .flatMap(([, { request: body, headers }]) => [
        ...textsOf(body),
        ...headers.map(([, value]) => value.replace(/^Bearer\s+/i, '')),
      ]),
  );
  const sessions = new Set(both(answer('CreateSession'), later));
  const without = (texts: readonly string[]) => texts.filter((text) => !sessions.has(text));
  const tokenizing = ['Tokenize', 'BatchTokenize'] as const;
  const taking = [
    'Detokenize',
    'GetMasked',
    'Translate',
    'BatchDetokenize',
    'BatchTranslate',
    'PatternMatch',
  ] as const;
  const common = taking
    .flatMap((other) => tokenizing.flatMap((one) => both(request(one), request(other))))
    .filter((text) => !sessions.has(text));
  const tokens = tokenizing.flatMap((one) =>
    taking.flatMap((other) => both(answer(one), request(other)).filter((text) => !request(one).has(text))),
  );
  const clear = tokenizing.flatMap((one) =>
    (['Detokenize', 'BatchDetokenize'] as const).flatMap((other) =>
      both(request(one), answer(other)).filter((text) => !request(other).has(text)),
    ),
  );
  return {
    sessions,
    definitions: new Set(definitions),
    common: new Set(common),
    tokens: new Set(without(tokens)),
    clear: new Set(without(clear)),
  };
}

function allTexts(json: unknown, depth = 0): string[] {
  if (typeof json === 'string') return [json];
  if (depth > maxDepth) return [];
  if (Array.isArray(json)) return listOf(json).flatMap((one) => allTexts(one, depth + 1));
  return isObject(json) ? Object.values(json).flatMap((one) => allTexts(one, depth + 1)) : [];
}
