import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import Papa from 'papaparse';
import { Agent, fetch as undiciFetch } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { calls } from '../../../electron/contract/calls.ts';
import { obscureText, newXorKey } from '../../../electron/contract/obscured.ts';
import { failed } from '../../../electron/contract/errors.ts';
import { checkToolServer } from '../../../electron/reports/tool-server.ts';
import type { Transport } from '../../../electron/service/http/transport.ts';
import { november, openHarness, value } from '../../support/reports.ts';
import { auditWith } from '../../support/fake-audit.ts';

type Harness = Awaited<ReturnType<typeof openHarness>>;

const obscured = (text: string) => {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(text, xorKey) };
};

const signIn = (harness: Harness, user = 'reporter') =>
  harness.reports['reports.signIn']({ user, password: obscured(harness.passwordOf(user)) });

/** Two tokenized, one masked, three refused, over two days. */
async function traffic({ client, time }: Harness): Promise<void> {
  const sessionToken = await client.signIn('analyst');
  const tokenize = { sessionToken, tokenName: 'card-number', value: '4111111111111111' };
  const { body } = await client.call('Tokenize', tokenize);
  await client.call('Tokenize', { sessionToken, tokenName: 'email', value: 'ada@example.org' });
  await client.call('GetMasked', { sessionToken, tokenName: 'card-number', tokenValue: body.token });
  time.now += 86_400_000;
  await client.call('Detokenize', { sessionToken: 'gone', tokenName: 'ssn', tokenValue: 'x' });
  await client.call('Detokenize', { sessionToken: 'gone', tokenName: 'ssn', tokenValue: 'x' });
  await client.call('Detokenize', { sessionToken: 'gone', tokenName: 'card-number', tokenValue: 'x' });
}

describe('the portal sign-in', () => {
  test('is kept in the keychain, and nothing of it comes out', async () => {
    const harness = await openHarness();
    expect(value(await harness.reports['reports.portal']({})).state).toBe('signed-out');
    const session = value(await signIn(harness));
    expect(session).toEqual({
      state: 'signed-in',
      user: 'reporter',
      roles: ['AccountUser'],
      expires: '2026-11-20T13:00:00.000Z',
      storedIn: 'keychain',
    });
    expect(calls['reports.signIn'].output.parse(session)).toEqual(session);
    const [[account, token] = ['', '']] = [...harness.entries];
    expect(account).toMatch(/^built-in:[0-9a-f]{24}:portal$/);
    expect(JSON.stringify(session)).not.toContain(token);
    const log = fs.readFileSync(path.join(harness.auditFolder, 'audit-000001.jsonl'), 'utf8');
    expect(log).toContain('"action":"Authenticate"');
    expect(log).not.toContain(token);
    expect(log).not.toContain(harness.passwordOf('reporter'));

    expect(value(await harness.reports['reports.signOut']({})).state).toBe('signed-out');
    expect(harness.entries.size).toBe(0);
  });

  test('of the embedded service needs no password typed', async () => {
    const harness = await openHarness();
    expect(value(await harness.reports['reports.signInBuiltIn']({})).user).toBe('reporter');
  });

  test('is refused with a wrong password, and keeps nothing', async () => {
    const harness = await openHarness();
    const outcome = await harness.reports['reports.signIn']({
      user: 'reporter',
      password: obscured('not it'),
    });
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'portal.credentials' } });
    expect(harness.entries.size).toBe(0);
  });

  test('takes a pasted token, with or without Bearer, and no other text', async () => {
    const harness = await openHarness();
    await signIn(harness);
    const token = [...harness.entries.values()][0] ?? '';
    await harness.reports['reports.signOut']({});
    expect(
      value(await harness.reports['reports.useToken']({ token: obscured(` Bearer ${token}\n`) })).state,
    ).toBe('signed-in');
    expect([...harness.entries.values()]).toEqual([token]);
    expect(await harness.reports['reports.useToken']({ token: obscured('hunter2') })).toEqual(
      failed('portal.not-a-token'),
    );
    harness.time.now += 3_600_000;
    expect(await harness.reports['reports.useToken']({ token: obscured(token) })).toEqual(
      failed('portal.expired'),
    );
  });

  test('that is over asks again, by the clock and by 401', async () => {
    const harness = await openHarness({ portalSeconds: 600 });
    await signIn(harness);
    harness.time.now += 601_000;
    expect(value(await harness.reports['reports.portal']({})).state).toBe('ended');
    const late = await harness.reports['reports.failures']({ max: 5 });
    expect(late).toMatchObject({ ok: false, failure: { code: 'portal.expired' } });

    // A token the service does not know, good by its own account: only the answer tells.
    const unsigned = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const forged = `${unsigned({ alg: 'HS256' })}.${unsigned({ sub: 'x' })}.c2ln`;
    expect(value(await harness.reports['reports.useToken']({ token: obscured(forged) })).expires).toBeNull();
    const refused = await harness.reports['reports.failures']({ max: 5 });
    expect(refused).toMatchObject({ ok: false, failure: { code: 'portal.expired', status: 401 } });
    expect(value(await harness.reports['reports.portal']({})).state).toBe('ended');
    expect(harness.entries.size).toBe(0);
  });

  test('nobody is signed in: nothing is asked', async () => {
    const harness = await openHarness();
    const outcome = await harness.reports['reports.metrics']({ ...november, grouping: 'day' });
    expect(outcome).toEqual(failed('portal.sign-in'));
    expect((await harness.audit.list({ before: null, limit: 9, caseReference: null })).total).toBe(0);
  });
});

