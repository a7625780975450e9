import fs from 'node:fs';
import path from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createServerIdentity } from '../../electron/built-in-service/certificate.ts';
import { failed, type Outcome } from '../../electron/contract/errors.ts';
import type { ManagedSettings } from '../../electron/contract/models/app.ts';
import type { Question } from '../../electron/platform/platform.ts';
import { createRecordCipher } from '../../electron/storage/encryption.ts';
import { entryName } from '../../electron/storage/keychain-accounts.ts';
import { value } from '../support/audit-folder.ts';
import { acme, makeHome, secretsOfAcme, type EditedFile, type HomeApp } from '../support/edited-home.ts';
import { failFrom } from '../support/failing-keyring.ts';
import { openSettingsFile } from '../support/settings-file.ts';
import { obscured } from '../support/whole-app.ts';

/** What stops a connection whose secrets are there: the address answers nobody. */
const reached = 'service.unreachable';
const { caPem } = await createServerIdentity();
const first = (file: EditedFile): Record<string, unknown> => file.connections[0] ?? {};
const foreign = { imported: { name: 'own.json', text: '{"version":1,"headers":{"X-To":"1"}}' }, fitted: {} };
const read = (file: string) => JSON.parse(fs.readFileSync(file, 'utf8')) as EditedFile;

/** The record of one connection as it once was, with its seal, in the file of now. */
function replay(id: string, old: EditedFile): (file: EditedFile) => void {
  return (file) => {
    file.connections = old.connections;
    file.profiles = old.profiles ?? {};
    file.seals = { ...file.seals, [id]: old.seals?.[id] ?? '' };
  };
}

async function importProfile(app: HomeApp, id: string, content: object) {
  const file = path.join(app.home, 'chosen.json');
  fs.writeFileSync(file, JSON.stringify({ version: 1, ...content }));
  app.choose(file);
  return app.ask('connections.importProfile', { id });
}

test.each([
  ['before', (file: EditedFile, copy: Record<string, unknown>) => file.connections.unshift(copy)],
  ['behind', (file: EditedFile, copy: Record<string, unknown>) => file.connections.push(copy)],
])('of two records with one id neither is used: a copy %s the genuine one', async (_where, put) => {
  const { id, open, lines, stored, enterSecrets } = await makeHome();
  const app = await open((file) => {
    put(file, { ...first(file), extraCa: caPem, environment: 'development' });
  });
  const state = value(await app.ask('app.state', {}));
  expect('connections' in state && state.connections).toMatchObject([{ id, changedOutside: true }]);
  expect([await app.use(), stored(), lines('ChangedOutside')]).toEqual(['connection.changed', 0, 1]);
  // Saved by a person there is one, and no other at the next start.
  value(await app.ask('connections.save', { ...acme, id }));
  await enterSecrets(app);
  await app.close();
  const again = await open();
  expect([await again.use(), lines('ChangedOutside')]).toEqual([reached, 1]);
});

test('an earlier record is not used with later secrets: the authority that was taken away', async () => {
  const { id, open, enterSecrets, settings, lines, stored } = await makeHome();
  const app = await open();
  value(await app.ask('connections.save', { ...acme, id, extraCa: caPem }));
  await enterSecrets(app);
  const old = read(settings());
  value(await app.ask('connections.save', { ...acme, id }));
  expect(await app.use()).toBe(reached);
  await app.close();
  const again = await open(replay(id, old));
  expect(await again.view()).toMatchObject({ changedOutside: true, apiKey: 'missing' });
  expect([await again.use(), stored(), lines('ChangedOutside')]).toEqual(['connection.changed', 0, 1]);
});

