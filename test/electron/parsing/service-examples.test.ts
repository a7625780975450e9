import { describe, expect, test } from 'vitest';
import { readExamples } from '../../../electron/parsing/service-examples/read-examples.ts';
import { basePath, proposed } from '../../support/proposed-profile.ts';

const session = 'ses-abcdef-778899';
const token = '9999888877776666';
const card = '4111111111111111';
/** Where, what is sent and what is answered. */
const calls: readonly (readonly [path: string, request: object, answer: object])[] = [
  [
    `${basePath}/createsession`,
    { apiKey: 'AK-1', policy: 'agents', policyPassword: 'hunter2' },
    { sessionToken: session },
  ],
  [`${basePath}/tokenize`, { sessionToken: session, tokenName: 'card-number', value: card }, { token }],
  ['/v2/reveal', { sessionToken: session, tokenName: 'card-number', surrogate: token }, { plain: card }],
];
type Write = (path: string, request: string, answer: string) => string;
const written = (write: Write, end = '\n'): string =>
  calls
    .map(([path, request, answer]) => write(path, JSON.stringify(request), JSON.stringify(answer)))
    .join(end);
const address = (path: string): string => `https://v.example${path}`;
const type = 'Content-Type: application/json';

const forms: Readonly<Record<string, string>> = {
  'flags in one word': written(
    (path, request, answer) => `curl -sSLkX POST ${address(path)} -H '${type}' -d '${request}'\n${answer}\n`,
  ),
  'a body behind the command': written(
    (path, request, answer) =>
      `curl -sS -X POST "${address(path)}" --data @- <<'EOF'\n${request}\nEOF\n${answer}\n`,
  ),
  'a string behind the command': written(
    (path, request, answer) => `curl "${address(path)}" --json @- <<< '${request}'\n${answer}\n`,
  ),
  'a file whose content stands before the answer': written(
    (path, request, answer) => `curl "${address(path)}" --data @body.json\n${request}\n${answer}\n`,
  ),
  'carets of cmd': written(
    (path, request, answer) =>
      `curl ^"${address(path)}^" ^\r\n  -H ^"${type}^" ^\r\n  --data-raw ^"${request.replaceAll(/[{}]/g, '^$&').replaceAll('"', '^\\^"')}^"\r\n${answer}\r\n`,
  ),
  'doubled quotes behind a prompt of cmd': written(
    (path, request, answer) =>
      `C:\\Users\\me> curl.exe -X POST "${address(path)}" -d "${request.replaceAll('"', '""')}"\r\n${answer}\r\n`,
  ),
  'a prompt of PowerShell': written(
    (path, request, answer) =>
      `PS C:\\> curl.exe -X POST ${address(path)} \`\n  -d '${request.replaceAll('"', '\\"')}'\n${answer}\n`,
  ),
  'quotes with a backtick': written(
    (path, request, answer) => `curl.exe ${address(path)} -d "${request.replaceAll('"', '`"')}"\n${answer}\n`,
  ),
  'answers in comments': written(
    (path, request, answer) => `curl ${address(path)} -d '${request}'\n# => ${answer}\n`,
  ),
  'a HAR file': JSON.stringify({
    log: {
      version: '1.2',
      entries: [
        {
          request: { method: 'GET', url: 'https://v.example/logo.png' },
          response: { content: { text: 'x' } },
        },
        ...calls.map(([path, request, answer]) => ({
          request: {
            method: 'POST',
            url: address(path),
            headers: [
              { name: ':authority', value: 'v.example' },
              { name: 'Content-Type', value: 'application/json' },
            ],
            postData: { text: JSON.stringify(request) },
          },
          response: { status: 200, content: { text: btoa(JSON.stringify(answer)), encoding: 'base64' } },
        })),
      ],
    },
  }),
};

