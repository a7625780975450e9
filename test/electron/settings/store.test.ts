import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { Connection } from '../../../electron/contract/models/connection.ts';
import { defaultSettings } from '../../../electron/contract/models/app.ts';
import {
  settingsDocument,
  documentMigrations,
  documentVersion,
} from '../../../electron/settings/settings.ts';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  earlierSettings,
  hasSettings,
  isSettingsFile,
  settingsName,
} from '../../../electron/settings/file-names.ts';
import { createStore, type Migrations } from '../../../electron/settings/store.ts';
import { openSettingsFile } from '../../support/settings-file.ts';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'store-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const file = () => path.join(folder, 'desk.json');
const keptAs = 'desk.damaged-20260102T030405678Z.json';
const copy = () => path.join(folder, keptAs);
const mode = (name: string) => (fs.statSync(name).mode & 0o777).toString(8);
const onDisk = (name = 'desk.json') =>
  JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as Record<string, unknown>;
const put = (name: string, content: object | string) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  fs.writeFileSync(path.join(folder, name), text);
};
const otherCopy = 'desk.other-20260102T030405678Z.json';

function open(version = documentVersion, migrations: Migrations = documentMigrations) {
  return createStore({
    folder,
    name: settingsName,
    earlier: earlierSettings,
    shape: settingsDocument,
    version,
    migrations,
    openFile: openSettingsFile,
    now: () => new Date('2026-01-02T03:04:05.678Z'),
  });
}

const connection: Connection = {
  id: 'c1',
  name: 'Acme',
  environment: 'test',
  baseUrl: 'https://acme.example',
  builtIn: false,
  extraCa: null,
  clientCertificate: null,
  proxyUser: '',
  policies: ['p.with.dots'],
  definitions: [{ name: 'card', label: 'Card', kind: 'card' }],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
};

test('starts with the defaults and stores what is written, 0600', () => {
  const store = open();
  expect(store.damage).toBeNull();
  expect(store.read('settings')).toEqual(defaultSettings);
  expect(store.write('connections', [connection])).toEqual(done(null));
  expect(store.write('active', { connectionId: 'c1', policy: 'p.with.dots' })).toEqual(done(null));
  expect(mode(file())).toBe('600');
  const again = open();
  expect(again.damage).toBeNull();
  expect(again.read('connections')).toEqual([connection]);
  expect(again.read('active')).toEqual({ connectionId: 'c1', policy: 'p.with.dots' });
  expect(onDisk()['version']).toBe(documentVersion);
});

test('a file others could read is made private', () => {
  open().write('active', null);
  fs.chmodSync(file(), 0o644);
  open();
  expect(mode(file())).toBe('600');
});

test('a file of another user that can be read stops no start, and is replaced by one of this user', () => {
  open().write('active', { connectionId: 'c1', policy: 'p' });
  fs.chmodSync(file(), 0o644);
  // Root, who may run this, is refused nothing.
  const spy = vi.spyOn(fs, 'chmodSync').mockImplementation((name) => {
    if (name === file()) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
  });
  onTestFinished(() => spy.mockRestore());
  const store = open();
  expect(spy).toHaveBeenCalled();
  expect(store.damage).toBeNull();
  expect(store.read('active')).toEqual({ connectionId: 'c1', policy: 'p' });
  expect(store.write('active', null)).toEqual(done(null));
  expect(mode(file())).toBe('600');
});

test('a file that begins with a byte order mark is read and written as any other', () => {
  open().write('active', { connectionId: 'c1', policy: 'p' });
  fs.writeFileSync(file(), `\uFEFF${fs.readFileSync(file(), 'utf8')}`);
  const store = open();
  expect(store.damage).toBeNull();
  expect(store.read('active')).toEqual({ connectionId: 'c1', policy: 'p' });
  expect(store.write('connections', [connection])).toEqual(done(null));
  expect(onDisk()).toMatchObject({ active: { connectionId: 'c1' }, connections: [{ id: 'c1' }] });
});

test('what is read is a copy', () => {
  const store = open();
  store.read('settings').reasons.push('Changed outside');
  expect(store.read('settings')).toEqual(defaultSettings);
});

test.each(['', '{"settings":', 'null', '[]', '\u0000\u0000\u0000'])(
  'a file of %j is renamed and defaults are used',
  (text) => {
    fs.writeFileSync(file(), text);
    const store = open();
    expect(store.damage).toEqual({ reason: 'unreadable', keptAs });
    expect(fs.readFileSync(copy(), 'utf8')).toBe(text);
    expect(store.read('settings')).toEqual(defaultSettings);
    expect(store.write('active', null)).toEqual(done(null));
    expect(open().damage).toBeNull();
  },
);

