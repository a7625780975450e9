/* eslint-disable @typescript-eslint/no-deprecated -- SSE is the transport that the specification names (§4). */
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import {
  runService,
  type RunningService,
  type ServiceOptions,
} from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { connect, type Client } from '../../support/service-client.ts';

const toolNames = [
  'AggregateApiRequestMetrics',
  'BatchDetokenize',
  'BatchTokenize',
  'BatchTranslate',
  'CreateSession',
  'Detokenize',
  'GetMasked',
  'PatternMatch',
  'QueryLastFailedRequests',
  'Tokenize',
  'Translate',
];
const time = { now: Date.now() };
let service: RunningService;
let client: Client;
let agent: Agent;

const start = async (options: Partial<ServiceOptions> = {}) => {
  service = await runService(
    { secret: new Uint8Array(32).fill(5), seed: defaultSeed as Seed, toolServer: true, ...options },
    { now: () => time.now, monotonic: () => performance.now() },
  );
  client = connect(service.facts);
  agent = new Agent({ connect: { ca: service.facts.caPem } });
};
beforeEach(async () => {
  time.now = Date.now();
  await start();
});
afterEach(async () => {
  await client.close();
  await service.stop();
  await agent.destroy();
});

const jwt = async (name = 'reporter') => {
  const password = service.facts.portalUsers.find((user) => user.name === name)?.password;
  const path = '/api/services/portal/authenticate';
  return String((await client.send('POST', path, JSON.stringify({ userName: name, password }))).body.token);
};

function transport(kind: string, token: string): Transport {
  const url = new URL('/mcp', service.facts.baseUrl);
  const options = {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    fetch: ((input: string, init: object) =>
      undiciFetch(input, { ...init, dispatcher: agent })) as unknown as typeof fetch,
  };
  return kind === 'SSE'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, options);
}
const openClient = async (kind: string, token: string) => {
  const mcp = new McpClient({ name: 'test', version: '1' });
  await mcp.connect(transport(kind, token));
  return mcp;
};

describe.each(['SSE', 'Streamable HTTP'])('a stock client over %s', (kind) => {
  it('lists the eleven tools and detokenizes a batch', async () => {
    const mcp = await openClient(kind, await jwt());
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(toolNames);
    const parameters = Object.fromEntries(
      tools.map((tool) => [tool.name, Object.keys(tool.inputSchema.properties ?? {})]),
    );
    expect(parameters).toMatchObject({
      CreateSession: ['apiKey', 'policy', 'policyPassword'],
      Detokenize: ['sessionToken', 'tokenName', 'tokenValue'],
      BatchDetokenize: ['sessionToken', 'tokenName', 'elements'],
      PatternMatch: ['sessionToken', 'tokenName', 'regex', 'elements'],
      QueryLastFailedRequests: ['accountId', 'tenantId', 'max'],
    });

    const call = async (name: string, input: Record<string, unknown>) => {
      const result = await mcp.callTool({ name, arguments: input });
      return result.structuredContent as Record<string, unknown>;
    };
    const { sessionToken } = await call('CreateSession', client.credentials('analyst'));
    const base = { sessionToken, tokenName: 'card-number' };
    const clear = [
      { RefId: '1', Value: '4111111111111111' },
      { RefId: '2', Value: '378282246310005' },
    ];
    const { elements } = await call('BatchTokenize', { ...base, elements: clear });
    expect(await call('BatchDetokenize', { ...base, elements })).toEqual({ elements: clear });

    const report = { accountId: 'acc-builtin', tenantId: 'ten-builtin' };
    expect(await call('QueryLastFailedRequests', report)).toEqual({ requests: [] });
    const today = new Date(time.now).toISOString().slice(0, 10);
    const metrics = { ...report, startDate: today, endDate: today, groupBy: 'Operation' };
    expect(await call('AggregateApiRequestMetrics', metrics)).toMatchObject({
      metrics: [
        { operation: 'BatchDetokenize', transfers: 2 },
        { operation: 'BatchTokenize' },
        { operation: 'CreateSession' },
      ],
    });
    await mcp.close();
  });

  it('refuses as the HTTP routes do, with the same body', async () => {
    const mcp = await openClient(kind, await jwt());
    const refused = async (name: string, input: Record<string, unknown>) => {
      const result = await mcp.callTool({ name, arguments: input });
      expect(result.isError).toBe(true);
      const [content] = result.content as { text: string }[];
      return JSON.parse(content?.text ?? '') as Record<string, unknown>;
    };
    const sessionToken = await client.signIn('mask-only');
    const base = { sessionToken, tokenName: 'card-number' };
    expect(await refused('BatchDetokenize', { ...base, elements: [] })).toMatchObject({
      status: 403,
      errors: 'OperationNotGranted',
      title: 'Forbidden',
    });
    expect(await refused('Detokenize', { ...base, tokenValue: 4111111111111111 })).toMatchObject({
      errors: { code: ['RequestInvalid'], Validation: ['tokenValue is invalid'] },
    });
    expect(await refused('GetMasked', { ...base, sessionToken: 'x', tokenValue: 'x' })).toMatchObject({
      status: 401,
    });
    expect(await refused('QueryLastFailedRequests', { accountId: 'x', tenantId: 'y' })).toMatchObject({
      errors: 'AccountForbidden',
    });
    expect(await refused('DropEverything', {})).toMatchObject({ status: 404 });
    await mcp.close();
  });

  it('is refused without a token that is good', async () => {
    const token = await jwt();
    for (const wrong of ['', 'nonsense', `${token}x`])
      await expect(openClient(kind, wrong)).rejects.toThrow();
    const mcp = await openClient(kind, token);
    time.now += 3_600_000;
    await expect(mcp.listTools()).rejects.toThrow(/401|[Uu]nauthorized/);
    await mcp.close();
  });
});

