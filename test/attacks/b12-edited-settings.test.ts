import fs from 'node:fs';
import { expect, test, vi } from 'vitest';
import { createServerIdentity } from '../../electron/built-in-service/certificate.ts';
import { failed } from '../../electron/contract/errors.ts';
import { defaultSettings } from '../../electron/contract/models/app.ts';
import { entryName } from '../../electron/storage/keychain-accounts.ts';
import { value } from '../support/audit-folder.ts';
import { acme, makeHome, secretsOfAcme, type EditedFile } from '../support/edited-home.ts';
import { fakeKeyring, type FakeKeyring } from '../support/fake-keyring.ts';
import { openSettingsFile } from '../support/settings-file.ts';
import { obscured, openWholeApp } from '../support/whole-app.ts';

/** What stops a connection whose secrets are there: the address answers nobody. */
const reached = 'service.unreachable';
const first = (file: EditedFile): Record<string, unknown> => file.connections[0] ?? {};
const { caPem } = await createServerIdentity();
const edits: Record<string, (file: EditedFile, id: string) => void> = {
  environment: (file) => (first(file)['environment'] = 'development'),
  'the address’s path': (file) => (first(file)['baseUrl'] = 'https://acme.example/other'),
  'the address’s host': (file) => (first(file)['baseUrl'] = 'https://evil.example'),
  authority: (file) => (first(file)['extraCa'] = caPem),
  limits: (file) => (first(file)['transfersPerDay'] = 1_000_000_000),
  'whose it is': (file) => (first(file)['builtIn'] = true),
  'the kind of a definition': (file) =>
    (first(file)['definitions'] = [{ name: 'card-number', label: 'Card', kind: 'text' }]),
  'given kinds': (file, id) => (file.kinds = { [id]: [{ name: 'card-number', kind: 'text' }] }),
  profile: (file, id) => (file.profiles = { [id]: { imported: null, fitted: { bareLists: true } } }),
  pins: (file, id) =>
    (file.profiles = { [id]: { imported: null, fitted: { pins: { 'acme.example': ['A'.repeat(44)] } } } }),
  'the seals, all removed': (file) => delete file.seals,
  'the seals, one removed': (file, id) => delete file.seals?.[id],
  'a record and the index': (file) => {
    first(file)['environment'] = 'test';
    file.keychainIndex = [];
  },
  'a record and a seal of another': (file, id) => {
    first(file)['environment'] = 'test';
    file.seals = { ...file.seals, [id]: file.seals?.['settings.lock'] ?? '' };
  },
};

test.each(Object.entries(edits))(
  'an edit of %s costs the secrets, is shown and audited',
  async (name, edit) => {
    const { id, open, stored, lines } = await makeHome();
    const app = await open((file) => {
      edit(file, id);
    });
    expect(await app.view()).toMatchObject({ changedOutside: true });
    const secret = { kind: 'apiKey' } as const;
    expect(await app.ask('connections.storeSecret', { id, secret, value: obscured('other') })).toEqual(
      failed('connection.changed'),
    );
    expect([stored(), lines('ChangedOutside')]).toEqual([0, expect.any(Number)]);
    expect(lines('ChangedOutside')).toBeGreaterThan(0);
    if (name === 'whose it is') return;
    expect(await app.use()).toBe(name === 'pins' ? 'connection.invalid' : 'connection.changed');
    // Saved by a person who has looked at it, it is used again.
    value(await app.ask('connections.save', { ...acme, id }));
    expect(await app.view()).not.toHaveProperty('changedOutside');
    value(await app.ask('connections.storeSecret', { id, secret, value: obscured('other') }));
    await app.close();
    expect(await (await open()).view()).not.toHaveProperty('changedOutside');
  },
);

