import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readHomeId } from '../../../electron/settings/home-id.ts';
import { accountsOfHome, entryName } from '../../../electron/storage/keychain-accounts.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { wipe } from '../../../electron/support/wipe.ts';
import { fakeKeyring, type FakeKeyring } from '../../support/fake-keyring.ts';
import { detokenize, planOf, valueOf } from '../../support/batch-app.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { obscured, openWholeApp } from '../../support/whole-app.ts';

/** A person's folder with a batch and an audit log, and a keyring that has the keys of both. */
function used() {
  const home = path.join(tempFolder(), 'Tokendesk');
  fs.mkdirSync(path.join(home, 'jobs', 'j1'), { recursive: true });
  fs.mkdirSync(path.join(home, 'audit'));
  fs.writeFileSync(path.join(home, 'audit', 'audit-000001.jsonl'), '{}\n');
  const keychainIndex = ['audit:key', 'jobs:j1'];
  fs.writeFileSync(path.join(home, 'desk.json'), JSON.stringify({ keychainIndex, version: 99 }));
  const keyring = fakeKeyring({ 'audit:key': 'k1', 'jobs:j1': 'k2', 'evidence:signing': 'k3' });
  return { home, keyring };
}

async function run(
  { home, keyring }: { home: string; keyring: FakeKeyring },
  agrees: boolean,
  isOwnFolder = true,
  { usualHome = home, releaseLock }: { usualHome?: string; releaseLock?: () => void } = {},
) {
  const lines: string[] = [];
  const code = await wipe({
    home,
    isOwnFolder,
    usualHome,
    loadKeytar: () => Promise.resolve(keyring),
    clock: systemClock,
    confirm: (what) => (lines.push(what), Promise.resolve(agrees)),
    ...(releaseLock !== undefined && { releaseLock }),
    print: (sentence) => (lines.push(sentence), Promise.resolve()),
  });
  return { code, said: lines.join('\n') };
}

test('removes the folder and every entry of the keychain, also one that no index names', async () => {
  const person = used();
  const { code, said } = await run(person, true);
  expect(said).toContain('batches (1)');
  expect(code).toBe(0);
  expect([...person.keyring.entries.keys()]).toEqual([]);
  expect(fs.existsSync(person.home)).toBe(false);
});

test('not agreed to, removes nothing', async () => {
  const person = used();
  const { code, said } = await run(person, false);
  expect([code, said]).toEqual([1, expect.stringContaining('Nothing was removed')]);
  expect(person.keyring.entries.size).toBe(3);
  expect(fs.existsSync(path.join(person.home, 'audit', 'audit-000001.jsonl'))).toBe(true);
});

test('leaves the folder, which has the names, where the keychain is locked', async () => {
  const person = used();
  person.keyring.mood = 'locked';
  const { code, said } = await run(person, true);
  expect(code).toBe(1);
  expect(said).toContain('left as it is');
  expect(fs.existsSync(person.home)).toBe(true);
});

test('a file that another program has open keeps none of the others, and is named', async () => {
  const person = used();
  const held = path.join(person.home, 'audit');
  fs.writeFileSync(path.join(person.home, 'window.json'), '{}');
  const { rmSync } = fs;
  // As Windows answers; root, who may run this, is refused nothing by a mode.
  const spy = vi.spyOn(fs, 'rmSync').mockImplementation((file, options) => {
    if (file === held) throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
    rmSync(file, options);
  });
  onTestFinished(() => spy.mockRestore());
  const { code, said } = await run(person, true);
  expect([code, fs.readdirSync(person.home)]).toEqual([1, ['audit']]);
  expect(said).toContain(`but for these in ${person.home}: audit.`);
  spy.mockRestore();
  expect((await run(person, true)).said).toContain('Everything was removed.');
});

test('Chromium’s lock is released before files are removed, and is nothing to remove by itself', async () => {
  const person = used();
  const lock = path.join(person.home, 'SingletonLock');
  fs.symlinkSync('host-1', lock);
  let present: string[] = [];
  const { said } = await run(person, true, true, {
    releaseLock: () => (present = fs.readdirSync(person.home)),
  });
  expect(present).toContain('audit');
  expect(said).toContain('Everything was removed.');
  fs.mkdirSync(person.home);
  fs.symlinkSync('host-1', lock);
  expect((await run(person, true)).said).toBe('There is nothing to remove.');
});

test('of a person who never opened the app there is nothing to remove', async () => {
  const { keyring } = used();
  const { code, said } = await run({ home: path.join(tempFolder(), 'none'), keyring }, true);
  expect([code, said]).toEqual([0, 'There is nothing to remove.']);
});