test.each(['is used', 'is let alone', 'is saved once more'])(
  'nor where the keychain failed at the end of the save, and the connection then %s',
  async (then) => {
    const { id, open, enterSecrets, settings, keyring } = await makeHome();
    const app = await open();
    value(await app.ask('connections.save', { ...acme, id, extraCa: caPem, policies: ['agent', 'old'] }));
    value(await app.ask('connections.choose', { id, policy: 'old' }));
    await enterSecrets(app);
    const old = read(settings());
    const original = keyring.setPassword.bind(keyring);
    let writes = 0;
    keyring.setPassword = (service, name, secret) =>
      name.includes('connection-key:') && writes++ > 0
        ? Promise.reject(new Error('The bus timed out'))
        : original(service, name, secret);
    // Its removal is not claimed before it is so; saved once more it is, or not.
    expect(await app.ask('connections.save', { ...acme, id })).toEqual(failed('connection.unsettled'));
    expect([writes, await app.view()]).toMatchObject([2, { extraCa: null }]);
    expect(value(await app.ask('app.state', {}))).toMatchObject({ active: { policy: 'agent' } });
    if (then === 'is saved once more') {
      expect(await app.ask('connections.save', { ...acme, id })).toEqual(failed('keychain.stalled'));
      keyring.setPassword = original;
      value(await app.ask('connections.save', { ...acme, id }));
    }
    // Till it is settled no secret is given out; whatever the keychain answers next settles it.
    if (then === 'is used') expect(await app.use()).toBe('keychain.stalled');
    keyring.setPassword = original;
    if (then === 'is used') expect(await app.use()).toBe(reached);
    if (then === 'is let alone') await app.ask('connections.test', { id: 'built-in', policy: 'agent' });
    await app.close();
    const again = await open(replay(id, old));
    expect(await again.view()).toMatchObject({ changedOutside: true, apiKey: 'missing' });
    expect(await again.use()).toBe('connection.changed');
  },
);

test('nor the record of a lower environment, nor one without the profile of today', async () => {
  const { id, open, settings, lines } = await makeHome();
  const app = await open();
  value(await app.ask('connections.remove', { id }));
  const made = value(await app.ask('connections.save', { ...acme, environment: 'development' })).id;
  const lower = read(settings());
  value(await app.ask('connections.save', { ...acme, id: made }));
  value(await importProfile(app, made, { headers: { 'X-Tenant': '1' } }));
  value(
    await app.ask('connections.storeSecret', { id: made, secret: { kind: 'apiKey' }, value: obscured('k') }),
  );
  const withProfile = read(settings());
  await app.close();
  const again = await open(replay(made, lower));
  expect([(await again.view())?.['changedOutside'], lines('ChangedOutside')]).toEqual([true, 1]);
  await again.close();
  const third = await open(replay(made, withProfile));
  expect((await third.view())?.['apiKey']).toBe('missing');
});

test('a record that was dealt with is found once more when it is put back under new secrets', async () => {
  const { id, open, enterSecrets, settings, lines, stored } = await makeHome();
  await (await open((file) => (first(file)['extraCa'] = caPem))).close();
  const evil = read(settings());
  const app = await open();
  value(await app.ask('connections.save', { ...acme, id }));
  await enterSecrets(app);
  await app.close();
  const again = await open(replay(id, evil));
  expect([await again.use(), stored(), lines('ChangedOutside')]).toEqual(['connection.changed', 0, 2]);
});

test('what a person changes keeps the secrets that it kept, over a restart', async () => {
  const { id, open, lines } = await makeHome({ platform: { confirm: () => Promise.resolve(true) } });
  const app = await open();
  const steps: (() => Promise<Outcome<unknown>>)[] = [
    () => app.ask('connections.save', { ...acme, id, baseUrl: 'https://acme.example/path' }),
    () => importProfile(app, id, { headers: { 'X-Tenant': '1' } }),
    () => app.ask('connections.save', { ...acme, id, requestsPerSecond: 5, name: 'Acme 2' }),
    () => app.ask('connections.removeProfile', { id, part: 'imported' }),
  ];
  for (const step of steps) {
    value(await step());
    expect(await app.use()).toBe(reached);
  }
  value(await importProfile(app, id, { headers: { 'X-Tenant': '2' } }));
  value(await app.ask('connections.remove', { id }));
  value(await app.ask('connections.undoRemove', { id }));
  expect([await app.use(), (await app.view())?.['profile']]).toEqual([
    reached,
    { name: 'chosen.json', fitted: [] },
  ]);
  await app.close();
  const again = await open();
  expect([await again.use(), lines('ChangedOutside')]).toEqual([reached, 0]);
});

