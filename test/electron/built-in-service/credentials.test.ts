import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { runService, type RunningService } from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { connect, type Answer, type Client } from '../../support/service-client.ts';

const card = '4111111111111111';
const time = { now: Date.parse('2026-11-21T10:00:00Z') };
const clock = { now: () => time.now, monotonic: () => performance.now() };
const here: { service?: RunningService; client?: Client } = {};
const elsewhere: { service?: RunningService; client?: Client } = {};
const authenticatePath = '/api/services/portal/authenticate';

const open = async (into: typeof here, secret: number) => {
  const options = { secret: new Uint8Array(32).fill(secret), seed: defaultSeed as Seed, toolServer: true };
  into.service = await runService({ ...options, sessionSeconds: 60, portalSeconds: 60 }, clock);
  into.client = connect(into.service.facts);
};
const clientOf = (side: typeof here): Client => {
  if (!side.client) throw new Error('not open');
  return side.client;
};
const portalToken = async (side: typeof here, name = 'admin') => {
  const password = side.service?.facts.portalUsers.find((user) => user.name === name)?.password;
  const { body } = await clientOf(side).send(
    'POST',
    authenticatePath,
    JSON.stringify({ userName: name, password }),
  );
  return String(body.token);
};

beforeAll(async () => {
  await open(here, 1);
  await open(elsewhere, 2);
});
afterAll(async () => {
  for (const side of [here, elsewhere]) {
    await side.client?.close();
    await side.service?.stop();
  }
});

function expectRefusal(answer: Answer, status: number, code: string): void {
  const { type, title, traceId, ...rest } = answer.body;
  const expired = code.endsWith('Expired');
  const section = status === 401 ? '15.5.2' : '15.5.4';
  expect(rest).toEqual({ errors: code, status });
  expect(answer.status).toBe(status);
  expect(type).toBe(`https://www.rfc-editor.org/rfc/rfc9110#section-${section}`);
  expect(title).toBe(status === 403 ? 'Forbidden' : expired ? 'Unauthorized; expired token' : 'Unauthorized');
  expect(traceId).toBe(answer.headers['x-requestid']);
}

const operations: readonly (readonly [string, object])[] = [
  ['Tokenize', { value: card }],
  ['Detokenize', { tokenValue: card }],
  ['GetMasked', { tokenValue: card }],
  ['BatchTokenize', { elements: [{ Value: card }] }],
  ['BatchDetokenize', { elements: [{ Value: card }] }],
  ['PatternMatch', { regex: '.', elements: [{ Value: card }] }],
];
const translations: readonly (readonly [string, object])[] = [
  ['Translate', { tokenValue: card }],
  ['BatchTranslate', { elements: [{ Value: card }] }],
];

describe.each(operations)('%s', (operation, body) => {
  const call = (sessionToken: unknown) =>
    clientOf(here).call(operation, { ...body, sessionToken, tokenName: 'card-number' });

  it('refuses a session token that is wrong, foreign, or of another kind', async () => {
    const foreign = await clientOf(elsewhere).signIn('analyst');
    for (const token of ['wrong', foreign, await portalToken(here), here.service?.facts.apiKey.value]) {
      expectRefusal(await call(token), 401, 'SessionUnknown');
    }
  });

  it('3.4 refuses one that has expired, and says so', async () => {
    const token = await clientOf(here).signIn('analyst');
    time.now += 60_000;
    expectRefusal(await call(token), 401, 'SessionExpired');
  });

  it('refuses one of a policy that does not grant it', async () => {
    const granted = { intake: ['Tokenize', 'BatchTokenize'], 'mask-only': ['GetMasked'] };
    for (const [policy, operationsOf] of Object.entries(granted)) {
      const answer = await call(await clientOf(here).signIn(policy));
      if (operationsOf.includes(operation)) expect(answer.status).not.toBe(403);
      else expectRefusal(answer, 403, 'OperationNotGranted');
    }
  });

  it('refuses none at all as a missing member', async () => {
    for (const none of [undefined, null, '', 7, ['x']]) {
      expect(await call(none)).toMatchObject({
        status: 400,
        body: { errors: { code: ['RequestInvalid'], Validation: ['sessionToken is invalid'] } },
      });
    }
  });
});