test('of a folder that a person named, only the app’s own files go', async () => {
  const person = used();
  const files = [
    'home-id',
    'desk.lock',
    'desk.damaged-20261122T100000000Z.json',
    'disclosures.json',
    'window.json',
  ];
  for (const name of [...files, 'thesis.txt', 'desktop.json'])
    fs.writeFileSync(path.join(person.home, name), '{}');
  for (const name of ['photos', 'chromium', 'samples', 'certificates', 'built-in', 'checkpoints', 'logs'])
    fs.mkdirSync(path.join(person.home, name), { recursive: true });
  const { code, said } = await run(person, true, false);
  expect(code).toBe(0);
  expect(said).toContain('has other files, which were left');
  expect(fs.readdirSync(person.home).sort()).toEqual(['desktop.json', 'photos', 'thesis.txt']);
  const again = await run(person, true, false);
  expect([again.code, again.said]).toEqual([0, 'There is nothing to remove.']);
});

test('of a folder in which the app was never used nothing goes, whatever its files are called', async () => {
  const { keyring } = used();
  const home = tempFolder();
  for (const name of ['logs', 'jobs', 'audit', 'samples', 'certificates', 'checkpoints', 'chromium', 'src'])
    fs.mkdirSync(path.join(home, name));
  const files = ['notes.txt', 'window.json', 'desk.json', 'config.json', 'home-id', 'desk.damaged-1.json'];
  for (const name of files) fs.writeFileSync(path.join(home, name), '{"name":"another program’s"}');
  const before = [fs.readdirSync(home), new Map(keyring.entries)];
  const { code, said } = await run({ home, keyring }, true, false);
  expect([code, said]).toEqual([0, 'There is nothing to remove.']);
  expect([fs.readdirSync(home), keyring.entries]).toEqual(before);
});

test.each([
  ['home-id', `${'ab'.repeat(16)}\n`],
  ['desk.json', '{"settings":{'],
  ['desk.json', '\uFEFF{"settings":{},"version":3}'],
  ['desk.version-2.json', '{"keychainIndex":[],"version":2}'],
  ['config.json', '{"settings":{},"version":1}'],
])('a folder that a person named is known by %s: %j', async (name, text) => {
  const home = tempFolder();
  fs.mkdirSync(path.join(home, 'logs'));
  fs.writeFileSync(path.join(home, name), text);
  expect((await run({ home, keyring: fakeKeyring() }, true, false)).said).toContain(
    'Everything was removed.',
  );
  expect(fs.existsSync(home)).toBe(false);
});

test('of a folder that is a link, the folder goes and the link', async () => {
  const person = used();
  const link = path.join(tempFolder(), 'link');
  fs.symlinkSync(person.home, link);
  const { code, said } = await run({ ...person, home: link }, true);
  expect([code, said]).toEqual([0, expect.stringContaining('Everything was removed.')]);
  expect([fs.existsSync(person.home), fs.lstatSync(link, { throwIfNoEntry: false })]).toEqual([
    false,
    undefined,
  ]);
  expect([...person.keyring.entries.keys()]).toEqual([]);
});

test('an empty folder that can’t be removed is named', async () => {
  const person = used();
  // As a folder answers on which a disk is mounted.
  const spy = vi.spyOn(fs, 'rmdirSync').mockImplementation(() => {
    throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
  });
  onTestFinished(() => spy.mockRestore());
  const { code, said } = await run(person, true);
  expect([code, fs.readdirSync(person.home)]).toEqual([0, []]);
  expect(said).toContain(`Everything was removed. The empty folder ${person.home} was left.`);
});

test('goes on where the settings can’t be read', async () => {
  for (const text of ['{"settings":', '{"version":2,"keychainIndex":"x","connections":[{"id":7}]}']) {
    const person = used();
    fs.writeFileSync(path.join(person.home, 'desk.json'), text);
    expect((await run(person, true)).code).toBe(0);
    expect([...person.keyring.entries.keys()]).toEqual(['jobs:j1']);
    expect(fs.existsSync(person.home)).toBe(false);
  }
});

test('removes entries that only a settings file of another version names', async () => {
  const names = [
    'config.json',
    'desk.version-3.json',
    'desk.other-20261122T100000000Z.json',
    'desk.damaged-20261122T100000000Z_2.json',
  ];
  const person = used();
  for (const [at, name] of names.entries()) {
    const connections = [{ id: `c${at}`, baseUrl: 'https://acme.example', policies: ['p'] }];
    const keychainIndex = [`jobs:${at}`];
    fs.writeFileSync(
      path.join(person.home, name),
      JSON.stringify({ version: 1, keychainIndex, connections }),
    );
    for (const account of accountsOfHome(keychainIndex, connections))
      person.keyring.entries.set(account, 'secret');
  }
  const { code, said } = await run(person, true, false);
  expect([code, said]).toEqual([0, expect.stringContaining('connections (4)')]);
  expect([...person.keyring.entries.keys()]).toEqual([]);
  expect(fs.existsSync(person.home)).toBe(false);
});

test('leaves another program’s config.json in a folder that a person named', async () => {
  const person = used();
  fs.writeFileSync(path.join(person.home, 'config.json'), '{"version":1,"servers":[]}');
  expect((await run(person, true, false)).code).toBe(0);
  expect(fs.readdirSync(person.home)).toEqual(['config.json']);
});