test('one line, however often the app is started, and one more after another edit', async () => {
  const { open, lines } = await makeHome();
  await (await open((file) => (first(file)['environment'] = 'test'))).close();
  const again = await open();
  expect(await again.view()).toMatchObject({ changedOutside: true });
  await again.close();
  expect(lines('ChangedOutside')).toBe(1);
  await (await open((file) => (first(file)['environment'] = 'development'))).close();
  expect(lines('ChangedOutside')).toBe(2);
});

test('an edit that is taken back before a start was none', async () => {
  const { open, lines } = await makeHome();
  const app = await open((file) => {
    first(file)['environment'] = 'test';
    first(file)['environment'] = 'production';
  });
  expect([await app.use(), lines('ChangedOutside')]).toEqual([reached, 0]);
});

test('what this app writes, and names and notes whoever writes them, leave all as it is', async () => {
  const { id, open, lines, settings } = await makeHome();
  const app = await open((file) => (first(file)['name'] = 'Acme Ltd'));
  expect(await app.use()).toBe(reached);
  value(await app.ask('connections.save', { ...acme, id, name: 'Acme 2', requestsPerSecond: 5 }));
  const state = value(await app.ask('app.state', {}));
  if (!('settings' in state)) throw new Error('locked');
  value(await app.ask('settings.save', { ...state.settings, lockAfterMinutes: 5, theme: 'dark' }));
  await app.close();
  const file = JSON.parse(fs.readFileSync(settings(), 'utf8')) as EditedFile;
  expect(Object.keys(file.seals ?? {}).sort()).toEqual([id, 'settings.lock'].sort());
  const again = await open();
  expect([await again.use(), lines('ChangedOutside')]).toEqual([reached, 0]);
  expect(value(await again.ask('app.state', {}))).toMatchObject({ settings: { lockAfterMinutes: 5 } });
});

test('the lock’s settings are set back, with a line and a sentence', async () => {
  const { open, lines } = await makeHome();
  const app = await open((file) => {
    file.settings = { ...defaultSettings, caseRequired: false, revealSeconds: 60 };
  });
  expect(value(await app.ask('app.state', {}))).toMatchObject({
    settings: { caseRequired: true, revealSeconds: 20 },
    settingsDamage: { reason: 'changed' },
  });
  expect([lines('ChangedOutside'), await app.use()]).toEqual([1, reached]);
  await app.close();
  const again = await open();
  expect(value(await again.ask('app.state', {}))).toMatchObject({ settingsDamage: null });
  expect(lines('ChangedOutside')).toBe(1);
});

/** The key of the seals goes from the keyring, and from the settings file's list of entries. */
function removeKey({ entries }: FakeKeyring, file: EditedFile): void {
  for (const name of entries.keys()) if (name.endsWith(':secrets:key')) entries.delete(name);
  file.keychainIndex = file.keychainIndex.filter((name) => name !== 'secrets:key');
}

test.each<[string, (file: EditedFile, id: string) => void]>([
  ['nothing else', () => undefined],
  ['an address', (file) => (first(file)['baseUrl'] = 'https://evil.example')],
  ['an authority', (file) => (first(file)['extraCa'] = caPem)],
  [
    'the seal of a record with another address',
    (file, id) => {
      first(file)['baseUrl'] = 'https://evil.example';
      delete file.seals?.[id];
    },
  ],
  [
    'all seals',
    (file) => {
      first(file)['environment'] = 'development';
      delete file.seals;
    },
  ],
  ['the lock’s settings', (file) => (file.settings = { ...defaultSettings, caseRequired: false })],
])(
  'with the key of the seals gone, and %s changed, nothing is adopted: all waits for a person, with one line',
  async (_, edit) => {
    const { id, open, keyring, stored, lines } = await makeHome();
    const app = await open((file) => {
      removeKey(keyring, file);
      edit(file, id);
    });
    const state = value(await app.ask('app.state', {}));
    expect(state).toMatchObject({
      settingsDamage: { reason: 'lost' },
      settings: { caseRequired: true },
      connections: [{ changedOutside: true, apiKey: 'missing' }],
    });
    const secret = { kind: 'apiKey' } as const;
    // Nothing that is typed goes to an address that nobody has looked at.
    expect(await app.ask('connections.storeSecret', { id, secret, value: obscured('other') })).toEqual(
      failed('connection.changed'),
    );
    expect([await app.use(), stored(), lines('ChangedOutside')]).toEqual(['connection.changed', 0, 1]);
    await app.close();
    // It is said once, and what was waiting goes on waiting.
    const again = await open();
    expect([await again.use(), lines('ChangedOutside')]).toEqual(['connection.changed', 1]);
    expect(value(await again.ask('app.state', {}))).toMatchObject({ settingsDamage: null });
    value(await again.ask('connections.save', { ...acme, id }));
    value(await again.ask('connections.storeSecret', { id, secret, value: obscured('other') }));
    await again.close();
    expect([await (await open()).view(), lines('ChangedOutside')]).toEqual([
      expect.not.objectContaining({ changedOutside: true }),
      1,
    ]);
  },
);

