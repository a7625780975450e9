import fs from 'node:fs';
import path from 'node:path';
import Conf from 'conf';
import { expect, test } from 'vitest';
import { systemClock } from '../../../electron/privacy/clock.ts';
import { wipe } from '../../../electron/wipe.ts';
import { fakeKeyring, type FakeKeyring } from '../../support/fake-keyring.ts';
import { tempFolder } from '../../support/temp-folder.ts';

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
) {
  const lines: string[] = [];
  const code = await wipe({
    home,
    isOwnFolder,
    conf: (options) => new Conf(options),
    loadKeytar: () => Promise.resolve(keyring),
    clock: systemClock,
    confirm: (what) => (lines.push(what), Promise.resolve(agrees)),
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

test('of a person who never opened the app there is nothing to remove', async () => {
  const { keyring } = used();
  const { code, said } = await run({ home: path.join(tempFolder(), 'none'), keyring }, true);
  expect([code, said]).toEqual([0, 'There is nothing to remove.']);
});

test('of a folder that a person named, only the app’s own files go', async () => {
  const person = used();
  const files = ['desk.damaged-20261122T100000000Z.json', 'disclosures.json', 'window.json'];
  for (const name of [...files, 'thesis.txt', 'desktop.json'])
    fs.writeFileSync(path.join(person.home, name), '{}');
  for (const name of ['photos', 'samples', 'certificates', 'built-in', 'checkpoints', 'logs'])
    fs.mkdirSync(path.join(person.home, name), { recursive: true });
  const { code, said } = await run(person, true, false);
  expect(code).toBe(0);
  expect(said).toContain('has other files, which were left');
  expect(fs.readdirSync(person.home).sort()).toEqual(['desktop.json', 'photos', 'thesis.txt']);
  const again = await run(person, true, false);
  expect([again.code, again.said]).toEqual([0, 'There is nothing to remove.']);
});

test('of a folder that a person named and that has nothing else, nothing is left', async () => {
  const person = used();
  expect((await run(person, true, false)).said).toContain('Everything was removed.');
  expect(fs.existsSync(person.home)).toBe(false);
});