test('a process that ends between any two writes of a profile leaves secrets that open', async () => {
  for (let before = 0; ; before++) {
    const { id, open, keyring, lines } = await makeHome({
      platform: { confirm: () => Promise.resolve(true) },
    });
    const original = keyring.setPassword.bind(keyring);
    let left = Infinity;
    const isEnded = () => left-- <= 0;
    keyring.setPassword = (...given) => (isEnded() ? Promise.resolve() : original(...given));
    const app = await open(undefined, keyring, {
      openSettingsFile(options) {
        const file = openSettingsFile(options);
        return { path: file.path, set: (members) => (isEnded() ? undefined : file.set(members)) };
      },
    });
    left = before;
    value(await importProfile(app, id, { headers: { 'X-Tenant': '1' } }));
    await app.close();
    const isOver = left >= 0;
    keyring.setPassword = original;
    const next = await open();
    expect([before, await next.use(), lines('ChangedOutside')]).toEqual([before, reached, 0]);
    await next.close();
    if (!isOver) continue;
    expect(before).toBeGreaterThan(2);
    return;
  }
}, 60_000);

const stripped = (id: string) => (file: EditedFile) => {
  file.keychainIndex = file.keychainIndex.filter((name) => !name.includes(id));
};

test('names that were taken out of the index hide no secret: none meets an added authority, or a profile', async () => {
  let asked = 0;
  const confirm = () => Promise.resolve((asked++, null));
  const { id, open, stored, settings } = await makeHome({ platform: { confirm } });
  const app = await open(stripped(id));
  expect(value(await importProfile(app, id, { headers: { 'X-To': '1' } }))).toBe(null);
  expect([asked, await app.use()]).toEqual([1, reached]);
  await app.close();
  const before = fs.readFileSync(settings());
  const lowered = await open(stripped(id));
  expect(await lowered.ask('connections.save', { ...acme, id, environment: 'test' })).toEqual(
    failed('connection.environment'),
  );
  value(await lowered.ask('connections.save', { ...acme, id, extraCa: caPem }));
  expect(await lowered.use()).toBe('credentials.missing');
  await lowered.close();
  fs.writeFileSync(settings(), before);
  // What is left has no key any more.
  expect(await (await open()).use()).toBe('credentials.missing');
  expect(stored()).toBe(0);
});

test('nor does one outlive the removal of its connection', async () => {
  const { id, open, stored, settings } = await makeHome();
  const yesterday = fs.readFileSync(settings());
  const app = await open(stripped(id));
  value(await app.ask('connections.remove', { id }));
  expect(stored()).toBe(0);
  await app.close();
  fs.writeFileSync(settings(), yesterday);
  expect(await (await open()).use()).toBe('credentials.missing');
});

test('of a record with another address the secrets are gone, though nothing names their place', async () => {
  const { id, open, lines, settings } = await makeHome();
  const yesterday = read(settings());
  const app = await open((file) => {
    stripped(id)(file);
    first(file)['baseUrl'] = 'https://evil.example';
  });
  expect(lines('ChangedOutside')).toBe(1);
  value(await app.ask('connections.save', { ...acme, id }));
  expect(await app.use()).toBe('credentials.missing');
  await app.close();
  const again = await open((file) => Object.assign(file, yesterday));
  expect(await again.use()).toBe('credentials.missing');
});

test('a save accepts no authority that an editor put in, where the administrator fixes them', async () => {
  const { id, open } = await makeHome({ managed: { extraCa: false } });
  const app = await open((file) => (first(file)['extraCa'] = caPem));
  expect(await app.ask('connections.save', { ...acme, id, extraCa: caPem })).toEqual(
    failed('settings.managed', { subject: 'extraCa' }),
  );
  value(await app.ask('connections.save', { ...acme, id }));
  expect(await app.view()).toMatchObject({ extraCa: null });
});

test('the line of a save names the authority that an editor put in', async () => {
  const { id, open, place } = await makeHome();
  const app = await open((file) => (first(file)['extraCa'] = caPem));
  value(await app.ask('connections.save', { ...acme, id, extraCa: caPem }));
  const log = fs
    .readdirSync(path.join(place.home, 'audit'))
    .map((name) => fs.readFileSync(path.join(place.home, 'audit', name), 'utf8'))
    .join('');
  expect(log).toMatch(/"SaveConnection".*trusts SHA-256/);
});

