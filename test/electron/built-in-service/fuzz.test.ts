import { createSecureContext } from 'node:tls';
import fc from 'fast-check';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { operationNames, pathOf } from '../../../electron/built-in-service/operations.ts';
import { portalOperations } from '../../../electron/built-in-service/portal.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { startBuiltInService, type RunningBuiltInService } from '../../../electron/built-in-service/start.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { connect, type Client } from '../../support/service-client.ts';
import { builtInServiceWorker } from '../../support/workers.ts';

const requestCount = 10_000;
let service: RunningBuiltInService;
let client: Client;

beforeAll(async () => {
  service = await startBuiltInService({
    secret: new Uint8Array(32).fill(7),
    worker: builtInServiceWorker,
    limits: { requestsPerSecond: 1_000_000, transfersPerDay: 1_000_000_000 },
    seed: defaultSeed as Seed,
    toolServer: true,
    maxBodyBytes: 100_000,
  });
  client = connect(service);
});
afterAll(async () => {
  await client.close();
  await service.stop();
});

function requests(good: Readonly<Record<string, string>>, jwt: string) {
  const paths = [
    ...operationNames.map(pathOf),
    ...Object.values(portalOperations).map(({ path }) => path),
    '/mcp',
  ];
  const path = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...paths) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '/',
        '/openapi.json',
        '/%zz',
        '/%00',
        '//',
        '/..%2f..%2f',
        '/mcp?sessionId=x',
      ),
    },
    { weight: 1, arbitrary: fc.webPath().map((text) => `/${text.replace(/^\/+/, '')}`) },
  );
  const query = fc.constantFrom('', '', '?pretty', '?pretty[]=1', '?__proto__=1', '?%zz', '?pretty=%');
  const method = fc.constantFrom(
    'POST',
    'POST',
    'POST',
    'POST',
    'GET',
    'PUT',
    'DELETE',
    'OPTIONS',
    'HEAD',
    'PATCH',
  );

  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: anyCharacter, maxLength: 300 }),
    fc.constantFrom(
      '',
      '\u0000',
      '\ud800',
      'a'.repeat(50_000),
      1e308,
      -0,
      '__proto__',
      '(a+)+$',
      '(?=x)',
      '[',
      '\\',
    ),
  );
  const element = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ RefId: fc.string(), Value: fc.constantFrom(...Object.values(good), 'x') }),
    },
    { weight: 1, arbitrary: odd },
  );
  const members = {
    sessionToken: fc.constantFrom(good.sessionToken, good.sessionToken, 'x'),
    sourceSessionToken: fc.constant(good.sessionToken),
    targetSessionToken: fc.constant(good.sessionToken),
    tokenName: fc.constantFrom('card-number', 'ssn', 'email', 'free-text', '__proto__', 'constructor'),
    sourceTokenName: fc.constantFrom('card-number', 'free-text'),
    targetTokenName: fc.constantFrom('free-text', 'email'),
    value: fc.oneof(
      fc.constantFrom(...Object.values(good)),
      fc.string({ unit: anyCharacter, maxLength: 600 }),
    ),
    tokenValue: fc.oneof(
      fc.constantFrom(...Object.values(good)),
      fc.string({ unit: anyCharacter, maxLength: 900 }),
    ),
    regex: fc.oneof(
      fc.constantFrom('^4', '(a+)+$', '.{0,1000}', '(x{1000}){1000}', '\\p{L}', '(?i)Z'),
      fc.string(),
    ),
    elements: fc.oneof(
      { weight: 4, arbitrary: fc.array(element, { maxLength: 30 }) },
      { weight: 1, arbitrary: odd },
    ),
    apiKey: fc.constantFrom(good.apiKey, 'x'),
    policy: fc.constantFrom('analyst', 'x', 'toString'),
    policyPassword: fc.constantFrom(good.policyPassword, 'x'),
    accountId: fc.constantFrom('acc-builtin', 'x'),
    tenantId: fc.constant('ten-builtin'),
    startDate: fc.oneof(fc.constantFrom('2026-01-01', '0000-01-01', '9999-12-31', '2026-02-30'), odd),
    endDate: fc.constantFrom('2026-12-31', '+275760-09-13T00:00:00Z', '9999-12-31T23:59:59-12:00'),
    groupBy: fc.constantFrom('Day', 'ALL', 'x', '; DROP TABLE metrics'),
    max: fc.oneof(fc.constantFrom(1, 100, 101, 0, -1, 1e21), odd),
    jsonrpc: fc.constant('2.0'),
    id: fc.constantFrom(1, 'x', null),
    method: fc.constantFrom('initialize', 'tools/list', 'tools/call', 'x'),
    params: odd,
  };
  const shaped = fc
    .tuple(
      fc.record(members),
      fc.dictionary(fc.constantFrom(...Object.keys(members), '__proto__'), odd, { maxKeys: 2 }),
    )
    .map(([record, spoiled]) => JSON.stringify({ ...record, ...spoiled }));
  const body = fc.oneof(
    { weight: 8, arbitrary: shaped },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        '{',
        'null',
        '['.repeat(40_000),
        '{"a":'.repeat(15_000),
        '{"elements":['.repeat(7000),
        ' '.repeat(99_999),
        'x'.repeat(150_000),
        '{"sessionToken":"\\ud800"}',
      ),
    },
  );
  const headers = fc.record(
    {
      'content-type': fc.constantFrom(
        ...['application/json', 'application/json', 'application/json; charset=utf-16', 'APPLICATION/JSON'],
        ...[
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data',
          'x',
          'application/json;;;',
        ],
      ),
      authorization: fc.constantFrom(
        `Bearer ${jwt}`,
        `Bearer ${jwt}`,
        'Bearer ',
        'Bearer a.b.c',
        'Basic x',
        'Bearer \u00ff',
      ),
      cookie: fc.constantFrom(`portal_session=${jwt}`, 'portal_session=%zz', '=;=;=', 'portal_session="'),
      accept: fc.constantFrom('application/json, text/event-stream', '*/*', 'x'),
      'mcp-session-id': fc.constantFrom('x', '__proto__'),
      'x-printpretty': fc.constantFrom('', 'true'),
      'x-forwarded-for': fc.constant('1.2.3.4'),
      'content-encoding': fc.constantFrom('gzip', 'x'),
    },
    { requiredKeys: ['content-type'] },
  );
  return fc.record({ path, query, method, body, headers });
}

