import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { runService, type RunningService } from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { connect, type Client } from '../../support/service-client.ts';

const secret = new Uint8Array(32).fill(5);
const card = '4111111111111111';
const time = { now: Date.parse('2026-11-21T10:00:00Z') };
let service: RunningService;
let client: Client;

beforeAll(async () => {
  service = await runService(
    { secret: secret, seed: defaultSeed as Seed, sessionSeconds: 60, maxElements: 50, maxBodyBytes: 65_536 },
    { now: () => time.now, monotonic: () => performance.now() },
  );
  client = connect(service.facts);
});
afterAll(async () => {
  await client.close();
  await service.stop();
});

const token = async (tokenName: string, value: string) => {
  const sessionToken = await client.signIn('analyst');
  const { body } = await client.call('Tokenize', { sessionToken, tokenName, value });
  return { sessionToken, token: body.token as string };
};

describe('operations', () => {
  it.each([
    ['card-number', card, '411111******1111'],
    ['ssn', '123-45-6789', '***-**-6789'],
    ['email', 'jane.doe@example.com', 'j***@example.com'],
    ['free-text', 'Grüße 🙂', '********'],
  ])('%s: tokenize, detokenize, mask', async (tokenName, value, mask) => {
    const { sessionToken, token: tokenValue } = await token(tokenName, value);
    expect(tokenValue).not.toBe(value);
    const clear = await client.call('Detokenize', { sessionToken, tokenName, tokenValue });
    expect(clear).toMatchObject({ status: 200, body: { value } });
    const masked = await client.call('GetMasked', { sessionToken, tokenName, tokenValue });
    expect(masked).toMatchObject({ status: 200, body: { maskedValue: mask } });
  });

  it('translates under two sessions without the cleartext in the answer', async () => {
    const { sessionToken, token: tokenValue } = await token('card-number', card);
    const targetSessionToken = await client.signIn('dispute-desk');
    const answer = await client.call('Translate', {
      sourceSessionToken: sessionToken,
      targetSessionToken: await client.signIn('analyst'),
      sourceTokenName: 'card-number',
      targetTokenName: 'free-text',
      tokenValue,
    });
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(card);
    const back = await client.call('Detokenize', {
      sessionToken,
      tokenName: 'free-text',
      tokenValue: answer.body.token,
    });
    expect(back.body).toEqual({ value: card });
    const refused = await client.call('Translate', {
      sourceSessionToken: sessionToken,
      targetSessionToken,
      sourceTokenName: 'card-number',
      targetTokenName: 'free-text',
      tokenValue,
    });
    expect(refused).toMatchObject({ status: 403, body: { errors: 'OperationNotGranted' } });
  });

  it('answers a batch element by element, in order, with the RefId as it came', async () => {
    const sessionToken = await client.signIn('analyst');
    const elements = [{ RefId: 'a', Value: card }, { Value: card }, { RefId: 'a', Value: 'no card' }];
    const batch = await client.call('BatchTokenize', { sessionToken, tokenName: 'card-number', elements });
    const tokenOf = (await token('card-number', card)).token;
    expect(batch.body).toEqual({
      elements: [{ RefId: 'a', Value: tokenOf }, { Value: tokenOf }, { RefId: 'a', Error: 'ValueInvalid' }],
    });
    const back = await client.call('BatchDetokenize', {
      sessionToken,
      tokenName: 'card-number',
      elements: [
        { RefId: '1', Value: tokenOf },
        { RefId: '2', Value: '' },
      ],
    });
    expect(back.body).toEqual({
      elements: [
        { RefId: '1', Value: card },
        { RefId: '2', Error: 'TokenInvalid' },
      ],
    });
    const none = await client.call('BatchDetokenize', {
      sessionToken,
      tokenName: 'card-number',
      elements: [],
    });
    expect(none).toMatchObject({ status: 200, body: { elements: [] } });
  });

  it('translates a batch', async () => {
    const { sessionToken, token: Value } = await token('card-number', card);
    const { body } = await client.call('BatchTranslate', {
      sourceSessionToken: sessionToken,
      targetSessionToken: sessionToken,
      sourceTokenName: 'card-number',
      targetTokenName: 'ssn',
      elements: [
        { RefId: '1', Value },
        { RefId: '2', Value: 'x' },
      ],
    });
    expect(body).toEqual({
      elements: [
        { RefId: '1', Error: 'ValueInvalid' },
        { RefId: '2', Error: 'TokenInvalid' },
      ],
    });
  });

  it('4.15 PatternMatch takes RE2, and answers only what matches in linear time', async () => {
    const sessionToken = await client.signIn('analyst');
    const values = ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', 'b', 'ab'];
    const batch = await client.call('BatchTokenize', {
      sessionToken,
      tokenName: 'free-text',
      elements: values.map((value, i) => ({ RefId: String(i), Value: value })),
    });
    const elements = [
      ...(batch.body.elements as { RefId: string; Value: string }[]),
      { RefId: 'bad', Value: 'x' },
    ];
    const match = (regex: string) =>
      client.call('PatternMatch', { sessionToken, tokenName: 'free-text', regex, elements });
    expect((await match('^a')).body).toEqual({
      elements: [
        { RefId: '0', Value: values[0] },
        { RefId: '2', Value: 'ab' },
      ],
    });
    expect((await match('(a+)+$')).body).toEqual({ elements: [] });
    for (const regex of ['(?=a)', '(a)\\1', '(', 'a{1001}', '((a{1000}){1000}){1000}', 'x'.repeat(1001)]) {
      expect(await match(regex)).toMatchObject({
        status: 400,
        body: { errors: { code: ['RegexInvalid'], Validation: ['regex is invalid'] } },
      });
    }
    const long = Array.from({ length: 50 }, () => ({ Value: 'x'.repeat(1000) }));
    const costly = { sessionToken, tokenName: 'free-text', regex: '(.?){1000}$', elements: long };
    expect(await client.call('PatternMatch', costly)).toMatchObject({
      status: 400,
      body: { errors: { code: ['RegexTooCostly'] } },
    });
  });
});