describe('the figures', () => {
  test('are exactly the traffic, in each grouping, against the period before', async () => {
    const harness = await openHarness();
    await traffic(harness);
    await signIn(harness);
    const ask = async (
      grouping: 'day' | 'definition' | 'operation' | 'all',
      period: { from: string; to: string } = november,
    ) => value(await harness.reports['reports.metrics']({ ...period, grouping }));

    const byDay = await ask('day');
    expect(calls['reports.metrics'].output.parse(byDay)).toEqual(byDay);
    expect(byDay).toMatchObject({ requests: 7, failed: 3, previous: { requests: 0, failed: 0 } });
    expect(byDay.rows.map(({ day, requests, failed: no }) => [day, requests, no])).toEqual([
      ['2026-11-20', 4, 0],
      ['2026-11-21', 3, 3],
    ]);
    expect(byDay.rows[0]?.more).toEqual({ transfers: expect.any(String) as string });
    const byOperation = await ask('operation');
    expect(byOperation.rows.map(({ operation, requests }) => [operation, requests])).toEqual([
      ['CreateSession', 1],
      ['Detokenize', 3],
      ['GetMasked', 1],
      ['Tokenize', 2],
    ]);
    const byDefinition = await ask('definition');
    expect(byDefinition.rows.map(({ definition, failed: no }) => [definition, no])).toEqual([
      ['(none)', 0],
      ['card-number', 1],
      ['email', 0],
      ['ssn', 2],
    ]);
    expect((await ask('all')).rows).toHaveLength(6);
    const lastDay = await ask('day', { from: '2026-11-21', to: '2026-11-21' });
    expect(lastDay).toMatchObject({ requests: 3, failed: 3, previous: { requests: 4, failed: 0 } });
  });

  test('list the failures with all there is to know, and what support needs', async () => {
    const harness = await openHarness();
    await traffic(harness);
    await signIn(harness);
    const list = value(await harness.reports['reports.failures']({ max: 2 }));
    expect(calls['reports.failures'].output.parse(list)).toEqual(list);
    expect(list.failures).toHaveLength(2);
    expect(list.failures[0]).toMatchObject({
      at: '2026-11-21T12:00:00.000Z',
      operation: 'Detokenize',
      definition: 'card-number',
      status: 401,
      code: 'SessionUnknown',
    });
    value(await harness.reports['reports.copy']({ what: 'support', reportId: list.reportId, index: 0 }));
    const [bundle = ''] = harness.copied;
    expect(bundle.split('\n')[0]).toBe(`Request ID: ${list.failures[0]?.requestId ?? ''}`);
    expect(bundle).toContain('Operation: Detokenize');
    const gone = await harness.reports['reports.copy']({ what: 'support', reportId: 'report-99', index: 0 });
    expect(gone).toEqual(failed('report.unknown'));
  });

  test('go into a CSV that gives back what was shown, and a PNG that is one', async () => {
    const harness = await openHarness();
    await traffic(harness);
    await signIn(harness);
    const { reportId } = value(
      await harness.reports['reports.metrics']({ ...november, grouping: 'definition' }),
    );
    const saved = value(await harness.reports['reports.export']({ reportId }));
    expect(saved).toEqual({
      name: 'Built-in-service-requests-by-definition-2026-11-01-to-2026-11-30.csv',
      rows: 4,
      escaped: 0,
    });
    const file = path.join(harness.folder, saved?.name ?? '');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const text = fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '');
    expect(Papa.parse(text.trimEnd()).data.slice(0, 2)).toEqual([
      ['definition', 'requests', 'failed', 'transfers'],
      ['(none)', '1', '0', expect.any(String)],
    ]);

    const png = Buffer.from('89504e470d0a1a0a00', 'hex').toString('base64');
    const chart = value(await harness.reports['reports.exportChart']({ reportId, png }));
    expect(fs.readFileSync(path.join(harness.folder, chart?.name ?? '')).toString('base64')).toBe(png);
    const other = await harness.reports['reports.exportChart']({ reportId, png: btoa('<svg/>') });
    expect(other).toEqual(failed('report.not-a-chart'));
    expect(fs.readdirSync(harness.folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  test('are not asked for when they can’t be written down first', async () => {
    const harness = await openHarness(
      {},
      {
        audit: {
          ...auditWith(() => Promise.resolve(failed('audit.unwritable'))),
          list: () => Promise.reject(new Error('unused')),
        },
      },
    );
    const outcome = await signIn(harness);
    expect(outcome).toEqual(failed('audit.unwritable'));
    expect(harness.entries.size).toBe(0);
  });
});

describe('the tool server', () => {
  test('that is on lists the eleven tools', async () => {
    const harness = await openHarness({ toolServer: true });
    await signIn(harness);
    const found = value(await harness.reports['reports.toolServer']({}));
    expect(calls['reports.toolServer'].output.parse(found)).toEqual(found);
    expect(found).toMatchObject({ state: 'ready', transport: 'streamable-http', failure: null });
    expect(found.tools).toHaveLength(11);
    expect(found.tools.every(({ expected, there }) => expected && there)).toBe(true);
    const server = {
      type: 'http',
      url: `${harness.facts.baseUrl}/mcp`,
      headers: { Authorization: 'Bearer <JWT_TOKEN>' },
    };
    const [client, editor, bridge] = found.configurations.map(({ text }) => JSON.parse(text) as unknown);
    expect(client).toEqual({ mcpServers: { 'tokenization-service': server } });
    expect(editor).toEqual({ servers: { 'tokenization-service': server } });
    expect(bridge).toMatchObject({
      mcpServers: { 'tokenization-service': { env: { JWT_TOKEN: '<JWT_TOKEN>' } } },
    });
    expect(JSON.stringify(found)).not.toMatch(/ey[\w-]+\.ey/);
  });

  test('can be used with what is copied: address, authority, and a token that ends', async () => {
    const harness = await openHarness({ toolServer: true });
    const none = { what: 'configuration', form: 'client', transport: null, withToken: true } as const;
    expect(await harness.reports['reports.copy'](none)).toEqual(failed('portal.sign-in'));
    await signIn(harness);
    const found = value(await harness.reports['reports.toolServer']({}));
    const { transport } = found;
    expect(new Date(found.tokenEnds ?? 0).getTime()).toBeGreaterThan(harness.time.now);
    value(await harness.reports['reports.copy']({ ...none, transport }));
    const copied = harness.copied.at(-1) ?? '';
    const log = fs.readFileSync(path.join(harness.auditFolder, 'audit-000001.jsonl'), 'utf8');
    expect(log).toContain('"action":"CopyToolToken"');
    expect(log).not.toMatch(/ey[\w-]+\.ey/);
    value(await harness.reports['reports.copy']({ what: 'authorities' }));
    const authority = harness.copied.at(-1) ?? '';
    const fingerprints = [new X509Certificate(authority).fingerprint256];
    expect(found.authorities).toEqual(fingerprints);

    const { mcpServers } = JSON.parse(copied) as {
      mcpServers: Record<string, { type: string; url: string; headers: Record<string, string> }>;
    };
    const server = Object.values(mcpServers)[0];
    expect(server?.type).toBe('http');
    const dispatcher = new Agent({ connect: { ca: authority } });
    onTestFinished(() => dispatcher.close());
    const client = new Client({ name: 'a client', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server?.url ?? ''), {
        requestInit: { headers: server?.headers ?? {} },
        fetch: (url, init) => undiciFetch(url, { ...init, dispatcher } as never),
      }),
    );
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(11);
    await client.close();
  });

  test('that knows the older way only is asked that way', async () => {
    const harness = await openHarness({ toolServer: true });
    await signIn(harness);
    const [token = ''] = harness.entries.values();
    const older: Pick<Transport, 'open'> = {
      open: (url, init) =>
        init.method === 'POST' && !url.searchParams.has('sessionId')
          ? Promise.resolve({ ok: true, response: new Response('{}', { status: 405 }), fault: () => null })
          : harness.transport.open(url, init),
    };
    const found = await checkToolServer(harness.facts.baseUrl, older, token);
    expect(found).toMatchObject({ state: 'ready', transport: 'sse' });
    expect(found.tools.filter(({ there }) => there)).toHaveLength(11);
  });

  test('that names another address to post to does not get the token', async () => {
    const harness = await openHarness();
    const elsewhere = await harness.transport.open(new URL('https://elsewhere.invalid/mcp'), {
      method: 'POST',
    });
    expect(elsewhere).toEqual({ ok: false, fault: { kind: 'redirect', subject: 'elsewhere.invalid' } });
  });

  test('that is off says so, and one that wants a sign-in too', async () => {
    const off = await openHarness();
    expect(value(await off.reports['reports.toolServer']({}))).toMatchObject({ state: 'off', failure: null });
    const on = await openHarness({ toolServer: true });
    expect(value(await on.reports['reports.toolServer']({}))).toMatchObject({
      state: 'sign-in',
      failure: { code: 'portal.sign-in', status: 401 },
    });
  });
});
