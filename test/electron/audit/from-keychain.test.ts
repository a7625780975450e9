import fs from 'node:fs';
import { expect, test } from 'vitest';
import { createChainEntry } from '../../../electron/audit/checkpoint.ts';
import { createKeychain } from '../../../electron/storage/keychain.ts';
import { fakeKeyring, testEntry, testHomeId } from '../../support/fake-keyring.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { everything, logFolder, value } from '../../support/audit-folder.ts';

const intent = { action: 'Reveal', caseReference: 'D-1' };

function app(keyring = fakeKeyring()) {
  const log = logFolder();
  const names: string[] = [];
  /** A start of the app: the keychain is opened anew, what is on the disk stays. */
  function start() {
    const keychain = createKeychain({
      homeId: testHomeId,
      load: () => Promise.resolve(keyring),
      index: { read: () => names, write: (next) => names.splice(0, names.length, ...next) },
      clock: fakeClock(),
    });
    const chain = createChainEntry(keychain);
    return log.open({ key: () => chain.key(), anchor: chain.anchor });
  }
  return { keyring, log, start };
}

test('the key of the chain comes from the keychain and stays the same from run to run', async () => {
  const { start } = app();
  for (let run = 0; run < 2; run++) {
    const audit = await start();
    value(await audit.begin(intent));
    await audit.close();
  }
  expect((await (await start()).list(everything)).chain).toEqual({ state: 'intact', checked: 2 });
});

test('nothing is begun while the keyring is locked, and no other key is made', async () => {
  const { start, keyring } = app();
  await (await start()).close();
  const before = new Map(keyring.entries);
  keyring.mood = 'locked';
  const audit = await start();
  expect(audit.state()).toBe('unwritable');
  expect((await audit.begin(intent)).ok).toBe(false);
  keyring.mood = 'open';
  value(await audit.begin(intent));
  const key = before.get(testEntry('audit:key'))?.split(' ')[0];
  expect(keyring.entries.get(testEntry('audit:key'))?.split(' ')[0]).toBe(key);
});

test('a log removed with its checkpoint is found by the anchor in the keychain', async () => {
  const { start, log } = app();
  const audit = await start();
  value(await audit.begin(intent));
  await audit.close();
  fs.rmSync(log.root, { recursive: true });
  expect((await start()).state()).toBe('broken');
});

test('a key removed from the keyring breaks the chain and does not start another', async () => {
  const { start, keyring } = app();
  const audit = await start();
  value(await audit.begin(intent));
  await audit.close();
  keyring.entries.delete(testEntry('audit:key'));
  expect((await start()).state()).toBe('broken');
});

test('without a keyring every run has its own key', async () => {
  const { start, keyring } = app();
  keyring.mood = 'gone';
  for (let run = 0; run < 3; run++) {
    const audit = await start();
    expect(audit.state()).toBe('ready');
    value(await audit.begin(intent));
    await audit.close();
  }
});
