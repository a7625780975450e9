import fc from 'fast-check';
import { z } from 'zod';

type Node = Readonly<Record<string, unknown>>;
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Inputs that fit a call's schema, made from the schema itself. */
export function fitting(schema: z.ZodType): fc.Arbitrary<Json> {
  return from(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

function from(node: Node): fc.Arbitrary<Json> {
  const choices = (node['anyOf'] ?? node['oneOf']) as Node[] | undefined;
  if (choices !== undefined) return fc.oneof(...choices.map(from));
  if ('const' in node) return fc.constant(node['const'] as Json);
  if (Array.isArray(node['enum'])) return fc.constantFrom(...(node['enum'] as Json[]));
  const atLeast = (name: string, otherwise: number): number =>
    (node[name] as number | undefined) ?? otherwise;
  switch (node['type']) {
    case 'object': {
      const members = (node['properties'] ?? {}) as Record<string, Node>;
      const requiredKeys = (node['required'] ?? []) as string[];
      return fc.record(
        Object.fromEntries(Object.entries(members).map(([key, value]) => [key, from(value)])),
        { requiredKeys },
      );
    }
    case 'array': {
      const places = node['prefixItems'] as Node[] | undefined;
      if (places !== undefined) return fc.tuple(...places.map(from));
      return fc.array(from(node['items'] as Node), {
        minLength: atLeast('minItems', 0),
        maxLength: Math.min(atLeast('maxItems', 3), atLeast('minItems', 0) + 3),
      });
    }
    case 'string':
      return text(node, atLeast('minLength', 0), atLeast('maxLength', 40));
    case 'integer':
    case 'number': {
      const min = Math.ceil(atLeast('minimum', atLeast('exclusiveMinimum', -1) + 1));
      return fc.integer({ min, max: Math.min(atLeast('maximum', min + 1_000), min + 1_000_000) });
    }
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue() as fc.Arbitrary<Json>;
  }
}

function text(node: Node, minLength: number, maxLength: number): fc.Arbitrary<string> {
  if (node['format'] === 'date') return fc.constant('2027-01-31');
  if (node['format'] === 'date-time') return fc.constant('2027-01-31T00:00:00.000Z');
  if (node['format'] === 'uri') return fc.constant('https://service.example/');
  if (typeof node['pattern'] === 'string')
    return fc.oneof(fc.stringMatching(new RegExp(node['pattern'], 'u')), fc.constant('a1'));
  // Letters: what has to be trimmed first is none of this file's business.
  return fc
    .array(fc.constantFrom(...Array.from('abcdefghijklmnopqrstuvwxyz0123456789')), {
      minLength: Math.max(1, minLength),
      maxLength: Math.min(maxLength, 40),
    })
    .map((characters) => characters.join(''));
}

/** Names of members that may be absent somewhere in the schema. */
export function optionalMembers(schema: z.ZodType): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties, required } = node as { properties?: object; required?: string[] };
    for (const key of Object.keys(properties ?? {})) if (!(required ?? []).includes(key)) found.add(key);
    Object.values(node).forEach(walk);
  };
  walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return found;
}

/** One thing changed that no schema of the router may let pass. */
export type Spoil =
  'a member more' | 'a required member less' | 'another type' | 'far too long' | 'a prototype';

export const spoils: readonly Spoil[] = [
  'a member more',
  'a required member less',
  'another type',
  'far too long',
  'a prototype',
];
const long = 'x'.repeat(8_000_001);
const endless = Array.from({ length: 100_001 }, () => 'x');

/** The value with the spoil put in, or null where there is no place for it. `pick(n)` chooses among n. */
export function spoil(
  value: Json,
  how: Spoil,
  pick: (below: number) => number,
  mayBeAbsent: ReadonlySet<string>,
): unknown {
  const copy = structuredClone(value);
  const places = objectsIn(copy);
  const place = places[pick(places.length)];
  if (place === undefined) return null;
  const keys = Object.keys(place);
  const key = keys[pick(keys.length)];
  if (how === 'a member more') place[['isAdmin', 'apiKey', 'constructor', ''][pick(4)] ?? ''] = 'more';
  else if (how === 'a prototype')
    Object.defineProperty(place, '__proto__', { value: {}, enumerable: true, configurable: true });
  else if (key === undefined) return null;
  else if (how === 'a required member less') {
    if (mayBeAbsent.has(key)) return null;
    Reflect.deleteProperty(place, key);
  } else if (how === 'another type') {
    const was = place[key];
    place[key] = typeof was === 'string' ? { length: 1, toString: 1 } : 'not that';
    if (was === null) place[key] = { value: 1, $ne: 1 };
  } else if (typeof place[key] === 'string') place[key] = long;
  else if (Array.isArray(place[key])) place[key] = endless;
  else return null;
  return copy;
}

function objectsIn(value: Json): Record<string, Json>[] {
  if (value === null || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return [value, ...Object.values(value).flatMap(objectsIn)];
}
