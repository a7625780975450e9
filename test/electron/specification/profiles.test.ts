import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CallInput } from '../../../electron/contract/calls.ts';
import type { Outcome } from '../../../electron/contract/errors.ts';
import { restoreText } from '../../../electron/contract/obscured.ts';
import { type OtherService, startOtherService } from '../../support/other-service.ts';
import { obscured, openWholeApp, type WholeApp } from '../../support/whole-app.ts';

const card = '4111111111111111';
const cards = [card, '5555555555554444', '378282246310005', '6011111111111117'];

let service: OtherService;
beforeAll(async () => {
  service = await startOtherService();
});
afterAll(() => service.close());

async function openApp(): Promise<WholeApp> {
  const app = await openWholeApp();
  onTestFinished(() => app.close());
  return app;
}

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
  return outcome.value;
}

/** A connection to the other service with its secrets; its profile only where one is imported. */
async function connect(app: WholeApp, name: string): Promise<string> {
  const { facts, baseUrl, caPem } = service;
  const { id } = value(
    await app.ask('connections.save', {
      id: null,
      name,
      environment: 'test',
      baseUrl,
      extraCa: caPem,
      proxyUser: '',
      policies: facts.policies.map((policy) => policy.name),
      definitions: facts.definitions.map((definition) => ({
        name: definition.name,
        label: definition.label,
        kind: definition.kind === 'card-number' ? 'card' : 'text',
      })),
      accountId: facts.accountId,
      tenantId: facts.tenantId,
      apiKeyExpires: null,
      requestsPerSecond: 300,
      transfersPerDay: 1_000,
    }),
  );
  const store = (secret: CallInput<'connections.storeSecret'>['secret'], text: string) =>
    app.ask('connections.storeSecret', { id, secret, value: obscured(text) });
  value(await store({ kind: 'apiKey' }, facts.apiKey.value));
  for (const { name: policy, password } of facts.policies)
    value(await store({ kind: 'policyPassword', policy }, password));
  return id;
}

function profileFile(app: WholeApp, profile: object = service.profile, name = 'other.json'): string {
  const file = path.join(app.home, name);
  fs.writeFileSync(file, JSON.stringify(profile));
  return file;
}

async function importProfile(app: WholeApp, id: string, profile?: object) {
  app.choose(profileFile(app, profile));
  return app.ask('connections.importProfile', { id });
}

/** All that a person does with one value: tokenize, mask, reveal. Answers the token and the revealed cleartext. */
async function workWithOne(app: WholeApp, policy: string) {
  const tokenized = value(
    await app.ask('lookup.tokenize', {
      policy,
      definition: 'card-number',
      cleartext: obscured(card),
      caseReference: 'C-1',
    }),
  );
  const masked = value(
    await app.ask('lookup.mask', {
      policy,
      definition: 'card-number',
      token: tokenized.token,
      caseReference: 'C-1',
    }),
  );
  const { xorKey } = obscured('x');
  const revealed = value(
    await app.ask('lookup.reveal', { lookupId: masked.id, reason: 'Refund', caseReference: 'C-1', xorKey }),
  );
  const cleartext = restoreText({ xorKey, obscured: revealed.obscured });
  value(await app.ask('lookup.hide', { revealId: revealed.revealId }));
  value(await app.ask('lookup.hidden', { revealId: revealed.revealId }));
  return { token: tokenized.token, masked: masked.masked, cleartext };
}

/** A lookup of what is no token: it needs a session, and comes to nothing. */
const maskNothing = (app: WholeApp) =>
  app.ask('lookup.mask', { policy: 'analyst', definition: 'card-number', token: 'x', caseReference: '' });

