import fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { calls } from '../../../electron/contract/calls.ts';
import { done, failureCodes } from '../../../electron/contract/errors.ts';
import { rowReasons } from '../../../electron/contract/row-reasons.ts';
import { formatDay } from '../../../electron/portal/portal.ts';
import { answerMembers, memberNames } from '../../../electron/service/answers.ts';
import type { BatchCall } from '../../../electron/service/service-client.ts';
import { limitIn } from '../../../electron/service/limits/health.ts';
import { readProfile, type ServiceProfile } from '../../../electron/service/profile.ts';
import { createSessions } from '../../../electron/service/session/sessions.ts';
import { type ClientSide, connectTo, shippedProfile } from '../../faults/client-side.ts';
import { type FaultServer, send, startFaultServer } from '../../faults/fault-server.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const pan = '4111111111111111';
let server: FaultServer;
const sides: ClientSide[] = [];

beforeEach(async () => {
  server = await startFaultServer();
});
afterEach(async () => {
  await Promise.all(sides.splice(0).map(({ client }) => client.close()));
  await server.close();
});

/** A client with the shipped profile but for what is said differently. */
function clientWith(changes: object = {}) {
  const profile = readProfile(JSON.stringify({ version: 1, ...changes }));
  if (!profile.ok) throw new Error(profile.failure.subject);
  const side = connectTo(server, { profile: profile.value });
  sides.push(side);
  return side.client;
}

/** Every operation but CreateSession is answered with this. */
function answerWith(json: (body: Record<string, unknown>) => unknown): void {
  server.script = (hit, response, model) =>
    hit.operation === 'createsession' ? model() : send(response, 200, json(hit.json));
}

describe('3.4 a session is not cached indefinitely', () => {
  test('one that is older than the profile allows is not used again, by either clock', async () => {
    const clock = fakeClock();
    let made = 0;
    const sessions = createSessions(
      (_, generation) => {
        const [since, createdAt] = [clock.now(), clock.monotonic()];
        made += 1;
        return Promise.resolve(done({ token: `t${made}`, generation, since, createdAt, requestId: '' }));
      },
      { clock, maxAgeMs: 3_600_000 },
    );
    await sessions.open('p', {});
    clock.advance(3_599_000);
    await sessions.open('p', {});
    expect(made).toBe(1);
    clock.advance(1_000);
    expect(sessions.current('p')).toBeNull();
    await sessions.open('p', {});
    expect(made).toBe(2);
    // The monotonic clock stood still while the machine slept.
    clock.setWall(new Date(clock.now() + 8 * 3_600_000).toISOString());
    await sessions.open('p', {});
    expect(made).toBe(3);
    // The wall clock was set back: it is not made younger by that.
    clock.setWall('2020-01-01T00:00:00.000Z');
    clock.advance(3_600_000);
    await sessions.open('p', {});
    expect(made).toBe(4);
  });

  test('the shipped profile allows an hour', () => {
    expect(shippedProfile().session.maxAgeSeconds).toBe(3_600);
  });

  test('none outlives the lock: the next call opens another', async () => {
    const client = clientWith();
    await client.getMasked('p', 'card', 'tok_1', {});
    await client.getMasked('p', 'card', 'tok_1', {});
    expect(server.count('createsession')).toBe(1);
    client.dropSessions();
    expect(client.status('p').sessionSince).toBeNull();
    await client.getMasked('p', 'card', 'tok_1', {});
    expect(server.count('createsession')).toBe(2);
  });
});

