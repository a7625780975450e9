import { describe, expect, test } from 'vitest';
import type { Failure } from '../../../electron/contract/errors.ts';
import { readMetrics } from '../../../electron/portal/metrics.ts';
import { readProfile } from '../../../electron/service/profile.ts';
import { batchCall, type BatchAnswer } from '../../../electron/service/service-client.ts';
import { createClientSide, shippedProfile } from '../../faults/client-side.ts';

/* Answers that would be read as something that the service did not say. */

const session = 'SESS-qwXyz-abc';

interface Answered {
  readonly body: string;
  readonly status?: number;
}

function clientFor(answered: Answered, changes: object = {}) {
  const profile = readProfile(JSON.stringify({ version: 1, ...changes }));
  if (!profile.ok) throw new Error(profile.failure.subject);
  const reply = (status: number, body: string) =>
    Promise.resolve({ ok: true as const, reply: { status, headers: {}, body: Buffer.from(body) } });
  const { client } = createClientSide({
    profile: profile.value,
    transport: {
      reset: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: ({ path }) =>
        path.endsWith('createsession')
          ? reply(200, JSON.stringify({ sessionToken: session }))
          : reply(answered.status ?? 200, answered.body),
    },
  });
  return client;
}

const asked = { policy: 'p', definition: 'd', target: null, pattern: 'x', parts: null };
const elements = ['4111111111111111', '5555555555554444', 'third-value'].map((value, at) => ({
  ref: String(at + 1),
  value,
}));

async function tokenize(answered: Answered): Promise<string | Failure> {
  const client = clientFor(answered);
  const outcome = await client.tokenize('p', 'd', '4111111111111111', {});
  await client.close();
  return outcome.ok ? outcome.value.value : outcome.failure;
}

async function batch(
  operation: 'BatchTokenize' | 'PatternMatch',
  answered: Answered,
  changes: object = {},
): Promise<BatchAnswer | Failure> {
  const client = clientFor(answered, changes);
  const outcome = await client.batch(batchCall(operation, asked), elements, {});
  await client.close();
  return outcome.ok ? outcome.value : outcome.failure;
}

const element = (members: object): string => JSON.stringify({ elements: [{ RefId: '1', ...members }] });

describe('a single answer', () => {
  test.each<[string, Answered, object]>([
    [
      'a refusal beside it',
      { body: '{"token":"N/A","error":"ValueInvalid"}' },
      { code: 'service.value-invalid' },
    ],
    [
      'that it was not done',
      { body: '{"data":{"success":false,"token":"N/A"}}' },
      { code: 'service.element-refused' },
    ],
    [
      'a member twice',
      { body: '{"token":"A","token":"B"}' },
      { code: 'service.unexpected-answer', members: ['token'] },
    ],
    ['an answer within a text', { body: '"{\\"token\\":\\"A\\"}"' }, { code: 'service.unexpected-answer' }],
    ['nothing', { body: '{"token":""}' }, { code: 'service.empty-value' }],
    ['half a character', { body: '{"token":"ab\\ud800"}' }, { code: 'service.broken-value' }],
    [
      'that it is not done yet',
      { status: 202, body: '{"token":"pending"}' },
      { code: 'service.unexpected-answer' },
    ],
    ['a part', { status: 206, body: '{"token":"A"}' }, { code: 'service.unexpected-answer' }],
  ])('that has %s is none', async (_, answered, failure) => {
    expect(await tokenize(answered)).toMatchObject(failure);
  });

  test.each([
    ['a name that looks like two', '{"token":"T","note":"\\"token\\": \\":"}'],
    ['the same name in two objects', '{"token":"T","a":{"token":1},"b":[{"token":1}]}'],
    ['a byte order mark', '\ufeff{"token":"T"}'],
  ])('is read with %s', async (_, body) => {
    expect(await tokenize({ body })).toBe('T');
  });
});