describe.each(translations)('%s', (operation, body) => {
  const call = (sourceSessionToken: unknown, targetSessionToken: unknown) => {
    const names = { sourceTokenName: 'card-number', targetTokenName: 'free-text' };
    return clientOf(here).call(operation, { ...body, ...names, sourceSessionToken, targetSessionToken });
  };

  it('needs both sessions to be good and granted', async () => {
    const foreign = await clientOf(elsewhere).signIn('analyst');
    const old = await clientOf(here).signIn('analyst');
    time.now += 60_000;
    const good = await clientOf(here).signIn('analyst');
    const narrow = await clientOf(here).signIn('mask-only');
    expectRefusal(await call(foreign, good), 401, 'SessionUnknown');
    expectRefusal(await call(good, foreign), 401, 'SessionUnknown');
    expectRefusal(await call(old, good), 401, 'SessionExpired');
    expectRefusal(await call(good, old), 401, 'SessionExpired');
    expectRefusal(await call(narrow, good), 403, 'OperationNotGranted');
    expectRefusal(await call(good, narrow), 403, 'OperationNotGranted');
    expect((await call(undefined, good)).status).toBe(400);
    expect((await call(good, undefined)).status).toBe(400);
  });

  it('never has the cleartext in its answer', async () => {
    const session = await clientOf(here).signIn('analyst');
    const tokenized = { sessionToken: session, tokenName: 'card-number', value: card };
    const tokenValue = (await clientOf(here).call('Tokenize', tokenized)).body.token;
    for (const targetTokenName of ['free-text', 'ssn', 'card-number', 'email']) {
      const answer = await clientOf(here).call(operation, {
        sourceSessionToken: session,
        targetSessionToken: session,
        sourceTokenName: 'card-number',
        targetTokenName,
        tokenValue,
        elements: [{ RefId: '1', Value: tokenValue }],
      });
      expect(answer.text).not.toContain(card);
    }
  });
});

describe('CreateSession', () => {
  it('refuses the credentials of another account', async () => {
    expectRefusal(
      await clientOf(here).call('CreateSession', clientOf(elsewhere).credentials('analyst')),
      403,
      'InvalidCredentials',
    );
  });
});

const account = { accountId: 'acc-builtin', tenantId: 'ten-builtin' };
const evt = (operation: string) => `/api/services/evtservice/${operation}`;
const portalRoutes: readonly (readonly [string, object])[] = [
  [
    evt('aggregateapirequestmetrics'),
    { ...account, startDate: '2026-11-21', endDate: '2026-11-21', groupBy: 'Day' },
  ],
  [evt('querylastfailedrequests'), account],
  ['/api/services/portal/createapikey', { title: 'x', expirationDate: '2030-01-01T00:00:00Z' }],
  ['/api/services/portal/enabletoolserver', { enabled: true }],
  ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
];

describe.each(portalRoutes)('%s', (path, body) => {
  const call = (headers: Record<string, string>) =>
    clientOf(here).send('POST', path, JSON.stringify(body), {
      'content-type': 'application/json',
      ...headers,
    });

  it('refuses a portal token that is missing, wrong, foreign, expired, or of another kind', async () => {
    expectRefusal(await call({}), 401, 'PortalTokenMissing');
    const session = await clientOf(here).signIn('analyst');
    for (const token of ['wrong', 'a.b.c', session, await portalToken(elsewhere)]) {
      expectRefusal(await call({ authorization: `Bearer ${token}` }), 401, 'PortalTokenInvalid');
    }
    expectRefusal(await call({ authorization: 'Basic YTpi' }), 401, 'PortalTokenInvalid');
    const old = await portalToken(here);
    time.now += 60_000;
    expectRefusal(await call({ authorization: `Bearer ${old}` }), 401, 'PortalTokenExpired');
  });
});
