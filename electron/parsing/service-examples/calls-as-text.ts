import { isObject, maxExamples, parseJson, splitAddress, type CallExample, type Pair } from './example.ts';
import { withVariables } from './collection.ts';

/** Where a call begins: a command line of curl, or the first line of a request. */
const callLine = /^[ \t]*(?:[$>][ \t]+)?(?:curl(?:\.exe)?[ \t]|(?:GET|POST|PUT|PATCH|DELETE)[ \t]+\S)/gm;
const maxJson = 20;

/**
 * Calls in a text: command lines of curl and requests as they go over the wire, each with the answer that follows it. Where
 * there is no such line, two JSON texts are the request and the answer of one call.
 */
export function readCallsAsText(text: string): CallExample[] {
  const lines = text.replaceAll('\r\n', '\n');
  const starts = [...lines.matchAll(callLine)].map(({ index }) => index);
  if (starts.length === 0) {
    const [request, answer] = jsonIn(lines);
    if (!isObject(request) || answer === undefined) return [];
    return [
      {
        title: 'Request and answer',
        names: [],
        method: '',
        path: '',
        query: [],
        headers: [],
        request,
        answer,
      },
    ];
  }
  const found: CallExample[] = [];
  let at = 0;
  for (let index = 0; index < starts.length && found.length < maxExamples; index++) {
    const start = starts[index] ?? 0;
    // Inside of the command before: a body that holds such a line.
    if (start < at) continue;
    const before = titleAbove(lines.slice(at, start));
    const next = (from: number): number => starts.find((one) => one >= from) ?? lines.length;
    const isCurl = /^\s*(?:[$>]\s+)?curl/.test(lines.slice(start, start + 20));
    const command = isCurl ? readCommand(lines, start) : null;
    const from = command?.end ?? start;
    at = next(Math.max(from, start + 1));
    const rest = lines.slice(from, at);
    found.push(
      command === null
        ? readWire(rest, before)
        : { ...readCurl(command.words, before), answer: jsonIn(rest)[0] },
    );
  }
  return found;
}

