import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { openApiDocument } from '../../../electron/built-in-service/openapi.ts';
import { runService } from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import type { ProfileEdits } from '../../../electron/contract/models/profile-draft.ts';
import type { Outcome } from '../../../electron/contract/errors.ts';
import { startOtherService } from '../../support/other-service.ts';
import { recordCalls, writtenAs, type RecordedCall } from '../../support/recorded-calls.ts';
import { obscured, openWholeApp, type WholeApp } from '../../support/whole-app.ts';

const card = '4111118124045251';
const noEdits: ProfileEdits = { examples: [], fields: [] };

function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
  return outcome.value;
}

interface Service {
  readonly baseUrl: string;
  readonly caPem: string;
  readonly apiKey: string;
  readonly policyPassword: string;
  readonly profile: object;
  readonly close: () => Promise<unknown>;
}

/** The built-in service as one that is somewhere else, and one in which hardly a name is the shipped one's. */
const services: Record<string, () => Promise<Service>> = {
  async 'the built-in service'() {
    const started = await runService({
      secret: new Uint8Array(32).fill(7),
      seed: defaultSeed as Seed,
    });
    const { facts } = started;
    return {
      ...facts,
      apiKey: facts.apiKey.value,
      policyPassword: facts.policies.find(({ name }) => name === 'analyst')?.password ?? '',
      profile: {},
      close: () => started.stop(),
    };
  },
  async 'the other service'() {
    const other = await startOtherService({ sessionSeconds: 60 });
    return {
      ...other,
      close: () => other.close(),
      apiKey: other.facts.apiKey.value,
      policyPassword: other.facts.policies.find(({ name }) => name === 'analyst')?.password ?? '',
    };
  },
};

let app: WholeApp;
beforeAll(async () => {
  app = await openWholeApp();
});
afterAll(() => app.close());

async function connectTo(service: Service): Promise<string> {
  const { id } = valueOf(
    await app.ask('connections.save', {
      id: null,
      name: `Vendor ${Math.random()}`,
      environment: 'test',
      baseUrl: service.baseUrl,
      extraCa: service.caPem,
      proxyUser: '',
      policies: ['analyst'],
      definitions: [{ name: 'card-number', label: 'Card', kind: 'card' }],
      accountId: '',
      tenantId: '',
      apiKeyExpires: null,
      requestsPerSecond: 100,
      transfersPerDay: 10_000,
    }),
  );
  valueOf(
    await app.ask('connections.storeSecret', {
      id,
      secret: { kind: 'apiKey' },
      value: obscured(service.apiKey),
    }),
  );
  valueOf(
    await app.ask('connections.storeSecret', {
      id,
      secret: { kind: 'policyPassword', policy: 'analyst' },
      value: obscured(service.policyPassword),
    }),
  );
  return id;
}

const tryWith = async (id: string, edits = noEdits) =>
  valueOf(
    await app.ask('connections.tryProfile', {
      id,
      edits,
      policy: 'analyst',
      definition: 'card-number',
      value: obscured(card),
    }),
  ).steps;

const verdictsOf = (steps: Awaited<ReturnType<typeof tryWith>>) =>
  Object.fromEntries(steps.map(({ operation, verdict }) => [operation, verdict]));

describe.each(Object.entries(services))(
  '4.17 a profile for %s is made without typing a member',
  (_, start) => {
    let service: Service;
    let calls: RecordedCall[];
    beforeAll(async () => {
      service = await start();
      calls = await recordCalls({ ...service, policy: 'analyst', definition: 'card-number', value: card });
    });
    afterAll(() => service.close());

    test.each(Object.entries(writtenAs))('from %s', async (__, write) => {
      const id = await connectTo(service);
      const draft = valueOf(
        await app.ask('connections.readExamples', { id, text: obscured(write(calls)), edits: noEdits }),
      );
      expect(draft.failure).toBeNull();
      expect(draft.groups.filter(({ example }) => example !== null)).toHaveLength(9);
      const steps = await tryWith(id);
      expect([...new Set(Object.values(verdictsOf(steps)))]).toEqual(['understood']);
      expect(steps).toHaveLength(9);
      const shown = JSON.stringify([draft, steps]);
      for (const secret of [card, service.apiKey, service.policyPassword])
        expect(shown).not.toContain(secret);
      valueOf(await app.ask('connections.saveProfile', { id, edits: noEdits }));
      // It is the connection's own now, and a lookup goes by it.
      valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
      const made = valueOf(
        await app.ask('lookup.tokenize', {
          policy: 'analyst',
          definition: 'card-number',
          cleartext: obscured(card),
          caseReference: '',
        }),
      );
      expect(made.token).not.toBe(card);
    });
  },
);

