import { isObject, maxExamples, parseJson, splitAddress, type CallExample, type Pair } from './example.ts';
import { withVariables } from './collection.ts';

/** What a shell prints before a command: of POSIX, of cmd and of PowerShell. */
const prompt = String.raw`[ \t]*(?:[$>][ \t]+|PS [^>\n]{0,200}>[ \t]*|[A-Za-z]:\\[^>\n]{0,200}>[ \t]*)?`;
/** Where a call begins: a command line of curl, or the first line of a request. */
const callLine = new RegExp(
  `^${prompt}(?:curl(?:\\.exe)?[ \\t]|(?:GET|POST|PUT|PATCH|DELETE)[ \\t]+\\S)`,
  'gm',
);
const curlLine = new RegExp(`^(${prompt})curl(?:\\.exe)?[ \\t]`);
const maxJson = 2 * maxExamples;

/**
 * Calls in a text: command lines of curl and requests as they go over the wire, each with the answer that follows it. Where
 * there is no such line, each two JSON texts are the request and the answer of one call.
 */
export function readCallsAsText(text: string): CallExample[] {
  const lines = asPosix(text.replaceAll('\r\n', '\n'));
  const starts = [...lines.matchAll(callLine)].map(({ index }) => index);
  if (starts.length === 0) return readPairs(lines);
  const found: CallExample[] = [];
  let at = 0;
  for (let index = 0; index < starts.length && found.length < maxExamples; index++) {
    const start = starts[index] ?? 0;
    // Inside of the command before: a body that holds such a line.
    if (start < at) continue;
    const before = titleAbove(lines.slice(at, start));
    const next = (from: number): number => starts.find((one) => one >= from) ?? lines.length;
    const shown = curlLine.exec(lines.slice(start, start + 300))?.[1];
    const command = shown === undefined ? null : readCommand(lines, start + shown.length);
    const from = command?.end ?? start;
    at = next(Math.max(from, start + 1));
    const rest = lines.slice(from, at);
    found.push(command === null ? readWire(rest, before) : readCurl(command, before, rest));
  }
  return found;
}

function readPairs(text: string): CallExample[] {
  const parts = jsonIn(text);
  const found: CallExample[] = [];
  for (let index = 0; index + 1 < parts.length && found.length < maxExamples; index += 2) {
    const [request, answer] = parts.slice(index, index + 2);
    // From here on it is not known which is which.
    if (!isObject(request)) break;
    const title = parts.length > 2 ? `Request and answer ${index / 2 + 1}` : 'Request and answer';
    found.push({ title, names: [], method: '', path: '', query: [], headers: [], request, answer });
  }
  return found;
}

/**
 * Commands of cmd and of PowerShell as those of POSIX: with `^` before what cmd would take for its own, and with quotes that
 * are doubled or have a backtick before them.
 */
const asPosix = (text: string): string =>
  text.replaceAll(/^[^\n]*\bcurl(?:\.exe)?[ \t](?:[^\n]*\^\n)*[^\n]*/gm, (command) => {
    const plain = command.includes('^"')
      ? command.replaceAll('^\n', ' ').replaceAll(/\^(.)/gs, '$1')
      : command;
    const quoted = /"[{[]\s*""/.test(plain) ? plain.replaceAll('""', '\\"') : plain;
    return /"[{[]\s*`"/.test(quoted) ? quoted.replaceAll('`"', '\\"') : quoted;
  });

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
  /** What the command reads from its standard input; null where it is not in the text. */
  readonly input: string | null;
  readonly end: number;
}

function readCommand(text: string, start: number): Command {
  const { words, end } = readWords(text, start);
  const at = words.findIndex((word) => word.startsWith('<<'));
  if (at < 0) return { words, input: null, end };
  const own = words.slice(0, at);
  const [, sign = '', rest = ''] = /^(<<<|<<-?)(.*)$/s.exec(words[at] ?? '') ?? [];
  const word = rest === '' ? (words[at + 1] ?? '') : rest;
  if (sign === '<<<') return { words: own, input: word, end };
  const last = [...text.slice(end).matchAll(/^[^\n]*$/gm)].find(({ 0: line }) => line.trim() === word);
  // Without its end it is not known where an answer begins.
  if (word === '' || last === undefined) return { words: own, input: null, end: text.length };
  const from = end + last.index;
  return { words: own, input: text.slice(end, from), end: from + last[0].length };
}

