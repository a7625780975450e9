import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { defaultSettings, type AppState } from '../../../electron/contract/models/app.ts';
import {
  folderEntry,
  keychainEntry,
  readHomeId,
  settleHome,
  storeHomeId,
} from '../../../electron/settings/home-id.ts';
import { entryName } from '../../../electron/storage/keychain-accounts.ts';
import { createKeychain } from '../../../electron/storage/keychain.ts';
import type { KeyringBackend } from '../../../electron/storage/keytar.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { valueOf } from '../../support/batch-app.ts';
import { failAt, saysNothing } from '../../support/failing-keyring.ts';
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
  for (const [name, secret] of plain)
    if (![folderEntry(home), 'folder'].includes(name)) keyring.entries.set(name, secret);
  fs.rmSync(idFile(home));
  const names = [...keyring.entries.keys()].sort();
  return { home, keyring, plain: new Map(keyring.entries), names };
}

const namesUnder = (keys: Iterable<string>, home: string): string[] =>
  [...keys]
    .filter((name) => name.startsWith(entryName(idOf(home), '')))
    .map((name) => name.slice(entryName(idOf(home), '').length))
    .filter((name) => name !== 'folder')
    .sort();

/** Behind the key of the log is its end, which moves at every start. */
const keyOf = (secret: string | undefined): string | undefined => secret?.split(' ')[0];

test('a folder gets an identity once, for this user alone, and every entry has it', async () => {
  const home = tempFolder();
  const { keyring, ...app } = await opened(home);
  await app.close();
  const text = fs.readFileSync(idFile(home), 'utf8');
  expect(text).toMatch(/^[0-9a-f]{32}\n$/);
  expect(mode(idFile(home))).toBe('600');
  expect(keyring.entries.size).toBeGreaterThan(1);
  // Beside the two that know the folder.
  expect(namesUnder(keyring.entries.keys(), home)).toHaveLength(keyring.entries.size - 2);
  expect(keyring.entries.get(folderEntry(home))).toBe(idOf(home));
  expect(keyring.entries.get(entryName(idOf(home), 'folder'))).toBe(fs.realpathSync(home));
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
  expect(keyring.entries.size).toBe(names.length + 2);
  const key = keyring.entries.get(entryName(idOf(home), 'audit:key'));
  expect(keyOf(key)).toBe(keyOf(plain.get('audit:key')));
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
  await app.close();
  // The settings name them again, but for what only tries whether the keyring is open.
  const { keychainIndex } = JSON.parse(fs.readFileSync(path.join(home, 'desk.json'), 'utf8')) as {
    keychainIndex: string[];
  };
  expect(keychainIndex).toEqual(expect.arrayContaining(names.filter((name) => name !== 'probe')));
  expect(keychainIndex).not.toContain('probe');
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
  expect(keyOf(keyring.entries.get(entryName(idOf(home), 'audit:key')))).toBe(keyOf(plain.get('audit:key')));
});

/** Starts over `keyring` a keychain that is cut off after so many calls. Answers whether it came to its end before. */
async function isWholeAfter(
  calls: number,
  keyring: KeyringBackend,
  run: (backend: KeyringBackend) => Promise<unknown>,
): Promise<boolean> {
  let left = calls;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // A process that was killed never hears of the answer.
  const until =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> => {
      if (left-- > 0) return call(...args);
      resolve(false);
      return new Promise(() => undefined);
    };
  void run({
    getPassword: until((...call) => keyring.getPassword(...call)),
    setPassword: until((...call) => keyring.setPassword(...call)),
    deletePassword: until((...call) => keyring.deletePassword(...call)),
  }).then(() => resolve(true));
  return promise;
}

test('a process that ends after any of the keyring’s calls leaves nothing lost', async () => {
  const secrets = { 'audit:key': 'k1', 'c1:apiKey': 's1', 'lock:verifier': 'v1' };
  const accounts = ['c1:apiKey', 'audit:key', 'lock:verifier', 'audit:anchor'];
  const home = tempFolder();
  const onSettled = () => Promise.resolve();
  const take = (keyring: KeyringBackend) =>
    createKeychain({
      load: () => Promise.resolve(keyring),
      clock: systemClock,
      index: { read: () => [], write: () => undefined },
      homeId: testHomeId,
      settle: settleHome(home, home, { earlier: accounts, onSettled }),
    });
  let isWhole = false;
  for (let calls = 0; !isWhole; calls++) {
    const keyring = fakeKeyring(secrets);
    isWhole = await isWholeAfter(calls, keyring, (backend) => take(backend).read('c1:apiKey'));
    const next = take(keyring);
    for (const [account, secret] of Object.entries(secrets))
      expect([calls, account, await next.read(account)]).toEqual([calls, account, done(secret)]);
    expect(await next.read('audit:anchor')).toEqual(failed('credentials.missing'));
    const names = [...keyring.entries.keys()].filter(
      (name) => ![testEntry('probe'), testEntry('folder'), folderEntry(home)].includes(name),
    );
    expect([calls, names.sort()]).toEqual([calls, Object.keys(secrets).map(testEntry).sort()]);
  }
});