describe(`${requestCount} requests of every kind of nonsense`, () => {
  it('meet no 5xx, an x-requestid each, and a service that goes on', { timeout: 120_000 }, async () => {
    const sessionToken = await client.signIn('analyst');
    const tokens: Record<string, string> = {};
    for (const [tokenName, value] of [
      ['card-number', '4111111111111111'],
      ['ssn', '123-45-6789'],
      ['email', 'jane@example.com'],
      ['free-text', 'some text'],
    ] as const) {
      tokens[value] = value;
      tokens[tokenName] = String(
        (await client.call('Tokenize', { sessionToken, tokenName, value })).body.token,
      );
    }
    const { apiKey, policyPassword } = client.credentials('analyst');
    const admin = service.portalUsers.find(({ name }) => name === 'admin');
    const signedIn = await client.send(
      'POST',
      '/api/services/portal/authenticate',
      JSON.stringify({ userName: 'admin', password: admin?.password }),
    );
    const jwt = String(signedIn.body.token);

    const script = fc.sample(requests({ ...tokens, sessionToken, apiKey, policyPassword }, jwt), {
      numRuns: requestCount,
      seed: 20_261_121,
    });
    const pool = new Pool(service.baseUrl, {
      // Nonsense often costs its connection. To read the certificate for each new one would take as long as all answers.
      connect: { secureContext: createSecureContext({ ca: service.caPem }) },
      connections: 24,
      pipelining: 1,
    });
    const statuses = new Map<number, number>();
    const wrong: string[] = [];
    const work = async () => {
      for (let one = script.pop(); one; one = script.pop()) {
        const { path, query, method, headers } = one;
        const body = method === 'GET' || method === 'HEAD' ? null : one.body;
        const options = { path: path + query, method, headers, body } as const;
        const outcome = await pool.request(options).then(
          async (response) => {
            // A stream of the tool server stays open: its head is the answer.
            const stream = String(response.headers['content-type']).startsWith('text/event-stream');
            if (stream) response.body.destroy();
            const text = stream ? '' : await response.body.text();
            return { status: response.statusCode, id: response.headers['x-requestid'], text };
          },
          (error: unknown) => ({ status: 0, id: '', text: String(error) }),
        );
        statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
        const sound = outcome.status >= 200 && outcome.status < 500 && Boolean(outcome.id);
        if (!sound)
          wrong.push(
            `${method} ${path}${query} ${String(body).slice(0, 200)} → ${outcome.status} ${outcome.text}`,
          );
      }
    };
    await Promise.all(Array.from({ length: 24 }, work));
    await pool.destroy();

    expect(wrong).toEqual([]);
    expect([...statuses.values()].reduce((sum, n) => sum + n)).toBe(requestCount);
    // The nonsense reached every kind of answer, success included.
    for (const status of [200, 400, 401, 403, 404, 405, 413, 415])
      expect(statuses.get(status), String(status)).toBeGreaterThan(20);
    expect((await client.call('CreateSession', client.credentials('analyst'))).status).toBe(200);
  });
});