test('leaves the entries of the usual folder alone, also those that it has still to take over', async () => {
  const [usual, second] = [used(), used()];
  const before = new Map(usual.keyring.entries);
  expect(
    (await run({ ...second, keyring: usual.keyring }, true, false, { usualHome: usual.home })).code,
  ).toBe(0);
  expect(usual.keyring.entries).toEqual(before);
});

test('that the keychain ends half-way can be repeated', async () => {
  const person = used();
  const { keyring } = person;
  const remove = keyring.deletePassword.bind(keyring);
  let left = 4;
  keyring.deletePassword = (...call) =>
    left-- > 0 ? remove(...call) : Promise.reject(new Error('is locked'));
  expect((await run(person, true)).code).toBe(1);
  const { id, isStored } = readHomeId(person.home, person.home);
  expect(isStored).toBe(true);
  expect([...keyring.entries.keys()].some((name) => name.startsWith(entryName(id, '')))).toBe(true);
  keyring.deletePassword = remove;
  expect((await run(person, true)).code).toBe(0);
  expect([...keyring.entries.keys()]).toEqual([]);
});

test('knows every entry that the app makes, also without its index', async () => {
  const home = tempFolder();
  const app = await openWholeApp({ home });
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
  const { definition, token } = valueOf(await app.ask('lookup.sample', {}));
  const { sourceId } = valueOf(await app.ask('batch.paste', { text: `card\n${token}\n` }));
  const plan = planOf([detokenize(0, { policy: 'analyst', definition })]);
  valueOf(await app.ask('batch.start', { sourceId, plan, grounds: null }));
  await app.close();
  const document = JSON.parse(fs.readFileSync(path.join(home, 'desk.json'), 'utf8')) as {
    keychainIndex: string[];
    connections: Parameters<typeof accountsOfHome>[1];
  };
  const known = accountsOfHome([], document.connections);
  expect(document.keychainIndex.length).toBeGreaterThan(4);
  expect(document.keychainIndex.filter((account) => !known.includes(account))).toEqual([]);
  fs.writeFileSync(path.join(home, 'desk.json'), '{');
  expect((await run({ home, keyring: app.keyring }, true)).code).toBe(0);
  // Of the built-in connection, which the settings alone name.
  expect([...app.keyring.entries.keys()].filter((name) => !/:built-in:[0-9a-f]{24}:/.test(name))).toEqual([]);
});

test('of a folder that a person named and that has nothing else, nothing is left', async () => {
  const person = used();
  expect((await run(person, true, false)).said).toContain('Everything was removed.');
  expect(fs.existsSync(person.home)).toBe(false);
});

test.each([true, false])(
  'a copy that is wiped takes nothing from the folder it was made of; opened before: %s',
  async (opens) => {
    const first = tempFolder();
    const { keyring, ...app } = await openWholeApp({ home: first });
    valueOf(await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured('correct horse') }));
    await app.close();
    const copy = path.join(tempFolder(), 'copy');
    fs.cpSync(first, copy, { recursive: true });
    const before = new Map(keyring.entries);
    if (opens) await (await openWholeApp({ home: copy, keyring, options: { usualHome: first } })).close();
    const { code, said } = await run({ home: copy, keyring }, true, false, { usualHome: first });
    expect([code, said]).toEqual([0, expect.stringContaining('Everything was removed.')]);
    expect([keyring.entries, fs.existsSync(copy)]).toEqual([before, false]);
    const again = await openWholeApp({ home: first, keyring });
    onTestFinished(() => again.close());
    expect(valueOf(await again.ask('app.state', {})).lock).toMatchObject({
      locked: true,
      passphraseSet: true,
    });
    valueOf(await again.ask('lock.unlock', { passphrase: obscured('correct horse') }));
  },
);

test('of a folder that was moved everything goes, also what knew its old place; one begun there keeps its own', async () => {
  const first = tempFolder();
  const open = (home: string) => openWholeApp({ home, keyring, options: { usualHome: first } });
  const { keyring, ...app } = await openWholeApp({ home: first });
  await app.close();
  const moved = path.join(tempFolder(), 'moved');
  fs.cpSync(first, moved, { recursive: true });
  for (const name of fs.readdirSync(first)) fs.rmSync(path.join(first, name), { recursive: true });
  const settings = { usualHome: first };
  const wiped = path.join(tempFolder(), 'wiped');
  fs.cpSync(moved, wiped, { recursive: true });
  // Before anything is begun at the old place.
  const before = new Map(keyring.entries);
  expect((await run({ home: wiped, keyring }, true, false, settings)).code).toBe(0);
  expect([...keyring.entries]).toEqual([]);
  // After.
  for (const [name, secret] of before) keyring.entries.set(name, secret);
  await (await open(first)).close();
  const anew = new Map(keyring.entries);
  expect((await run({ home: moved, keyring }, true, false, settings)).code).toBe(0);
  expect(keyring.entries).toEqual(anew);
});
