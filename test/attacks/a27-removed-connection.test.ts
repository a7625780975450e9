import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { done, failed } from '../../electron/contract/errors.ts';
import { undoMs } from '../../electron/contract/undo.ts';
import { value } from '../support/audit-folder.ts';
import { fakeKeyring } from '../support/fake-keyring.ts';
import { obscured, openWholeApp } from '../support/whole-app.ts';

const secrets = ['key-of-acme', 'password-of-agent'];

const acme = {
  id: null,
  name: 'Acme',
  environment: 'test' as const,
  baseUrl: 'https://acme.example',
  extraCa: null,
  proxyUser: '',
  policies: ['agent'],
  definitions: [{ name: 'card-number', label: 'Card', kind: 'card' as const }],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 1_000,
};

/** The app with one connection in use and its secrets in the keyring. */
async function withConnection() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-removed-'));
  const keyring = fakeKeyring();
  const opened: { close(): Promise<void> }[] = [];
  onTestFinished(async () => {
    for (const app of opened) await app.close();
    fs.rmSync(home, { recursive: true, force: true });
  });
  const open = async () => {
    const app = await openWholeApp({ home, keyring });
    opened.push(app);
    return app;
  };
  const app = await open();
  const { id } = value(await app.ask('connections.save', acme));
  const store = (secret: { kind: 'apiKey' } | { kind: 'policyPassword'; policy: string }, text = '') =>
    app.ask('connections.storeSecret', { id, secret, value: obscured(text) });
  value(await store({ kind: 'apiKey' }, secrets[0]));
  value(await store({ kind: 'policyPassword', policy: 'agent' }, secrets[1]));
  value(await app.ask('connections.choose', { id, policy: 'agent' }));
  return { app, id, open, home, keyring };
}

/** What whoever has the disk and the keyring finds of it now. */
function left({ home, keyring }: Pick<Awaited<ReturnType<typeof withConnection>>, 'home' | 'keyring'>) {
  const found = [...keyring.entries.keys()].filter((name) => /:[0-9a-f]{24}:/.test(name));
  const settings = JSON.parse(fs.readFileSync(path.join(home, 'desk.json'), 'utf8')) as {
    connections: unknown[];
    active: unknown;
    keychainIndex: string[];
  };
  const files = fs.readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const file = path.join(home, name);
    return fs.statSync(file).isFile() && secrets.some((secret) => fs.readFileSync(file).includes(secret));
  });
  return {
    secrets: found.length + files.length,
    connections: settings.connections.length,
    active: settings.active,
    accounts: settings.keychainIndex.filter((name) => /:[0-9a-f]{24}:/.test(name)).length,
  };
}

const nothing = { secrets: 0, connections: 0, active: null, accounts: 0 };

test('what was removed is gone when the answer comes: a kill then leaves nothing', async () => {
  const all = await withConnection();
  expect(left(all)).toMatchObject({ secrets: 2, connections: 1 });
  value(await all.app.ask('connections.remove', { id: all.id }));
  expect(left(all)).toEqual(nothing);
});

test('undo brings all of it back: the connection, its secrets, and that it was in use', async () => {
  const all = await withConnection();
  const before = value(await all.app.ask('app.state', {}));
  value(await all.app.ask('connections.remove', { id: all.id }));
  value(await all.app.ask('connections.undoRemove', { id: all.id }));
  expect(left(all)).toMatchObject({ secrets: 2, connections: 1, active: { connectionId: all.id } });
  const after = value(await all.app.ask('app.state', {}));
  expect(after).toMatchObject({ connections: (before as { connections: unknown }).connections });
  // Once.
  expect(await all.app.ask('connections.undoRemove', { id: all.id })).toEqual(failed('connection.unknown'));
});

