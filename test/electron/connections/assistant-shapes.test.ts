import { describe, expect, test } from 'vitest';
import { readExamples } from '../../../electron/parsing/service-examples/read-examples.ts';
import { basePath as base, proposed, wire } from '../../support/proposed-profile.ts';

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

const session = 'ses-abcdef-778899';
const token = '9999888877776666';
const card = '4111111111111111';
const signIn = (answer: object = { sid: session }) =>
  wire(`${base}/createsession`, { apiKey: 'AK-1', policy: 'p', policyPassword: 'hunter2' }, answer);
const tokenize = (header = '', more: object = {}) =>
  wire(`${base}/tokenize`, { tokenName: 'card-number', value: card, ...more }, { token }, header);
const reveal = (path: string, request: object = { token }, header = '') =>
  wire(path, { tokenName: 'card-number', ...request }, { plain: card }, header);

describe('no secret and no value of an example gets into a profile or the window', () => {
  test.each([
    ['X-Ticket', session],
    ['X-Handle', session],
    ['X-Context', session],
    ['X-Context', `sid=${session}; v=1`],
    ['X-Tenant', session],
    ['X-App', 'AK-1'],
    ['X-Version', 'hunter2'],
    ['X-Vault-Phrase', 'correct horse'],
    ['X-Pwd', 'swordfish'],
    ['X-Pass', 'swordfish'],
    ['X-Pin', '932145'],
    ['X-OTP', '123456'],
    ['X-License', 'AB12-CD34-EF56-GH78'],
    ['X-Hmac', 'deadbeefcafe'],
    ['X-Client-Id', '550e8400-e29b-41d4-a716-446655440000'],
    ['X-Tenant', '550e8400-e29b-41d4-a716-446655440000'],
    ['X-User', 'john.smith'],
  ])('the header %s: %s', (name, value) => {
    const header = `${name}: ${value}`;
    const { content, remarks, view, isValid } = proposed(
      signIn() + tokenize(header) + reveal('/x/reveal', { token }, header),
    );
    expect(isValid).toBe(true);
    expect(content).not.toHaveProperty('headers');
    expect(remarks.join('\n')).toMatch(new RegExp(`^all (?:secret-in-header|header-left) ${name}$`, 'm'));
    expect(JSON.stringify(view)).not.toContain(value);
  });

  test('a header of a version or an account is taken, and one that differs is not', () => {
    const both = (one: string, other: string) =>
      proposed(signIn() + tokenize(one) + reveal('/x/reveal', { token }, other));
    const taken = both('X-Api-Version: 2026-01-01', 'X-Api-Version: 2026-01-01');
    expect(taken.content).toMatchObject({ headers: { 'X-Api-Version': '2026-01-01' } });
    const differs = both('X-Api-Version: 1', 'X-Api-Version: 2');
    expect(differs.content).not.toHaveProperty('headers');
    expect(differs.remarks).toContain('all header-left X-Api-Version');
  });

  test.each([
    ['a session', `/s/${session}/x/reveal`, { token }, 'sessionToken'],
    ['a token', `/x/reveal/${token}`, { sid: session }, 'value'],
    ['a token that was written otherwise', '/x/reveal/9999-8888-7777-6666', { sid: session }, 'value'],
    ['a value that is in no body', '/x/reveal/5105105105105100', { sid: session }, 'value'],
  ])('%s in a path', (_, path, request, names) => {
    const { content, remarks, view, isValid } = proposed(
      signIn() + tokenize('', { sid: session }) + reveal(path, request),
    );
    expect(isValid).toBe(true);
    expect(content.operations?.['Detokenize']).not.toHaveProperty('path');
    expect(remarks).toContain(`Detokenize value-in-address ${names}`);
    for (const secret of [session, token, '5105105105105100', '9999-8888'])
      expect(JSON.stringify([content, view])).not.toContain(secret);
  });

  test.each(['v20260101', '2026-01-01', 'token-service-2026', 'vault2', 'unprotect'])(
    'and a path with %s in it is taken',
    (word) => {
      const { content } = proposed(signIn() + tokenize() + reveal(`/x/${word}/reveal`));
      expect(content.operations?.['Detokenize']).toMatchObject({ path: `/x/${word}/reveal` });
    },
  );

  test.each(['550e8400-e29b-41d4-a716-446655440000', 'a1b2c3d4e5', 'AB12C-CD34E-EF56G', '40817'])(
    'and a path with %s in it is not',
    (id) => {
      const { content, remarks } = proposed(signIn() + tokenize() + reveal(`/x/${id}/reveal`));
      expect(content.operations?.['Detokenize']).not.toHaveProperty('path');
      expect(remarks).toContain('Detokenize value-in-address value');
    },
  );

  test('a session in a query is named, and makes no profile that is none', () => {
    const { remarks, isValid, content } = proposed(
      signIn() + tokenize('', { sid: session }) + reveal(`/x/reveal?sid=${session}`),
    );
    expect(isValid).toBe(true);
    expect(content.operations?.['Detokenize']).not.toHaveProperty('query');
    expect(remarks).toContain('Detokenize value-in-address sid');
  });

  test('numbers of the portal’s sign-in', () => {
    const { content, remarks } = proposed(
      wire(
        '/portal/authenticate',
        { userName: 'u', password: 'p4ss', otp: 123456, pin: 4711, remember: true, tenant: 't-1' },
        { token: 'eyJabc' },
      ),
    );
    expect(content).toMatchObject({
      reporting: { authenticate: { extra: { remember: true, tenant: '{tenantId}' } } },
    });
    expect(JSON.stringify(content)).not.toMatch(/123456|4711/);
    expect(remarks).toContain('Authenticate members-left otp, pin');
  });

  test.each([
    [
      'a session taken for a definition',
      wire('/v1/tokenize', { vaultKey: 'SECRET-SESSION-77', ds: 'CC', value: 'Jane Doe' }, { token: '99' }),
      ['SECRET-SESSION-77', 'Jane Doe'],
    ],
    [
      'a value under another name',
      wire('/x/tokenize', { sessionToken: session, field: 'Jane Doe', cls: 'name' }, { token: 'T1' }),
      [session, 'Jane Doe'],
    ],
    [
      'a mask that is none',
      wire('/x/getmasked', { sessionToken: session, tokenName: 'd', token: 'T1' }, { result: 'Jane Doe' }),
      [session, 'Jane Doe'],
    ],
    [
      'a value for a RefId and for a name',
      wire(
        '/x/batchtokenize',
        { sessionToken: session, tokenName: 'd', items: [{ id: 'Jane Doe', val: 'k1' }] },
        { 'Jane Doe': { token: 'T' } },
      ),
      [session, 'Jane Doe'],
    ],
    [
      'an expression',
      wire(
        '/x/patternmatch',
        { sessionToken: session, tokenName: 'd', regex: 'Jane Doe', elements: [{ RefId: '1', Value: 'T' }] },
        { elements: [{ RefId: '1', Value: 'Jane Doe' }] },
      ),
      [session, 'Jane Doe'],
    ],
    [
      'a heading and an address',
      `# my key AK-1 and hunter2\n${signIn()}# reveal for hunter2\n${reveal(`/login/hunter2/AK-1/${token}`)}`,
      ['hunter2', 'AK-1', token],
    ],
  ])('%s', (_, text, secrets) => {
    const { view, content } = proposed(text);
    for (const secret of secrets) expect(JSON.stringify([view, content])).not.toContain(secret);
  });

  test('what a person looks for is shown: definitions and short RefIds', () => {
    const { view } = proposed(
      wire(
        '/x/batchtokenize',
        { sessionToken: session, tokenName: 'card-number', items: [{ id: 'r7', value: card }] },
        { items: [{ id: 'r7', token }] },
      ),
    );
    const shown = view.groups.flatMap(({ fields }) =>
      fields.map(({ path, example }) => [path, example?.shown]),
    );
    expect(shown).toContainEqual(['operations.BatchTokenize.request.tokenName', 'card-number']);
    expect(shown).toContainEqual(['element.request.ref', 'r7']);
  });
});

describe('what the examples leave open is said', () => {
  test('two of them say different things', () => {
    const batch = (path: string, sent: object, answer: object) =>
      wire(path, { sid: session, tokenName: 'card-number', items: [sent] }, { items: [answer] });
    const { remarks } = proposed(
      signIn() +
        batch('/b/tokenize', { id: 'aa', value: card }, { id: 'aa', token }) +
        batch('/b/reveal', { id: 'aa', token }, { id: 'aa', plain: card }),
    );
    expect(remarks).toContain('all conflict element.request.value');
  });

  test('of two members that come back elsewhere, the session is the one by its name', () => {
    const { content } = proposed(
      signIn({ tenant: 'acme', sid: session }) +
        tokenize('', { sid: session, tenant: 'acme' }) +
        reveal('/x/reveal', { sid: session, token, tenant: 'acme' }),
    );
    expect(content.operations?.['CreateSession']).toEqual({ answer: ['sid'] });
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
