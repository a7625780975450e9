import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { administrationOperations } from '../../../electron/built-in-service/administration.ts';
import { runService, type RunningService } from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { connect, type Answer, type Client } from '../../support/service-client.ts';

const time = { now: 0 };
const seed: Seed = {
  ...(defaultSeed as Seed),
  portalUsers: [...defaultSeed.portalUsers, { name: 'owner', role: 'AccountOwner' }] as Seed['portalUsers'],
};
let folder: string;
let service: RunningService;
let client: Client;

const start = async (secret = 5) => {
  service = await runService(
    { secret: new Uint8Array(32).fill(secret), seed, dataFolder: folder },
    { now: () => time.now, monotonic: () => performance.now() },
  );
  client = connect(service.facts);
};
const stop = async () => {
  await client.close();
  await service.stop();
};
const restart = async () => {
  await stop();
  await start();
};
beforeEach(async () => {
  time.now = Date.parse('2026-11-20T12:00:00Z');
  folder = mkdtempSync(join(tmpdir(), 'service-administration-'));
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

const post = (operation: string, body: object, headers: Record<string, string> = {}) =>
  client.send('POST', `/api/services/portal/${operation.toLowerCase()}`, JSON.stringify(body), {
    'content-type': 'application/json',
    ...headers,
  });
const ask = async (operation: string, body: object = {}, userName = 'admin'): Promise<Answer> => {
  const password = service.facts.portalUsers.find(({ name }) => name === userName)?.password;
  const signedIn = await post('authenticate', { userName, password });
  return post(operation, body, { authorization: `Bearer ${String(signedIn.body.token)}` });
};
const refusal = ({ status, body }: Answer) => ({ status, errors: body.errors });
const invalid = (code: string, ...fields: string[]) => ({
  status: 400,
  errors: { code: [code], Validation: fields.map((field) => `${field} is invalid`) },
});
const forbidden = (code: string) => ({ status: 403, errors: code });

const definition = { kind: 'card-number', name: 'gift-card', label: 'Geschenkkarte' };
const grants = [{ definitions: ['gift-card'], operations: ['Tokenize', 'GetMasked'] }];
const refunds = { name: 'refunds', policyPassword: 'a password of twelve', grants };

const session = async (policy = 'refunds', policyPassword = refunds.policyPassword, apiKey?: string) =>
  client.call('CreateSession', { apiKey: apiKey ?? service.facts.apiKey.value, policy, policyPassword });
const tokenize = (sessionToken: unknown, tokenName = 'gift-card') =>
  client.call('Tokenize', { sessionToken, tokenName, value: '4111111111111111' });

async function createBoth(): Promise<void> {
  expect((await ask('CreateTokenDefinition', { definition })).status).toBe(200);
  expect((await ask('CreateSecurityPolicy', refunds)).status).toBe(200);
}

describe('who may administer the account', () => {
  it.each(Object.keys(administrationOperations))(
    '2.7 %s is for AccountAdmin and higher roles',
    async (name) => {
      expect(refusal(await post(name, {}))).toEqual({ status: 401, errors: 'PortalTokenMissing' });
      expect(refusal(await ask(name, {}, 'reporter'))).toEqual(forbidden('RoleRequired'));
      for (const user of ['admin', 'owner']) expect((await ask(name, {}, user)).status).not.toBe(403);
    },
  );
});

describe('1.7, 2.9 token definitions', () => {
  it('are created with the defaults of their kind, and used at once', async () => {
    const created = await ask('CreateTokenDefinition', { definition });
    const expected = {
      ...definition,
      luhn: 'invalid',
      masking: { keepFirst: 6, keepLast: 4, character: '*' },
      enabled: true,
    };
    expect(created.body.definition).toEqual(expected);
    expect((await ask('ListTokenDefinitions')).body.definitions).toContainEqual(expected);
    await ask('CreateSecurityPolicy', refunds);
    const { sessionToken } = (await session()).body;
    const { token } = (await tokenize(sessionToken)).body;
    expect(token).toMatch(/^411111\d{6}1111$/);
    const masked = await client.call('GetMasked', {
      sessionToken,
      tokenName: 'gift-card',
      tokenValue: token,
    });
    expect(masked.body.maskedValue).toBe('411111******1111');
  });

  it('show an example before they are created, which is no token of theirs', async () => {
    const preview = async (more: object) =>
      ask('PreviewTokenDefinition', { definition: { ...definition, ...more }, value: '4111111111111111' });
    const shown = await preview({ masking: { keepFirst: 0, keepLast: 2, character: '#' } });
    expect(shown.body).toEqual({
      token: expect.stringMatching(/^411111\d{6}1111$/) as string,
      maskedValue: '##############11',
    });
    await createBoth();
    const { sessionToken } = (await session()).body;
    expect((await tokenize(sessionToken)).body.token).not.toBe(shown.body.token);
    expect(refusal(await preview({ kind: 'ssn' }))).toEqual(invalid('ValueInvalid', 'value'));
  });

  it('may change label and mask, and nothing that tokens depend on', async () => {
    await createBoth();
    const { sessionToken } = (await session()).body;
    const { token } = (await tokenize(sessionToken)).body;
    const update = (more: object) =>
      ask('UpdateTokenDefinition', { definition: { ...definition, enabled: true, ...more } });
    const masking = { keepFirst: 0, keepLast: 4, character: 'x' };
    expect((await update({ label: 'Gift card', masking })).status).toBe(200);
    const masked = () =>
      client.call('GetMasked', { sessionToken, tokenName: 'gift-card', tokenValue: token });
    expect((await masked()).body.maskedValue).toBe('xxxxxxxxxxxx1111');
    expect(refusal(await update({ luhn: 'any' }))).toEqual(invalid('DefinitionFixed', 'definition.luhn'));
    expect(refusal(await update({ kind: 'free-text' }))).toEqual(
      invalid('DefinitionFixed', 'definition.kind', 'definition.luhn', 'definition.maxBytes'),
    );
    expect(refusal(await update({ name: 'other' }))).toEqual(
      invalid('TokenDefinitionUnknown', 'definition.name'),
    );
    expect((await masked()).body.maskedValue).toBe('xxxxxxxxxxxx1111');
  });

  it('are disabled and enabled again in open sessions, and their tokens stay good', async () => {
    await createBoth();
    const { sessionToken } = (await session()).body;
    const { token } = (await tokenize(sessionToken)).body;
    await ask('UpdateTokenDefinition', { definition: { ...definition, enabled: false } });
    expect(refusal(await tokenize(sessionToken))).toEqual(forbidden('TokenDefinitionDisabled'));
    await ask('UpdateTokenDefinition', { definition: { ...definition, enabled: true } });
    expect((await tokenize(sessionToken)).body.token).toBe(token);
  });

  it.each([
    [{ ...definition, name: 'ssn' }, invalid('NameTaken', 'definition.name')],
    [{ ...definition, name: 'with space' }, invalid('RequestInvalid', 'definition.name')],
    [{ ...definition, label: 'a\u202eb' }, invalid('RequestInvalid', 'definition.label')],
    [{ ...definition, kind: 'iban' }, invalid('RequestInvalid', 'definition.kind')],
    [{ ...definition, masking: { keepFirst: 7 } }, invalid('RequestInvalid', 'definition.masking.keepFirst')],
  ])('refuses %j', async (wrong, expected) => {
    expect(refusal(await ask('CreateTokenDefinition', { definition: wrong }))).toEqual(expected);
  });
});

describe('1.7 security policies', () => {
  it('are listed without their passwords', async () => {
    await createBoth();
    const { text, body } = await ask('ListSecurityPolicies');
    expect(body.policies).toContainEqual({ name: 'refunds', grants, revoked: false });
    expect(text).not.toMatch(/password/i);
  });

  it('grant what they are changed to at once, in open sessions too', async () => {
    await createBoth();
    const { sessionToken } = (await session()).body;
    const masking = [{ definitions: ['gift-card'], operations: ['GetMasked'] }];
    expect((await ask('UpdateSecurityPolicy', { name: 'refunds', grants: masking })).status).toBe(200);
    expect(refusal(await tokenize(sessionToken))).toEqual(forbidden('OperationNotGranted'));
    await ask('UpdateSecurityPolicy', { name: 'refunds', grants });
    expect((await tokenize(sessionToken)).status).toBe(200);
  });

  it('end their sessions with a new password, and take only that from then on', async () => {
    await createBoth();
    const { sessionToken } = (await session()).body;
    const policyPassword = 'another one of twelve';
    await ask('UpdateSecurityPolicy', { name: 'refunds', policyPassword });
    expect(refusal(await tokenize(sessionToken))).toEqual({ status: 401, errors: 'SessionExpired' });
    expect(refusal(await session())).toEqual(forbidden('InvalidCredentials'));
    expect((await session('refunds', policyPassword)).status).toBe(200);
  });

  it('end with their sessions when they are revoked, for good', async () => {
    await createBoth();
    const other = await client.signIn('analyst');
    const { sessionToken } = (await session()).body;
    expect((await ask('RevokeSecurityPolicy', { name: 'refunds' })).body).toMatchObject({ revoked: true });
    expect(refusal(await tokenize(sessionToken))).toEqual({ status: 401, errors: 'SessionExpired' });
    expect(refusal(await session())).toEqual(forbidden('PolicyRevoked'));
    // Whoever doesn't know the password does not learn that it was revoked.
    expect(refusal(await session('refunds', 'wrong'))).toEqual(forbidden('InvalidCredentials'));
    expect((await tokenize(other, 'card-number')).status).toBe(200);
    expect(refusal(await ask('CreateSecurityPolicy', refunds))).toEqual(invalid('NameTaken', 'name'));
    expect(refusal(await ask('UpdateSecurityPolicy', { name: 'refunds', grants }))).toEqual(
      invalid('SecurityPolicyEnded', 'name'),
    );
  });

  it.each([
    [{ ...refunds, policyPassword: 'short' }, invalid('RequestInvalid', 'policyPassword')],
    [{ ...refunds, name: 'analyst' }, invalid('NameTaken', 'name')],
    [
      { ...refunds, grants: [{ definitions: ['nope'], operations: ['Tokenize'] }] },
      invalid('TokenDefinitionUnknown', 'grants'),
    ],
    [
      { ...refunds, grants: [{ definitions: ['ssn'], operations: ['Everything'] }] },
      invalid('RequestInvalid', 'grants[0].operations[0]'),
    ],
  ])('refuses %j', async (wrong, expected) => {
    expect(refusal(await ask('CreateSecurityPolicy', wrong))).toEqual(expected);
  });
});

describe('1.7 API keys', () => {
  const make = (title: string, expirationDate = '2026-11-21') =>
    ask('CreateApiKey', { title, expirationDate });
  const listed = async (title: string) =>
    ((await ask('ListApiKeys')).body.apiKeys as { title: string }[]).find((key) => key.title === title);
  const open = async (apiKey: unknown) =>
    client.call('CreateSession', { ...client.credentials('analyst'), apiKey });

  it.each(['Q4 disputes key', 'Schlüssel', '鍵 1', "O'Brien & sons <3"])(
    '2.1 have any text as their title: %s',
    async (title) => {
      const { body } = await make(title);
      expect(body).toMatchObject({ title, expirationDate: '2026-11-21' });
      expect((await open(body.apiKey)).status).toBe(200);
      expect(await listed(title)).toMatchObject({ title });
    },
  );

  it('2.2, 2.3 have a date to expire on, and are usable until that day is over', async () => {
    const { apiKey } = (await make('day')).body;
    time.now = Date.parse('2026-11-21T23:59:59.999Z');
    expect((await open(apiKey)).status).toBe(200);
    expect(await listed('day')).toMatchObject({ expirationDate: '2026-11-21', expired: false });
    time.now += 1;
    expect(refusal(await open(apiKey))).toEqual(forbidden('ApiKeyExpired'));
    expect(await listed('day')).toMatchObject({ expirationDate: '2026-11-21', expired: true });
  });

  it('are listed with when they were made and used last, and never with the key', async () => {
    const { apiKey } = (await make('night')).body;
    expect(await listed('night')).toMatchObject({ created: '2026-11-20T12:00:00.000Z', lastUsed: null });
    time.now += 60_000;
    await open(apiKey);
    const { text } = await ask('ListApiKeys');
    expect(await listed('night')).toMatchObject({ lastUsed: '2026-11-20T12:01:00.000Z' });
    for (const { value } of service.facts.apiKeys) expect(text).not.toContain(value);
    expect(text).not.toContain(apiKey);
    await restart();
    expect(await listed('night')).toMatchObject({ lastUsed: '2026-11-20T12:01:00.000Z' });
  });

  it('2.4 are rotated: old and new are usable side by side, until the old one is revoked', async () => {
    const { apiKey: old } = (await make('night')).body;
    const rotated = await ask('RotateApiKey', { title: 'night', expirationDate: '2027-11-20' });
    expect(rotated.body).toMatchObject({ title: 'night (2)', expirationDate: '2027-11-20' });
    for (const key of [old, rotated.body.apiKey]) expect((await open(key)).status).toBe(200);
    const sessions = [await open(old), await open(rotated.body.apiKey)].map(({ body }) => body.sessionToken);
    expect((await ask('RevokeApiKey', { title: 'night' })).body).toMatchObject({ revoked: true });
    expect(refusal(await open(old))).toEqual(forbidden('ApiKeyRevoked'));
    expect((await tokenize(sessions[0], 'ssn')).status).toBe(401);
    expect((await tokenize(sessions[1], 'card-number')).status).toBe(200);
    expect(refusal(await ask('RotateApiKey', { title: 'night', expirationDate: '2027-11-20' }))).toEqual(
      invalid('ApiKeyEnded', 'title'),
    );
    expect((await ask('RotateApiKey', { title: 'night (2)', expirationDate: '2028-01-01' })).body.title).toBe(
      'night (3)',
    );
  });

  it.each([
    ['', '2026-12-01', invalid('RequestInvalid', 'title')],
    ['a\nb', '2026-12-01', invalid('RequestInvalid', 'title')],
    ['desk', '2026-12-01', invalid('NameTaken', 'title')],
    ['late', '2026-11-19', invalid('RequestInvalid', 'expirationDate')],
    ['far', '2126-11-19', invalid('RequestInvalid', 'expirationDate')],
    ['odd', '2026-02-30', invalid('RequestInvalid', 'expirationDate')],
    ['odd', 'soon', invalid('RequestInvalid', 'expirationDate')],
  ])('refuses the title %j until %s', async (title, date, expected) => {
    expect(refusal(await make(title, date))).toEqual(expected);
  });

  it('takes only one of two that are created with the same title at the same time', async () => {
    const statuses = (await Promise.all([make('twice'), make('twice')])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 400]);
  });
});

describe('4.22 the tool server', () => {
  it('is enabled and disabled, and stays so over a restart', async () => {
    expect((await ask('GetToolServer')).body).toEqual({ enabled: false });
    await ask('EnableToolServer', { enabled: true });
    await restart();
    expect((await ask('GetToolServer')).body).toEqual({ enabled: true });
    await ask('EnableToolServer', { enabled: false });
    await restart();
    expect((await client.send('POST', '/mcp', '{}')).status).toBe(404);
  });
});

describe('what was changed', () => {
  it('survives a restart, encrypted, in a file that only its owner reads', async () => {
    await createBoth();
    const { apiKey } = (await ask('CreateApiKey', { title: 'Q4', expirationDate: '2027-01-01' })).body;
    const { token } = (await tokenize((await session()).body.sessionToken)).body;
    await ask('RevokeSecurityPolicy', { name: 'intake' });
    await restart();
    expect(service.facts.policies.map(({ name }) => name)).toEqual([
      'dispute-desk',
      'analyst',
      'mask-only',
      'refunds',
    ]);
    expect(service.facts.definitions.at(-1)).toMatchObject({ name: 'gift-card' });
    const opened = await session('refunds', refunds.policyPassword, apiKey as string);
    expect((await tokenize(opened.body.sessionToken)).body.token).toBe(token);
    const file = readdirSync(folder).filter((name) => name.startsWith('account-'))[0] ?? '';
    const bytes = readFileSync(join(folder, file));
    for (const text of ['gift-card', 'refunds', refunds.policyPassword, apiKey as string])
      expect(bytes.includes(text)).toBe(false);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  it('may be that all keys and policies are revoked: a restart still gives a client one to be told so', async () => {
    for (const name of ['dispute-desk', 'analyst', 'mask-only', 'intake'])
      await ask('RevokeSecurityPolicy', { name });
    for (const title of ['desk', 'retired']) await ask('RevokeApiKey', { title });
    await restart();
    expect(service.facts.policies).toHaveLength(4);
    expect(refusal(await client.call('CreateSession', client.credentials('analyst')))).toEqual(
      forbidden('ApiKeyRevoked'),
    );
    expect((await ask('CreateApiKey', { title: 'new', expirationDate: '2027-01-01' })).status).toBe(200);
  });

  it('is not passed over where its file is damaged: what is revoked would be good again', async () => {
    await ask('RevokeSecurityPolicy', { name: 'intake' });
    await stop();
    const file = join(folder, readdirSync(folder).filter((name) => name.startsWith('account-'))[0] ?? '');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, -1));
    await expect(start()).rejects.toThrow(/damaged/);
    writeFileSync(file, bytes);
    await start();
    expect(service.facts.policies.map(({ name }) => name)).not.toContain('intake');
  });

  it('is refused whole where it can’t be written', async () => {
    await createBoth();
    const file = join(folder, readdirSync(folder).filter((name) => name.startsWith('account-'))[0] ?? '');
    mkdirSync(join(`${file}.partial`, 'in-the-way'), { recursive: true });
    expect((await ask('RevokeSecurityPolicy', { name: 'refunds' })).status).toBe(500);
    expect((await session()).status).toBe(200);
    rmSync(`${file}.partial`, { recursive: true });
    expect((await ask('RevokeSecurityPolicy', { name: 'refunds' })).status).toBe(200);
  });

  it('belongs to its secret: under another one the account is as its seed', async () => {
    await createBoth();
    await stop();
    await start(6);
    expect(service.facts.policies.map(({ name }) => name)).not.toContain('refunds');
    await stop();
    await start();
    expect(service.facts.policies.map(({ name }) => name)).toContain('refunds');
  });
});
