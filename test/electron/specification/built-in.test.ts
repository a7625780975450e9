import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { runService, type RunningService } from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { connect, type Client } from '../../support/service-client.ts';

const card = '4111111111111111';
let service: RunningService;
let client: Client;

beforeEach(async () => {
  service = await runService({
    secret: new Uint8Array(32).fill(3),
    seed: defaultSeed as Seed,
    toolServer: true,
  });
  client = connect(service.facts);
});
afterEach(async () => {
  await client.close();
  await service.stop();
});

/** Sends bytes as they are and reads the whole answer. */
function sendRaw(text: string): Promise<string> {
  const { port } = new URL(service.facts.baseUrl);
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      port: Number(port),
      host: '127.0.0.1',
      ca: service.facts.caPem,
    });
    let answer = '';
    socket.on('data', (part: Buffer) => (answer += part.toString('latin1')));
    socket.on('close', () => resolve(answer));
    socket.on('error', (error: Error) => (answer === '' ? reject(error) : resolve(answer)));
    socket.write(text);
  });
}

test('4.14 PatternMatch answers only the elements whose cleartext matches', async () => {
  const sessionToken = await client.signIn('analyst');
  const base = { sessionToken, tokenName: 'free-text' };
  const values = ['red', 'green', 'blue'].map((color, index) => ({ RefId: `r${index}`, Value: color }));
  const { body } = await client.call('BatchTokenize', { ...base, elements: values });
  const elements = [...(body.elements as object[]), { RefId: 'no token', Value: 'x' }];
  expect((await client.call('PatternMatch', { ...base, regex: '^.{4,5}$', elements })).body).toEqual({
    elements: [
      { RefId: 'r1', Value: 'green' },
      { RefId: 'r2', Value: 'blue' },
    ],
  });
});

test('1.1 vaultless: a service that has only the secret knows the tokens of one that is gone', async () => {
  const secret = new Uint8Array(32).fill(3);
  const sessionToken = await client.signIn('analyst');
  const made = await client.call('Tokenize', { sessionToken, tokenName: 'card-number', value: card });
  const tokenValue = made.body.token;
  const other = new Uint8Array(32).fill(4);
  for (const [key, expected] of [
    [secret, { value: card }],
    [other, expect.not.objectContaining({ value: card })],
  ] as const) {
    const later = await runService({ secret: key, seed: defaultSeed as Seed });
    const ask = connect(later.facts);
    try {
      const session = await ask.signIn('analyst');
      const back = await ask.call('Detokenize', {
        sessionToken: session,
        tokenName: 'card-number',
        tokenValue,
      });
      expect(back.body).toEqual(expected);
    } finally {
      await ask.close();
      await later.stop();
    }
  }
});

test('6.1 no webhooks: the service describes none, and has no path for any', async () => {
  const document = (await client.send('GET', '/openapi.json')).body;
  expect(document).not.toHaveProperty('webhooks');
  expect(Object.keys(document.paths as object).filter((path) => /hook|event\b|notif/i.test(path))).toEqual(
    [],
  );
  expect((await client.send('POST', '/api/services/portal/webhooks', '{}')).status).toBe(404);
});

describe('5.5 the tool server takes a bearer JWT or the browser’s cookie', () => {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  const ask = (headers: Record<string, string>) =>
    client.send('POST', '/mcp', initialize, { ...json, ...headers });

  test('either opens it, neither is 401, and a page of another origin can use none', async () => {
    const user = service.facts.portalUsers.find(({ role }) => role === 'AccountUser');
    const signedIn = await client.send(
      'POST',
      '/api/services/portal/authenticate',
      JSON.stringify({ userName: user?.name, password: user?.password }),
    );
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    expect(String(signedIn.headers['set-cookie'])).toMatch(/HttpOnly.*SameSite=Strict/);
    expect((await ask({ authorization: `Bearer ${String(signedIn.body.token)}` })).status).toBe(200);
    expect((await ask({ cookie })).status).toBe(200);
    expect((await ask({})).status).toBe(401);
    expect((await ask({ cookie: 'portal_session=nonsense' })).status).toBe(401);
    expect((await ask({ cookie, origin: 'https://evil.example' })).status).toBe(403);
    expect((await ask({ cookie, 'content-type': 'text/plain' })).status).toBe(415);
  });
});

describe('8.6 every answer carries the rate headers', () => {
  test.each([
    ['431', `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nlong: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['what is no HTTP', 'nonsense\r\n\r\n', 400],
    [
      'a path that can’t be decoded',
      'GET /%zz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n',
      400,
    ],
  ])('%s too', async (_, text, status) => {
    const answer = await sendRaw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/^x-rate-limit-limit: \d+\r$/im);
    expect(answer).toMatch(/^x-rate-limit-remaining: \d+\r$/im);
    expect(answer).toMatch(/^x-rate-limit-reset: \d{4}-\d\d-\d\dT[\d:.]+Z\r$/im);
    expect(answer).toMatch(/^x-requestid: \S+\r$/im);
  });
});