test('a folder of that name is renamed with what is in it, and defaults are used', () => {
  fs.mkdirSync(file());
  fs.writeFileSync(path.join(file(), 'inside'), 'somebody’s');
  const store = open();
  expect(store.damage).toEqual({ reason: 'unreadable', keptAs });
  expect(fs.readFileSync(path.join(copy(), 'inside'), 'utf8')).toBe('somebody’s');
  expect(store.write('active', null)).toEqual(done(null));
  expect(open().damage).toBeNull();
});

test('a file that can’t be read at all is named', () => {
  put('desk.json', { version: documentVersion + 1 });
  const own = path.join(folder, `desk.version-${documentVersion}.json`);
  fs.mkdirSync(own);
  expect(open).toThrow(expect.objectContaining({ file: own, code: 'EISDIR' }));
});

test('a damaged member gets its default, the others stay, and the file is copied before', () => {
  const store = open();
  store.write('connections', [connection]);
  store.write('settings', { ...defaultSettings, revealSeconds: 10 });
  const text = JSON.stringify({
    ...onDisk(),
    settings: { ...defaultSettings, revealSeconds: 9_999 },
    connections: [{ ...connection, baseUrl: 'http://plain.example' }, connection],
  });
  fs.writeFileSync(file(), text);
  const again = open();
  expect(again.damage).toEqual({ reason: 'unfit', keptAs });
  expect(again.read('settings')).toEqual(defaultSettings);
  expect(again.read('connections')).toEqual([connection]);
  expect(fs.readFileSync(copy(), 'utf8')).toBe(text);
  expect(mode(copy())).toBe('600');
  expect(open().damage).toBeNull();
});