describe('4.7 cleartext is never taken for a token or a mask', () => {
  test('a service that answers the token under another name and the cleartext as value is not read', async () => {
    answerWith(({ value }) => ({ tokenizedValue: 'T', value }));
    expect(await clientWith().tokenize('p', 'card', pan, {})).toMatchObject({
      ok: false,
      failure: { code: 'service.unexpected-answer', members: ['tokenizedValue', 'value'] },
    });
  });

  test.each(['Tokenize', 'GetMasked', 'Translate'])(
    'no profile may read %s from a member for cleartext',
    (operation) => {
      for (const name of ['value', 'Value', 'clearText', 'plain_text', 'detokenizedValue']) {
        const profile = readProfile(
          JSON.stringify({ version: 1, operations: { [operation]: { answer: ['token', name] } } }),
        );
        expect(profile).toMatchObject({
          failure: { subject: `service profile: operations.${operation}.answer` },
        });
      }
      for (const name of ['value', 'Value'])
        expect(readProfile(JSON.stringify({ version: 1, wrappers: [name] })).ok).toBe(false);
    },
  );

  test('in an element, a token goes before the member that may be either', async () => {
    answerWith(({ elements }) =>
      (elements as { RefId: string; Value: string }[]).map((one) => ({ ...one, token: `T${one.RefId}` })),
    );
    const answer = await clientWith().batch(
      { operation: 'BatchTokenize', policy: 'p', definition: 'card' },
      [{ ref: '1', value: pan }],
      {},
    );
    expect(answer).toMatchObject({ value: { elements: [{ ref: '1', ok: true, value: 'T1' }] } });
  });

  test.each<[string, string]>([
    ['as it was', pan],
    ['without its hyphens', '4111-1111-1111-1111'],
    ['without its spaces', '4111 1111 1111 1111'],
  ])('an answer that repeats what was sent, %s, is a failure', async (_, sent) => {
    answerWith(() => ({ token: pan, maskedValue: pan, value: pan }));
    const client = clientWith();
    const echoed = { ok: false, failure: { code: 'service.echoed-value' } };
    expect(await client.tokenize('p', 'card', sent, {})).toMatchObject(echoed);
    expect(await client.getMasked('p', 'card', sent, {})).toMatchObject(echoed);
    expect(await client.detokenize('p', 'card', sent, {})).toMatchObject(echoed);
    expect(JSON.stringify(await client.tokenize('p', 'card', sent, {}))).not.toMatch(/4111.?1111/);
  });

  test.each(['BatchTokenize', 'BatchDetokenize'] as const)(
    'so is an element of %s, and only that one',
    async (operation) => {
      answerWith(({ elements }) => ({
        elements: (elements as { RefId: string; Value: string }[]).map(({ RefId, Value }) => ({
          RefId,
          Value: RefId === '2' ? Value.replaceAll('-', '') : `other ${Value.slice(0, 6)}`,
        })),
      }));
      const call: BatchCall = { operation, policy: 'p', definition: 'card' };
      const elements = ['1', '2', '3'].map((ref) => ({ ref, value: '4111-1111' }));
      const answer = await clientWith().batch(call, elements, {});
      expect(answer).toMatchObject({
        value: {
          elements: [
            { ok: true, value: 'other 4111-1' },
            { ref: '2', ok: false, code: 'service.echoed-value' },
            { ok: true },
          ],
        },
      });
      expect(failureCodes).toContain('service.echoed-value');
      expect(rowReasons['service.echoed-value']).toMatch(/the value that was sent/);
    },
  );

  test('so is a token with the value within it, alone or in a batch, and no cleartext with the token', async () => {
    answerWith(({ elements }) => ({
      token: `tok_${pan}_1`,
      value: `Jane ${pan}`,
      elements: (elements as { RefId: string; Value: string }[] | undefined)?.map(({ RefId, Value }) => ({
        RefId,
        Value: `tok_${Value}`,
      })),
    }));
    const client = clientWith();
    const echoed = { ok: false, failure: { code: 'service.echoed-value' } };
    expect(await client.tokenize('p', 'card', '4111-1111-1111-1111', {})).toMatchObject(echoed);
    expect(await client.detokenize('p', 'card', pan, {})).toMatchObject({ ok: true });
    const call: BatchCall = { operation: 'BatchTokenize', policy: 'p', definition: 'card' };
    expect(await client.batch(call, [{ ref: '1', value: pan }], {})).toMatchObject({
      value: { elements: [{ ref: '1', ok: false, code: 'service.echoed-value' }] },
    });
  });

  test('nor is a token the one of another definition that it was translated to, alone or in a batch', async () => {
    answerWith(({ elements, tokenValue }) => ({
      token: String(tokenValue).toUpperCase(),
      elements: (elements as { RefId: string; Value: string }[] | undefined)?.map(({ RefId, Value }) => ({
        RefId,
        Value: RefId === '2' ? Value.toUpperCase() : `moved-${Value}`,
      })),
    }));
    const client = clientWith();
    const call = (definition: string): BatchCall => ({
      operation: 'BatchTranslate',
      policy: 'p',
      definition: 'card',
      target: { policy: 'p', definition },
    });
    const elements = ['1', '2'].map((ref) => ({ ref, value: `tok_4${ref}` }));
    const translate = (definition: string) =>
      client.translate('p', 'card', { token: 'tok_41', target: { policy: 'p', definition } }, {});
    expect(await translate('partner')).toMatchObject({ failure: { code: 'service.echoed-value' } });
    expect(await client.batch(call('partner'), elements, {})).toMatchObject({
      value: { elements: [{ ok: true }, { ref: '2', ok: false, code: 'service.echoed-value' }] },
    });
    // Under another policy of the same definition it may be the same.
    expect(await translate('card')).toMatchObject({ value: { value: 'TOK_41' } });
    expect(await client.batch(call('card'), elements, {})).toMatchObject({
      value: { elements: [{ ok: true }, { ok: true, value: 'TOK_42' }] },
    });
  });

  test('a token that is translated to the same definition stays what it is', async () => {
    const target = { policy: 'p', definition: 'card' };
    expect(await clientWith().translate('p', 'card', { token: 'tok_1', target }, {})).toMatchObject({
      value: { value: 'tok_1' },
    });
  });
});