test('nor does a keyring that once says "nothing" while they are taken over', async () => {
  const { home, keyring, names } = await before();
  const entries = new Map(keyring.entries);
  for (let number = 0, wasSaid = true; wasSaid; number++) {
    keyring.entries.clear();
    for (const [name, secret] of entries) keyring.entries.set(name, secret);
    fs.rmSync(idFile(home), { force: true });
    const { restore } = failAt(keyring, number, saysNothing, 'getPassword');
    await (await opened(home, keyring)).close();
    wasSaid = restore();
    await (await opened(home, keyring)).close();
    expect([number, namesUnder(keyring.entries.keys(), home)]).toEqual([number, names]);
  }
});

test.each(['copied', 'moved'])(
  'a folder that was %s, and a process that ends after any of the keyring’s calls: the next start comes to the same',
  async (what) => {
    let isWhole = false;
    for (let calls = 0; !isWhole; calls++) {
      const [first, second] = [tempFolder(), tempFolder()];
      const start = (home: string, backend: KeyringBackend) =>
        createKeychain({
          load: () => Promise.resolve(backend),
          clock: systemClock,
          index: { read: () => [], write: () => undefined },
          homeId: readHomeId(home, first).id,
          settle: settleHome(home, first, { earlier: [], onSettled: () => Promise.resolve() }),
        }).settled();
      const keyring = fakeKeyring();
      fs.writeFileSync(idFile(first), `${testHomeId}\n`);
      expect(await start(first, keyring)).toEqual(done(null));
      fs.copyFileSync(idFile(first), idFile(second));
      if (what === 'moved') fs.rmSync(idFile(first));
      isWhole = await isWholeAfter(calls, keyring, (backend) => start(second, backend));
      expect(await start(second, keyring)).toEqual(done(null));
      const id = keyring.entries.get(folderEntry(second)) ?? '';
      expect([calls, id === testHomeId]).toEqual([calls, what === 'moved']);
      const expected = [
        [folderEntry(second), id],
        [entryName(id, 'folder'), second],
        ...(what === 'copied'
          ? [
              [folderEntry(first), testHomeId],
              [testEntry('folder'), first],
            ]
          : []),
      ];
      expect([calls, [...keyring.entries].sort()]).toEqual([calls, expected.sort()]);
    }
  },
);

