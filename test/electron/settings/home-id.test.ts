import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { defaultSettings, type AppState } from '../../../electron/contract/models/app.ts';
import { folderEntry, keychainEntry, readHomeId, storeHomeId } from '../../../electron/settings/home-id.ts';
import { createKeychain, entryName } from '../../../electron/storage/keychain.ts';
import type { KeyringBackend } from '../../../electron/storage/keytar.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { valueOf } from '../../support/batch-app.ts';
import { fakeKeyring, testEntry, testHomeId } from '../../support/fake-keyring.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { obscured, openWholeApp, type WholeApp, type WholeAppOptions } from '../../support/whole-app.ts';

const idFile = (home: string) => path.join(home, 'home-id');
const idOf = (home: string) => fs.readFileSync(idFile(home), 'utf8').split('\n')[0] ?? '';
const mode = (file: string) => (fs.statSync(file).mode & 0o777).toString(8);

async function opened(home: string, keyring = fakeKeyring(), usualHome = home, more?: WholeAppOptions) {
  const app = await openWholeApp({ home, keyring, options: { usualHome }, ...more });
  onTestFinished(() => app.close());
  return app;
}

/** How the log was found: an act that is recorded waits until it is open. Unlocks the app where it is locked. */
async function auditOf(app: WholeApp): Promise<AppState['audit']> {
  const { lock } = valueOf(await app.ask('app.state', {}));
  if (lock.locked) valueOf(await app.ask('lock.unlock', { passphrase: obscured('correct horse') }));
  valueOf(await app.ask('settings.save', defaultSettings));
  return (valueOf(await app.ask('app.state', {})) as AppState).audit;
}

/** A folder and the keyring as a version without identities left them: a line in the log, a passphrase. */
async function before() {
  const home = tempFolder();
  const keyring = fakeKeyring();
  const app = await openWholeApp({ home, keyring });
  valueOf(await app.ask('settings.save', defaultSettings));
  valueOf(await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured('correct horse') }));
  await app.close();
  const prefix = entryName(idOf(home), '');
  const plain = Array.from(keyring.entries, ([name, secret]) => [name.replace(prefix, ''), secret] as const);
  keyring.entries.clear();
  for (const [name, secret] of plain) if (name !== folderEntry(home)) keyring.entries.set(name, secret);
  fs.rmSync(idFile(home));
  const names = [...keyring.entries.keys()].sort();
  return { home, keyring, plain: new Map(keyring.entries), names };
}

const namesUnder = (keys: Iterable<string>, home: string): string[] =>
  [...keys]
    .filter((name) => name.startsWith(entryName(idOf(home), '')))
    .map((name) => name.slice(entryName(idOf(home), '').length))
    .sort();

test('a folder gets an identity once, for this user alone, and every entry has it', async () => {
  const home = tempFolder();
  const { keyring, ...app } = await opened(home);
  await app.close();
  const text = fs.readFileSync(idFile(home), 'utf8');
  expect(text).toMatch(/^[0-9a-f]{32}\n$/);
  expect(mode(idFile(home))).toBe('600');
  expect(keyring.entries.size).toBeGreaterThan(1);
  expect(namesUnder(keyring.entries.keys(), home)).toHaveLength(keyring.entries.size - 1);
  expect(keyring.entries.get(folderEntry(home))).toBe(idOf(home));
  expect(keychainEntry(home, 'audit:key')).toBe(entryName(idOf(home), 'audit:key'));
  await (await opened(home, keyring)).close();
  expect(fs.readFileSync(idFile(home), 'utf8')).toBe(text);
  expect(fs.existsSync(`${idFile(home)}.partial`)).toBe(false);
});

test('two folders with one keyring: neither knows the other’s log or passphrase', async () => {
  const [first, second] = [tempFolder(), tempFolder()];
  const keyring = fakeKeyring();
  for (let start = 0; start < 2; start++)
    for (const home of [first, second]) {
      const app = await opened(home, keyring, first);
      if (start === 0 && home === first)
        valueOf(
          await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured('correct horse') }),
        );
      const { lock } = valueOf(await app.ask('app.state', {}));
      expect([start, home, lock.locked]).toEqual([start, home, home === first && start === 1]);
      expect([start, home, await auditOf(app)]).toEqual([start, home, 'ready']);
      await app.close();
    }
});