describe('4.14 PatternMatch', () => {
  test('an element that did not come back does not match, and is not asked for again', async () => {
    answerWith(() => ({ elements: [{ RefId: '2', Value: 'clear' }] }));
    const answer = await clientWith().batch(
      { operation: 'PatternMatch', policy: 'p', definition: 'card', pattern: '.' },
      [1, 2, 3].map((ref) => ({ ref: String(ref), value: `tok_${ref}` })),
      {},
    );
    expect(answer).toMatchObject({ value: { elements: [{ ref: '2', ok: true }] } });
    expect(server.count('patternmatch')).toBe(1);
  });
});

describe('4 the HTTP method is the profile’s', () => {
  test('it is used where a profile says so', async () => {
    server.script = (hit, response, model) =>
      hit.operation === 'detokenize' && hit.method !== 'PUT' ? send(response, 405, {}) : model();
    const detokenize = (changes: object) => clientWith(changes).detokenize('p', 'card', 'tok_1', {});
    expect(await detokenize({ operations: { Detokenize: { method: 'PUT' } } })).toMatchObject({ ok: true });
    expect(await detokenize({})).toMatchObject({ ok: false });
  });

  test.each(['CreateSession', 'Tokenize', 'Detokenize', 'BatchTokenize'])(
    'GET is refused for %s: values don’t belong in an address',
    (operation) => {
      const operations = { [operation]: { method: 'GET' } };
      expect(readProfile(JSON.stringify({ version: 1, operations })).ok).toBe(false);
    },
  );
});