test('nothing is answered before entries of before are taken over, and no key is made in the meantime', async () => {
  const keyring = fakeKeyring({ 'audit:key': Buffer.alloc(32, 7).toString('base64') });
  keyring.mood = 'locked';
  const index = { names: [] as readonly string[] };
  const home = tempFolder();
  const keychain = createKeychain({
    load: () => Promise.resolve(keyring),
    clock: systemClock,
    index: { read: () => index.names, write: (names) => (index.names = names) },
    homeId: testHomeId,
    settle: settleHome(home, home, { earlier: ['audit:key'], onSettled: () => Promise.resolve() }),
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

/** A folder that was used: a passphrase, a line in the log, a secret of a connection. */
async function used() {
  const { home, keyring, ...app } = await opened(tempFolder());
  valueOf(await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured('correct horse') }));
  await app.close();
  return { home, keyring, before: new Map(keyring.entries) };
}

function copyOf(home: string): string {
  const copy = path.join(tempFolder(), 'copy');
  fs.cpSync(home, copy, { recursive: true });
  return copy;
}

test('a folder that was moved keeps its entries, and its old place has none', async () => {
  const { home, keyring, before } = await used();
  const old = folderEntry(home);
  const moved = copyOf(home);
  fs.rmSync(home, { recursive: true });
  const app = await opened(moved, keyring, home);
  expect(await auditOf(app)).toBe('ready');
  await app.close();
  expect(keyring.entries.get(folderEntry(moved))).toBe(idOf(moved));
  expect([...before.keys()].filter((name) => !keyring.entries.has(name))).toEqual([old]);
  // What is begun at the old place is another folder.
  fs.mkdirSync(home);
  const again = await opened(home, keyring);
  expect(await auditOf(again)).toBe('ready');
  await again.close();
  expect(idOf(home)).not.toBe(idOf(moved));
  expect(await auditOf(await opened(moved, keyring, home))).toBe('ready');
});

test('a copy gets an identity of its own, asks for secrets of its own, and both logs stay whole', async () => {
  const { home, keyring, before } = await used();
  const copy = copyOf(home);
  for (let start = 0; start < 2; start++)
    for (const folder of [copy, home]) {
      const app = await opened(folder, keyring, home);
      const { lock } = valueOf(await app.ask('app.state', {}));
      expect([start, folder, lock.passphraseSet, lock.verifierLost]).toEqual([
        ...[start, folder, folder === home],
        undefined,
      ]);
      expect([start, folder, await auditOf(app)]).toEqual([start, folder, 'ready']);
      await app.close();
    }
  expect(idOf(copy)).not.toBe(idOf(home));
  expect(fs.readdirSync(path.join(copy, `audit.copied-${idOf(home)}`))).toEqual(['audit', 'checkpoints']);
  for (const [name, secret] of before)
    expect([name, keyOf(keyring.entries.get(name))]).toEqual([name, keyOf(secret)]);
});

test('a copy made before the keychain knew any place is one beside the usual folder, and takes nothing over', async () => {
  const { home, keyring, names, plain } = await before();
  keyring.mood = 'locked';
  await (await opened(home, keyring)).close();
  keyring.mood = 'open';
  const copy = copyOf(home);
  await (await opened(copy, keyring, home)).close();
  expect(namesUnder(keyring.entries.keys(), copy)).not.toContain('lock:verifier');
  for (const [name, secret] of plain) expect([name, keyring.entries.get(name)]).toEqual([name, secret]);
  expect(await auditOf(await opened(home, keyring))).toBe('ready');
  expect(namesUnder(keyring.entries.keys(), home)).toEqual(names);
});

test('with the keyring locked at that start, a copy is told when it is open', async () => {
  const { home, keyring, before } = await used();
  const copy = copyOf(home);
  keyring.mood = 'locked';
  const app = await opened(copy, keyring, home);
  expect(idOf(copy)).toBe(idOf(home));
  keyring.mood = 'open';
  valueOf(await app.ask('lock.unlock', { passphrase: obscured('') }));
  await app.close();
  expect(idOf(copy)).not.toBe(idOf(home));
  for (const [name, secret] of before)
    if (name !== entryName(idOf(home), 'probe'))
      expect([name, keyring.entries.get(name)]).toEqual([name, secret]);
});

test('the same folder by another path is no copy and was not moved', async () => {
  const { home, keyring, before } = await used();
  const link = path.join(tempFolder(), 'link');
  fs.symlinkSync(home, link);
  const id = idOf(home);
  await (await opened(link, keyring, home)).close();
  expect([idOf(home), [...keyring.entries.keys()].sort()]).toEqual([id, [...before.keys()].sort()]);
  // Moved, with a link left where it was.
  const moved = path.join(tempFolder(), 'moved');
  fs.renameSync(home, moved);
  fs.symlinkSync(moved, home);
  const app = await opened(home, keyring);
  expect([await auditOf(app), idOf(home)]).toEqual(['ready', id]);
  await app.close();
  expect(keyring.entries.get(folderEntry(home))).toBe(id);
  expect(keyring.entries.size).toBe(before.size);
});

test('a folder that can’t be looked at keeps its entries', () => {
  const usual = tempFolder();
  const { isInUse } = settleHome(usual, usual, { earlier: [], onSettled: () => Promise.resolve() });
  expect(isInUse(testHomeId, path.join(usual, 'none'))).toBe(false);
  fs.writeFileSync(idFile(usual), `${testHomeId}\n`);
  expect(isInUse(testHomeId, path.join(idFile(usual), 'below a file'))).toBe(false);
  expect(isInUse(testHomeId, usual)).toBe(false);
  // Whoever the tests run as, a name too long is refused.
  expect(isInUse(testHomeId, path.join(usual, 'x'.repeat(300)))).toBe(true);
});