test.each([
  { change: { baseUrl: 'https://evil.example' }, secrets: 0 },
  { change: { requestsPerSecond: 5 }, secrets: 2 },
])(
  'what an undo that failed stores later is for the connection as it was, before it becomes $change',
  async ({ change, secrets }) => {
    const all = await withConnection();
    const { app, id, keyring } = all;
    value(await app.ask('connections.remove', { id }));
    const original = keyring.setPassword.bind(keyring);
    keyring.setPassword = (service, name, secret) =>
      name.includes(`${id}:`)
        ? Promise.reject(new Error('The bus timed out'))
        : original(service, name, secret);
    expect(await app.ask('connections.undoRemove', { id })).toEqual(failed('keychain.stalled'));
    keyring.setPassword = original;
    value(await app.ask('connections.save', { ...acme, id, ...change }));
    expect(await app.ask('connections.undoRemove', { id })).toEqual(failed('connection.unknown'));
    expect(left(all)).toMatchObject({ secrets, connections: 1 });
  },
);

test('two undos at once bring it back once', async () => {
  const all = await withConnection();
  value(await all.app.ask('connections.remove', { id: all.id }));
  const undo = (): Promise<unknown> => all.app.ask('connections.undoRemove', { id: all.id });
  expect(await Promise.all([undo(), undo()])).toEqual([done({}), failed('connection.unknown')]);
  expect(left(all)).toMatchObject({ secrets: 2, connections: 1 });
});

test('an undo that fails on the way can be tried again', async () => {
  const all = await withConnection();
  const { keyring } = all;
  value(await all.app.ask('connections.remove', { id: all.id }));
  const original = keyring.setPassword.bind(keyring);
  onTestFinished(() => void (keyring.setPassword = original));
  let stored = 0;
  keyring.setPassword = (service, name, secret) =>
    name.includes(`${all.id}:`) && ++stored === 2
      ? Promise.reject(new Error('The bus timed out'))
      : original(service, name, secret);
  expect(await all.app.ask('connections.undoRemove', { id: all.id })).toEqual(failed('keychain.stalled'));
  value(await all.app.ask('connections.undoRemove', { id: all.id }));
  // What was stored at the first try stays.
  expect(stored).toBe(3);
  expect(left(all)).toMatchObject({ secrets: 2, connections: 1, active: { connectionId: all.id } });
});

test('a second one can be brought back for as long as the first', async () => {
  const { app, id } = await withConnection();
  const { id: second } = value(await app.ask('connections.save', { ...acme, name: 'Second' }));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  value(await app.ask('connections.remove', { id }));
  await vi.advanceTimersByTimeAsync(undoMs - 1_000);
  value(await app.ask('connections.remove', { id: second }));
  await vi.advanceTimersByTimeAsync(undoMs - 1_000);
  value(await app.ask('connections.undoRemove', { id: second }));
});

test('an end within the time to undo leaves nothing to undo at the next start', async () => {
  const all = await withConnection();
  value(await all.app.ask('connections.remove', { id: all.id }));
  await all.app.close();
  expect(left(all)).toEqual(nothing);
  const again = await all.open();
  expect(value(await again.ask('app.state', {}))).toMatchObject({ connections: [] });
  expect(await again.ask('connections.undoRemove', { id: all.id })).toEqual(failed('connection.unknown'));
});

test.each(['before', 'while'] as const)(
  'a lock that comes %s it is removed leaves nothing to undo',
  async (when) => {
    const all = await withConnection();
    const passphrase = obscured('correct horse battery');
    value(await all.app.ask('lock.setPassphrase', { current: obscured(''), next: passphrase }));
    const removing = all.app.ask('connections.remove', { id: all.id });
    if (when === 'before') value(await removing);
    all.app.away('screen-locked');
    await removing;
    expect(await all.app.ask('connections.undoRemove', { id: all.id })).toEqual(failed('app.locked'));
    value(await all.app.ask('lock.unlock', { passphrase }));
    expect(await all.app.ask('connections.undoRemove', { id: all.id })).toEqual(failed('connection.unknown'));
    expect(left(all)).toEqual(nothing);
  },
);
