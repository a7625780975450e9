import { JSON_SCHEMA, load } from 'js-yaml';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { bounded } from './bounded.ts';
import { readCallsAsText } from './calls-as-text.ts';
import { readCollection } from './collection.ts';
import { isObject, memberOf, parseJson, type CallExample } from './example.ts';
import { readHar } from './har.ts';
import { readOpenApi } from './openapi.ts';
import { kindOfDocument, kindOfText } from './other-kinds.ts';

/**
 * The calls that a text describes: an OpenAPI 3 document in JSON or YAML, a collection of Postman's, a HAR file, command
 * lines of curl, or requests with their answers. Nothing that it refers to is fetched. Failures: examples.unreadable;
 * `subject` says what it is where that is known.
 */
export function readExamples(given: string): Outcome<CallExample[]> {
  try {
    return read(given.replace(/^\uFEFF/, ''));
  } catch {
    // A document may be wrong in ways that no reader knows.
    return failed('examples.unreadable');
  }
}

function read(text: string): Outcome<CallExample[]> {
  const json = parseJson(text);
  const document = isObject(json) ? json : readYaml(text);
  const kind = document === null ? kindOfText(text) : kindOfDocument(document);
  if (kind !== null) return failed('examples.unreadable', { subject: kind });
  const examples = document === null ? readCallsAsText(text) : readDocument(document);
  if (examples.length === 0) return failed('examples.unreadable');
  const spent = { nodes: 0 };
  return done(
    examples.map((one) => ({
      ...one,
      title: one.title.slice(0, 200),
      names: one.names.slice(0, 10).map((name) => name.slice(0, 300)),
      request: bounded(one.request, spent),
      answer: bounded(one.answer, spent),
    })),
  );
}

function readDocument(document: Readonly<Record<string, unknown>>): CallExample[] {
  if (isObject(document['paths'])) return readOpenApi(document);
  const log = document['log'];
  if (Array.isArray(memberOf(log, 'entries'))) return readHar(log);
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
