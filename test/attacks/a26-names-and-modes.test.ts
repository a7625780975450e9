import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { freeName } from '../../dev/chromium-platform/files.ts';
import { done } from '../../electron/contract/errors.ts';
import { connectionView, type Connection } from '../../electron/contract/models/connection.ts';
import { createConnections } from '../../electron/credentials/connections.ts';
import { createKeychain } from '../../electron/credentials/keychain.ts';
import { siteFolder } from '../../electron/platform/electron-platform.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeKeyring } from '../support/fake-keyring.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* Names that are members of every object in JavaScript, and folders that others may write to. */

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'agent'];

test('a policy may have any name: its password is stored, shown as stored and found again', async () => {
  let stored: Connection[] = [];
  let index: readonly string[] = [];
  const keychain = createKeychain({
    load: () => Promise.resolve(fakeKeyring()),
    clock: fakeClock(),
    index: { read: () => index, write: (next) => ((index = next), done(null)) },
  });
  const connections = createConnections({
    store: {
      read: (key) => (key === 'connections' ? stored : key === 'grants' ? {} : null) as never,
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

test.skipIf(process.platform === 'win32')(
  'a folder for results that was missing is its owner’s alone',
  () => {
    const downloads = path.join(tempFolder(), 'Downloads');
    const before = process.umask(0);
    try {
      expect(freeName(downloads, 'out.csv')).toBe(path.join(downloads, 'out.csv'));
    } finally {
      process.umask(before);
    }
    expect(fs.statSync(downloads).mode & 0o777).toBe(0o700);
  },
);

test('the administrator’s files lie outside of a signed macOS bundle', () => {
  expect(siteFolder('/Applications/Tokendesk.app/Contents/MacOS/Tokendesk', 'darwin')).toBe(
    '/Applications/site',
  );
  expect(siteFolder('/opt/tokendesk/tokendesk', 'linux')).toBe('/opt/tokendesk/site');
});
