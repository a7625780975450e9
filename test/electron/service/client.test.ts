import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failed } from '../../../electron/contract/errors.ts';
import { connectTo, type ClientSide } from '../../faults/client-side.ts';
import { send, startFaultServer, type FaultServer } from '../../faults/fault-server.ts';
import { modelApiKey, modelPassword } from '../../faults/model-service.ts';

let server: FaultServer;
let app: ClientSide;

beforeEach(async () => {
  server = await startFaultServer();
  app = connectTo(server);
});
afterEach(async () => {
  await app.client.close();
  await server.close();
});

describe('the operations', () => {
  it('sends each single operation under the names of the specification', async () => {
    const { client } = app;
    const target = { policy: 'other', definition: 'ssn' };
    expect(await client.tokenize('p', 'card', '4111', {})).toMatchObject({ value: { value: 'tok_4111' } });
    expect(await client.detokenize('p', 'card', 'tok_4111', {})).toMatchObject({ value: { value: '4111' } });
    expect(await client.getMasked('p', 'card', 'tok_4111', {})).toMatchObject({ value: { value: '****11' } });
    expect(await client.translate('p', 'card', { token: 'tok_9', target }, {})).toMatchObject({
      value: { value: 'ssn_tok_9' },
    });
    const bodies = Object.fromEntries(server.hits.map(({ operation, json }) => [operation, json]));
    expect(bodies.tokenize).toEqual({ sessionToken: 'canary-session-1', tokenName: 'card', value: '4111' });
    expect(bodies.detokenize).toEqual({
      sessionToken: 'canary-session-1',
      tokenName: 'card',
      tokenValue: 'tok_4111',
    });
    expect(bodies.translate).toEqual({
      sourceSessionToken: 'canary-session-1',
      targetSessionToken: 'canary-session-2',
      sourceTokenName: 'card',
      targetTokenName: 'ssn',
      tokenValue: 'tok_9',
    });
    expect(server.hits[0]?.json).toEqual({ apiKey: modelApiKey, policy: 'p', policyPassword: modelPassword });
    expect(server.hits.map(({ path }) => path)[1]).toBe('/api/services/evtservice/tokenize');
  });

  it('sends batches as elements with RefId and Value, and answers in the order given', async () => {
    const elements = [
      { ref: 'a', value: 'tok_1' },
      { ref: 'b', value: 'no token' },
      { ref: 'c', value: 'tok_3' },
    ];
    const call = { policy: 'p', definition: 'card' };
    const clear = await app.client.batch({ operation: 'BatchDetokenize', ...call }, elements, {});
    expect(clear).toMatchObject({
      ok: true,
      value: {
        elements: [
          { ref: 'a', ok: true, value: '1' },
          { ref: 'b', ok: false, code: 'service.token-invalid' },
          { ref: 'c', ok: true, value: '3' },
        ],
      },
    });
    expect(server.hits.at(-1)?.json).toEqual({
      sessionToken: 'canary-session-1',
      tokenName: 'card',
      elements: elements.map(({ ref, value }) => ({ RefId: ref, Value: value })),
    });
    const found = await app.client.batch(
      { operation: 'PatternMatch', ...call, pattern: '^3$' },
      elements,
      {},
    );
    expect(found).toMatchObject({ value: { elements: [{ ref: 'c', ok: true, value: '3' }] } });
    expect(server.hits.at(-1)?.json).toMatchObject({ regex: '^3$' });
    const translated = await app.client.batch(
      { operation: 'BatchTranslate', ...call, target: { policy: 'p', definition: 'ssn' } },
      elements,
      {},
    );
    expect(translated).toMatchObject({ ok: true });
    expect(server.hits.at(-1)?.json).toMatchObject({
      sourceSessionToken: 'canary-session-1',
      targetSessionToken: 'canary-session-1',
      targetTokenName: 'ssn',
    });
    const tokens = await app.client.batch({ operation: 'BatchTokenize', ...call }, elements, {});
    expect(tokens).toMatchObject({ value: { elements: [{ value: 'tok_tok_1' }, {}, {}] } });
  });

  it('keeps every character of a value', async () => {
    const value = '"\\\u0000\u2028é💳 \t';
    expect(await app.client.tokenize('p', 'text', value, {})).toMatchObject({
      value: { value: `tok_${value}` },
    });
  });
});