test('entries of before are taken over once, under their new names', async () => {
  const { home, keyring, plain, names } = await before();
  expect(keychainEntry(home, 'audit:key')).toBe('audit:key');
  const app = await opened(home, keyring);
  expect(await auditOf(app)).toBe('ready');
  await app.close();
  expect(namesUnder(keyring.entries.keys(), home)).toEqual(names);
  expect(keyring.entries.size).toBe(names.length + 1);
  const key = keyring.entries.get(entryName(idOf(home), 'audit:key'));
  expect(key).toBe(plain.get('audit:key'));
  // Settled: what stands under such a name later is not taken.
  expect(fs.readFileSync(idFile(home), 'utf8')).toBe(`${idOf(home)}\n`);
  keyring.entries.set('audit:key', 'another');
  await (await opened(home, keyring)).close();
  expect([keyring.entries.get('audit:key'), keyring.entries.get(entryName(idOf(home), 'audit:key'))]).toEqual(
    ['another', key],
  );
});

test('entries of before are taken over although the settings that name them are lost', async () => {
  const { home, keyring, names } = await before();
  fs.writeFileSync(path.join(home, 'desk.json'), '{"settings":');
  const app = await opened(home, keyring);
  expect(await auditOf(app)).toBe('ready');
  expect(namesUnder(keyring.entries.keys(), home)).toEqual(names);
});

test('a second folder takes nothing over: not a new one, nor one of before that is opened first', async () => {
  const { home, keyring, plain } = await before();
  const [fresh, second] = [tempFolder(), tempFolder()];
  fs.cpSync(home, second, { recursive: true });
  for (const other of [fresh, second]) {
    await (await opened(other, keyring, home)).close();
    expect(idOf(other)).not.toBe('');
    for (const [name, secret] of plain) expect([name, keyring.entries.get(name)]).toEqual([name, secret]);
  }
  const app = await opened(home, keyring);
  expect(await auditOf(app)).toBe('ready');
});

test('a folder that is always named takes over where the usual one has nothing of before', async () => {
  const { home, keyring } = await before();
  const app = await opened(home, keyring, tempFolder());
  expect(await auditOf(app)).toBe('ready');
});

test('with the keyring locked at that start, they are taken over when it is open', async () => {
  const { home, keyring, plain, names } = await before();
  keyring.mood = 'locked';
  const locked = await opened(home, keyring);
  await locked.close();
  expect(keyring.entries).toEqual(plain);
  // In another start, and in the same one.
  keyring.mood = 'locked';
  const app = await opened(home, keyring);
  keyring.mood = 'open';
  valueOf(await app.ask('lock.unlock', { passphrase: obscured('correct horse') }));
  await app.close();
  expect(namesUnder(keyring.entries.keys(), home)).toEqual(names);
  expect(keyring.entries.get(entryName(idOf(home), 'audit:key'))).toBe(plain.get('audit:key'));
});

test('a process that ends after any of the keyring’s calls leaves nothing lost', async () => {
  const secrets = { 'audit:key': 'k1', 'c1:apiKey': 's1', 'lock:verifier': 'v1' };
  const accounts = ['c1:apiKey', 'audit:key', 'lock:verifier', 'audit:anchor'];
  const take = (keyring: KeyringBackend) =>
    createKeychain({
      load: () => Promise.resolve(keyring),
      clock: systemClock,
      index: { read: () => [], write: () => undefined },
      homeId: testHomeId,
      settle: { folder: 'home:1', earlier: accounts, onSettled: () => Promise.resolve() },
    });
  let isWhole = false;
  const isCut = () => !isWhole;
  for (let calls = 0; isCut(); calls++) {
    const keyring = fakeKeyring(secrets);
    let left = calls;
    const ended = new Promise<void>((resolve) => {
      // A process that was killed never hears of the answer.
      const until =
        <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
        (...args: A): Promise<T> => {
          if (left-- > 0) return call(...args);
          resolve();
          return new Promise(() => undefined);
        };
      const killed = take({
        getPassword: until((...call) => keyring.getPassword(...call)),
        setPassword: until((...call) => keyring.setPassword(...call)),
        deletePassword: until((...call) => keyring.deletePassword(...call)),
      });
      void killed.read('c1:apiKey').then(() => {
        isWhole = true;
        resolve();
      });
    });
    await ended;
    const next = take(keyring);
    for (const [account, secret] of Object.entries(secrets))
      expect([calls, account, await next.read(account)]).toEqual([calls, account, done(secret)]);
    expect(await next.read('audit:anchor')).toEqual(failed('credentials.missing'));
    const names = [...keyring.entries.keys()].filter(
      (name) => ![testEntry('probe'), 'home:1'].includes(name),
    );
    expect([calls, names.sort()]).toEqual([calls, Object.keys(secrets).map(testEntry).sort()]);
  }
});