describe('the tool server', () => {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  };
  const post = async (body: unknown, headers: Record<string, string> = {}, path = '/mcp') =>
    client.send('POST', path, JSON.stringify(body), {
      ...json,
      authorization: `Bearer ${await jwt()}`,
      ...headers,
    });

  it('4.22 is not there until an AccountAdmin enables it', async () => {
    await client.close();
    await service.stop();
    await start({ toolServer: false });
    expect((await post(initialize)).status).toBe(404);
    const enable = async (who: string, enabled: boolean) =>
      client.send('POST', '/api/services/portal/enabletoolserver', JSON.stringify({ enabled }), {
        'content-type': 'application/json',
        authorization: `Bearer ${await jwt(who)}`,
      });
    expect((await enable('reporter', true)).status).toBe(403);
    expect((await enable('admin', true)).status).toBe(200);
    expect((await post(initialize)).status).toBe(200);
    await enable('admin', false);
    expect((await post(initialize)).status).toBe(404);
  });

  it('answers with request ID and rate limit, and lets nobody into the connection of another', async () => {
    const opened = await post(initialize);
    expect(opened.headers['x-requestid']).toMatch(/^[0-9a-f-]{36}$/);
    expect(opened.headers['x-rate-limit-limit']).toBe('600');
    const id = String(opened.headers['mcp-session-id']);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const headers = { 'mcp-session-id': id };
    expect((await post(list, headers)).status).toBe(200);
    const admin = { ...headers, authorization: `Bearer ${await jwt('admin')}` };
    expect((await post(list, admin)).status).toBe(404);
    expect((await post([list, list], headers)).status).toBe(400);
    expect((await post(list, { 'mcp-session-id': 'gone' })).status).toBe(404);
    expect((await post(list)).status).toBe(400);
    expect((await client.send('GET', '/mcp', null, {})).body).toMatchObject({ errors: 'PortalTokenMissing' });
    expect((await client.send('PUT', '/mcp', null, {})).headers.allow).toBe('GET, POST, DELETE');
    const cookie = `portal_session=${await jwt()}`;
    const withCookie = (headers: Record<string, string>) =>
      client.send('POST', '/mcp', JSON.stringify(initialize), { ...headers, cookie });
    expect((await withCookie(json)).status).toBe(200);
    // Another page can't use it: its Origin is refused, and so is what a form can send.
    expect((await withCookie({ ...json, origin: 'https://evil.example' })).status).toBe(403);
    expect((await withCookie({ ...json, 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('does not keep the service from stopping while streams are open', async () => {
    const sse = await openClient('SSE', await jwt());
    const streamable = await openClient('Streamable HTTP', await jwt());
    await streamable.listTools();
    await service.stop();
    await expect(client.send('GET', '/openapi.json')).rejects.toThrow();
    await sse.close();
    await streamable.close();
    await client.close();
    await start();
  });

  it('counts a tool call against the limits of its client', async () => {
    await client.close();
    await service.stop();
    await start({ limits: { transfersPerDay: 2 } });
    const mcp = await openClient('Streamable HTTP', await jwt());
    const sessionToken = await client.signIn('intake');
    const elements = [{ Value: '123-45-6789' }, { Value: '123-45-6789' }];
    const batch = { name: 'BatchTokenize', arguments: { sessionToken, tokenName: 'ssn', elements } };
    expect((await mcp.callTool(batch)).isError).toBeFalsy();
    const refused = await mcp.callTool(batch);
    expect(JSON.stringify(refused)).toContain('TooManyTransfers');
    const http = await client.call('BatchTokenize', batch.arguments);
    expect(http).toMatchObject({
      status: 429,
      body: { errors: 'TooManyTransfers', title: 'Too Many Requests' },
      headers: { 'x-rate-limit-limit': '2', 'x-rate-limit-remaining': '0' },
    });
    await mcp.close();
  });
});