describe('sessions', () => {
  it('makes one for many calls at once, and one a policy', async () => {
    const calls = Array.from({ length: 50 }, (_, n) => app.client.getMasked('p', 'card', `tok_${n}`, {}));
    await Promise.all(calls);
    expect(server.count('createsession')).toBe(1);
    await app.client.getMasked('q', 'card', 'tok_1', {});
    expect(server.count('createsession')).toBe(2);
  });

  it('tells whose session there is: of the policy asked for, or of the one that signed in last', async () => {
    expect(app.client.status('p')).toMatchObject({ policy: 'p', sessionSince: null, offlineSince: null });
    await app.client.getMasked('q', 'card', 'tok_1', {});
    const { policy, sessionSince } = app.client.status('p');
    expect([policy, typeof sessionSince]).toEqual(['q', 'string']);
    await app.client.getMasked('p', 'card', 'tok_1', {});
    expect(app.client.status('p').policy).toBe('p');
  });

  it('renews once and replays once when it has ended', async () => {
    await app.client.getMasked('p', 'card', 'tok_1', {});
    server.service.expireAll();
    const calls = Array.from({ length: 20 }, (_, n) => app.client.getMasked('p', 'card', `tok_${n}`, {}));
    expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
    expect(server.count('createsession')).toBe(2);
    expect(server.count('getmasked')).toBe(41);
  });

  it('2.3 asks no service once the key has expired', async () => {
    const late = connectTo(server, { connection: { apiKeyExpires: '2020-01-01' } });
    expect(await late.client.openSession('p')).toMatchObject({ failure: { code: 'service.key-expired' } });
    await late.client.close();
    expect(server.hits).toHaveLength(0);
  });

  it('passes on that a secret is missing, without asking the service', async () => {
    const bare = connectTo(server, {
      secrets: {
        apiKey: () => Promise.resolve(failed('credentials.missing')),
        policyPassword: () => Promise.resolve(failed('credentials.missing')),
      },
    });
    expect(await bare.client.getMasked('p', 'card', 'tok_1', {})).toMatchObject({
      failure: { code: 'credentials.missing' },
    });
    await bare.client.close();
    expect(server.hits).toHaveLength(0);
  });
});

describe('the audit of requests', () => {
  it('gets every request before it leaves, renewals included, and its outcome', async () => {
    await app.client.detokenize('p', 'card', 'tok_1', { reason: 'dispute', caseReference: 'C-1' });
    expect(app.audited.map(({ intent }) => intent.operation)).toEqual(['CreateSession', 'Detokenize']);
    expect(app.audited[1]?.intent).toEqual({
      operation: 'Detokenize',
      connectionId: 'connection-1',
      policy: 'p',
      definition: 'card',
      context: { reason: 'dispute', caseReference: 'C-1', rows: 1 },
    });
    expect(app.audited.every(({ outcome }) => outcome?.ok === true && outcome.requestId !== null)).toBe(true);
  });

  it('keeps the request from leaving when it refuses', async () => {
    const blocked = connectTo(server, { auditRequest: () => Promise.resolve(failed('audit.unwritable')) });
    expect(await blocked.client.getMasked('p', 'card', 'tok_1', {})).toMatchObject({
      failure: { code: 'audit.unwritable' },
    });
    await blocked.client.close();
    expect(server.hits).toHaveLength(0);
  });
});

describe('failures', () => {
  it('name the fields of a 400 and drop what repeats the value', async () => {
    server.script = (hit, response, model) => {
      if (hit.operation === 'createsession') {
        model();
        return;
      }
      const Validation = [
        'tokenValue is invalid',
        'secret-value is invalid',
        'Value 4111 1111 1111 1111 is bad',
      ];
      send(response, 400, { errors: { code: ['X'], Validation }, status: 400 });
    };
    expect(await app.client.detokenize('p', 'card', 'secret-value', {})).toEqual({
      ok: false,
      failure: {
        code: 'service.invalid-input',
        status: 400,
        operation: 'Detokenize',
        policy: 'p',
        definition: 'card',
        requestId: 'req-scripted',
        fields: [{ name: 'tokenValue', message: 'tokenValue is invalid' }],
      },
    });
  });

  it('name the members of an answer nobody knows, never their values', async () => {
    server.script = (hit, response, model) => {
      if (hit.operation === 'createsession') {
        model();
        return;
      }
      send(response, 200, { clear: '4111111111111111', '4111111111111111': 1 });
    };
    const outcome = await app.client.detokenize('p', 'card', 'tok_1', {});
    expect(outcome).toMatchObject({
      failure: { code: 'service.unexpected-answer', members: ['clear', '(unreadable)'] },
    });
    expect(JSON.stringify(outcome)).not.toContain('41111111');
  });

  it('end at once as cancelled when the caller leaves', async () => {
    const leave = new AbortController();
    server.script = (hit, _response, model) => {
      if (hit.operation === 'createsession') model();
      else leave.abort();
    };
    expect(await app.client.getMasked('p', 'card', 'tok_1', { signal: leave.signal })).toMatchObject({
      failure: { code: 'service.cancelled' },
    });
  });

  it('send nothing for a caller who has left already', async () => {
    const signal = AbortSignal.abort();
    expect(await app.client.getMasked('p', 'card', 'tok_1', { signal })).toMatchObject({
      failure: { code: 'service.cancelled' },
    });
    expect(server.hits).toEqual([]);
  });

  it.each([
    ['', {}],
    [', of a caller who may leave too', { signal: new AbortController().signal }],
  ])('end as cancelled when the client closes%s', async (_which, context) => {
    let arrived = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (arrived = resolve));
    server.script = (hit, _response, model) => {
      if (hit.operation === 'createsession') model();
      else arrived();
    };
    const call = app.client.getMasked('p', 'card', 'tok_1', context);
    await waiting;
    await app.client.close();
    expect(await call).toMatchObject({ failure: { code: 'service.cancelled' } });
  });
});