test('nothing is answered before entries of before are taken over, and no key is made in the meantime', async () => {
  const keyring = fakeKeyring({ 'audit:key': Buffer.alloc(32, 7).toString('base64') });
  keyring.mood = 'locked';
  const index = { names: [] as readonly string[] };
  const keychain = createKeychain({
    load: () => Promise.resolve(keyring),
    clock: systemClock,
    index: { read: () => index.names, write: (names) => (index.names = names) },
    homeId: testHomeId,
    settle: { folder: 'home:1', earlier: ['audit:key'], onSettled: () => Promise.resolve() },
  });
  expect(await keychain.key('audit:key')).toEqual(failed('keychain.locked'));
  expect(await keychain.read('new')).toEqual(failed('keychain.locked'));
  expect(await keychain.store('new', 'x')).toEqual(failed('keychain.locked'));
  expect(await keychain.remove('new')).toEqual(failed('keychain.locked'));
  keyring.mood = 'open';
  expect(await keychain.key('audit:key')).toEqual(done(new Uint8Array(32).fill(7)));
  expect(index.names).toEqual(['audit:key']);
});

test('without a keyring, an app with data of before works in memory', async () => {
  const { home, keyring } = await before();
  keyring.mood = 'gone';
  const app = await opened(home, keyring);
  expect(await app.ask('app.state', {})).toMatchObject({ ok: true });
  expect(readHomeId(home, home)).toMatchObject({ isOwed: true, isStored: true });
});

test('a damaged identity is kept beside the new one', async () => {
  const home = tempFolder();
  fs.writeFileSync(idFile(home), '\0\0\0');
  fs.writeFileSync(path.join(home, 'desk.json'), '{}');
  const found = readHomeId(home, home);
  expect(found).toMatchObject({ isOwed: false, isStored: false });
  expect(await storeHomeId(home, found)).toEqual(done(null));
  expect(readHomeId(home, home)).toEqual({ ...found, isStored: true });
  expect(fs.readFileSync(`${idFile(home)}.damaged`, 'utf8')).toBe('\0\0\0');
});

test.each([
  ['taken away', null],
  ['replaced', `${'5'.repeat(32)}\n`],
])('whoever has the identity %s does not hide that the log is gone', async (_, text) => {
  const { home, keyring, ...first } = await opened(tempFolder());
  valueOf(await first.ask('settings.save', defaultSettings));
  await first.close();
  const id = idOf(home);
  for (const name of ['audit', 'checkpoints', 'home-id'])
    fs.rmSync(path.join(home, name), { recursive: true, force: true });
  if (text !== null) fs.writeFileSync(idFile(home), text);
  const app = await opened(home, keyring);
  expect(await auditOf(app)).toBe('broken');
  expect(idOf(home)).toBe(id);
});

test('a folder that was moved keeps its entries', async () => {
  const { home, keyring, ...first } = await opened(tempFolder());
  valueOf(await first.ask('settings.save', defaultSettings));
  await first.close();
  const moved = path.join(tempFolder(), 'moved');
  fs.cpSync(home, moved, { recursive: true });
  fs.rmSync(home, { recursive: true });
  const app = await opened(moved, keyring, home);
  expect(await auditOf(app)).toBe('ready');
  expect(keyring.entries.get(folderEntry(moved))).toBe(idOf(moved));
});