test('nor a profile or kinds, which its form does not show', async () => {
  const { id, open, enterSecrets } = await makeHome({ managed: { profileImport: false } });
  const app = await open((file) => {
    file.profiles = { [id]: foreign };
    file.kinds = { [id]: [{ name: 'card-number', kind: 'text' }] };
  });
  value(await app.ask('connections.save', { ...acme, id }));
  await enterSecrets(app);
  const shown = { profile: { name: null, fitted: [] }, definitions: acme.definitions };
  expect([await app.use(), await app.view()]).toMatchObject([reached, shown]);
  await app.close();
  expect(await (await open()).view()).toMatchObject(shown);
});

test('nor a start, for a connection that is provided', async () => {
  const { id, open, enterSecrets } = await makeHome({ managed: { profileImport: false } });
  const { id: _, ...provided } = acme;
  const deployment = {
    format: 'tokendesk-connections' as const,
    version: 1 as const,
    connections: [provided],
    mappings: [],
  };
  const app = await open(
    (file) => {
      file.profiles = { [id]: foreign };
      first(file)['requestsPerSecond'] = 599;
    },
    undefined,
    { deployment },
  );
  expect(await app.view()).toMatchObject({ id, requestsPerSecond: 600, profile: { name: null } });
  await enterSecrets(app);
  expect([await app.use(), await app.view()]).toMatchObject([reached, { profile: { name: null } }]);
});

test('nor a save that could not be written', async () => {
  const { id, open } = await makeHome();
  let isFull = false;
  const app = await open((file) => (first(file)['extraCa'] = caPem), undefined, {
    openSettingsFile(options) {
      const file = openSettingsFile(options);
      return {
        path: file.path,
        set(members) {
          if (isFull) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
          file.set(members);
        },
      };
    },
  });
  isFull = true;
  expect(await app.ask('connections.save', { ...acme, id })).toMatchObject({
    failure: { code: 'file.disk-full' },
  });
  isFull = false;
  expect([await app.use(), await app.view()]).toMatchObject(['connection.changed', { changedOutside: true }]);
});

test('a removal that fails on the way leaves the connection with its secrets', async () => {
  const { id, open, keyring, stored } = await makeHome();
  const app = await open();
  const original = keyring.deletePassword.bind(keyring);
  onTestFinished(() => void (keyring.deletePassword = original));
  let removed = 0;
  keyring.deletePassword = (service, name) =>
    name.includes(id) && ++removed >= 2 ? Promise.reject(new Error('broken')) : original(service, name);
  expect(await app.ask('connections.remove', { id })).toMatchObject({ ok: false });
  keyring.deletePassword = original;
  expect([stored(), await app.use()]).toEqual([2, reached]);
});

test.each(['the keyring is back', 'a person enters one', 'the app is locked'])(
  'a removal during which the keyring goes away says so, until %s',
  async (until) => {
    const { id, open, keyring, stored, enterSecrets } = await makeHome();
    // Each call in one of the three, every third in the others.
    for (let number = 0; ; number += until === 'the keyring is back' ? 1 : 3) {
      const app = await open();
      const { restore } = failFrom(keyring, number, id);
      const gone = await app.ask('connections.remove', { id });
      if (gone.ok) {
        restore();
        expect(number).toBeGreaterThan(3);
        return;
      }
      const { code } = gone.failure;
      const left = stored();
      if (until === 'the app is locked') await app.ask('lock.now', {});
      restore();
      if (until === 'the app is locked') await app.ask('lock.unlock', { passphrase: obscured('') });
      if (until === 'a person enters one') await enterSecrets(app);
      // Whatever is asked next finds the keyring again, and what was taken is put back.
      const used = await app.use();
      const isLost = until === 'the app is locked' && left < 2;
      const found = [number, code, used, stored()];
      if (isLost)
        expect(found).toEqual([number, code, expect.stringMatching(/^credentials|^connection/), left]);
      else expect(found).toEqual([number, expect.stringMatching(/half-removed|^keychain/), reached, 2]);
      if (isLost) await enterSecrets(app);
      await app.close();
    }
  },
);