describe('8 limits', () => {
  const sentTokens = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ref: String(index), value: `tok_${index}` }));
  const call: BatchCall = { operation: 'BatchDetokenize', policy: 'p', definition: 'card' };

  test.each<[ServiceProfile['transferUnit'], number]>([
    ['element', 7],
    ['request', 3],
  ])('8.10 a transfer is one %s', async (transferUnit, transfers) => {
    const client = clientWith({ transferUnit, limits: { batchSize: 3 } });
    expect(await client.batch(call, sentTokens(7), {})).toMatchObject({ ok: true });
    expect(client.status('p').transfersToday).toBe(transfers);
  });

  test('8.11 the batch size and the length of a value are the profile’s', async () => {
    const client = clientWith({ limits: { batchSize: 3, valueLength: 6 } });
    expect(client.batchSize).toBe(3);
    await client.batch(call, sentTokens(7), {});
    expect(server.count('batchdetokenize')).toBe(3);
    expect(await client.detokenize('p', 'card', 'tok_123', {})).toMatchObject({
      failure: { code: 'value.unfit' },
    });
    expect(server.count('detokenize')).toBe(0);
    expect(client.rules).toEqual({ valueLength: 6, expressions: 'RE2', randomTokens: false });
  });

  test.each<[string | undefined, number | null, number | null]>([
    ['600', 600, null],
    ['1s', null, 1],
    ['15m', null, 900],
    ['12h', null, 43_200],
    ['1d', null, 86_400],
    ['1 S', null, 1],
    ['0s', null, null],
    ['1y', null, null],
    ['soon', null, null],
    ['-1', null, null],
    [undefined, null, null],
  ])('8.6 x-rate-limit-limit: %s', (header, limit, periodSeconds) => {
    expect(limitIn(header)).toEqual({ limit, periodSeconds });
  });

  test('8.6 a rule that tells its period keeps what is left on the screen', async () => {
    server.script = (_hit, response, model) => {
      response.setHeader('x-rate-limit-limit', '1s');
      response.setHeader('x-rate-limit-remaining', '412');
      model();
    };
    const client = clientWith();
    await client.openSession('p');
    expect(client.status('p')).toMatchObject({ remaining: 412, limit: null, limitPeriodSeconds: 1 });
  });

  test('8.2 the transfers of the last 24 hours are in the status that the window gets', async () => {
    const client = clientWith();
    await client.batch(call, sentTokens(5), {});
    await client.getMasked('p', 'card', 'tok_1', {});
    expect(client.status('p').transfersToday).toBe(6);
  });
});

describe('7.8 the reason of a 400 reaches the person', () => {
  /** Everything but CreateSession is refused with this. */
  const refuseWith = (code: string[], messages: string[] = []): void => {
    server.script = (hit, response, model) =>
      hit.operation === 'createsession'
        ? model()
        : send(response, 400, { errors: { code, Validation: messages }, status: 400 });
  };

  test.each([
    ['ValueInvalid', 'service.value-invalid'],
    ['ValueTooLong', 'service.value-too-long'],
    ['TokenInvalid', 'service.token-invalid'],
    ['TokenRetired', 'service.invalid-input'],
  ])('of one value: %s', async (own, code) => {
    refuseWith([own], ['tokenValue is invalid']);
    expect(await clientWith().getMasked('p', 'card', 'tok_1', {})).toMatchObject({
      failure: { code, codes: [own], fields: [{ name: 'tokenValue' }] },
    });
  });

  test('a code that is a value, or repeats one, does not', async () => {
    refuseWith(['4111111111111111', 'tok_1', 'unknown-tok_1', 'two words', 'A4111', 'x'.repeat(61)]);
    const outcome = await clientWith().getMasked('p', 'card', 'tok_1', {});
    expect(outcome).toMatchObject({ failure: { code: 'service.invalid-input' } });
    expect(outcome).not.toHaveProperty('failure.codes');
  });

  test('and of each value of a list that is masked, alone', async () => {
    server.script = (hit, response, model) =>
      hit.operation === 'getmasked' && hit.json.tokenValue === 'bad'
        ? send(response, 400, { errors: { code: ['TokenInvalid'], Validation: [] }, status: 400 })
        : model();
    const answer = await clientWith().batch(
      { operation: 'GetMasked', policy: 'p', definition: 'card' },
      ['tok_1', 'bad', 'tok_2'].map((one, ref) => ({ ref: String(ref), value: one })),
      {},
    );
    expect(answer).toMatchObject({
      value: {
        elements: [
          { ref: '0', ok: true },
          { ref: '1', ok: false, code: 'service.token-invalid' },
          { ref: '2', ok: true },
        ],
      },
    });
    expect(server.count('getmasked')).toBe(3);
  });
});

test('4.19 the app may ask for 1 to 100 failed requests, and for no other number', () => {
  const { input } = calls['reports.failures'];
  expect([1, 15, 100].filter((max) => !input.safeParse({ max }).success)).toEqual([]);
  expect([0, 101, 1.5, '15', null].filter((max) => input.safeParse({ max }).success)).toEqual([]);
});