test('unfit settings on a full disk stop no start, and are not written over before there is a copy', () => {
  const text = JSON.stringify({ version: documentVersion, settings: 5, active: null });
  fs.writeFileSync(file(), text);
  // As a full disk leaves it.
  const spy = vi.spyOn(fs, 'copyFileSync').mockImplementation((_from, to) => {
    fs.writeFileSync(to, text.slice(0, 9));
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  onTestFinished(() => spy.mockRestore());
  for (let start = 0; start < 2; start++) {
    const store = open();
    expect(store.damage).toEqual({ reason: 'uncopied', keptAs: '' });
    expect(store.read('settings')).toEqual(defaultSettings);
    const written = store.write('active', { connectionId: 'c1', policy: 'p' });
    expect(written).toEqual(failed('file.disk-full', { subject: 'desk.json' }));
    expect([fs.readdirSync(folder), fs.readFileSync(file(), 'utf8')]).toEqual([['desk.json'], text]);
  }
  const store = open();
  spy.mockRestore();
  expect(store.write('active', { connectionId: 'c1', policy: 'p' })).toEqual(done(null));
  expect(fs.readFileSync(copy(), 'utf8')).toBe(text);
  expect(onDisk()).toMatchObject({ settings: defaultSettings, active: { connectionId: 'c1' } });
});

test('an older file is migrated step by step, and only once', () => {
  fs.writeFileSync(file(), JSON.stringify({ version: 1, old: ['c1'] }));
  const steps: number[] = [];
  const migrations: Migrations = {
    1: ({ old, ...rest }) => (steps.push(1), { ...rest, names: old }),
    2: ({ names, ...rest }) => (steps.push(2), { ...rest, keychainIndex: names }),
  };
  expect(open(3, migrations).read('keychainIndex')).toEqual(['c1']);
  expect(onDisk()['version']).toBe(3);
  expect(open(3, migrations).read('keychainIndex')).toEqual(['c1']);
  expect(steps).toEqual([1, 2]);
});

describe('a file of a newer version', () => {
  const newer = { version: documentVersion + 1, keychainIndex: ['c1'], settings: { future: true }, more: 1 };
  const own = `desk.version-${documentVersion}.json`;

  test('is left as it is, at every start and write; what fits is used, in a file of this version', () => {
    put('desk.json', newer);
    const before = fs.readFileSync(file());
    const store = open();
    expect(store.damage).toEqual({ reason: 'newer', keptAs: own });
    expect(store.read('keychainIndex')).toEqual(['c1']);
    expect(store.read('settings')).toEqual(defaultSettings);
    expect(store.write('settings', { ...defaultSettings, revealSeconds: 33 })).toEqual(done(null));
    const again = open();
    expect(again.damage).toEqual({ reason: 'newer', keptAs: own });
    expect(again.read('settings').revealSeconds).toBe(33);
    expect(again.read('keychainIndex')).toEqual(['c1']);
    expect(fs.readFileSync(file())).toEqual(before);
    expect(fs.readdirSync(folder).sort()).toEqual(['desk.json', own]);
    expect([mode(path.join(folder, own)), mode(file())]).toEqual(['600', '600']);
    expect(onDisk(own)['version']).toBe(documentVersion);
  });

  test('is used by the newer version as if nothing had been, and what was changed in between is kept', () => {
    put('desk.json', newer);
    open().write('keychainIndex', ['c2']);
    const steps: number[] = [];
    const migrations = { [documentVersion]: (one: object) => (steps.push(documentVersion), { ...one }) };
    const back = open(documentVersion + 1, migrations);
    expect(back.read('keychainIndex')).toEqual(['c1']);
    expect(steps).toEqual([]);
    expect(back.damage).toEqual({ reason: 'unfit', keptAs: `${otherCopy}, ${keptAs}` });
    expect(onDisk()).toMatchObject({ more: 1, version: documentVersion + 1 });
    expect(onDisk(otherCopy)).toMatchObject({ keychainIndex: ['c2'], version: documentVersion });
    // A second time back, this version starts from what the newer one has by then.
    back.write('keychainIndex', ['c3']);
    expect(open().read('keychainIndex')).toEqual(['c3']);
  });

  test('whose copy of this version is damaged is taken from once more', () => {
    put('desk.json', newer);
    put(own, '{"settings":');
    const store = open();
    expect(store.damage).toEqual({ reason: 'unreadable', keptAs });
    expect(store.read('keychainIndex')).toEqual(['c1']);
    expect(fs.readFileSync(copy(), 'utf8')).toBe('{"settings":');
  });
});

describe('the file of an earlier version, under the name that electron-store gives', () => {
  const v2 = { version: 2, keychainIndex: ['before'] };

  test('is adopted once, and its members are read', () => {
    put('config.json', v2);
    expect(hasSettings(folder)).toBe(true);
    fs.chmodSync(path.join(folder, 'config.json'), 0o644);
    const store = open();
    expect([store.damage, store.read('keychainIndex')]).toEqual([null, ['before']]);
    expect(fs.readdirSync(folder)).toEqual(['desk.json']);
    expect([mode(file()), onDisk()['version']]).toEqual(['600', documentVersion]);
    expect(hasSettings(folder)).toBe(true);
  });

  test('is migrated, also from version 1', () => {
    const { clientCertificate: _, proxyUser: __, ...old } = connection;
    put('config.json', { version: 1, connections: [old] });
    expect(open().read('connections')).toEqual([connection]);
  });

  test('is adopted and kept as damaged where it is cut off', () => {
    put('config.json', '{\n\t"connections": [');
    const store = open();
    expect(store.damage).toEqual({ reason: 'unreadable', keptAs });
    expect(fs.readFileSync(copy(), 'utf8')).toBe('{\n\t"connections": [');
    expect(store.read('settings')).toEqual(defaultSettings);
    expect(store.write('active', null)).toEqual(done(null));
    expect(open().damage).toBeNull();
  });

  test('is adopted and copied where a member does not fit', () => {
    put('config.json', { version: 2, keychainIndex: 'x', active: { connectionId: 'c1', policy: 'p' } });
    const store = open();
    expect(store.damage).toEqual({ reason: 'unfit', keptAs });
    expect(store.read('active')).toEqual({ connectionId: 'c1', policy: 'p' });
  });

  test.each([
    ['a file of this version', { version: documentVersion, keychainIndex: ['now'] }, ['now'], v2],
    ['one that no installed version has read', { version: 2, keychainIndex: ['x'] }, ['before'], null],
    ['a damaged one', '{"settings":', ['before'], null],
  ])('beside %s: one is used and the other kept', (_, present, index, kept) => {
    put('desk.json', present);
    put('config.json', v2);
    const store = open();
    expect(store.damage).toEqual({ reason: 'other', keptAs: otherCopy });
    expect(store.read('keychainIndex')).toEqual(index);
    const text = fs.readFileSync(path.join(folder, otherCopy), 'utf8');
    expect(text).toBe(typeof present === 'string' ? present : JSON.stringify(kept ?? present));
    expect([mode(path.join(folder, otherCopy)), fs.existsSync(path.join(folder, 'config.json'))]).toEqual([
      '600',
      false,
    ]);
    expect(open().damage).toBeNull();
  });

  test('damaged, beside an older one that can be read: that is used', () => {
    put('desk.json', v2);
    put('config.json', '{"settings":');
    const store = open();
    expect([store.damage, store.read('keychainIndex')]).toEqual([
      { reason: 'other', keptAs: otherCopy },
      ['before'],
    ]);
  });

  test.each([
    { version: 1, name: 'of another program' },
    { settings: {}, name: 'no version' },
    { version: 3, settings: {} },
    '// comments\n{"settings":',
    '{"servers":',
    '',
  ])('is not what another program has in a folder that a person named: %j', (content) => {
    put('config.json', content);
    const before = fs.readFileSync(path.join(folder, 'config.json'));
    expect(open().damage).toBeNull();
    expect(fs.readdirSync(folder)).toEqual(['config.json']);
    expect(fs.readFileSync(path.join(folder, 'config.json'))).toEqual(before);
  });

  test('is no folder', () => {
    fs.mkdirSync(path.join(folder, 'config.json'));
    expect(open().damage).toBeNull();
  });
});

test('every file that is made is known to what removes them', () => {
  put('config.json', { version: 2, keychainIndex: ['c1'] });
  put('desk.json', '{');
  open();
  put('desk.json', { version: documentVersion + 1 });
  open();
  put(`desk.version-${documentVersion}.json`, '{');
  open();
  const names = fs.readdirSync(folder);
  expect(names).toHaveLength(4);
  expect(names.filter((name) => !isSettingsFile(name))).toEqual([]);
});

test('the version is raised with the document: an older program would take another shape for its own', () => {
  const shape = Object.entries(settingsDocument).map(([key, { schema }]) => [
    key,
    z.toJSONSchema(schema, { unrepresentable: 'any' }),
  ]);
  const print = createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 16);
  // Where it differs, raise `documentVersion`, unless this one was never published, and note both here. A new version of
  // zod may write the same schema in another way.
  expect([documentVersion, print]).toEqual([4, '77fcb3c5192bb8c5']);
});

test('a file that is damaged while the app is open is not replaced by the one member that is written', () => {
  const store = open();
  store.write('connections', [connection]);
  put('desk.json', '{"settings":');
  expect(store.write('active', null)).toEqual(failed('file.unwritable', { subject: 'desk.json' }));
  expect(fs.readFileSync(file(), 'utf8')).toBe('{"settings":');
});

test.each([
  ['ENOSPC', 'file.disk-full'],
  ['EROFS', 'file.unwritable'],
] as const)(
  'a write that fails with %s is reported and changes nothing; the next one has all',
  (code, failure) => {
    put('desk.json', { version: 2, keychainIndex: ['c1'] });
    let isFull = true;
    const store = createStore({
      folder,
      name: settingsName,
      shape: settingsDocument,
      version: documentVersion,
      migrations: documentMigrations,
      openFile(options) {
        const opened = openSettingsFile(options);
        return {
          path: opened.path,
          set(members) {
            if (isFull) throw Object.assign(new Error('not written'), { code });
            opened.set(members);
          },
        };
      },
      now: () => new Date(),
    });
    expect(store.write('keychainIndex', ['c2'])).toEqual(failed(failure, { subject: 'desk.json' }));
    expect(store.read('keychainIndex')).toEqual(['c1']);
    expect(onDisk()['version']).toBe(2);
    isFull = false;
    expect(store.write('active', null)).toEqual(done(null));
    expect(onDisk()).toMatchObject({
      version: documentVersion,
      keychainIndex: ['c1'],
      settings: defaultSettings,
    });
  },
);

test('a value that does not fit is a bug, reported without the value', () => {
  const store = open();
  expect(() => store.write('keychainIndex', ['4111 1111 1111 1111'])).toThrow(
    /^Not a value of keychainIndex$/,
  );
});

test('connections of version 1 get no certificate and no proxy user, and stay otherwise the same', () => {
  const old: Record<string, unknown> = { ...connection };
  delete old['clientCertificate'];
  delete old['proxyUser'];
  fs.writeFileSync(file(), JSON.stringify({ version: 1, connections: [old] }));
  const store = open();
  expect(store.damage).toBeNull();
  expect(store.read('connections')).toEqual([connection]);
  expect(onDisk()).toMatchObject({ version: documentVersion, connections: [connection] });
});
