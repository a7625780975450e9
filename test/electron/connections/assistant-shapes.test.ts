import { describe, expect, test } from 'vitest';
import { makeDraft } from '../../../electron/connections/assistant/draft.ts';
import { readExamples } from '../../../electron/parsing/service-examples/read-examples.ts';
import { readProfile } from '../../../electron/service/profile.ts';

/** What is proposed of a text for a connection with the definition card-number. */
function proposed(text: string) {
  const examples = readExamples(text);
  if (!examples.ok) throw new Error(examples.failure.code);
  const shipped = readProfile('{"version":1}');
  if (!shipped.ok) throw new Error('no profile');
  const draft = makeDraft({
    connection: {
      baseUrl: 'https://vendor.example',
      definitions: [{ name: 'card-number', label: 'Card', kind: 'card' }],
    },
    profile: shipped.value,
    examples: examples.value,
    edits: { examples: [], fields: [] },
  });
  const checked = readProfile(JSON.stringify(draft.content));
  return {
    content: draft.content as { operations?: Record<string, object> },
    remarks: draft.remarks.map(({ subject, kind, names }) => `${subject ?? 'all'} ${kind} ${names}`.trim()),
    isValid: checked.ok,
  };
}

const base = '/api/services/evtservice';
const wire = (path: string, request: object, answer: unknown, headers = ''): string =>
  `POST ${path} HTTP/1.1\n${headers}\n\n${JSON.stringify(request)}\n\n${JSON.stringify(answer)}\n\n`;

describe('a service nobody has seen', () => {
  test('with answers by RefId, a flag of success, a version header and the definition in the path', () => {
    const header = "-H 'X-Api-Version: 7'";
    const { content, remarks, isValid } = proposed(`
# Sign in
curl https://v.example${base}/createsession ${header} -d '{"apiKey":"ak","policy":"agents","policyPassword":"hunter2"}'
{"ok":true,"sid":"s-778899"}
curl https://v.example${base}/tokenize ${header} --json '{"sid":"s-778899","tokenName":"card-number","pan":"4111111111111111"}'
{"ok":true,"alias":"4929123412341234"}
curl -X PUT https://v.example/vault/card-number/reveal ${header} -d "{\\"sid\\":\\"s-778899\\",\\"alias\\":\\"4929123412341234\\"}"
{"ok":true,"pan":"4111111111111111"}
curl https://v.example/vault/many/protect ${header} -d '{"sid":"s-778899","vault":"card-number","batch":[{"k":"1","v":"4111111111111111"},{"k":"2","v":"4012888888881881"}]}'
{"ok":true,"out":{"1":{"alias":"4929123412341234","fault":"none"},"2":{"alias":"4929000000000000","fault":"none"}}}`);
    expect(isValid).toBe(true);
    expect(remarks).toEqual([]);
    expect(content).toMatchObject({
      operations: {
        CreateSession: { answer: ['sid'] },
        Tokenize: { request: { sessionToken: 'sid', value: 'pan' }, answer: ['alias'] },
        Detokenize: { method: 'PUT', path: '/vault/{tokenName}/reveal', answer: ['pan'] },
        BatchTokenize: { path: '/vault/many/protect', answer: ['alias'] },
      },
      element: { request: { ref: 'k', value: 'v' } },
      lists: ['out'],
      batchAnswers: 'by-reference',
      headers: { 'X-Api-Version': '7' },
      success: { member: 'ok', values: [true] },
    });
    expect(JSON.stringify(content)).not.toContain('hunter2');
  });

  test('with names that say nothing: what comes back elsewhere tells what is what', () => {
    const { content, isValid } = proposed(
      wire(
        `${base}/createsession`,
        { apiKey: 'AK', policy: 'p', policyPassword: 'pw' },
        { q1: 'ses-1234567' },
      ) +
        wire(
          `${base}/tokenize`,
          { sessionToken: 'ses-1234567', tokenName: 'card-number', value: '4111111111111111' },
          { q9: '9999888877776666', req: 'aa' },
        ) +
        wire(
          '/x/reveal',
          { a: 'ses-1234567', b: 'card-number', c: '9999888877776666' },
          { d: '4111111111111111', e: '2026-01-01T00:00:00Z' },
        ) +
        wire(
          '/x/mask',
          { a: 'ses-1234567', b: 'card-number', c: '9999888877776666' },
          { f: '411111XXXXXX1111', e: '2026-01-01T00:00:00Z' },
        ),
    );
    expect(isValid).toBe(true);
    const request = { sessionToken: 'a', tokenName: 'b', tokenValue: 'c' };
    expect(content.operations).toMatchObject({
      CreateSession: { answer: ['q1'] },
      Tokenize: { answer: ['q9'] },
      Detokenize: { path: '/x/reveal', request, answer: ['d'] },
      GetMasked: { path: '/x/mask', request, answer: ['f'] },
    });
  });

  test('in YAML, with schemas that refer to others, a query and a value one level deeper', () => {
    const { content, isValid } = proposed(`openapi: 3.0.3
servers: [{url: 'https://{acct}.vendor.example/edge', variables: {acct: {default: acme}}}]
paths:
  ${base}/tokenize:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {sessionToken: {type: string}, tokenName: {type: string}, value: {type: string}}}}}}
      responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/Tok'}}}}}
  /v3/templates/{template}/detokenise:
    put:
      requestBody: {content: {application/json: {schema: {allOf: [{$ref: '#/components/schemas/Sess'}, {type: object, properties: {token: {type: string}}}]}}}}
      responses: {'200': {content: {application/json: {schema: {type: object, properties: {outcome: {type: object, properties: {plain: {type: string}, requestId: {type: string}}}}}}}}}
  /v3/bulk/detokenise:
    post:
      parameters: [{in: query, name: template, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {allOf: [{$ref: '#/components/schemas/Sess'}, {type: object, properties: {items: {type: array, items: {type: object, properties: {correlationId: {type: string}, token: {type: string}}}}}}]}}}}
      responses: {'200': {content: {application/json: {schema: {type: object, properties: {payload: {type: object, properties: {entries: {type: array, items: {type: object, properties: {correlationId: {type: string}, result: {type: object, properties: {plain: {type: string}}}, failure: {type: object}}}}}}}}}}}}
components:
  schemas:
    Sess: {type: object, properties: {sessionToken: {type: string}}}
    Tok: {type: object, properties: {data: {type: object, properties: {token: {type: string}, tokenName: {type: string}}}}}
`);
    expect(isValid).toBe(true);
    expect(content).toMatchObject({
      operations: {
        Tokenize: { answer: ['data.token'] },
        Detokenize: {
          method: 'PUT',
          path: '/v3/templates/{tokenName}/detokenise',
          answer: ['outcome.plain'],
        },
        BatchDetokenize: {
          path: '/v3/bulk/detokenise',
          query: { template: 'tokenName' },
          answer: ['result.plain'],
        },
      },
      element: { request: { ref: 'correlationId', value: 'token' }, ref: ['correlationId'] },
      lists: ['payload.entries'],
    });
  });

  test('what a profile can’t say is named, and never guessed', () => {
    const { remarks, isValid } = proposed(
      wire('/mask/card-number', { token: 't-1' }, { masked: '****1111' }, 'Authorization: Bearer abc.def') +
        wire(
          '/many/detokenize?api-version=3',
          { session: 's', dataset: 'card-number', n: 1, elements: [{ seq: 1, token: 't-1' }] },
          { elements: [{ seq: 1, value: 'x-value' }] },
        ) +
        wire(
          '/detokenize',
          { session: 's', vault: 'card-number', token: 't-1' },
          { value: 4111111111111111 },
        ) +
        wire('/sessions/open', { apiKey: 'a', policy: 'p', policyPassword: 'w' }, { session: 'abc' }) +
        wire(
          '/translate',
          {
            auth: { sourceSession: 'a', targetSession: 'b' },
            fromVault: 'card-number',
            toVault: 'card-number',
            token: 't-1',
          },
          { token: 't-2' },
        ),
    );
    expect(isValid).toBe(true);
    expect(remarks).toEqual(
      expect.arrayContaining([
        'CreateSession path-fixed /sessions/open',
        'GetMasked session-in-header Authorization',
        'BatchDetokenize query-fixed api-version',
        'BatchDetokenize members-left n',
        'BatchDetokenize reference-number seq',
        'Detokenize answer-number value',
        'Translate request-nested auth',
      ]),
    );
  });

  test('cleartext is never proposed as a token', () => {
    const { content } = proposed(
      wire(
        `${base}/tokenize`,
        { sessionToken: 's', tokenName: 'card-number', value: '4111111111111111' },
        { value: '4111111111111111', data: '4929000011112222' },
      ),
    );
    expect(content.operations?.['Tokenize']).toEqual({ answer: ['data'] });
  });
});