/** The last line above it that is words: a comment or a heading. */
function titleAbove(text: string): string {
  const line =
    text
      .trimEnd()
      .split('\n')
      .at(-1)
      ?.replace(/^[\s#/*=-]+/, '')
      .trim() ?? '';
  return /^[\p{L}\d][\p{L}\d ,.:()'’/_-]{2,80}$/u.test(line) && !line.includes('":') ? line : '';
}

interface Command {
  readonly words: readonly string[];
  readonly end: number;
}

/** The words of a command line, as a shell reads them: of POSIX, and with `^` and a backtick at the ends of lines. */
function readCommand(text: string, start: number): Command {
  const words: string[] = [];
  let word: string | null = null;
  let at = start;
  for (; at < text.length; at++) {
    const unit = text.charAt(at);
    const isContinued =
      (unit === '\\' || unit === '^' || unit === '`') && /^[ \t]*\n/.test(text.slice(at + 1, at + 20));
    if (isContinued) {
      at = text.indexOf('\n', at);
      if (word !== null) words.push(word);
      word = null;
    } else if (unit === '\n') break;
    else if (unit === ' ' || unit === '\t') {
      if (word !== null) words.push(word);
      word = null;
    } else if (unit === "'") {
      const isEscaped: boolean = word === '$';
      const end = endOfQuote(text, at, isEscaped);
      const inner = text.slice(at + 1, end);
      word = isEscaped ? unescape(inner) : (word ?? '') + inner;
      at = end;
    } else if (unit === '"') {
      const end = endOfQuote(text, at, true);
      word =
        (word ?? '') +
        text
          .slice(at + 1, end)
          .replaceAll(/\\(["\\$`])/g, '$1')
          .replaceAll('\\\n', '');
      at = end;
    } else if (unit === '\\') word = (word ?? '') + text.charAt(++at);
    else word = (word ?? '') + unit;
  }
  if (word !== null) words.push(word);
  return { words, end: at };
}

function endOfQuote(text: string, start: number, escapes: boolean): number {
  const quote = text.charAt(start);
  for (let at = start + 1; at < text.length; at++) {
    if (escapes && text.charAt(at) === '\\') at++;
    else if (text.charAt(at) === quote) return at;
  }
  return text.length;
}

const unescape = (text: string): string =>
  text.replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs,
    (_, unicode?: string, hex?: string, one?: string) => {
      const code = unicode ?? hex;
      if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
      return ({ n: '\n', r: '\r', t: '\t' } as Record<string, string>)[one ?? ''] ?? one ?? '';
    },
  );

const withValue =
  /^(?:-[oAebxmwFTCEurzyYKcD]|--(?:output|user-agent|referer|cookie|cookie-jar|proxy|max-time|connect-timeout|cacert|capath|cert|key|pass|retry|retry-delay|write-out|form|user|resolve|interface|config|tlsv1|ciphers|range|limit-rate|proxy-user|oauth2-bearer|aws-sigv4|cert-type|key-type))$/;

function readCurl(words: readonly string[], title: string): Omit<CallExample, 'answer'> {
  let method = '';
  let address = '';
  let isQuery = false;
  const headers: Pair[] = [];
  const data: string[] = [];
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? '';
    if (word === '$' || word === 'curl') continue;
    const [, name = word, joined] = /^(--[a-z0-9-]+)=(.*)$/s.exec(word) ?? /^(-[XHd])(.+)$/s.exec(word) ?? [];
    const value = (): string => joined ?? words[++index] ?? '';
    if (name === '-X' || name === '--request') method = value().toUpperCase();
    else if (name === '--url') address = value();
    else if (name === '-H' || name === '--header') headers.push(...headerOf(value()));
    else if (/^(?:-d|--data(?:-raw|-binary|-ascii|-urlencode)?|--json)$/.test(name)) data.push(value());
    else if (name === '-G' || name === '--get') isQuery = true;
    else if (name === '-u' || name === '--user' || name === '--oauth2-bearer') {
      value();
      headers.push(['Authorization', name]);
    } else if (withValue.test(name)) value();
    else if (!word.startsWith('-') && address === '') address = word;
  }
  const split = splitAddress(address);
  const body = data.join('&');
  const asked = isQuery ? splitAddress(`/?${body}`).query : [];
  const request =
    data.length === 0 || isQuery
      ? undefined
      : (parseJson(body) ?? parseJson(withVariables(body)) ?? form(body));
  return {
    title: title === '' ? split.path || 'curl' : title,
    names: title === '' ? [] : [title],
    method: method === '' ? (request === undefined ? 'GET' : 'POST') : method,
    path: split.path,
    query: [...split.query, ...asked],
    headers,
    request,
  };
}

const form = (body: string): unknown =>
  /^[\w.-]+=/.test(body) ? Object.fromEntries(new URLSearchParams(body)) : body;

function headerOf(line: string): Pair[] {
  const [, name, value = ''] = /^([\w-]+)\s*:\s*(.*)$/s.exec(line.trim()) ?? [];
  return name === undefined ? [] : [[name, value.trim()]];
}

/** A request as it goes over the wire, and the answer under it. */
function readWire(text: string, title: string): CallExample {
  const [head = '', ...others] = text.trim().split('\n');
  const [method = '', address = ''] = head.trim().split(/\s+/);
  const headers: Pair[] = [];
  for (const line of others) {
    const [pair] = headerOf(line);
    if (pair === undefined) break;
    headers.push(pair);
  }
  const split = splitAddress(address);
  const parts = jsonIn(others.join('\n'));
  const [request, answer] =
    method.toUpperCase() === 'GET' && parts.length === 1 ? [undefined, parts[0]] : parts;
  return {
    title: title === '' ? split.path : title,
    names: title === '' ? [] : [title],
    method: method.toUpperCase(),
    path: split.path,
    query: split.query,
    headers,
    request,
    answer,
  };
}

/** The JSON texts that begin at the start of a line, in their order. */
function jsonIn(text: string): unknown[] {
  const found: unknown[] = [];
  const start = /^[ \t]*(?=[[{"])/gm;
  for (let match = start.exec(text); match !== null && found.length < maxJson; match = start.exec(text)) {
    const from = match.index + match[0].length;
    const end = endOfJson(text, from);
    const json = parseJson(text.slice(from, end)) ?? parseJson(withVariables(text.slice(from, end)));
    if (json !== undefined) found.push(json);
    start.lastIndex = Math.max(json === undefined ? from + 1 : end, match.index + 1);
  }
  return found;
}

function endOfJson(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charAt(at);
    if (unit === '"') at = endOfQuote(text, at, true);
    else if (unit === '{' || unit === '[') depth++;
    else if (unit === '}' || unit === ']') depth--;
    if (depth <= 0) return at + 1;
  }
  return text.length;
}
