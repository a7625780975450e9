import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Conf from 'conf';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { Connection } from '../../../electron/contract/models/connection.ts';
import { defaultSettings } from '../../../electron/contract/models/app.ts';
import {
  settingsDocument,
  documentMigrations,
  documentVersion,
} from '../../../electron/settings/settings.ts';
import { createStore, type ConfOptions, type Migrations } from '../../../electron/settings/store.ts';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'store-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const file = () => path.join(folder, 'desk.json');
const keptAs = 'desk.damaged-20260102T030405678Z.json';
const copy = () => path.join(folder, keptAs);
const mode = (name: string) => (fs.statSync(name).mode & 0o777).toString(8);
const onDisk = () => JSON.parse(fs.readFileSync(file(), 'utf8')) as Record<string, unknown>;

function open(version = documentVersion, migrations: Migrations = documentMigrations) {
  return createStore({
    folder,
    name: 'desk',
    shape: settingsDocument,
    version,
    migrations,
    conf: (options: ConfOptions) => new Conf(options),
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

test('a file of a newer version is copied before this one writes its own', () => {
  const text = JSON.stringify({ version: 9, keychainIndex: ['c1'], future: true });
  fs.writeFileSync(file(), text);
  const store = open();
  expect(store.damage).toEqual({ reason: 'newer', keptAs });
  expect(fs.readFileSync(copy(), 'utf8')).toBe(text);
  expect(store.read('keychainIndex')).toEqual(['c1']);
});

test('a write that fails is reported and changes nothing', () => {
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const store = createStore({
    folder,
    name: 'desk',
    shape: settingsDocument,
    version: 1,
    migrations: {},
    conf: () => ({
      store: {},
      set() {
        throw full;
      },
    }),
    now: () => new Date(),
  });
  expect(store.write('keychainIndex', ['c1'])).toEqual(failed('file.disk-full', { subject: 'desk.json' }));
  expect(store.read('keychainIndex')).toEqual([]);
});

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