test.each<[string, (app: HomeApp, id: string) => Promise<unknown>]>([
  ['authority', (app, id) => app.ask('connections.save', { ...acme, id, extraCa: caPem })],
  ['profile that nobody agreed to', (app, id) => importProfile(app, id, { headers: { 'X-To': '1' } })],
])('nor are secrets that it took put back to an added %s', async (what, change) => {
  let asked = 0;
  const { id, open, keyring, stored } = await makeHome({
    platform: { confirm: () => Promise.resolve((asked++, null)) },
  });
  const app = await open();
  // One secret alone: nothing else tells that the connection has any.
  for (const name of keyring.entries.keys())
    if (name.includes(`:${id}:`) && name.includes(':policy-')) keyring.entries.delete(name);
  const original = keyring.deletePassword.bind(keyring);
  let restore = (): void => undefined;
  keyring.deletePassword = async (service, name) => {
    const isGone = await original(service, name);
    // Once it is gone, the keyring is away.
    if (isGone && name.includes(`:${id}:`)) ({ restore } = failFrom(keyring, 0, id));
    return isGone;
  };
  expect(await app.ask('connections.remove', { id })).toEqual(failed('connection.half-removed'));
  if (what === 'authority') expect(await change(app, id)).toEqual(failed('connection.half-removed'));
  expect(stored()).toBe(0);
  restore();
  keyring.deletePassword = original;
  await change(app, id);
  expect([await app.use(), asked, stored()]).toEqual([
    'credentials.missing',
    ...(what === 'authority' ? [0, 0] : [1, 1]),
  ]);
  expect((await app.view())?.['profile']).toMatchObject({ name: null });
});

test('a removal that can’t be written leaves the connection with its secrets', async () => {
  const { id, open, stored } = await makeHome();
  let isFull = false;
  const app = await open(undefined, undefined, {
    openSettingsFile(options) {
      const file = openSettingsFile(options);
      return {
        path: file.path,
        set(members) {
          if (isFull) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
          file.set(members);
        },
      };
    },
  });
  isFull = true;
  expect(await app.ask('connections.remove', { id })).toMatchObject({ failure: { code: 'file.disk-full' } });
  isFull = false;
  expect([stored(), await app.use()]).toEqual([2, reached]);
});

test.each([
  ['stored', (app: HomeApp, id: string) => app.ask('connections.storeSecret', { id, ...typedKey() })],
  ['removed', (app: HomeApp, id: string) => app.ask('connections.remove', { id })],
])('where the keyring is away for a moment, nothing is %s, and nothing written in clear', async (_, act) => {
  const { id, open, keyring, stored } = await makeHome();
  const app = await open();
  expect(await app.use()).toBe(reached);
  const original = keyring.getPassword.bind(keyring);
  onTestFinished(() => void (keyring.getPassword = original));
  let isAway = true;
  keyring.getPassword = (service, account) => {
    if (!isAway || !account.includes('connection-key')) return original(service, account);
    isAway = false;
    return Promise.reject(new Error('The bus timed out'));
  };
  expect(await act(app, id)).toMatchObject({ failure: { code: 'keychain.stalled' } });
  expect(isAway).toBe(false);
  expect([...keyring.entries.values()].join('\n')).not.toContain('typed-in-clear');
  expect([stored(), await app.use()]).toEqual([2, reached]);
});

const typedKey = () => ({ secret: { kind: 'apiKey' } as const, value: obscured('typed-in-clear') });

test.each([
  ['', () => {}],
  [
    ', one that the index has lost too',
    (file: EditedFile) =>
      void (file.keychainIndex = file.keychainIndex.filter((name) => !name.endsWith(':apiKey'))),
  ],
  [', also where it has lost all', (file: EditedFile) => void (file.keychainIndex = [])],
])(
  'secrets from before connections had keys are taken over, all of a connection at once%s',
  async (_, edit) => {
    const { id, open, keyring } = await makeHome();
    const entry = [...keyring.entries].find(([name]) => name.endsWith(':secrets:key'));
    const [home = ''] = (entry?.[0] ?? '').split(':');
    const cipher = createRecordCipher(Buffer.from(entry?.[1] ?? '', 'base64'), 'keychain');
    keyring.entries.delete(entryName(home, `connection-key:${id}`));
    for (const name of [...keyring.entries.keys()].filter((one) => one.includes(`:${id}:`))) {
      const secret = deflateRawSync(secretsOfAcme[name.includes(':policy-') ? 1 : 0] ?? '');
      keyring.entries.set(
        name,
        `encrypted:${cipher.encrypt(secret, name.slice(home.length + 1)).toString('base64')}`,
      );
    }
    const before = new Map(keyring.entries);
    const app = await open(edit);
    expect(await app.use()).toBe(reached);
    await app.close();
    for (const [name, text] of keyring.entries) if (name.includes(`:${id}:`)) expect(text).toMatch(/^bound:/);
    // From then on one in that form opens no more.
    for (const [name, text] of before) if (name.includes(`:${id}:`)) keyring.entries.set(name, text);
    expect(await (await open()).use()).toBe('credentials.missing');
  },
);