describe('what is no description of calls', () => {
  test.each([
    ['nothing', ''],
    ['words', 'please find the documentation attached'],
    ['JSON of something else', '{"a":1}'],
    ['a list', '[1,2]'],
    ['an OpenAPI document without paths', 'openapi: 3.1.0\npaths: {}\n'],
    ['broken YAML', 'openapi: 3\npaths: [\n'],
  ])('%s is refused', (_, text) => {
    expect(readExamples(text)).toMatchObject({ ok: false, failure: { code: 'examples.unreadable' } });
  });

  test('an OpenAPI document of version 2 is named', () => {
    expect(readExamples('{"swagger":"2.0","paths":{}}')).toMatchObject({
      failure: { code: 'examples.unreadable', subject: 'an OpenAPI document of version 2' },
    });
  });

  test('a document that refers to itself or repeats itself ends', () => {
    const schema = {
      type: 'object',
      properties: { next: { $ref: '#/components/schemas/A' }, token: { type: 'string' } },
    };
    const looped = readExamples(
      JSON.stringify({
        openapi: '3.1.0',
        components: { schemas: { A: schema } },
        paths: {
          '/a': {
            post: {
              requestBody: {
                content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } },
              },
            },
          },
        },
      }),
    );
    expect(looped).toMatchObject({ ok: true });
    const bomb = `openapi: 3.0.0\na: &a [x,x,x,x,x,x,x,x,x]\n${Array.from('bcdefghij', (name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[at]}`).join(',')}]`).join('\n')}\npaths: {/a: {post: {requestBody: {content: {application/json: {example: *j}}}}}}\n`;
    const read = readExamples(bomb);
    expect(read.ok).toBe(true);
    expect(JSON.stringify(read).length).toBeLessThan(1_000_000);
  });
});