describe('credentials', () => {
  it('refuses an unknown key, policy or password alike, and names an expired key', async () => {
    const right = client.credentials('analyst');
    for (const wrong of [{ apiKey: 'nope' }, { policy: 'nope' }, { policyPassword: 'nope' }]) {
      const answer = await client.call('CreateSession', { ...right, ...wrong });
      expect(answer).toMatchObject({
        status: 403,
        body: { errors: 'InvalidCredentials', title: 'Forbidden' },
      });
    }
    const retired = service.facts.apiKeys.find((key) => key.title === 'retired')?.value;
    expect(await client.call('CreateSession', { ...right, apiKey: retired })).toMatchObject({
      status: 403,
      body: { errors: 'ApiKeyExpired' },
    });
    expect(
      await client.call('CreateSession', { ...right, apiKey: retired, policyPassword: 'nope' }),
    ).toMatchObject({ body: { errors: 'InvalidCredentials' } });
  });

  it('ends a session with its time', async () => {
    const { sessionToken, token: tokenValue } = await token('ssn', '123-45-6789');
    const masked = () => client.call('GetMasked', { sessionToken, tokenName: 'ssn', tokenValue });
    time.now += 59_999;
    expect((await masked()).status).toBe(200);
    time.now += 1;
    expect(await masked()).toMatchObject({
      status: 401,
      body: { errors: 'SessionExpired', title: 'Unauthorized; expired token', status: 401 },
    });
    expect(await client.call('GetMasked', { sessionToken: 'x', tokenName: 'ssn', tokenValue })).toMatchObject(
      {
        status: 401,
        body: { errors: 'SessionUnknown', title: 'Unauthorized' },
      },
    );
  });

  it('holds a policy to its grants', async () => {
    const { token: tokenValue } = await token('card-number', card);
    const sessionToken = await client.signIn('mask-only');
    const base = { sessionToken, tokenName: 'card-number' };
    expect((await client.call('GetMasked', { ...base, tokenValue })).status).toBe(200);
    const refused = { status: 403, body: { errors: 'OperationNotGranted' } };
    expect(await client.call('Detokenize', { ...base, tokenValue })).toMatchObject(refused);
    expect(await client.call('Tokenize', { ...base, value: card })).toMatchObject(refused);
    expect(await client.call('BatchDetokenize', { ...base, elements: [] })).toMatchObject(refused);
    expect(await client.call('PatternMatch', { ...base, regex: '1', elements: [] })).toMatchObject(refused);
    expect(await client.call('GetMasked', { ...base, tokenName: 'nope', tokenValue })).toMatchObject({
      status: 400,
      body: { errors: { code: ['TokenDefinitionUnknown'], Validation: ['tokenName is invalid'] } },
    });
  });
});

