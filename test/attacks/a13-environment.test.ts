import { expect, test } from 'vitest';
import type { AuditIntent } from '../../electron/audit/entries.ts';
import { createConnectionHandlers } from '../../electron/connections/calls.ts';
import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import { defaultSettings } from '../../electron/contract/models/app.ts';
import type { ConnectionDraft } from '../../electron/contract/models/connection.ts';
import { createConnections } from '../../electron/connections/store.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import { describeChanges } from '../../electron/audit/changes.ts';
import { obscuredOf } from '../support/obscured-text.ts';
import { value } from '../support/audit-folder.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeKeyring, testHomeId } from '../support/fake-keyring.ts';
import { inlineParser } from '../support/parser.ts';
import { auditWith } from '../support/fake-audit.ts';

const live: ConnectionDraft = {
  id: null,
  name: 'Live',
  environment: 'production',
  baseUrl: 'https://live.example',
  extraCa: null,
  proxyUser: '',
  policies: ['agent'],
  definitions: [],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 1_000,
};

/** One production connection, and every line that was begun. */
async function office(withSecret = true) {
  const values = new Map<string, unknown>([
    ['connections', []],
    ['active', null],
    ['grants', {}],
    ['kinds', {}],
  ]);
  let names: readonly string[] = [];
  const keyring = fakeKeyring();
  const connections = createConnections({
    store: {
      read: (key) => structuredClone(values.get(key)) as never,
      write: (key, next) => (values.set(key, next), done(null)),
    },
    keychain: createKeychain({
      homeId: testHomeId,
      load: () => Promise.resolve(keyring),
      index: { read: () => names, write: (next) => (names = next) },
      clock: fakeClock(),
    }),
    certificates: {
      write: () => Promise.resolve(done(null)),
      read: () => Promise.resolve(failed('certificate.invalid')),
      remove: () => Promise.resolve(done(null)),
    },
    parser: inlineParser,
    newId: () => 'c1',
  });
  const lines: AuditIntent[] = [];
  const calls = createConnectionHandlers({
    platform: { chooseFile: () => Promise.resolve(null), confirm: () => Promise.resolve(null) },
    connections,
    profiles: {} as never,
    clients: { for: () => Promise.resolve(failed('connection.none')), drop: () => Promise.resolve() },
    builtIn: { start: () => Promise.resolve(done({ id: 'c1', policy: 'agent' })) },
    rotation: {} as never,
    audit: auditWith((intent) => (lines.push(intent), Promise.resolve(done(() => undefined)))),
    changed: () => undefined,
    now: () => new Date(0),
    clock: fakeClock(),
  });
  value(await calls['connections.save'](live));
  const apiKey = { id: 'c1', secret: { kind: 'apiKey' }, value: obscuredOf('key') } as const;
  if (withSecret) value(await calls['connections.storeSecret'](apiKey));
  const save = (over: Partial<ConnectionDraft>): Promise<Outcome<unknown>> =>
    calls['connections.save']({ ...live, id: 'c1', ...over });
  const environment = () => value(connections.find('c1')).environment;
  return { calls, save, lines, keyring, environment };
}

test('an environment is not lowered while a secret is stored', async () => {
  for (const environment of ['test', 'development'] as const) {
    const { save, environment: present, keyring } = await office();
    expect(await save({ environment })).toEqual(failed('connection.environment'));
    expect(present()).toBe('production');
    expect(keyring.entries.size).toBe(1);
  }
});

test('nor in two steps, with another name, another path or while the keyring is locked', async () => {
  const { save, environment, keyring } = await office();
  const attempts: Partial<ConnectionDraft>[] = [
    { environment: 'test', name: 'Practice' },
    { environment: 'test', baseUrl: 'https://live.example/v2' },
    { environment: 'test', policies: ['agent', 'other'] },
  ];
  for (const attempt of attempts) expect(await save(attempt)).toEqual(failed('connection.environment'));
  keyring.mood = 'locked';
  expect((await save({ environment: 'test' })).ok).toBe(false);
  expect(environment()).toBe('production');
});

test('it is lowered without secrets, and where they are forgotten with the address; raised always', async () => {
  const without = await office(false);
  expect((await without.save({ environment: 'test' })).ok).toBe(true);
  const moved = await office();
  expect((await moved.save({ environment: 'test', baseUrl: 'https://test.example' })).ok).toBe(true);
  expect(moved.keyring.entries.size).toBe(0);
  expect((await moved.save({ baseUrl: 'https://test.example' })).ok).toBe(true);
  expect(moved.environment()).toBe('production');
});

test('a line says what changed, from what to what', async () => {
  const { save, lines } = await office();
  await save({ environment: 'test', baseUrl: 'https://live.example/v2', policies: ['other'] });
  expect(lines.at(-1)).toMatchObject({
    action: 'SaveConnection',
    connection: 'Live',
    environment: 'production',
  });
  expect(lines.at(-1)?.note).toBe(
    'environment: production → test; baseUrl: https://live.example → https://live.example/v2; policies: agent → other',
  );
});

test('the line of a first save names the connection and all of it', async () => {
  const { lines } = await office();
  expect(lines[0]).toMatchObject({ connection: 'Live', environment: 'production' });
  expect(lines[0]?.note).toContain('baseUrl: https://live.example');
});

test('choosing a connection and starting the built-in service are recorded', async () => {
  const { calls, lines } = await office();
  value(await calls['connections.choose']({ id: 'c1', policy: 'agent' }));
  expect(lines.at(-1)).toMatchObject({ action: 'ChooseConnection', connection: 'Live', policy: 'agent' });
  value(await calls['connections.startBuiltIn']({}));
  expect(lines.at(-1)).toMatchObject({ action: 'StartBuiltIn' });
});

test('settings: from what to what, long texts and certificates only that they changed', () => {
  const next = { ...defaultSettings, revealSeconds: 60, caseRequired: false };
  expect(describeChanges(defaultSettings, next)).toBe('revealSeconds: 20 → 60; caseRequired: true → false');
  expect(describeChanges(defaultSettings, defaultSettings)).toBe('nothing changed');
  expect(describeChanges({ extraCa: null }, { extraCa: 'PEM'.repeat(100) })).toBe('extraCa: changed');
});
