import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { runService, type RunningService } from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { operation } from '../../../electron/contract/models/fields.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import type { TransportFault } from '../../../electron/service/http/exchange.ts';
import { createTransport } from '../../../electron/service/http/transport.ts';
import { testPolicy } from '../../../electron/service/test-policy.ts';
import seed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { createClientSide, shippedProfile, type ClientSide } from '../../faults/client-side.ts';

let service: RunningService | null = null;
let app: ClientSide | null = null;

afterEach(async () => {
  await app?.client.close();
  await service?.stop();
  app = null;
  service = null;
});

const now = () => new Date('2026-11-21T10:00:00.000Z');
const all = [...operation.options].sort();

async function start(
  policies: readonly string[] = seed.policies.map(({ name }) => name),
  profile = shippedProfile(),
) {
  service = await runService({ secret: randomBytes(32), seed: seed as Seed });
  const { facts } = service;
  const bodies: string[] = [];
  const transport = createTransport({ baseUrl: facts.baseUrl, ca: [facts.caPem], clock: systemClock });
  app = createClientSide({
    profile,
    transport: {
      ...transport,
      send(to, body, options) {
        bodies.push(body ?? '');
        return transport.send(to, body, options);
      },
    },
    secrets: {
      apiKey: () => Promise.resolve(done(facts.apiKey.value)),
      policyPassword(policy) {
        const found = facts.policies.find(({ name }) => name === policy && policies.includes(name));
        return Promise.resolve(found ? done(found.password) : failed('credentials.missing'));
      },
    },
  });
  const { client } = app;
  const lines: string[] = [];
  const run = (policy: string, definitions: readonly string[]) =>
    testPolicy({
      client,
      policy,
      definitions,
      async record(definition, one, send) {
        lines.push(`${definition} ${one}`);
        const answer = await send();
        lines.push(`end of ${definition} ${one}`);
        return answer;
      },
      now,
    });
  return { run, lines, bodies };
}

