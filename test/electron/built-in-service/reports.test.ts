import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { openRequestLog, type LoggedCall } from '../../../electron/built-in-service/request-log.ts';
import {
  runService,
  type RunningService,
  type ServiceOptions,
} from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { connect, type Client } from '../../support/service-client.ts';

const dayMs = 86_400_000;
const time = { now: 0 };
let folder: string;
let service: RunningService;
let client: Client;

const start = async (options: Partial<ServiceOptions> = {}) => {
  service = await runService(
    {
      secret: new Uint8Array(32).fill(5),
      seed: defaultSeed as Seed,
      dataFolder: folder,
      portalSeconds: 600,
      ...options,
    },
    { now: () => time.now, monotonic: () => performance.now() },
  );
  client = connect(service.facts);
};
const stop = async () => {
  await client.close();
  await service.stop();
};
beforeEach(async () => {
  time.now = Date.parse('2026-11-20T12:00:00Z');
  folder = mkdtempSync(join(tmpdir(), 'service-reports-'));
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

const account = { accountId: 'acc-builtin', tenantId: 'ten-builtin' };
const signIn = async (name = 'reporter') => {
  const password = service.facts.portalUsers.find((user) => user.name === name)?.password;
  return client.send(
    'POST',
    '/api/services/portal/authenticate',
    JSON.stringify({ userName: name, password }),
  );
};
const bearer = async (name?: string) => ({
  authorization: `Bearer ${String((await signIn(name)).body.token)}`,
});
const metrics = async (groupBy: string, startDate = '2026-11-01', endDate = '2026-11-30') => {
  const body = { ...account, startDate, endDate, groupBy };
  return (await client.call('AggregateApiRequestMetrics', body, await bearer())).body.metrics;
};

async function traffic() {
  const sessionToken = await client.signIn('analyst');
  const elements = ['123-45-6789', 'no ssn'].map((value) => ({ Value: value }));
  await client.call('BatchTokenize', { sessionToken, tokenName: 'ssn', elements });
  await client.call('Tokenize', { sessionToken, tokenName: 'card-number', value: '4111111111111111' });
  const failed = [
    await client.call('Detokenize', {
      sessionToken,
      tokenName: 'card-number',
      tokenValue: '4111111111111111',
    }),
    await client.call('Detokenize', { sessionToken, tokenName: '4012888888881881', tokenValue: 'x' }),
    await client.send('POST', '/api/services/evtservice/tokenize', '{ "value": "378282246310005"'),
    await client.call('GetMasked', { sessionToken: 'gone', tokenName: 'ssn', tokenValue: 'x' }),
  ];
  await client.send('GET', '/nope');
  return failed.map(({ headers }) => headers['x-requestid']);
}

describe('AggregateApiRequestMetrics', () => {
  it('sums up what really happened, in each grouping', async () => {
    await traffic();
    time.now += dayMs;
    await client.signIn('analyst');
    const ok = (requests: number, transfers = 0) => ({ requests, succeeded: requests, failed: 0, transfers });
    expect(await metrics('Day')).toEqual([
      { day: '2026-11-20', requests: 7, succeeded: 3, failed: 4, transfers: 3 },
      { day: '2026-11-21', ...ok(1) },
    ]);
    expect(await metrics('operation')).toEqual([
      { operation: 'BatchTokenize', ...ok(1, 2) },
      { operation: 'CreateSession', ...ok(2) },
      { operation: 'Detokenize', requests: 2, succeeded: 0, failed: 2, transfers: 0 },
      { operation: 'GetMasked', requests: 1, succeeded: 0, failed: 1, transfers: 0 },
      { operation: 'Tokenize', requests: 2, succeeded: 1, failed: 1, transfers: 1 },
    ]);
    expect(await metrics('TokenDefinition')).toEqual([
      { tokenName: '(none)', requests: 4, succeeded: 2, failed: 2, transfers: 0 },
      { tokenName: 'card-number', requests: 2, succeeded: 1, failed: 1, transfers: 1 },
      { tokenName: 'ssn', requests: 2, succeeded: 1, failed: 1, transfers: 2 },
    ]);
    expect(await metrics('All', '2026-11-21', '2026-11-21T23:00:00Z')).toEqual([
      { day: '2026-11-21', operation: 'CreateSession', tokenName: '(none)', ...ok(1) },
    ]);
    expect(await metrics('Day', '2026-11-22')).toEqual([]);
  });

  it('survives a restart, in a file that only its owner reads and that holds no value', async () => {
    await traffic();
    await stop();
    await start();
    expect(await metrics('Day')).toEqual([
      { day: '2026-11-20', requests: 7, succeeded: 3, failed: 4, transfers: 3 },
    ]);
    for (const file of readdirSync(folder)) {
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
      const bytes = readFileSync(join(folder, file));
      for (const value of ['4111111111111111', '4012888888881881', '378282246310005', '123-45-6789']) {
        expect(bytes.includes(value)).toBe(false);
      }
    }
  });

  it.each([
    [{ groupBy: 'week' }, ['groupBy is invalid']],
    [{ startDate: '2026-02-30' }, ['startDate is invalid']],
    [{ startDate: undefined, tenantId: 7 }, ['tenantId is invalid', 'startDate is invalid']],
    [{ startDate: '2026-12-01' }, ['startDate is invalid', 'endDate is invalid']],
  ])('refuses %j', async (wrong, validation) => {
    const body = { ...account, startDate: '2026-11-01', endDate: '2026-11-30', groupBy: 'Day', ...wrong };
    const answer = await client.call('AggregateApiRequestMetrics', body, await bearer());
    expect(answer).toMatchObject({ status: 400, body: { errors: { Validation: validation } } });
  });
});

describe('the transfers of 24 hours', () => {
  it('are still counted after a restart, those of failed calls too, until they are 24 hours old', async () => {
    await stop();
    await start({ limits: { transfersPerDay: 3 } });
    const tokenize = async (value: string) => {
      const sessionToken = await client.signIn('intake');
      return client.call('Tokenize', { sessionToken, tokenName: 'ssn', value });
    };
    expect((await tokenize('123-45-6789')).status).toBe(200);
    expect((await tokenize('no ssn')).status).toBe(400);
    await stop();
    await start({ limits: { transfersPerDay: 3 } });
    expect((await tokenize('123-45-6789')).headers['x-rate-limit-remaining']).toBe('0');
    const refused = await tokenize('123-45-6789');
    expect(refused).toMatchObject({ status: 429, body: { errors: 'TooManyTransfers' } });
    expect(refused.headers['x-rate-limit-reset']).toBe('2026-11-21T12:01:00.000Z');
    time.now += dayMs + 60_000;
    expect((await tokenize('123-45-6789')).status).toBe(200);
  });
});

describe('QueryLastFailedRequests', () => {
  it('lists the failures that happened, the newest first, with their request IDs', async () => {
    const ids = await traffic();
    const { body } = await client.call('QueryLastFailedRequests', account, await bearer());
    const requests = body.requests as Record<string, unknown>[];
    expect(requests.map(({ requestId }) => requestId)).toEqual(ids.toReversed());
    expect(requests.map(({ operation, code, status }) => [operation, code, status])).toEqual([
      ['GetMasked', 'SessionUnknown', 401],
      ['Tokenize', 'BodyMalformed', 400],
      ['Detokenize', 'TokenDefinitionUnknown', 400],
      ['Detokenize', 'TokenInvalid', 400],
    ]);
    expect(requests[3]).toMatchObject({
      time: '2026-11-20T12:00:00.000Z',
      policy: 'analyst',
      tokenName: 'card-number',
    });
  });

  it('4.19 gives 15 by default and as many as asked, from 1 to 100', async () => {
    for (let i = 0; i < 18; i++) await client.call('Tokenize', {});
    const ask = async (max?: unknown) =>
      client.call('QueryLastFailedRequests', { ...account, max }, await bearer());
    expect((await ask()).body.requests).toHaveLength(15);
    expect((await ask(100)).body.requests).toHaveLength(18);
    expect((await ask(1)).body.requests).toHaveLength(1);
    for (const max of [0, 101, 1.5, '15', null]) expect((await ask(max)).status, String(max)).toBe(400);
  });
});

describe('the record', () => {
  const call: LoggedCall = {
    at: 0,
    requestId: 'r',
    operation: 'Tokenize',
    clientId: null,
    policy: null,
    tokenName: null,
    transfers: 0,
    status: 400,
    code: 'RequestInvalid',
  };
  const clock = { now: Date.parse('2026-01-01T00:00:00Z') };
  const open = (accountId: string) => {
    const log = openRequestLog({ folder, accountId, tenantId: 't', now: () => clock.now });
    if (!log) throw new Error('SQLite is missing.');
    return log;
  };

  it('keeps accounts apart', () => {
    const [one, other] = [open('one'), open('other')];
    one.record({ ...call, at: clock.now });
    expect(one.lastFailed(100)).toHaveLength(1);
    expect(other.lastFailed(100)).toEqual([]);
    expect(other.metrics('2000-01-01', '2100-01-01', 'All')).toEqual([]);
    one.close();
    other.close();
  });

  it('begins anew beside a file that is damaged', () => {
    const file = join(folder, 'other', 'requests.sqlite');
    mkdirSync(join(folder, 'other'));
    writeFileSync(file, 'this is no database, and long enough to be looked at'.repeat(100));
    const log = openRequestLog({
      folder: join(folder, 'other'),
      accountId: 'a',
      tenantId: 't',
      now: () => clock.now,
    });
    log?.record({ ...call, at: clock.now });
    expect(log?.lastFailed(100)).toHaveLength(1);
    log?.close();
    expect(readFileSync(`${file}.damaged`, 'utf8')).toContain('no database');
  });

  it('forgets failures after 90 days and sums after 400', () => {
    const log = open('one');
    log.record({ ...call, at: clock.now });
    clock.now += 91 * dayMs;
    log.record({ ...call, at: clock.now, status: 200 });
    expect(log.lastFailed(100)).toEqual([]);
    expect(log.metrics('2000-01-01', '2100-01-01', 'Day')).toHaveLength(2);
    clock.now += 310 * dayMs;
    log.record({ ...call, at: clock.now, status: 200 });
    expect(log.metrics('2000-01-01', '2100-01-01', 'Day').map(({ day }) => day)).toEqual([
      '2026-04-02',
      '2027-02-06',
    ]);
    log.close();
  });
});

describe('the portal', () => {
  const query = (headers: Record<string, string>) => client.call('QueryLastFailedRequests', account, headers);

  it('takes the token as a bearer and as a cookie, for as long as it is good', async () => {
    const signedIn = await signIn();
    expect(signedIn.body.expires).toBe('2026-11-20T12:10:00.000Z');
    const setCookie = String(signedIn.headers['set-cookie']);
    expect(setCookie).toMatch(/; HttpOnly; Secure; SameSite=Strict/);
    const cookie = setCookie.split(';')[0] ?? '';
    const authorization = `Bearer ${String(signedIn.body.token)}`;
    expect((await query({ cookie })).status).toBe(200);
    expect((await query({ authorization })).status).toBe(200);
    time.now += 600_000;
    const expired = {
      status: 401,
      body: { errors: 'PortalTokenExpired', title: 'Unauthorized; expired token' },
    };
    expect(await query({ cookie })).toMatchObject(expired);
    expect(await query({ authorization })).toMatchObject(expired);
  });

  it('refuses what is missing, made up, unsigned or of another account', async () => {
    expect(await query({})).toMatchObject({ status: 401, body: { errors: 'PortalTokenMissing' } });
    const [header = '', payload = '', signature = ''] = String((await signIn()).body.token).split('.');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    for (const token of [
      'nonsense',
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${encode({ alg: 'none' })}.${payload}.`,
      `${header}.${encode({ ...claims, sub: 'admin' })}.${signature}`,
    ]) {
      expect(await query({ authorization: `Bearer ${token}` })).toMatchObject({
        status: 401,
        body: { errors: 'PortalTokenInvalid' },
      });
    }
    expect((await query({ authorization: 'Basic x' })).status).toBe(401);
    const other = await runService({ secret: new Uint8Array(32).fill(6), seed: defaultSeed as Seed });
    const foreign = connect(other.facts);
    expect((await foreign.call('QueryLastFailedRequests', account, await bearer())).status).toBe(401);
    await foreign.close();
    await other.stop();
    for (const wrong of [{ accountId: 'acc-other' }, { tenantId: 'ten-other' }]) {
      expect(
        await client.call('QueryLastFailedRequests', { ...account, ...wrong }, await bearer()),
      ).toMatchObject({ status: 403, body: { errors: 'AccountForbidden' } });
    }
  });

  it('refuses a wrong password like an unknown user', async () => {
    for (const userName of ['reporter', 'nobody']) {
      const body = JSON.stringify({ userName, password: 'wrong' });
      expect(await client.send('POST', '/api/services/portal/authenticate', body)).toMatchObject({
        status: 403,
        body: { errors: 'InvalidCredentials' },
      });
    }
  });

  it('lets an AccountAdmin, and nobody below, create an API key', async () => {
    const create = async (who: string, body: object) =>
      client.send('POST', '/api/services/portal/createapikey', JSON.stringify(body), {
        'content-type': 'application/json',
        ...(await bearer(who)),
      });
    const key = { title: 'night-batch', expirationDate: '2026-11-20T12:05:00Z' };
    expect(await create('reporter', key)).toMatchObject({ status: 403, body: { errors: 'RoleRequired' } });
    const { status, body } = await create('admin', key);
    expect(status).toBe(200);
    const session = () =>
      client.call('CreateSession', { ...client.credentials('analyst'), apiKey: body.apiKey });
    expect((await session()).status).toBe(200);
    expect((await create('admin', key)).status).toBe(400);
    time.now += 300_000;
    expect(await session()).toMatchObject({ status: 403, body: { errors: 'ApiKeyExpired' } });
    expect((await create('admin', { ...key, title: 'late' })).status).toBe(400);
  });
});