/** The words of a command line, as a shell reads them: of POSIX, and with `^` and a backtick at the ends of lines. */
function readWords(text: string, start: number): Pick<Command, 'words' | 'end'> {
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
  /^(?:-[oAebxmwFTCEurzyYKcDXHd]|--(?:output|user-agent|referer|cookie|cookie-jar|proxy|max-time|connect-timeout|cacert|capath|cert|key|pass|retry|retry-delay|write-out|form|user|resolve|interface|config|tlsv1|ciphers|range|limit-rate|proxy-user|oauth2-bearer|aws-sigv4|cert-type|key-type|request|url|header|data|data-raw|data-binary|data-ascii|data-urlencode|json))$/;

/** Flags with their values, several letters in one word among them (`-sSX POST`), and what is none under ''. */
function* flagsOf(words: readonly string[]): Generator<readonly [flag: string, value: string]> {
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? '';
    if (!word.startsWith('-')) yield ['', word];
    else if (word.startsWith('--')) {
      const [, name = word, joined] = /^(--[a-z0-9-]+)=(.*)$/s.exec(word) ?? [];
      yield [name, withValue.test(name) ? (joined ?? words[++index] ?? '') : ''];
    } else
      for (let at = 1; at < word.length; at++) {
        const flag = `-${word.charAt(at)}`;
        if (!withValue.test(flag)) {
          yield [flag, ''];
          continue;
        }
        yield [flag, word.slice(at + 1) || (words[++index] ?? '')];
        break;
      }
  }
}

function readCurl({ words, input }: Command, title: string, rest: string): CallExample {
  let method = '';
  let address = '';
  let isQuery = false;
  /** The body is in a file, or in a variable of the shell. */
  let isElsewhere = false;
  const headers: Pair[] = [];
  const data: string[] = [];
  for (const [flag, value] of flagsOf(words)) {
    if (flag === '-X' || flag === '--request') method = value.toUpperCase();
    else if (flag === '--url' || (flag === '' && address === '')) address = value;
    else if (flag === '-H' || flag === '--header') headers.push(...headerOf(value));
    else if (/^(?:-d|--data(?:-raw|-binary|-ascii|-urlencode)?|--json)$/.test(flag)) {
      if (!value.startsWith('@') || flag === '--data-raw') data.push(value);
      else if (value === '@-' && input !== null) data.push(input.trim());
      else isElsewhere = true;
    } else if (flag === '-G' || flag === '--get') isQuery = true;
    else if (flag === '-u' || flag === '--user' || flag === '--oauth2-bearer')
      headers.push(['Authorization', flag]);
  }
  const split = splitAddress(address);
  const body = data.join('&');
  const asked = isQuery ? splitAddress(`/?${body}`).query : [];
  const given = data.length === 0 || isQuery ? undefined : bodyOf(body);
  const parts = jsonIn(rest);
  // What follows may be that body as well as an answer: only of two it is known which is which.
  const [request, answer] = isElsewhere ? (parts.length > 1 ? parts : []) : [given, parts[0]];
  return {
    title: title === '' ? split.path || 'curl' : title,
    names: title === '' ? [] : [title],
    method: method === '' ? (request === undefined && !isElsewhere ? 'GET' : 'POST') : method,
    path: split.path,
    query: [...split.query, ...asked],
    headers,
    request,
    answer,
  };
}

/** JSON, also where a shell that is not this one would take backslashes out. */
const bodyOf = (body: string): unknown =>
  parseJson(body) ?? parseJson(withVariables(body)) ?? parseJson(body.replaceAll('\\"', '"')) ?? form(body);

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

/** Where one begins: at the start of a line, or behind the signs of a comment: `# => {…}`. */
const jsonStart = /^[ \t]*(?:(?=[[{"])|(?:(?:#|\/\/|=>|->|<)[ \t]*){1,3}(?=[[{]))/gm;
/** A bracket that nothing closes costs a look at all that follows. */
const maxUnclosed = 20;
const maxLooks = 20;

/** The JSON texts of a text, in their order. */
function jsonIn(text: string): unknown[] {
  const found: unknown[] = [];
  const start = new RegExp(jsonStart);
  let unclosed = 0;
  let left = maxLooks * text.length;
  for (let match = start.exec(text); match !== null && found.length < maxJson; match = start.exec(text)) {
    const from = match.index + match[0].length;
    const end = endOfJson(text, from);
    left -= (end ?? text.length) - from;
    if (left < 0 || (end === null && ++unclosed > maxUnclosed)) break;
    const json =
      end === null
        ? undefined
        : (parseJson(text.slice(from, end)) ?? parseJson(withVariables(text.slice(from, end))));
    if (json !== undefined) found.push(json);
    start.lastIndex = Math.max(json === undefined || end === null ? from + 1 : end, match.index + 1);
  }
  return found;
}

/** Null where nothing closes it. */
function endOfJson(text: string, from: number): number | null {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charAt(at);
    if (unit === '"') at = endOfQuote(text, at, true);
    else if (unit === '{' || unit === '[') depth++;
    else if (unit === '}' || unit === ']') depth--;
    if (depth <= 0) return at + 1;
  }
  return null;
}