describe('a test of a policy', () => {
  it('finds what the policy may do with each definition', async () => {
    const { run } = await start();
    const outcome = await run('dispute-desk', ['card-number', 'free-text']);
    if (!outcome.ok) throw new Error(outcome.failure.code);
    const [card, text] = outcome.value.definitions;
    expect(card?.known).toBe(true);
    expect(card?.allowed.toSorted()).toEqual(['Detokenize', 'GetMasked', 'Tokenize', 'Translate']);
    expect(card?.refused.toSorted()).toEqual([
      'BatchDetokenize',
      'BatchTokenize',
      'BatchTranslate',
      'PatternMatch',
    ]);
    expect(text?.refused.toSorted()).toEqual(all);
    expect(outcome.value.testedAt).toBe(now().toISOString());
  });

  it('does not call allowed what it only did not see refused', async () => {
    const { run } = await start();
    // Nothing is refused to this policy: nobody knows whether the permission was looked at before the empty value.
    const outcome = await run('analyst', ['card-number']);
    if (!outcome.ok) throw new Error(outcome.failure.code);
    const [card] = outcome.value.definitions;
    expect(card?.refused).toEqual([]);
    expect(card?.allowed).not.toContain('Detokenize');
    // An answer is an answer.
    expect(card?.allowed).toContain('BatchDetokenize');
  });

  it('says which definition the service does not have', async () => {
    const { run } = await start();
    const outcome = await run('mask-only', ['card number', 'card-number']);
    if (!outcome.ok) throw new Error(outcome.failure.code);
    expect(outcome.value.definitions.map(({ definition, known }) => [definition, known])).toEqual([
      ['card number', false],
      ['card-number', true],
    ]);
    expect(outcome.value.definitions[0]?.refused).toEqual([]);
    expect(outcome.value.definitions[1]?.allowed).toEqual(['GetMasked']);
  });

  it('sends no value, and writes a line before each request and its end', async () => {
    const { run, lines, bodies } = await start();
    await run('dispute-desk', ['card-number']);
    const requests = bodies
      .filter((body) => !body.includes('policyPassword'))
      .map((body) => JSON.parse(body) as object);
    expect(requests).toHaveLength(all.length);
    for (const request of requests) {
      const { value, tokenValue, elements } = request as Record<string, unknown>;
      expect(value ?? tokenValue ?? (elements as { Value: string }[])[0]?.Value).toBe('');
    }
    expect(lines.filter((line) => !line.startsWith('end')).toSorted()).toEqual(
      all.map((one) => `card-number ${one}`),
    );
    expect(lines.filter((line) => line.startsWith('end'))).toHaveLength(all.length);
  });

  it('says where nothing lives at the address that the profile has', async () => {
    const { operations, ...profile } = shippedProfile();
    const GetMasked = { ...operations.GetMasked, path: '/api/nothing/here' };
    const { run } = await start(undefined, { ...profile, operations: { ...operations, GetMasked } });
    const outcome = await run('dispute-desk', ['card-number']);
    if (!outcome.ok) throw new Error(outcome.failure.code);
    const [card] = outcome.value.definitions;
    expect(card?.missing).toEqual(['GetMasked']);
    expect(card?.allowed).not.toContain('GetMasked');
    expect(card?.allowed).toContain('Detokenize');
  });

  describe('of a service that nobody knows', () => {
    interface Reply {
      readonly status?: number;
      readonly json: unknown;
      readonly fault?: TransportFault;
    }
    /** Answers sign-ins, and all else as it is told. */
    function ask(answer: (path: string, body: Record<string, unknown>) => Reply) {
      const profile = shippedProfile();
      app = createClientSide({
        profile,
        transport: {
          send(to, text) {
            const body = JSON.parse(text ?? '{}') as Record<string, unknown>;
            const isSignIn = to.path === profile.operations.CreateSession.path && 'apiKey' in body;
            const {
              status = 200,
              json,
              fault,
            } = isSignIn ? answer('sign-in', body) : answer(to.path.split('/').at(-1) ?? '', body);
            if (fault !== undefined) return Promise.resolve({ ok: false as const, fault });
            const reply = { status, headers: {}, body: Buffer.from(JSON.stringify(json)) };
            return Promise.resolve({ ok: true as const, reply });
          },
          reset: () => Promise.resolve(),
          close: () => Promise.resolve(),
        },
      });
      const { client } = app;
      return testPolicy({
        client,
        policy: 'p',
        definitions: ['card'],
        record: (_, __, send) => send(),
        now,
      });
    }
    const signedIn = { json: { sessionToken: 's' } };
    const grantsOf = async (outcome: ReturnType<typeof ask>) => {
      const tested = await outcome;
      if (!tested.ok) return tested.failure.code;
      const { allowed, refused, missing = [] } = tested.value.definitions[0] ?? { allowed: [], refused: [] };
      return { allowed: allowed.length, refused: refused.length, missing: missing.length };
    };

    it('is not stopped where a 200 says that there is no value', async () => {
      const outcome = ask((path, { elements }) => {
        if (path === 'sign-in') return signedIn;
        return { json: elements === undefined ? { error: 'ValueMissing' } : { elements: [] } };
      });
      expect(await grantsOf(outcome)).toMatchObject({ refused: 0, missing: 0 });
    });

    it.each([
      [
        'gives back what was sent',
        (body: Record<string, unknown>): unknown => body.elements ?? { token: '', value: '', masked: '' },
      ],
      [
        'answers with an empty value',
        () => ({ token: '', value: '', masked: '', elements: [{ RefId: '0', Value: '' }] }),
      ],
      ['leaves an empty value out', () => ({ token: '', value: '', masked: '', elements: [] })],
      [
        'answers with blanks',
        () => ({ token: ' ', value: ' ', masked: ' ', elements: [{ RefId: '0', Value: ' ' }] }),
      ],
    ])('passes where it %s', async (_, answer) => {
      const tested = ask((path, body) => (path === 'sign-in' ? signedIn : { json: answer(body) }));
      expect(await grantsOf(tested)).toEqual({ allowed: all.length, refused: 0, missing: 0 });
    });

    it.each([
      [404, 'service.not-found'],
      [401, 'service.credentials'],
      [415, 'service.wrong-type'],
    ])('tells a sign-in that is answered with %i apart', async (status, code) => {
      expect(await grantsOf(ask(() => ({ status, json: {} })))).toBe(code);
    });

    it('tells a certificate apart that is not trusted', async () => {
      const fault = { kind: 'tls', subject: 'SELF_SIGNED_CERT_IN_CHAIN' } as const;
      expect(await grantsOf(ask(() => ({ json: {}, fault })))).toBe('service.tls');
    });

    it.each([
      [404, { allowed: 0, refused: 0, missing: all.length }],
      [401, 'service.credentials'],
      [403, { allowed: 0, refused: all.length, missing: 0 }],
      [415, 'service.wrong-type'],
    ])('tells operations that are answered with %i apart', async (status, expected) => {
      const tested = ask((path) => (path === 'sign-in' ? signedIn : { status, json: {} }));
      expect(await grantsOf(tested)).toEqual(expected);
    });
  });

  it('sends nothing where the policy has no password', async () => {
    const { run, bodies } = await start([]);
    expect(await run('analyst', ['card-number'])).toMatchObject({ failure: { code: 'credentials.missing' } });
    expect(bodies).toEqual([]);
  });
});