describe('the protocol', () => {
  const createPath = '/api/services/evtservice/createsession';
  const json = { 'content-type': 'application/json' };
  const notFound = {
    type: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5',
    title: 'Not Found',
    status: 404,
  };

  it('7.8 gives code and members of what is wrong, and only those', async () => {
    const answer = await client.call('BatchTokenize', {
      sessionToken: 7,
      elements: [{ Value: 'ok' }, { Value: 4111111111111111 }, null, { RefId: 1, Value: 'x' }],
    });
    const { traceId, ...rest } = answer.body;
    expect(traceId).toBe(answer.headers['x-requestid']);
    expect(rest).toEqual({
      errors: {
        code: ['RequestInvalid'],
        Validation: [
          'sessionToken is invalid',
          'tokenName is invalid',
          'elements[1].Value is invalid',
          'elements[2] is invalid',
          'elements[3].RefId is invalid',
        ],
      },
      type: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.1',
      title: 'Bad Request',
      status: 400,
    });
    expect(answer.text).not.toContain('4111');
  });

  it.each([
    ['nothing', '', 400],
    ['no JSON', '{"apiKey":', 400],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400],
    ['a list', '[]', 400],
    ['null', 'null', 400],
    ['a text', '"x"', 400],
    ['a million brackets', '['.repeat(30_000) + ']'.repeat(30_000), 400],
    ['a prototype', '{"__proto__":{"apiKey":"x","policy":"y","policyPassword":"z"}}', 400],
    ['a body over the limit', JSON.stringify({ apiKey: 'x'.repeat(70_000) }), 413],
  ])('refuses %s', async (_name, body, status) => {
    const answer = await client.send('POST', createPath, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ status, traceId: answer.headers['x-requestid'] });
  });

  it('refuses a value whose bytes are broken, and changes none silently', async () => {
    const sessionToken = await client.signIn('analyst');
    const body = JSON.stringify({ sessionToken, tokenName: 'free-text', value: 'caf?' });
    const broken = Buffer.from(body).map((byte) => (byte === 0x3f ? 0xe9 : byte));
    expect(await client.send('POST', '/api/services/evtservice/tokenize', Buffer.from(broken))).toMatchObject(
      {
        status: 400,
        body: { errors: { code: ['BodyMalformed'], Validation: ['body is invalid'] } },
      },
    );
  });

  it('refuses other media types, methods and paths', async () => {
    expect((await client.send('POST', createPath, 'a=b', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await client.send('POST', createPath, '{}', {})).status).toBe(415);
    const wrongMethod = await client.send('GET', `${createPath}?pretty`);
    expect(wrongMethod).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    for (const path of [
      '/',
      '/nope',
      '/api/services/evtservice/nope',
      `${createPath}/`,
      '/%2e%2e/x',
      '//x',
    ]) {
      const missing = await client.send('POST', path, 'not json', { 'content-type': 'text/plain' });
      expect(missing.body, path).toEqual({ ...notFound, traceId: missing.headers['x-requestid'] });
    }
    for (const body of ['{', 'x'.repeat(100_000)]) {
      expect((await client.send('POST', '/nope', body)).status).toBe(404);
      expect((await client.send('PUT', createPath, body)).status).toBe(405);
    }
    expect((await client.send('GET', '/%zz')).status).toBe(400);
  });

  it('refuses a batch with too many elements', async () => {
    const elements = Array.from({ length: 51 }, () => ({ Value: 'x' }));
    const sessionToken = await client.signIn('analyst');
    const answer = await client.call('BatchTokenize', { sessionToken, tokenName: 'ssn', elements });
    expect(answer).toMatchObject({ status: 413, body: { title: 'Content Too Large' } });
  });

  it('minifies, and indents where asked', async () => {
    const minified = await client.call('CreateSession', client.credentials('intake'));
    expect(minified.text).not.toContain('\n');
    const body = JSON.stringify(client.credentials('intake'));
    expect((await client.send('POST', `${createPath}?pretty`, body)).text).toContain('\n  "sessionToken"');
    expect((await client.send('POST', createPath, body, { ...json, 'x-printpretty': '' })).text).toContain(
      '\n  "',
    );
    expect((await client.send('POST', `${createPath}?pretty`, '{}')).text).toContain('\n  "errors"');
  });

  it('gives every answer a request ID of its own and the rate-limit headers', async () => {
    const answers = [
      await client.call('CreateSession', client.credentials('intake')),
      await client.call('CreateSession', {}),
      await client.send('GET', '/nope'),
      await client.send('GET', '/%zz'),
      await client.send('POST', createPath, '{'),
    ];
    const ids = answers.map(({ headers }) => headers['x-requestid']);
    expect(new Set(ids).size).toBe(answers.length);
    for (const { headers, status } of answers) {
      expect(headers['x-requestid']).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers['x-rate-limit-limit'], String(status)).toBe('600');
      expect(Number(headers['x-rate-limit-remaining'])).toBeLessThan(600);
      expect(new Date(headers['x-rate-limit-reset'] as string).toISOString()).toBe(
        headers['x-rate-limit-reset'],
      );
    }
  });
});
