import { bounded } from './bounded.ts';
import { isObject, listOf, maxExamples, memberOf, textOf, type CallExample, type Pair } from './example.ts';

const methods = ['post', 'put', 'get', 'patch', 'delete'] as const;
/** Members of one sample, and how deep it goes: a document may refer to itself without end. */
const maxNodes = 2_000;
const maxDepth = 12;

/** The calls of an OpenAPI 3 document. Examples are taken where it has some; else they are made of its schemas. */
export function readOpenApi(document: Readonly<Record<string, unknown>>): CallExample[] {
  const found: CallExample[] = [];
  const prefix = serverPath(document);
  for (const [path, item] of Object.entries(isObject(document['paths']) ? document['paths'] : {})) {
    const shared = resolve(document, item);
    for (const method of methods) {
      const operation = resolve(document, memberOf(shared, method));
      if (!isObject(operation) || found.length >= maxExamples) continue;
      const parameters = [...listOf(memberOf(shared, 'parameters')), ...listOf(operation['parameters'])].map(
        (one) => resolve(document, one),
      );
      const of = (place: string): Pair[] =>
        parameters
          .filter((one) => memberOf(one, 'in') === place)
          .map((one) => [textOf(memberOf(one, 'name')), asText(sampleOf(document, one))]);
      const [type, request] = contentOf(document, resolve(document, operation['requestBody']));
      const [, answer] = contentOf(document, successOf(document, operation['responses']));
      const id = textOf(operation['operationId']);
      found.push({
        title: id === '' ? `${method.toUpperCase()} ${path}` : id,
        names: [id, textOf(operation['summary']), textOf(operation['description'])].filter(
          (name) => name !== '',
        ),
        method: method.toUpperCase(),
        path: `${prefix}${path.startsWith('/') ? path : `/${path}`}`,
        query: of('query'),
        headers: [...of('header'), ...(type === null ? [] : [['Content-Type', type] as const])],
        request,
        answer,
      });
    }
  }
  return found;
}

function serverPath(document: Readonly<Record<string, unknown>>): string {
  const [server] = listOf(document['servers']);
  const variables = memberOf(server, 'variables');
  const url = textOf(memberOf(server, 'url')).replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    textOf(memberOf(memberOf(variables, name), 'default')),
  );
  return url
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    .replace(/\/+$/, '')
    .replace(/^(?=[^/])/, '/');
}

/** Local references only: nothing is fetched. */
function resolve(document: unknown, json: unknown, depth = 0): unknown {
  const reference = memberOf(json, '$ref');
  if (typeof reference !== 'string' || depth > maxDepth) return json;
  if (!reference.startsWith('#/')) return undefined;
  let inner: unknown = document;
  for (const part of reference.slice(2).split('/')) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    inner = Array.isArray(inner) ? (inner as unknown[])[Number(name)] : memberOf(inner, name);
  }
  return resolve(document, inner, depth + 1);
}

/** `100%` is a name as well. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function successOf(document: unknown, responses: unknown): unknown {
  if (!isObject(responses)) return undefined;
  const status = Object.keys(responses)
    .filter((name) => /^2(?:\d\d|XX)$/i.test(name))
    .sort()[0];
  return resolve(document, responses[status ?? 'default']);
}

/** The type and a sample of what a body holds, JSON first. */
function contentOf(document: unknown, body: unknown): [type: string | null, sample: unknown] {
  const content = memberOf(body, 'content');
  if (!isObject(content)) return [null, undefined];
  const types = Object.keys(content);
  const type = types.find((one) => /[/+]json\b/i.test(one)) ?? types[0];
  if (type === undefined) return [null, undefined];
  return [type, sampleOf(document, resolve(document, content[type]))];
}

/** What a media type or a parameter has as an example, else one made of its schema. */
function sampleOf(document: unknown, json: unknown): unknown {
  if (!isObject(json)) return undefined;
  if (json['example'] !== undefined) return json['example'];
  const { examples } = json as { examples?: unknown };
  const [first] = isObject(examples) ? Object.values(examples) : listOf(examples);
  const value = memberOf(resolve(document, first), 'value');
  if (value !== undefined) return value;
  return json['schema'] === undefined ? undefined : sampleOfSchema(document, json['schema'], { nodes: 0 }, 0);
}

function sampleOfSchema(document: unknown, given: unknown, spent: { nodes: number }, depth: number): unknown {
  const schema = resolve(document, given);
  if (!isObject(schema) || depth > maxDepth || ++spent.nodes > maxNodes) return undefined;
  for (const name of ['example', 'const', 'default']) if (schema[name] !== undefined) return schema[name];
  const [example] = listOf(schema['examples']);
  if (example !== undefined) return example;
  const [first] = listOf(schema['enum']);
  if (first !== undefined) return first;
  const inner = (one: unknown): unknown => sampleOfSchema(document, one, spent, depth + 1);
  const parts = listOf(schema['allOf']).map(inner);
  const choice = [...listOf(schema['oneOf']), ...listOf(schema['anyOf'])].find(
    (one) => memberOf(resolve(document, one), 'type') !== 'null',
  );
  if (choice !== undefined) parts.push(inner(choice));
  const own = ownSample(schema, inner);
  const all = own === undefined ? parts : [...parts, own];
  return all.length > 0 && all.every(isObject) ? Object.assign({}, ...all) : all.at(-1);
}

function ownSample(schema: Readonly<Record<string, unknown>>, inner: (one: unknown) => unknown): unknown {
  const type = [schema['type']].flat().find((one) => one !== 'null');
  const { properties, items } = schema;
  if (isObject(properties))
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one) ?? null]));
  if (isObject(items) || type === 'array') return items === undefined ? [] : [inner(items) ?? null];
  const any = schema['additionalProperties'];
  if (isObject(any)) return { [anyName]: inner(any) ?? null };
  if (type === 'string') return madeUp;
  if (type === 'integer' || type === 'number') return 0;
  if (type === 'boolean') return true;
  return type === 'object' ? {} : undefined;
}

/** Stands for a text that the document says nothing of. */
export const madeUp = 'string';
/** Stands for any name of a member. */
export const anyName = '{any}';

const asText = (json: unknown): string =>
  json === undefined || json === null
    ? ''
    : typeof json === 'string'
      ? json
      : JSON.stringify(bounded(json, { nodes: 0 })).slice(0, 2_000);