test('9.3 members that a service adds to its answers do no harm, whatever they are', async () => {
  const added = { more: 'text', list: [{ token: 'other' }], inner: { value: 'x' }, count: 7, none: null };
  answerWith(({ elements }) =>
    Array.isArray(elements)
      ? { ...added, elements: (elements as object[]).map((one) => ({ ...added, ...one, token: 'T' })) }
      : { ...added, token: 'T', maskedValue: 'M', value: 'C' },
  );
  const client = clientWith();
  expect(await client.tokenize('p', 'card', 'clear', {})).toMatchObject({ value: { value: 'T' } });
  expect(await client.getMasked('p', 'card', 'tok_1', {})).toMatchObject({ value: { value: 'M' } });
  expect(await client.detokenize('p', 'card', 'tok_1', {})).toMatchObject({ value: { value: 'C' } });
  const call: BatchCall = { operation: 'BatchTokenize', policy: 'p', definition: 'card' };
  expect(await client.batch(call, [{ ref: '1', value: 'clear' }], {})).toMatchObject({
    value: { elements: [{ ref: '1', ok: true, value: 'T' }] },
  });
});

describe('4 the form of dates is the profile’s', () => {
  test.each([
    ['YYYY-MM-DD', '2026-11-01', '2026-11-30'],
    ['MM/DD/YYYY', '11/01/2026', '11/30/2026'],
    ['YYYYMMDD', '20261101', '20261130'],
    ['DD.MM.YYYY', '01.11.2026', '30.11.2026'],
    ['instant', '2026-11-01T00:00:00.000Z', '2026-11-30T23:59:59.999Z'],
    ['epoch-seconds', Date.UTC(2026, 10, 1) / 1_000, Date.UTC(2026, 11, 1) / 1_000 - 1],
    ['epoch-milliseconds', Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1) - 1],
  ])('%s', (dates, start, end) => {
    const profile = readProfile(JSON.stringify({ version: 1, reporting: { metrics: { dates } } }));
    expect(profile).toMatchObject({ ok: true });
    expect(formatDay('2026-11-01', dates, 'start')).toBe(start);
    expect(formatDay('2026-11-30', dates, 'end')).toBe(end);
  });

  test.each(['YYYY', 'MM-DD', 'yyyy-mm-dd', 'YYYY-MM-DD HH', 'today', ''])('not %j', (dates) => {
    expect(readProfile(JSON.stringify({ version: 1, reporting: { metrics: { dates } } })).ok).toBe(false);
  });
});

describe('the members of an answer that can’t be read', () => {
  test('are told by their way and kind, without a value in any of them', () => {
    const answer = {
      result: { surrogate: 'SECRET', '4111111111111111': 'x', 'jane doe': 1, tok_4111: 'x', n: 7 },
      rows: [{ id: '1', clear: 'SECRET' }, { other: 1 }],
      SECRET: 'x',
      ['a'.repeat(41)]: 'x',
    };
    const members = answerMembers(answer, ['secret']);
    expect(members).toEqual([
      { path: ['result'], kind: 'object' },
      { path: ['result', 'surrogate'], kind: 'text' },
      { path: ['result', 'n'], kind: 'number' },
      { path: ['rows'], kind: 'list' },
      { path: ['rows', '[]', 'id'], kind: 'text' },
      { path: ['rows', '[]', 'clear'], kind: 'text' },
    ]);
    expect(memberNames(answer)).toEqual(['result', 'rows', 'SECRET', '(unreadable)']);
  });

  test('are few, however many and deep they are', () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`m${n.toString(36)}`, {}]));
    expect(answerMembers(wide, [])).toHaveLength(60);
    let deep: unknown = 'x';
    for (let depth = 0; depth < 10_000; depth++) deep = { d: deep };
    expect(answerMembers(deep, [])).toHaveLength(4);
  });
});

test('the example of the documentation is a profile', () => {
  const docs = fs.readFileSync('docs/service-profile.md', 'utf8');
  const examples = [...docs.matchAll(/^```json\n(\{[\s\S]*?\n\})\n```$/gm)].map(([, text = '']) => text);
  expect(examples.length).toBeGreaterThan(0);
  for (const text of examples) expect(readProfile(text)).toMatchObject({ ok: true });
});