describe('the calls of a text', () => {
  test.each(Object.entries(forms))('with %s', (_, text) => {
    const { content, remarks, isValid, view } = proposed(text);
    expect(isValid).toBe(true);
    expect(remarks).toEqual([]);
    expect(content.operations).toMatchObject({
      CreateSession: { answer: ['sessionToken'] },
      Tokenize: { answer: ['token'] },
      Detokenize: { path: '/v2/reveal', request: { tokenValue: 'surrogate' }, answer: ['plain'] },
    });
    for (const secret of [session, card, 'hunter2', 'AK-1'])
      expect(JSON.stringify([view, content])).not.toContain(secret);
  });

  test('whose bodies are in files have neither a request nor an answer', () => {
    const text = written((path, _, answer) => `curl ${address(path)} -d @body.json\n${answer}\n`);
    const read = readExamples(text);
    expect(read).toMatchObject({ ok: true });
    if (read.ok)
      for (const one of read.value)
        expect(one).toMatchObject({ method: 'POST', request: undefined, answer: undefined });
  });

  test.each<[string, string]>([
    ['an Insomnia export', JSON.stringify({ _type: 'export', __export_format: 4, resources: [] })],
    ['an Insomnia export', 'type: collection.insomnia.rest/5.0\ncollection:\n  - url: https://v.example\n'],
    ['a Thunder Client collection', JSON.stringify({ client: 'Thunder Client', requests: [] })],
    ['a Postman collection of version 1', JSON.stringify({ id: '1', order: [], requests: [] })],
    [
      'a Bruno collection',
      JSON.stringify({ version: '1', items: [{ type: 'http', request: { url: 'x' } }] }),
    ],
    [
      'a Bruno request',
      written(
        (path, request) =>
          `meta {\n  name: x\n}\n\npost {\n  url: {{host}}${path}\n}\n\nbody:json {\n  ${request}\n}\n`,
      ),
    ],
    [
      'a PowerShell command',
      written(
        (path, request, answer) =>
          `Invoke-RestMethod -Method POST -Uri "${address(path)}" -Body '${request}'\n${answer}\n`,
      ),
    ],
    [
      'an HTTPie command',
      written((path, _, answer) => `http POST ${address(path)} apiKey=AK-1 policy=agents\n${answer}\n`),
    ],
    [
      'a wget command',
      written((path, request, answer) => `wget --post-data='${request}' ${address(path)}\n${answer}\n`),
    ],
    [
      'a fetch call in JavaScript',
      written(
        (path, request, answer) => `await fetch("${address(path)}", { body: '${request}' })\n${answer}\n`,
      ),
    ],
  ])('%s is refused by its name', (kind, text) => {
    expect(readExamples(text)).toMatchObject({
      ok: false,
      failure: { code: 'examples.unreadable', subject: kind },
    });
  });
});

describe('requests and answers without a call', () => {
  const pairs: readonly (readonly [object, object])[] = [
    ...calls.slice(0, 2).map(([, request, answer]) => [request, answer] as const),
    [{ sessionToken: session, tokenName: 'card-number', tokenValue: token }, { value: card }],
    [{ sessionToken: session, tokenName: 'card-number', tokenValue: token }, { maskedValue: '4111****' }],
    [
      {
        sourceSessionToken: session,
        targetSessionToken: session,
        sourceTokenName: 'card-number',
        targetTokenName: 'ssn',
        tokenValue: token,
      },
      { token: 'another-1' },
    ],
    [
      { sessionToken: session, tokenName: 'card-number', elements: [{ RefId: 'r', Value: card }] },
      { elements: [{ RefId: 'r', Value: token }] },
    ],
    [
      { sessionToken: session, tokenName: 'card-number', elements: [{ RefId: 'r', Value: token }] },
      { elements: [{ RefId: 'r', Value: card }] },
    ],
  ];
  const text = (some: typeof pairs): string =>
    some.map(([request, answer]) => `${JSON.stringify(request)}\n${JSON.stringify(answer)}`).join('\n\n');

  test('are told by their members and by what comes back', () => {
    const { view, remarks } = proposed(text(pairs));
    expect(view.examples).toHaveLength(7);
    const found = view.groups.flatMap(({ subject, example }) =>
      example === null ? [] : [[subject, example]],
    );
    expect(found).toEqual([
      ['CreateSession', 0],
      ['Tokenize', 1],
      ['Detokenize', 2],
      ['GetMasked', 3],
      ['Translate', 4],
      ['BatchTokenize', 5],
      ['BatchDetokenize', 6],
    ]);
    expect(remarks.filter((one) => one.startsWith('all'))).toEqual([]);
  });

  test('that are of no operation are counted', () => {
    const { remarks } = proposed(text([...pairs, [{ hello: 1 }, { world: 2 }]]));
    expect(remarks).toContain('all example-unclear 1');
  });
});

describe('a text that is made to harm', () => {
  const document = (schema: object): string =>
    JSON.stringify({
      openapi: '3.0.3',
      paths: {
        '/a': { post: { requestBody: { content: { 'application/json': { schema } } }, responses: {} } },
      },
    });

  test.each([
    ['a reference with a sign of percent', document({ $ref: '#/components/schemas/100%' })],
    [
      'an alias that stands in itself',
      'openapi: 3.0.3\npaths:\n  /a:\n    post:\n      parameters:\n        - in: query\n          name: q\n          example: &c\n            inner: *c\n      responses: {}\n',
    ],
  ])('%s is read', (_, text) => {
    expect(readExamples(text)).toMatchObject({ ok: true, value: [{ path: '/a' }] });
  });

  test('a hundred thousand open brackets end soon, and what is behind a few of them is read', () => {
    expect(readExamples('{\n'.repeat(100_000))).toMatchObject({
      ok: false,
      failure: { code: 'examples.unreadable' },
    });
    const read = readExamples(`${'{ open\n'.repeat(5)}{"a":1}\n{"b":2}\n`);
    expect(read).toMatchObject({ ok: true, value: [{ request: { a: 1 }, answer: { b: 2 } }] });
  }, 10_000);
});