/** A batch over pasted rows, run to its end; answers the lines of its export. */
async function workWithMany(app: WholeApp, policy: string): Promise<string[]> {
  const source = value(await app.ask('batch.paste', { text: ['card', ...cards].join('\n') }));
  const { jobId } = value(
    await app.ask('batch.start', {
      sourceId: source.sourceId,
      grounds: null,
      plan: {
        reading: { encoding: 'utf-8', delimiter: ',', header: true },
        columns: [
          {
            column: 0,
            operation: 'tokenize',
            policy,
            definition: 'card-number',
            target: null,
            parts: null,
            pattern: null,
            into: 'replace',
          },
        ],
      },
    }),
  );
  await expect
    .poll(async () => value(await app.ask('batch.jobs', {})).find((job) => job.jobId === jobId)?.state, {
      timeout: 20_000,
    })
    .toBe('finished');
  const exported = value(
    await app.ask('batch.export', {
      jobId,
      content: 'tokens',
      rows: 'all',
      format: 'csv',
      safety: 'exact',
      encoding: 'utf-8',
      delimiter: ',',
      byteOrderMark: false,
      newline: '\n',
      grounds: { reason: 'Refund', caseReference: 'C-1' },
      passphrase: null,
    }),
  );
  return fs
    .readFileSync(path.join(app.home, exported?.name ?? ''), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
}

describe('4.17 a profile for each connection', () => {
  test('two services of different profiles and the built-in one work in one run of the app', async () => {
    const app = await openApp();
    const other = await connect(app, 'Other');
    const { name } = value(await importProfile(app, other)) ?? {};
    expect(name).toBe('other.json');
    // The same service once more, called as it is where the profile leaves out a part of it.
    const third = await connect(app, 'Third');
    value(await importProfile(app, third, { ...service.profile, limits: { batchSize: 2 } }));
    const builtIn = value(await app.ask('connections.startBuiltIn', {})).id;

    const seen: Record<string, string[]> = {};
    for (const id of [builtIn, other, third, builtIn, other]) {
      value(await app.ask('connections.choose', { id, policy: 'analyst' }));
      const one = await workWithOne(app, 'analyst');
      expect(one).toEqual({
        token: expect.stringMatching(/^411111\d{6}1111$/) as string,
        masked: '411111******1111',
        cleartext: card,
      });
      expect(one.token).not.toBe(card);
      const tokens = await workWithMany(app, 'analyst');
      expect(tokens).toHaveLength(cards.length);
      expect(tokens[0]).toBe(one.token);
      for (const token of tokens) expect(cards).not.toContain(token);
      expect(seen[id] ?? tokens).toEqual(tokens);
      seen[id] = tokens;
    }
    expect(seen[other]).toEqual(seen[third]);
    expect(seen[builtIn]).not.toEqual(seen[other]);
    expect(service.asked.filter((asked) => asked === '/v2/many/protect').length).toBeGreaterThanOrEqual(4);
    expect(app.bugs).toEqual([]);
  }, 60_000);

  test('without its profile the other service can’t be read, and the names of its members are remembered', async () => {
    const app = await openApp();
    const id = await connect(app, 'Unknown');
    value(await app.ask('connections.choose', { id, policy: 'analyst' }));
    const look = () => maskNothing(app);
    expect(await look()).toMatchObject({
      failure: { code: 'service.unexpected-answer', operation: 'CreateSession' },
    });
    const unread = value(await app.ask('connections.unreadAnswers', { id }));
    expect(unread).toMatchObject([{ operation: 'CreateSession' }]);
    expect(unread[0]?.members).toContainEqual({ path: ['result', 'ticket'], kind: 'text' });
    expect(unread[0]?.members).toContainEqual({ path: ['result', 'expiresIn'], kind: 'number' });

    const fit = (answer: string[]) =>
      app.ask('connections.fitProfile', { id, operation: 'CreateSession', answer, ref: null });
    expect(await fit(['result', 'nothing'])).toMatchObject({ failure: { code: 'profile.member' } });
    expect(await fit(['result', 'expiresIn'])).toMatchObject({ failure: { code: 'profile.member' } });
    expect(value(await fit(['result', 'ticket']))).toEqual({
      profile: { name: null, fitted: ['CreateSession'] },
      test: null,
    });
    // Signed in; the path of GetMasked is another one here.
    expect(await look()).toMatchObject({ failure: { code: 'service.not-found', operation: 'GetMasked' } });
    value(await app.ask('connections.removeProfile', { id, part: 'fitted' }));
    expect(await look()).toMatchObject({ failure: { code: 'service.unexpected-answer' } });
  }, 30_000);

  test.each<[string, object | string, string]>([
    ['no JSON', '{', 'service profile: not JSON'],
    ['a member of another name', { version: 1, paths: {} }, 'service profile'],
    [
      'cleartext as a token',
      { version: 1, operations: { Tokenize: { answer: ['Value'] } } },
      'service profile: operations.Tokenize.answer',
    ],
    [
      'a host in a path',
      { version: 1, operations: { Detokenize: { path: 'https://evil.example' } } },
      'service profile: operations.Detokenize.path',
    ],
    ['too large', `{"version":1${' '.repeat(300_000)}}`, 'own.json'],
  ])('a file that is %s is refused, and the profile before stays', async (_, content, subject) => {
    const app = await openApp();
    const id = await connect(app, 'Other');
    value(await importProfile(app, id));
    const file = path.join(app.home, 'own.json');
    fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    app.choose(file);
    expect(await app.ask('connections.importProfile', { id })).toMatchObject({
      failure: { code: 'connection.invalid', subject: expect.stringContaining(subject) as string },
    });
    const state = value(await app.ask('app.state', {}));
    expect('connections' in state && state.connections.find((view) => view.id === id)?.profile.name).toBe(
      'other.json',
    );
  });

  test('the profile goes with its connection, and the built-in service takes none', async () => {
    const app = await openApp();
    const id = await connect(app, 'Other');
    value(await importProfile(app, id));
    const settings = () => fs.readFileSync(path.join(app.home, 'desk.json'), 'utf8');
    expect(settings()).toContain('/v2/reveal');
    value(await app.ask('connections.remove', { id }));
    expect(settings()).not.toContain('/v2/reveal');
    const builtIn = value(await app.ask('connections.startBuiltIn', {})).id;
    expect(await importProfile(app, builtIn)).toMatchObject({ failure: { code: 'connection.built-in' } });
  });
});

describe('5 and 4: the portal through a profile', () => {
  test('signs in with members of its own, reads the claims, and asks by GET with dates of another form', async () => {
    const app = await openApp();
    const id = await connect(app, 'Other');
    value(await importProfile(app, id));
    value(await app.ask('connections.choose', { id, policy: 'analyst' }));
    await workWithOne(app, 'analyst');
    const user = service.facts.portalUsers.find(({ role }) => role === 'AccountUser');
    const session = value(
      await app.ask('reports.signIn', { user: user?.name ?? '', password: obscured(user?.password ?? '') }),
    );
    expect(session).toMatchObject({
      state: 'signed-in',
      user: 'ada of the other service',
      roles: ['reports'],
    });
    const today = new Date().toISOString().slice(0, 10);
    const metrics = value(
      await app.ask('reports.metrics', { from: today, to: today, grouping: 'operation' }),
    );
    expect(metrics.rows.map(({ operation }) => operation)).toContain('Tokenize');
    expect(value(await app.ask('reports.failures', { max: 100 })).failures.length).toBeLessThanOrEqual(100);
    for (const max of [0, 101])
      expect(await app.ask('reports.failures', { max })).toMatchObject({
        failure: { code: 'call.invalid' },
      });
  }, 30_000);
});

describe('3.4 sessions end with the lock and with sleep', () => {
  test.each(['lock', 'suspend', 'resume'] as const)('%s', async (signal) => {
    const app = await openApp();
    const id = value(await app.ask('connections.startBuiltIn', {})).id;
    const since = async () => {
      const state = value(await app.ask('app.state', {}));
      return 'service' in state ? (state.service?.sessionSince ?? null) : 'locked';
    };
    value(await app.ask('connections.choose', { id, policy: 'analyst' }));
    await maskNothing(app);
    expect(await since()).not.toBeNull();
    if (signal === 'lock') value(await app.ask('lock.now', {}));
    else app.away(signal);
    value(await app.ask('lock.unlock', { passphrase: { xorKey: obscured('x').xorKey, obscured: '' } }));
    await expect.poll(since).toBeNull();
  });
});
