import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { notShown, statement, type Statement } from '../statement.ts';
import { NotTried } from '../unchecked.ts';
import type { Target } from '../target.ts';

const parameters: Readonly<Record<string, readonly string[]>> = {
  CreateSession: ['apiKey', 'policy', 'policyPassword'],
  Tokenize: ['sessionToken', 'tokenName', 'value'],
  Detokenize: ['sessionToken', 'tokenName', 'tokenValue'],
  GetMasked: ['sessionToken', 'tokenName', 'tokenValue'],
  Translate: ['sourceSessionToken', 'targetSessionToken', 'sourceTokenName', 'targetTokenName', 'tokenValue'],
  BatchTokenize: ['sessionToken', 'tokenName', 'elements'],
  BatchDetokenize: ['sessionToken', 'tokenName', 'elements'],
  BatchTranslate: [
    'sourceSessionToken',
    'targetSessionToken',
    'sourceTokenName',
    'targetTokenName',
    'elements',
  ],
  PatternMatch: ['sessionToken', 'tokenName', 'regex', 'elements'],
  AggregateApiRequestMetrics: ['accountId', 'tenantId', 'startDate', 'endDate', 'groupBy'],
  QueryLastFailedRequests: ['accountId', 'tenantId', 'max'],
};

const today = () => new Date().toISOString().slice(0, 10);

async function report(target: Target, operation: string, more: object, headers?: Record<string, string>) {
  const authorization = `Bearer ${await target.portalToken('AccountUser')}`;
  return target.call(
    operation,
    { ...target.account.account, ...more },
    { headers: headers ?? { authorization } },
  );
}
async function tools(target: Target): Promise<Client> {
  const authorization = `Bearer ${await target.portalToken('AccountUser')}`;
  const probe = await target.send('/mcp', { headers: { authorization }, body: '{}' });
  if (probe.status === 404) throw new NotTried('not enabled for this environment');
  const client = new Client({ name: 'conformance', version: '1.0.0' });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the transport that the specification names
  const transport = new SSEClientTransport(target.url('/mcp'), {
    requestInit: { headers: { Authorization: authorization } },
    fetch: target.fetch,
  });
  await client.connect(transport);
  return client;
}

