import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { openCleartext } from '../../../electron/util/cleartext.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import {
  runService,
  type RunningService,
  type ServiceOptions,
} from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { createTransport } from '../../../electron/service/http/transport.ts';
import seed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { createClientSide, type ClientSide } from '../../faults/client-side.ts';
import { connect } from '../../support/service-client.ts';

let service: RunningService | null = null;
let app: ClientSide | null = null;

afterEach(async () => {
  await app?.client.close();
  await service?.stop();
});

/** A client with the shipped profile against the embedded service, over its own certificate authority. */
async function start(options: Partial<ServiceOptions> = {}, apiKey?: string) {
  service = await runService({ secret: randomBytes(32), seed: seed as Seed, ...options });
  const { facts } = service;
  app = createClientSide({
    transport: createTransport({ baseUrl: facts.baseUrl, ca: [facts.caPem], clock: systemClock }),
    secrets: {
      apiKey: () => Promise.resolve(done(apiKey ?? facts.apiKey.value)),
      policyPassword(policy) {
        const found = facts.policies.find(({ name }) => name === policy);
        return Promise.resolve(found ? done(found.password) : failed('credentials.missing'));
      },
    },
  });
  return { client: app.client, facts };
}

/** The digit that makes a card number valid by Luhn's rule. */
function checkDigit(digits: string): number {
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, index) => {
      const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return (10 - (sum % 10)) % 10;
}

const cards = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const digits = String(400_000_000_000_000 + n * 7919);
    return { ref: `r${n}`, value: `${digits}${checkDigit(digits)}` };
  });
const card = { policy: 'analyst', definition: 'card-number' };