test('nothing of a secret is in the keyring as it was typed, nor opens in another’s place', async () => {
  const { open, keyring, id } = await makeHome();
  const all = [...keyring.entries.values()].join('\n');
  for (const secret of secretsOfAcme) expect(all).not.toContain(secret);
  const [one = '', other = ''] = [...keyring.entries.keys()].filter((name) => name.includes(`:${id}:`));
  keyring.entries.set(one, keyring.entries.get(other) ?? '');
  expect(await (await open()).use()).toBe('credentials.missing');
});

test('on another machine the secrets are not there, which is said, and are entered again after a look', async () => {
  const { id, open, lines, enterSecrets } = await makeHome();
  const elsewhere = fakeKeyring();
  const app = await open(undefined, elsewhere);
  expect(await app.view()).toMatchObject({ apiKey: 'missing' });
  expect([await app.use(), lines('ChangedOutside')]).toEqual(['connection.changed', 1]);
  expect(value(await app.ask('app.state', {}))).toMatchObject({ settingsDamage: { reason: 'lost' } });
  value(await app.ask('connections.save', { ...acme, id }));
  await enterSecrets(app);
  expect(await app.use()).toBe(reached);
  await app.close();
  expect(await (await open(undefined, elsewhere)).use()).toBe(reached);
});

test('a settings file of yesterday fits: a backup is no alarm', async () => {
  const { id, open, lines, settings } = await makeHome();
  const yesterday = fs.readFileSync(settings());
  const app = await open();
  value(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 5 }));
  await app.close();
  fs.writeFileSync(settings(), yesterday);
  const restored = await open();
  expect([await restored.use(), lines('ChangedOutside')]).toEqual([reached, 0]);
  expect(await restored.view()).toMatchObject({ requestsPerSecond: 600 });
});

test('an earlier version’s home is taken over once: its secrets are encrypted, its records sealed', async () => {
  const { id, open, keyring, lines, settings } = await makeHome();
  // As the version before left it: secrets as they were typed, no key, no seals.
  const home = [...keyring.entries.keys()].find((name) => name.endsWith(':secrets:key'))?.split(':')[0] ?? '';
  for (const account of ['secrets:key', `connection-key:${id}`])
    keyring.entries.delete(entryName(home, account));
  const accounts = [...keyring.entries.keys()].filter((name) => name.includes(`:${id}:`));
  for (const name of accounts)
    keyring.entries.set(name, (name.includes(':policy-') ? secretsOfAcme[1] : secretsOfAcme[0]) ?? '');
  const app = await open((file) => {
    delete file.seals;
    file.keychainIndex = file.keychainIndex.filter((name) => name !== 'secrets:key');
  });
  expect([await app.use(), lines('ChangedOutside')]).toEqual([reached, 0]);
  const all = [...keyring.entries.values()].join('\n');
  for (const secret of secretsOfAcme) expect(all).not.toContain(secret);
  await app.close();
  expect(JSON.parse(fs.readFileSync(settings(), 'utf8'))).toHaveProperty(['seals', id]);
  const edited = await open((file) => delete file.seals);
  expect([await edited.view(), lines('ChangedOutside')]).toMatchObject([{ changedOutside: true }, 2]);
});

