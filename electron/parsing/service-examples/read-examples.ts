import { JSON_SCHEMA, load } from 'js-yaml';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readCallsAsText } from './calls-as-text.ts';
import { readCollection } from './collection.ts';
import { isObject, parseJson, type CallExample } from './example.ts';
import { readOpenApi } from './openapi.ts';

/**
 * The calls that a text describes: an OpenAPI 3 document in JSON or YAML, a collection of Postman's, command lines of curl,
 * or requests with their answers. Nothing that it refers to is fetched. Failures: examples.unreadable; `subject` says what
 * it is where that is known.
 */
export function readExamples(given: string): Outcome<CallExample[]> {
  const text = given.replace(/^\uFEFF/, '');
  const json = parseJson(text);
  const document = isObject(json) ? json : readYaml(text);
  const examples = document === null ? readCallsAsText(text) : readDocument(document);
  if (examples === null)
    return failed('examples.unreadable', { subject: 'an OpenAPI document of version 2' });
  if (examples.length === 0) return failed('examples.unreadable');
  const spent = { nodes: 0 };
  return done(
    examples.map((one) => ({
      ...one,
      title: one.title.slice(0, 200),
      names: one.names.slice(0, 10).map((name) => name.slice(0, 300)),
      request: bounded(one.request, spent, 0),
      answer: bounded(one.answer, spent, 0),
    })),
  );
}

const maxDepth = 12;
const maxNodes = 50_000;
const maxText = 8_192;

/** A copy without end or alias: YAML may have an object stand in itself, or a million times. */
function bounded(json: unknown, spent: { nodes: number }, depth: number): unknown {
  if (depth > maxDepth || ++spent.nodes > maxNodes) return undefined;
  if (typeof json === 'string') return json.slice(0, maxText);
  if (Array.isArray(json)) return json.slice(0, 100).map((one) => bounded(one, spent, depth + 1) ?? null);
  if (!isObject(json)) return json;
  const entries = Object.entries(json).slice(0, 200);
  return Object.fromEntries(entries.map(([name, one]) => [name, bounded(one, spent, depth + 1)]));
}

function readDocument(document: Readonly<Record<string, unknown>>): CallExample[] | null {
  if (typeof document['swagger'] === 'string') return null;
  if (isObject(document['paths'])) return readOpenApi(document);
  const inner = document['collection'];
  if (Array.isArray(document['item'])) return readCollection(document);
  return isObject(inner) ? readCollection(inner) : [];
}

/** Null where it is no YAML, or no document: nearly any text is YAML. Aliases are the same object, not a copy. */
function readYaml(text: string): Readonly<Record<string, unknown>> | null {
  if (!/^["']?(?:openapi|swagger|paths)["']?\s*:/m.test(text)) return null;
  try {
    const read: unknown = load(text, { schema: JSON_SCHEMA });
    return isObject(read) ? read : null;
  } catch {
    return null;
  }
}