test('the OpenAPI document of the built-in service makes the shipped profile', async () => {
  const service = await services['the built-in service']?.();
  if (service === undefined) throw new Error('no service');
  onTestFinished(async () => {
    await service.close();
  });
  const id = await connectTo(service);
  const file = path.join(app.home, 'openapi.json');
  fs.writeFileSync(file, JSON.stringify(openApiDocument(service.baseUrl)));
  app.choose(file);
  const draft = valueOf(await app.ask('connections.chooseExamples', { id, edits: noEdits }));
  expect(draft?.groups.filter(({ example }) => example !== null)).toHaveLength(12);
  expect(draft?.groups.flatMap(({ remarks }) => remarks)).toEqual([]);
  expect([...new Set(Object.values(verdictsOf(await tryWith(id))))]).toEqual(['understood']);
});

describe('what a test tells apart', () => {
  let service: Service;
  beforeAll(async () => {
    service = await (services['the other service'] as () => Promise<Service>)();
  });
  afterAll(() => service.close());

  test('404, a missing sign-in and a certificate', async () => {
    const id = await connectTo(service);
    // The shipped profile: CreateSession is where it should be, and its answer is not understood.
    expect(verdictsOf(await tryWith(id))).toMatchObject({
      CreateSession: 'not-understood',
      Tokenize: 'not-tried',
    });
    const fields = [
      { path: 'operations.CreateSession.answer', text: 'ticket, result.ticket' },
      { path: 'operations.Tokenize.answer', text: 'result.surrogate' },
    ];
    const steps = verdictsOf(await tryWith(id, { examples: [], fields }));
    expect(steps).toMatchObject({
      CreateSession: 'understood',
      Tokenize: 'understood',
      Detokenize: 'nowhere',
    });
    await app.ask('connections.storeSecret', { id, secret: { kind: 'apiKey' }, value: obscured('wrong') });
    expect(['not-signed-in', 'refused']).toContain(
      verdictsOf(await tryWith(id, { examples: [], fields })).CreateSession,
    );
    const untrusted = await connectTo({ ...service, caPem: (await startOtherService()).caPem });
    expect(verdictsOf(await tryWith(untrusted))).toMatchObject({ CreateSession: 'tls' });
  });

  test('a field that holds nothing of its form makes no profile', async () => {
    const id = await connectTo(service);
    const draft = (text: string, place = 'operations.GetMasked.path') =>
      app.ask('connections.draftProfile', { id, edits: { examples: [], fields: [{ path: place, text }] } });
    expect(valueOf(await draft('/v2/redact')).failure).toBeNull();
    expect(valueOf(await draft('no path')).failure?.subject).toBe(
      'service profile: operations.GetMasked.path',
    );
    expect(valueOf(await draft('{', 'headers')).failure?.subject).toBe('service profile: headers');
    expect(valueOf(await draft('x', 'no.such.field')).failure?.code).toBe('connection.invalid');
    // Cleartext lives there.
    expect(valueOf(await draft('/api/services/evtservice/detokenize')).failure?.subject).toMatch(/GetMasked/);
  });

  test('a profile is exported and compared', async () => {
    const id = await connectTo(service);
    const edits = { examples: [], fields: [{ path: 'operations.GetMasked.path', text: '/v2/redact' }] };
    const written = valueOf(await app.ask('connections.exportProfile', { id, edits }));
    const file = fs.readdirSync(app.home).find((name) => name === written?.name) ?? '';
    expect(JSON.parse(fs.readFileSync(path.join(app.home, file), 'utf8'))).toMatchObject({
      version: 1,
      operations: { GetMasked: { path: '/v2/redact' } },
    });
    app.choose(path.join(app.home, file));
    const compare = async (own: ProfileEdits) =>
      valueOf(await app.ask('connections.compareProfile', { id, edits: own }))?.differences;
    expect(await compare(edits)).toEqual([]);
    expect(await compare(noEdits)).toEqual([
      {
        path: 'operations.GetMasked.path',
        here: '"/api/services/evtservice/getmasked"',
        there: '"/v2/redact"',
      },
    ]);
  });

  test('examples are forgotten with the lock, and the built-in service has no draft', async () => {
    const id = await connectTo(service);
    const text = obscured('GET /x HTTP/1.1\n');
    expect(
      valueOf(await app.ask('connections.readExamples', { id, text, edits: noEdits })).examples,
    ).toHaveLength(1);
    valueOf(await app.ask('connections.forgetExamples', { id }));
    expect(valueOf(await app.ask('connections.draftProfile', { id, edits: noEdits })).examples).toEqual([]);
    expect(
      await app.ask('connections.readExamples', { id, text: obscured('nothing'), edits: noEdits }),
    ).toMatchObject({
      failure: { code: 'examples.unreadable' },
    });
    const builtIn = valueOf(await app.ask('connections.startBuiltIn', {})).id;
    expect(await app.ask('connections.draftProfile', { id: builtIn, edits: noEdits })).toMatchObject({
      failure: { code: 'connection.built-in' },
    });
  });
});