describe('a match, where an element that is not there did not match', () => {
  const hit = '{"RefId":"1","Value":"Jane"}';
  test.each<[string, string, string | null]>([
    ['says that there is more', `{"elements":[${hit}],"hasMore":true}`, 'hasMore'],
    ['names the next page', `{"data":{"elements":[${hit}],"nextPage":"abc"}}`, 'nextPage'],
    ['says that it failed', '{"success":false,"elements":[]}', 'success'],
    ['lists what failed elsewhere', `{"elements":[${hit}],"problems":[{"RefId":"2"}]}`, 'problems'],
    ['has the elements in a second list', `{"elements":[],"results":[${hit}]}`, 'results'],
    ['has elements that say they do not match', element({ Value: 'Jane', matched: false }), 'matched'],
    ['is all there is', `{"elements":[${hit}],"hasMore":false,"problems":[]}`, null],
  ])('an answer that %s', async (_, body, member) => {
    const answer = await batch('PatternMatch', { body });
    if (member === null) expect(answer).toMatchObject({ elements: [{ ref: '1', ok: true }] });
    else expect(answer).toMatchObject({ code: 'service.unexpected-answer', members: [member] });
  });
});

describe('a batch', () => {
  test('with a RefId twice, or two that differ, is nobody’s', async () => {
    const twice = { code: 'service.unexpected-answer' };
    const byReference = { batchAnswers: 'by-reference' };
    const doubled = '{"elements":{"1":"tokA","1":"tokB","2":"tokC","3":"tokD"}}';
    expect(await batch('BatchTokenize', { body: doubled }, byReference)).toMatchObject(twice);
    expect(await batch('BatchTokenize', { body: element({ refId: '2', Value: 'x' }) })).toMatchObject({
      ...twice,
      members: ['refId'],
    });
  });

  test('that answers with the value of another element has answered in clear', async () => {
    const values = ['5555555555554444', 'tok-2', 'tok-3'];
    const body = JSON.stringify({
      elements: values.map((value, at) => ({ RefId: String(at + 1), Value: value })),
    });
    expect(await batch('BatchTokenize', { body })).toMatchObject({
      elements: [{ ok: false, code: 'service.echoed-value' }, { ok: true }, { ok: true }],
    });
  });

  test('tells no session in its reasons, nor does a failure', async () => {
    const told = [
      await batch('BatchTokenize', { body: element({ error: `session ${session} refused` }) }),
      await tokenize({ body: JSON.stringify({ token: 'x', error: session }) }),
      await tokenize({
        status: 400,
        body: JSON.stringify({ errors: { code: [session], Validation: [`${session} is invalid`] } }),
      }),
    ];
    expect(JSON.stringify(told)).not.toContain(session);
    expect(told).toMatchObject([{ elements: [{ code: 'service.element-refused' }, {}, {}] }, {}, {}]);
  });
});

describe('a report', () => {
  const { metrics } = shippedProfile().reporting;
  const days = (day: string, dates: string): unknown => {
    const read = readMetrics({ metrics: [{ day, requests: 1 }] }, { ...metrics, dates });
    return read.ok ? read.value.rows[0]?.day : read.failure.code;
  };
  test('reads a day in the form it was asked in, before any other', () => {
    expect(days('2026-11-12', 'YYYY-DD-MM')).toBe('2026-12-11');
    expect(days('2026-11-12T08:00:00Z', 'YYYY-MM-DD')).toBe('2026-11-12');
    expect(days('2026-11-25', 'YYYY-DD-MM')).toBe('report.day-form');
    expect(days('2026-11-25', 'MM/DD/YYYY')).toBe('2026-11-25');
    expect(days('20261125', 'YYYYMMDD')).toBe('2026-11-25');
  });

  test.each<[string, object]>([
    ['an object', { metrics: [], next: { href: '/2' } }],
    ['a link', { metrics: [], _links: { next: '/2' } }],
    ['the last page', { metrics: [], last: false }],
    ['a count of pages', { metrics: [], paging: { totalPages: 3 } }],
    ['a flag beside a single group', { requests: 5, hasMore: true }],
  ])('says by %s that there is another page', (_, answer) => {
    const read = readMetrics(answer, metrics);
    expect(read.ok && read.value.next !== null).toBe(true);
  });

  test('of which more failed than were asked is not read', () => {
    expect(readMetrics({ metrics: [{ day: '2026-11-25', requests: 5, failed: 9 }] }, metrics)).toMatchObject({
      failure: { code: 'service.unexpected-answer' },
    });
  });
});

test('no member of a profile is one that sets nothing', () => {
  const named = { operations: { PatternMatch: { request: { regex: '__proto__' } } } };
  expect(readProfile(JSON.stringify({ version: 1, ...named })).ok).toBe(false);
});
