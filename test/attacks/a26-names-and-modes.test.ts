import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { done } from '../../electron/contract/errors.ts';
import { connectionView, type Connection } from '../../electron/contract/models/connection.ts';
import { createConnections } from '../../electron/connections/store.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import { siteFolder } from '../../electron/platform/electron-platform.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeKeyring, testHomeId } from '../support/fake-keyring.ts';

/* Names that are members of every object in JavaScript, and folders that others may write to. */

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'agent'];

test('a policy may have any name: its password is stored, shown as stored and found again', async () => {
  let stored: Connection[] = [];
  let index: readonly string[] = [];
  const keychain = createKeychain({
    homeId: testHomeId,
    load: () => Promise.resolve(fakeKeyring()),
    clock: fakeClock(),
    index: { read: () => index, write: (next) => ((index = next), done(null)) },
  });
  const connections = createConnections({
    store: {
      read: (key) => (key === 'connections' ? stored : key === 'active' ? null : {}) as never,
      write: (key, value) => {
        if (key === 'connections') stored = structuredClone(value) as Connection[];
        return done(null);
      },
    },
    keychain,
    certificates: {} as never,
    parser: {} as never,
    newId: randomUUID,
  });
  const saved = await connections.save({
    id: null,
    name: '__proto__',
    environment: 'test',
    baseUrl: 'https://acme.example',
    extraCa: null,
    proxyUser: '',
    policies: names,
    definitions: names.map((name) => ({ name, label: name, kind: 'card' as const })),
    accountId: '',
    tenantId: '',
    apiKeyExpires: null,
    requestsPerSecond: 600,
    transfersPerDay: 10_000_000,
  });
  if (!saved.ok) throw new Error(saved.failure.code);
  const { id } = saved.value;
  // The profile is added where the state of the app is read.
  const view = () =>
    connectionView.parse({
      ...structuredClone(connections.views()[0]),
      profile: { name: null, fitted: [] },
    });
  const statesOf = () => view().policyPasswords.map(({ state }) => state);
  expect(statesOf()).toEqual(names.map(() => 'missing'));

  for (const policy of names)
    expect(
      await connections.storeSecret(id, { kind: 'policyPassword', policy }, `secret of ${policy}`),
    ).toMatchObject({ ok: true });
  expect(view().policyPasswords).toEqual(names.map((policy) => ({ policy, state: 'stored' })));
  for (const policy of names)
    expect(await connections.secret(id, { kind: 'policyPassword', policy })).toEqual(
      done(`secret of ${policy}`),
    );
});

test('the administrator’s files lie outside of a signed macOS bundle, and not where others may write', () => {
  for (const folder of ['/Applications', '/Users/ada/Downloads'])
    expect(siteFolder(`${folder}/Tokendesk.app/Contents/MacOS/Tokendesk`, 'darwin')).toBe(
      '/Library/Application Support/Tokendesk',
    );
  expect(siteFolder('/opt/tokendesk/tokendesk', 'linux')).toBe('/opt/tokendesk/site');
});