test('a process that ends between any two writes of the keyring or the file raises no alarm', async () => {
  for (let before = 0; ; before++) {
    const { id, open, keyring, lines, enterSecrets } = await makeHome();
    // As a start of this version after an earlier one: the key was made, and nothing has a seal.
    for (const [name, key] of keyring.entries)
      if (name.endsWith(':secrets:key')) keyring.entries.set(name, `${key} new`);
    const original = {
      setPassword: keyring.setPassword.bind(keyring),
      deletePassword: keyring.deletePassword.bind(keyring),
    };
    let left = before;
    /** What comes after the end of the process is written nowhere. */
    const isEnded = () => left-- <= 0;
    keyring.setPassword = (...given) => (isEnded() ? Promise.resolve() : original.setPassword(...given));
    keyring.deletePassword = (...given) =>
      isEnded() ? Promise.resolve(true) : original.deletePassword(...given);
    const app = await open((file) => delete file.seals, keyring, {
      openSettingsFile(options) {
        const file = openSettingsFile(options);
        return { path: file.path, set: (members) => (isEnded() ? undefined : file.set(members)) };
      },
    });
    value(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 7 }));
    value(await app.ask('settings.save', { ...defaultSettings, lockAfterMinutes: 3 }));
    value(await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured('correct horse') }));
    value(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 8 }));
    const current = obscured('correct horse');
    value(await app.ask('lock.setPassphrase', { current, next: obscured('') }));
    await app.close();
    const isOver = left >= 0;
    Object.assign(keyring, original);
    const next = await open();
    // A try that was begun counts, and the next one waits.
    await vi.waitFor(async () => value(await next.unlock('correct horse')), 5_000);
    expect([before, lines('ChangedOutside')]).toEqual([before, 0]);
    expect(await next.view()).toMatchObject({ apiKey: 'stored' });
    expect([before, await next.use()]).toEqual([before, reached]);
    await enterSecrets(next);
    await next.close();
    if (!isOver) continue;
    expect(before).toBeGreaterThan(10);
    return;
  }
}, 120_000);

test('without a keyring nothing changes: records need no seal, and secrets end with the run', async () => {
  const keyring = fakeKeyring();
  keyring.mood = 'gone';
  const app = await openWholeApp({ keyring });
  try {
    const { id } = value(await app.ask('connections.save', acme));
    const secret = { kind: 'apiKey' } as const;
    value(await app.ask('connections.storeSecret', { id, secret, value: obscured('typed') }));
    value(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 7 }));
    expect(value(await app.ask('app.state', {}))).toMatchObject({
      connections: [{ apiKey: 'memory', requestsPerSecond: 7 }],
    });
  } finally {
    await app.close();
  }
});

test('while the keychain is locked no record is changed; once it is open it is', async () => {
  const { id, open, keyring, lines } = await makeHome();
  keyring.mood = 'locked';
  const app = await open();
  // Whether there is a passphrase is not known either.
  expect(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 7 })).toEqual(
    failed('app.locked'),
  );
  keyring.mood = 'open';
  value(await app.unlock(''));
  value(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 7 }));
  expect([await app.use(), lines('ChangedOutside')]).toEqual([reached, 0]);
});

test('while a keyring that was there is gone no record is changed: no line can be signed', async () => {
  const { id, open, keyring } = await makeHome();
  keyring.mood = 'gone';
  const app = await open();
  expect(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 7 })).toMatchObject({
    failure: { code: 'audit.unwritable' },
  });
});
