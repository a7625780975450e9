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

/** The calls that a browser recorded (HTTP Archive): those that send and answer JSON. */
export function readHar(log: unknown): CallExample[] {
  const found: CallExample[] = [];
  for (const entry of listOf(memberOf(log, 'entries'))) {
    if (found.length >= maxExamples) break;
    const request = memberOf(entry, 'request');
    const response = memberOf(entry, 'response');
    const asked = parseJson(textOf(memberOf(memberOf(request, 'postData'), 'text')));
    const answer = parseJson(contentOf(memberOf(response, 'content')));
    // Pages, scripts and pictures are recorded as well.
    if (!isObject(asked) && !isObject(answer)) continue;
    const { path, query } = splitAddress(textOf(memberOf(request, 'url')));
    found.push({
      title: path,
      names: [],
      method: textOf(memberOf(request, 'method')).toUpperCase(),
      path,
      query,
      headers: pairsOf(memberOf(request, 'headers')),
      request: asked,
      answer: isFine(memberOf(response, 'status')) ? answer : undefined,
    });
  }
  return found;
}

const isFine = (status: unknown): boolean => typeof status !== 'number' || (status >= 200 && status < 300);

function contentOf(content: unknown): string {
  const text = textOf(memberOf(content, 'text'));
  return memberOf(content, 'encoding') === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text;
}

const pairsOf = (list: unknown): Pair[] =>
  listOf(list)
    .map((one): Pair => [textOf(memberOf(one, 'name')), textOf(memberOf(one, 'value'))])
    // Those of HTTP/2 itself.
    .filter(([name]) => name !== '' && !name.startsWith(':'));
