import { isBlank } from '../../util/blank.ts';
import {
  isObject,
  listOf,
  maxExamples,
  memberOf,
  parseJson,
  splitAddress,
  textOf,
  type CallExample,
  type Pair,
} from './example.ts';

/** Folders in folders. */
const maxDepth = 10;

/** The calls of a collection as Postman exports it (v2.0 and v2.1), each with its first answer that was saved. */
export function readCollection(collection: Readonly<Record<string, unknown>>): CallExample[] {
  const found: CallExample[] = [];
  visit(collection['item'], [], found);
  return found;
}

function visit(items: unknown, folders: readonly string[], found: CallExample[]): void {
  for (const item of listOf(items)) {
    if (found.length >= maxExamples || folders.length > maxDepth) return;
    const name = textOf(memberOf(item, 'name'));
    const inner = memberOf(item, 'item');
    if (inner !== undefined) visit(inner, [...folders, name], found);
    const request = memberOf(item, 'request');
    if (request === undefined) continue;
    const responses = listOf(memberOf(item, 'response'));
    const saved =
      responses.find((one) => /^2/.test(JSON.stringify(memberOf(one, 'code') ?? null))) ??
      responses.find((one) => memberOf(one, 'code') === undefined);
    found.push(readRequest(name, folders, request, textOf(memberOf(saved, 'body'))));
  }
}

function readRequest(
  name: string,
  folders: readonly string[],
  request: unknown,
  answer: string,
): CallExample {
  // A request may be its address alone.
  const url = isObject(request) ? request['url'] : request;
  const { path, query } = splitAddress(isObject(url) ? addressOf(url) : textOf(url));
  return {
    title: name,
    names: [name, ...folders, textOf(memberOf(request, 'description'))].filter((one) => one !== ''),
    method: (textOf(memberOf(request, 'method')) || 'GET').toUpperCase(),
    path,
    query,
    headers: [...pairsOf(memberOf(request, 'header')), ...authHeader(memberOf(request, 'auth'))],
    request: bodyOf(memberOf(request, 'body')),
    answer: isBlank(answer) ? undefined : (parseJson(withVariables(answer)) ?? answer),
  };
}

function addressOf(url: Readonly<Record<string, unknown>>): string {
  const raw = textOf(url['raw']);
  if (raw !== '') return raw;
  const join = (part: unknown, by: string): string =>
    Array.isArray(part) ? part.map((one) => textOf(one)).join(by) : textOf(part);
  const asked = pairsOf(url['query']).map(([name, value]) => `${name}=${value}`);
  return `https://${join(url['host'], '.')}/${join(url['path'], '/')}?${asked.join('&')}`;
}

const pairsOf = (list: unknown): Pair[] =>
  listOf(list).flatMap((one): Pair[] =>
    memberOf(one, 'disabled') === true
      ? []
      : [[textOf(memberOf(one, 'key')), textOf(memberOf(one, 'value'))]],
  );

/** What the client would add: its name is all that is needed. */
function authHeader(auth: unknown): Pair[] {
  const type = textOf(memberOf(auth, 'type'));
  if (type === '' || type === 'noauth' || type === 'inherit') return [];
  const parts = pairsOf(memberOf(auth, type));
  const key = parts.find(([name]) => name === 'key')?.[1];
  return [[type === 'apikey' ? (key ?? 'X-Api-Key') : 'Authorization', type]];
}

function bodyOf(body: unknown): unknown {
  const raw = textOf(memberOf(body, 'raw'));
  if (raw !== '') return parseJson(raw) ?? parseJson(withVariables(raw)) ?? raw;
  const fields = pairsOf(memberOf(body, textOf(memberOf(body, 'mode'))));
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/** A variable that stands for a number, a list or all of an object becomes a text. */
export const withVariables = (text: string): string =>
  text.replaceAll(/(?<=[:,[]\s*)\{\{([^{}"]+)\}\}(?=\s*[,\]}])/g, (variable) => JSON.stringify(variable));