describe('the client against the embedded service', () => {
  it('takes a card through all nine operations and back', async () => {
    const { client } = await start();
    const clear = '4111111111111111';
    const token = await client.tokenize('analyst', 'card-number', clear, {});
    if (!token.ok) throw new Error(token.failure.code);
    expect(token.value.value).not.toBe(clear);
    expect(token.value.requestId).not.toBe('');
    const masked = await client.getMasked('mask-only', 'card-number', token.value.value, {});
    expect(masked.ok && masked.value.value).toMatch(/^411111.*1111$/);
    const back = await client.detokenize('analyst', 'card-number', token.value.value, {});
    expect(back).toMatchObject({ value: { value: clear } });
    const target = { policy: 'dispute-desk', definition: 'card-number' };
    const other = await client.translate('analyst', 'card-number', { token: token.value.value, target }, {});
    expect(other).toMatchObject({ value: { value: token.value.value } });

    const clears = cards(500);
    const tokens = await client.batch({ operation: 'BatchTokenize', ...card }, clears, {});
    if (!tokens.ok) throw new Error(tokens.failure.code);
    const sent = tokens.value.elements.map((element) => ({
      ref: element.ref,
      value: element.ok ? openCleartext(element.value ?? '') : '',
    }));
    const clearAgain = await client.batch({ operation: 'BatchDetokenize', ...card }, sent, {});
    expect(clearAgain).toMatchObject({ value: { elements: clears.map((one) => ({ ...one, ok: true })) } });
    const free = { policy: 'analyst', definition: 'free-text' };
    const moved = await client.batch({ operation: 'BatchTranslate', ...card, target: free }, sent, {});
    expect(moved.ok && moved.value.elements.every(({ ok }) => ok)).toBe(true);
    const matching = await client.batch({ operation: 'PatternMatch', ...card, pattern: '0$' }, sent, {});
    expect(matching.ok && matching.value.elements.map(({ ref }) => ref)).toEqual(
      clears.filter(({ value }) => value.endsWith('0')).map(({ ref }) => ref),
    );
  });

  it('keeps bad elements as data beside good ones', async () => {
    const { client } = await start();
    const elements = [...cards(2), { ref: 'bad', value: 'no card' }];
    const outcome = await client.batch({ operation: 'BatchTokenize', ...card }, elements, {});
    expect(outcome).toMatchObject({
      value: { elements: [{ ok: true }, { ok: true }, { ref: 'bad', code: 'service.value-invalid' }] },
    });
  });

  it('tells a refused policy, a wrong password and an expired key apart', async () => {
    const first = await start();
    expect(await first.client.detokenize('mask-only', 'card-number', '1', {})).toMatchObject({
      failure: {
        code: 'service.refused',
        policy: 'mask-only',
        operation: 'Detokenize',
        definition: 'card-number',
      },
    });
    await first.client.close();
    await service?.stop();
    const wrong = await start({}, 'wrong');
    expect(await wrong.client.openSession('analyst')).toMatchObject({
      failure: { code: 'service.credentials' },
    });
    await wrong.client.close();
    await service?.stop();
    const secret = randomBytes(32);
    const probe = await runService({ secret, seed: seed as Seed });
    const retired = probe.facts.apiKeys.find(({ title }) => title === 'retired');
    await probe.stop();
    const expired = await start({ secret }, retired?.value ?? '');
    const outcome = await expired.client.openSession('analyst');
    expect(outcome).toMatchObject({ failure: { code: 'service.key-expired' } });
    expect(!outcome.ok && outcome.failure.requestId).toBeTruthy();
  });

  it('7.8 tells the reason of a 400 and its field, and keeps the value to itself', async () => {
    const { client } = await start();
    const outcome = await client.tokenize('analyst', 'card-number', 'canary value', {});
    expect(outcome).toMatchObject({
      failure: {
        code: 'service.value-invalid',
        codes: ['ValueInvalid'],
        fields: [{ name: 'value', message: 'value is invalid' }],
      },
    });
  });

  it('tells a definition that is disabled from a policy that may not', async () => {
    const { client, facts } = await start();
    const portal = connect(facts);
    const post = (name: string, body: object, headers = {}) =>
      portal.send('POST', `/api/services/portal/${name}`, JSON.stringify(body), {
        'content-type': 'application/json',
        ...headers,
      });
    const password = facts.portalUsers.find(({ name }) => name === 'admin')?.password;
    const { token } = (await post('authenticate', { userName: 'admin', password })).body;
    const definition = { name: 'ssn', label: 'SSN', kind: 'ssn', enabled: false };
    const disabled = await post(
      'updatetokendefinition',
      { definition },
      { authorization: `Bearer ${String(token)}` },
    );
    expect(disabled.status).toBe(200);
    await portal.close();
    for (const policy of ['analyst', 'dispute-desk'])
      expect(await client.tokenize(policy, 'ssn', '123-45-6789', {})).toMatchObject({
        failure: { code: 'service.definition-disabled', definition: 'ssn' },
      });
    expect(await client.tokenize('mask-only', 'card-number', '4111111111111111', {})).toMatchObject({
      failure: { code: 'service.refused' },
    });
  });

  it('halves what the service finds too large, and goes on', async () => {
    const { client } = await start({ maxElements: 100 });
    const outcome = await client.batch({ operation: 'BatchTokenize', ...card }, cards(500), {});
    expect(outcome.ok && outcome.value.elements.filter(({ ok }) => ok)).toHaveLength(500);
    expect(client.batchSize).toBe(63);
  });

  it('renews sessions that live a second, and no request fails', async () => {
    const { client } = await start({ sessionSeconds: 1 });
    const end = performance.now() + 3500;
    const failures: string[] = [];
    const worker = async (): Promise<void> => {
      while (performance.now() < end) {
        const outcome = await client.batch({ operation: 'BatchTokenize', ...card }, cards(5), {});
        if (!outcome.ok) failures.push(outcome.failure.code);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(failures).toEqual([]);
    const made = app?.audited.filter(({ intent }) => intent.operation === 'CreateSession').length ?? 0;
    expect(made).toBeGreaterThan(1);
    expect(made).toBeLessThanOrEqual(5);
  });

  it('keeps to a limit it learns from the headers', async () => {
    const { client } = await start({ limits: { requestsPerSecond: 20 } });
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => client.batch({ operation: 'BatchTokenize', ...card }, cards(2), {})),
    );
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(client.status('analyst')).toMatchObject({ limit: 20, transfersToday: 120 });
  });
});
