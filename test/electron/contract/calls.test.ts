import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { calls, events } from '../../../electron/contract/calls.ts';

type Node = Record<string, unknown>;

/** Every object in a schema, with the path that leads to it. */
function objects(schema: unknown, path: string): { path: string; node: Node }[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const node = schema as Node;
  const here = node.type === 'object' && node.properties !== undefined ? [{ path, node }] : [];
  return [...here, ...Object.entries(node).flatMap(([key, value]) => objects(value, `${path}.${key}`))];
}

const jsonSchema = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: 'input' });

describe.each(Object.entries(calls))('%s', (name, call) => {
  test('takes and gives strict objects only', () => {
    const found = [
      ...objects(jsonSchema(call.input), 'input'),
      ...objects(jsonSchema(call.output), 'output'),
    ];
    expect(found.filter(({ node }) => node.additionalProperties !== false).map(({ path }) => path)).toEqual(
      [],
    );
  });

  test('bounds every string and list that comes in', () => {
    const unbounded: string[] = [];
    const walk = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const node = schema as Node;
      const fixed = node.enum !== undefined || node.const !== undefined || node.pattern !== undefined;
      if (node.type === 'string' && !fixed && node.maxLength === undefined) unbounded.push(path);
      if (node.type === 'array' && node.maxItems === undefined) unbounded.push(path);
      for (const [key, value] of Object.entries(node)) walk(value, `${path}.${key}`);
    };
    walk(jsonSchema(call.input), name);
    expect(unbounded).toEqual([]);
  });
});

const secretWords = /apiKey$|password|passphrase|sessionToken|jwt|authorization/i;
/** A revealed value crosses obscured, under this name. */
const cleartextWords = /cleartext|^obscured$/i;

/** Where a member's name says that it would carry a secret or cleartext, in what leaves main. */
function members(schema: z.ZodType, words: RegExp): string[] {
  return objects(jsonSchema(schema), '').flatMap(({ node }) =>
    Object.entries(node.properties as Record<string, Node>)
      .filter(([key, value]) => words.test(key) && value.type === 'string' && value.enum === undefined)
      .map(([key]) => key),
  );
}

test('no answer and no event has a member for a secret', () => {
  const outward = [...Object.values(calls).map(({ output }) => output), ...Object.values(events)];
  expect(outward.flatMap((schema) => members(schema, secretWords))).toEqual([]);
});

test('cleartext leaves through the two reveals only', () => {
  const found = Object.entries(calls)
    .filter(([, { output }]) => members(output, cleartextWords).length > 0)
    .map(([name]) => name);
  expect(found).toEqual(['lookup.reveal', 'batch.reveal']);
  expect(Object.values(events).flatMap((schema) => members(schema, cleartextWords))).toEqual([]);
});
