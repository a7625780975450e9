import { once } from 'node:events';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import seed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../electron/built-in-service/seed.ts';
import { runService, type RunningService } from '../../electron/built-in-service/service.ts';
import { connect, type Client } from '../support/service-client.ts';

/* Another user of this machine sends the built-in service all it can, or has a web page do it. */

const limit = 5;
let service: RunningService;
let client: Client;
/** Stands still: whatever was counted stays counted. */
const clock = { now: () => Date.parse('2026-11-21T10:00:00Z'), monotonic: () => 1_000 };

beforeEach(async () => {
  service = await runService(
    {
      secret: new Uint8Array(32).fill(5),
      seed: seed as Seed,
      toolServer: true,
      limits: { requestsPerSecond: limit, transfersPerDay: 1_000 },
    },
    clock,
  );
  client = connect(service.facts);
});
afterEach(async () => {
  await client.close();
  await service.stop();
});

const operation = '/api/services/evtservice/tokenize';
const portal = '/api/services/portal';
const json = { 'content-type': 'application/json' };
const nobody = JSON.stringify({
  sessionToken: 'guessed',
  tokenName: 'card-number',
  value: '4111111111111111',
});

/** As a browser or a script may: the Host header says nothing of the certificate that is expected. */
async function send(method: string, path: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(service.facts.baseUrl);
  const request = https.request({
    ...{ hostname, port, method, path, headers, agent: false },
    ...{ ca: service.facts.caPem, servername: 'localhost' },
  });
  request.end(method === 'POST' ? '{}' : undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await readJson(response) };
}

const strangers: [string, () => Promise<{ status: number }>, number][] = [
  ['a session that nobody opened', () => client.send('POST', operation, nobody), 401],
  ['an API key that does not exist', () => client.call('CreateSession', { apiKey: 'guessed' }), 400],
  ['a body that is none', () => client.send('POST', operation, '{'), 400],
  ['another media type', () => client.send('POST', operation, 'x', { 'content-type': 'text/plain' }), 415],
  ['a path that does not exist', () => client.send('GET', '/admin'), 404],
  ['a path that is none', () => client.send('GET', '/%zz'), 400],
  ['the description of the service', () => client.send('GET', '/openapi.json'), 200],
  [
    'a portal password',
    () => client.send('POST', `${portal}/authenticate`, JSON.stringify({ userName: 'x', password: 'y' })),
    403,
  ],
  ['a portal call without a sign-in', () => client.send('POST', `${portal}/createapikey`, '{}'), 401],
  ['the tool server without a sign-in', () => client.send('POST', '/mcp', '{}'), 401],
  ['another host', () => send('GET', '/openapi.json', { host: 'rebound.example' }), 403],
];

test.each(strangers)(
  'strangers who send %s are limited, and use up nothing of a client',
  async (_what, send, first) => {
    expect((await send()).status).toBe(first);
    for (let request = 1; request < limit; request++) await send();
    expect((await send()).status).toBe(429);

    const sessionToken = await client.signIn('analyst');
    const value = { sessionToken, tokenName: 'card-number', value: '4111111111111111' };
    const answer = await client.call('Tokenize', value);
    expect(answer).toMatchObject({ status: 200, headers: { 'x-rate-limit-remaining': String(limit - 2) } });
  },
);

test('a client that is known has its own limit, and leaves the strangers theirs', async () => {
  const sessionToken = await client.signIn('analyst');
  const ask = () =>
    client.call('Tokenize', { sessionToken, tokenName: 'card-number', value: '4111111111111111' });
  for (let request = 1; request < limit; request++) expect((await ask()).status).toBe(200);
  expect((await ask()).status).toBe(429);
  expect((await client.send('GET', '/openapi.json')).status).toBe(200);
});

test('a portal user who is signed in is not held up by strangers', async () => {
  const [user] = service.facts.portalUsers;
  const credentials = JSON.stringify({ userName: user?.name, password: user?.password });
  const { body } = await client.send('POST', `${portal}/authenticate`, credentials);
  for (let request = 0; request <= limit; request++) await client.send('GET', '/admin');
  const { status } = await client.send('POST', `${portal}/createapikey`, '{}', {
    ...json,
    authorization: `Bearer ${String(body.token)}`,
  });
  expect([400, 403]).toContain(status);
});

describe('a web page', () => {
  const own = () => new URL(service.facts.baseUrl);

  test.each([
    ['whose host name points here', () => ({ host: `rebound.example:${own().port}` })],
    ['of another origin', () => ({ origin: 'https://evil.example' })],
    ['of another program here', () => ({ origin: 'http://localhost:3000' })],
    ['without an origin of its own', () => ({ origin: 'null' })],
    [
      'whose name points here, and whose origin agrees',
      () => ({ host: 'rebound.example', origin: 'https://rebound.example' }),
    ],
    ['whose host begins like this one', () => ({ host: '127.0.0.1.evil.example' })],
  ])('%s is refused, on every path', async (_what, headers) => {
    for (const [method, path] of [
      ['POST', operation],
      ['POST', '/mcp'],
      ['GET', '/openapi.json'],
    ] as const) {
      const answer = await send(method, path, { ...json, ...headers() });
      expect(answer).toMatchObject({ status: 403, body: { errors: 'OriginForbidden' } });
    }
  });

  test.each([
    ['by its address', () => ({ host: own().host })],
    ['by its name', () => ({ host: `localhost:${own().port}` })],
    ['from its own origin', () => ({ host: own().host, origin: own().origin })],
  ])('the service answers whoever asks for it %s', async (_what, headers) => {
    expect((await send('GET', '/openapi.json', headers())).status).toBe(200);
  });
});
