import { isUtf8 } from 'node:buffer';

/** `json` undefined where it is no JSON. `twice`: a name that stands twice in one object. */
export interface ReadJson {
  readonly json: unknown;
  readonly twice: string | null;
}

const none: ReadJson = { json: undefined, twice: null };

/**
 * The JSON of an answer. Broken UTF-8 is none: decoding it would quietly change values. A byte order mark is no part of it.
 * Of a member that stands twice in one object JSON.parse takes the last without a word, which may be another value's.
 */
export function readJson(body: Buffer): ReadJson {
  const bytes = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
  if (!isUtf8(bytes)) return none;
  try {
    const text = bytes.toString('utf8');
    const json = JSON.parse(text) as unknown;
    return { json, twice: hasAllWritten(json, text) ? null : nameTwiceIn(text) };
  } catch {
    return none;
  }
}

/**
 * Whether an object, and the objects in its lists, as a batch is answered, have as many members as are written: then none is
 * twice. Looking for them in the text would take longer than to parse it.
 */
function hasAllWritten(json: unknown, text: string): boolean {
  let members = 0;
  const count = (one: unknown): void => {
    if (isRecord(one)) for (const _ in one) members += 1;
  };
  count(json);
  for (const list of isRecord(json) ? Object.values(json) : [json])
    if (Array.isArray(list)) for (const one of list) count(one);
  // A colon within a text only makes it look closer.
  return members === countOf(text, ':');
}

const isRecord = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

function countOf(text: string, sign: string): number {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) count += 1;
  return count;
}

/** Of a text that is JSON. */
function nameTwiceIn(text: string): string | null {
  const open: Set<string>[] = [];
  for (const { 0: part, 1: blanks } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/g)) {
    if (part === '{') open.push(new Set());
    else if (part === '}') open.pop();
    else if (blanks !== undefined) {
      const name = JSON.parse(part.slice(0, -blanks.length)) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
  }
  return null;
}