/** A connection whose imported profile pins keys. */
async function pinned(managed: ManagedSettings = {}) {
  const asked: Question[] = [];
  const answers = { agrees: true };
  const confirm = (question: Question) => {
    asked.push(question);
    return Promise.resolve(answers.agrees ? (true as const) : null);
  };
  const keys = ['A', 'B'].map((letter) => `${letter.repeat(43)}=`);
  const { id: _, ...draft } = acme;
  const profile = {
    name: 'pinned.json',
    content: { version: 1, pins: { 'acme.example': keys } },
    fitted: {},
  };
  const deployment = {
    format: 'tokendesk-connections' as const,
    version: 1 as const,
    connections: [{ ...draft, profile }],
    mappings: [],
  };
  const home = await makeHome({ managed, platform: { confirm } });
  const app = await home.open(undefined, undefined, { deployment });
  await home.enterSecrets(app);
  return { ...home, app, asked, answers };
}

test('pins go by a dialog that names their host, however the profile goes', async () => {
  const { id, app, asked, answers, stored } = await pinned();
  answers.agrees = false;
  const remove = () => app.ask('connections.removeProfile', { id, part: 'imported' });
  expect(value(await remove())).toMatchObject({ name: 'pinned.json' });
  expect(value(await importProfile(app, id, {}))).toBe(null);
  for (const { detail } of asked)
    expect(detail).toContain('Hosts whose keys are not compared any more: acme.example');
  expect([asked.length, stored()]).toEqual([2, 2]);
  answers.agrees = true;
  expect(value(await remove())).toMatchObject({ name: null });
  expect([asked.length, await app.use()]).toEqual([3, reached]);
});

test('an administrator’s pins of a provided connection are not taken away where profiles are theirs', async () => {
  const { id, app, asked } = await pinned({ profileImport: false });
  expect(await app.ask('connections.removeProfile', { id, part: 'imported' })).toEqual(
    failed('settings.managed', { subject: 'profileImport' }),
  );
  expect([asked, await app.view()]).toMatchObject([[], { profile: { name: 'pinned.json' } }]);
});

test('a record with the built-in service’s id is that one’s, or none', async () => {
  const { open, keyring } = await makeHome({ managed: { builtInService: false } });
  const app = await open((file) => {
    file.connections.push({ ...first(file), id: 'built-in', name: 'Other', baseUrl: 'https://evil.example' });
  });
  const secret = { kind: 'apiKey' } as const;
  expect(
    await app.ask('connections.storeSecret', { id: 'built-in', secret, value: obscured('typed') }),
  ).toEqual(failed('connection.unknown'));
  expect([...keyring.entries.values()]).not.toContain('typed');
});

test('an undo that the lock overtakes stores no more', async () => {
  const { id, open, keyring, stored } = await makeHome();
  const app = await open();
  value(await app.ask('connections.remove', { id }));
  const original = keyring.setPassword.bind(keyring);
  onTestFinished(() => void (keyring.setPassword = original));
  let isLocked = false;
  keyring.setPassword = async (service, name, secret) => {
    if (name.includes(`:${id}:`) && !isLocked) {
      isLocked = true;
      await app.ask('lock.now', {});
    }
    return original(service, name, secret);
  };
  expect((await app.ask('connections.undoRemove', { id })).ok).toBe(false);
  expect([isLocked, stored()]).toEqual([true, 1]);
});