/** Section 4 on reporting, tool server and portal; sections 5 and 6. */
export const portal: readonly Statement[] = [
  statement('4.18', 'AggregateApiRequestMetrics: over a date range, in four groupings', async (target) => {
    const { lists } = target.profile.reporting.metrics;
    for (const groupBy of ['day', 'definition', 'operation', 'all']) {
      const range = { startDate: today(), endDate: today(), groupBy };
      const answer = await report(target, 'AggregateApiRequestMetrics', range);
      assert.equal(answer.status, 200, groupBy);
      assert.ok(
        target.listOf(answer.body, lists).length > 0,
        `${groupBy}: nothing, though this run made requests`,
      );
      const past = { startDate: '2001-01-01', endDate: '2001-01-02', groupBy };
      const before = await report(target, 'AggregateApiRequestMetrics', past);
      assert.deepEqual(target.listOf(before.body, lists), []);
    }
    return undefined;
  }),
  notShown('4.20', 'AggregateApiRequestMetrics: literal values of groupBy and the response shape'),
  statement('4.19', 'QueryLastFailedRequests: max from 1 to 100, default 15', async (target) => {
    for (let i = 0; i < 16; i++) await target.call('Tokenize', {});
    const count = async (more: object): Promise<number> => {
      const { body } = await report(target, 'QueryLastFailedRequests', more);
      return target.listOf(body, target.profile.reporting.failures.lists).length;
    };
    assert.equal(await count({}), 15);
    assert.equal(await count({ max: 1 }), 1);
    assert.ok((await count({ max: 100 })) >= 16);
    for (const max of [0, 101]) {
      assert.equal((await report(target, 'QueryLastFailedRequests', { max })).status, 400, `max ${max}`);
    }
    return undefined;
  }),
  statement('4.19', 'QueryLastFailedRequests: the most recent failed requests', async (target) => {
    const failed = await target.call('Tokenize', {});
    const { text } = await report(target, 'QueryLastFailedRequests', { max: 1 });
    assert.ok(
      text.includes(String(failed.headers['x-requestid'])),
      'the last failure is not the first in the list',
    );
    return undefined;
  }),
  statement(
    '4.21',
    'Tool server: at {base_url}/mcp, HTTP with Server-Sent Events, tools discovered',
    async (target) => {
      const client = await tools(target);
      const { tools: found } = await client.listTools();
      await client.close();
      const names = new Set(found.map(({ name }) => name));
      for (const name of Object.keys(parameters)) assert.ok(names.has(name), `${name} is missing`);
      return `${found.length} tools`;
    },
  ),
  statement('4.23', 'Tool server: the same parameter names', async (target) => {
    const client = await tools(target);
    const { tools: found } = await client.listTools();
    await client.close();
    for (const { name, inputSchema } of found) {
      const properties = inputSchema.properties ?? {};
      for (const parameter of parameters[name] ?? [])
        assert.ok(parameter in properties, `${name} has no ${parameter}`);
    }
    return undefined;
  }),
  statement('4.23', 'Tool server: the tools are the operations', async (target) => {
    const { base, tokens, values } = await target.tokens('Detokenize');
    const client = await tools(target);
    const result = await client.callTool({
      name: 'Detokenize',
      arguments: { ...base, tokenValue: tokens[0] },
    });
    await client.close();
    assert.ok(JSON.stringify(result.content).includes(values[0]));
    return undefined;
  }),
  statement('4.24', 'Tool server: a client is known by Authorization: Bearer <JWT>', async (target) => {
    await target.portalToken('AccountUser');
    for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
      const { status } = await target.send('/mcp', { headers, body: '{}' });
      if (status === 404) throw new NotTried('not enabled for this environment');
      assert.equal(status, 401);
    }
    return undefined;
  }),
  statement('4.25', 'The portal exposes an Authenticate endpoint that issues a JWT', async (target) => {
    const token = await target.portalToken('AccountUser');
    assert.equal(token.split('.').length, 3, 'not a JWT');
    return `at ${target.profile.reporting.authenticate.path}`;
  }),

  statement('5.1', 'The API key is used only to create sessions', async (target) => {
    const { base, values } = await target.tokens();
    const { status } = await target.call('Tokenize', {
      ...base,
      sessionToken: target.apiKey,
      value: values[0],
    });
    assert.ok(status === 401 || status === 403);
    return undefined;
  }),
  statement('5.2', 'The session token is sent in the JSON body', async (target) => {
    const { base, values, sessionToken } = await target.tokens();
    const headers = { authorization: `Bearer ${sessionToken}`, sessionToken };
    const body = { tokenName: base.tokenName, value: values[0] };
    assert.equal((await target.call('Tokenize', body, { headers })).status, 400);
    return undefined;
  }),
  statement('5.3', 'Translate takes two session tokens, both of which must be good', async (target) => {
    const { base, tokens, sessionToken } = await target.tokens('Translate');
    const body = { sourceTokenName: base.tokenName, targetTokenName: base.tokenName, tokenValue: tokens[0] };
    const both = { sourceSessionToken: sessionToken, targetSessionToken: sessionToken };
    for (const wrong of [{ sourceSessionToken: 'nonsense' }, { targetSessionToken: 'nonsense' }]) {
      const { status } = await target.call('Translate', { ...body, ...both, ...wrong });
      assert.ok(status === 401 || status === 403, Object.keys(wrong).join());
    }
    return undefined;
  }),
  statement('5.5', 'Reporting uses portal authentication: a bearer JWT', async (target) => {
    assert.equal((await report(target, 'QueryLastFailedRequests', {})).status, 200);
    for (const headers of [{}, { authorization: 'Bearer nonsense' }] as Record<string, string>[]) {
      assert.equal((await report(target, 'QueryLastFailedRequests', {}, headers)).status, 401);
    }
    return undefined;
  }),
  statement('5.5', 'A session token opens no portal API', async (target) => {
    const sessionToken = await target.session(target.grantee('Tokenize').policy);
    const headers = { authorization: `Bearer ${sessionToken}` };
    assert.equal((await report(target, 'QueryLastFailedRequests', { sessionToken }, headers)).status, 401);
    return undefined;
  }),
  statement('5.5', 'Or a browser session cookie', async (target) => {
    const cookie = `portal_session=${await target.portalToken('AccountUser')}`;
    const { status } = await report(target, 'QueryLastFailedRequests', {}, { cookie });
    if (status === 401) throw new NotTried('the name of the cookie is not shown');
    assert.equal(status, 200);
    return undefined;
  }),
  statement('5.5', 'Reports are those of the caller’s account', async (target) => {
    for (const foreign of [{ accountId: 'another' }, { tenantId: 'another' }]) {
      const { status } = await report(target, 'QueryLastFailedRequests', foreign);
      assert.ok(status === 401 || status === 403 || status === 404, `answered ${status}`);
    }
    return undefined;
  }),
  statement(
    '5.4',
    'A wrong, unknown or foreign session token is refused on every operation',
    async (target) => {
      const { base, tokens, values } = await target.tokens();
      const bodies: Readonly<Record<string, object>> = {
        Tokenize: { value: values[0] },
        Detokenize: { tokenValue: tokens[0] },
        GetMasked: { tokenValue: tokens[0] },
        BatchTokenize: { elements: [{ Value: values[0] }] },
        BatchDetokenize: { elements: [{ Value: tokens[0] }] },
        PatternMatch: { regex: '.', elements: [{ Value: tokens[0] }] },
      };
      const good = target.textOf(
        await target.call('CreateSession', target.credentials(target.grantee('Tokenize').policy)),
      );
      for (const [operation, body] of Object.entries(bodies)) {
        for (const sessionToken of ['nonsense', `${good}x`, target.apiKey]) {
          const { status } = await target.call(operation, { ...base, ...body, sessionToken });
          assert.ok(status === 401 || status === 403, `${operation} answered ${status}`);
        }
      }
      return undefined;
    },
  ),
  notShown('5.7', 'Lifetime of a session token and of a portal JWT'),
  notShown('6.1', 'Webhooks: event kinds, payloads, delivery and signing'),
];
