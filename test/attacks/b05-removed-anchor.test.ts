import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createChainEntry, signCheckpoint } from '../../electron/audit/checkpoint.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import { everything, logFolder, testKey, value } from '../support/audit-folder.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeKeyring, testEntry, testHomeId } from '../support/fake-keyring.ts';

/*
 * The keychain says how far the log had got. Removing what it says takes a click in the desktop's password tool: it must
 * not look as if there never was a log.
 */

const entry = testEntry('audit:key');
const earlierAnchor = testEntry('audit:anchor');
const reveal = { action: 'Reveal', caseReference: 'D-1' };
const bareKey = Buffer.from(testKey).toString('base64');

function workstation(entries: Record<string, string> = {}, names: string[] = []) {
  const keyring = fakeKeyring(entries);
  const log = logFolder();
  return {
    keyring,
    log,
    names,
    start: () => {
      const keychain = createKeychain({
        homeId: testHomeId,
        load: () => Promise.resolve(keyring),
        index: { read: () => names, write: (next) => names.splice(0, names.length, ...next) },
        clock: fakeClock(),
      });
      const chain = createChainEntry(keychain);
      return log.open({ key: () => chain.key(), anchor: chain.anchor });
    },
    removeLog: () => {
      for (const folder of [log.folder, path.dirname(log.checkpoint)])
        fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Workstation = ReturnType<typeof workstation>;

async function reveals({ start }: Workstation, count = 5): Promise<void> {
  const audit = await start();
  for (let done = 0; done < count; done++) value(await audit.begin(reveal))({ ok: true });
  await audit.close();
}

/** Broken at this start and at the next, and so in the log itself. */
async function expectBroken({ start }: Workstation): Promise<void> {
  for (let run = 0; run < 2; run++) {
    const audit = await start();
    expect(audit.state()).toBe('broken');
    value(await audit.begin({ action: 'GetMasked' }))({ ok: true });
    expect(audit.state()).toBe('broken');
    expect((await audit.list(everything)).chain.state).toBe('broken');
    await audit.close();
  }
}

test('key and anchor are one entry: the one is not removed without the other', async () => {
  const machine = workstation();
  await reveals(machine);
  expect([...machine.keyring.entries.keys()].filter((name) => name.includes('audit'))).toEqual([entry]);
  expect(machine.keyring.entries.get(entry)).toMatch(/^[A-Za-z0-9+/]{43}= \{"checkpoint":1,.*"sequence":10,/);
});

test.each([
  ['the log is put back to before it', false],
  ['the log is removed with it', true],
])('the entry is removed, and %s: a break', async (_, whole) => {
  const machine = workstation();
  await reveals(machine, 1);
  const copy = path.join(machine.log.root, 'copy');
  fs.cpSync(machine.log.folder, copy, { recursive: true });
  await reveals(machine);
  machine.removeLog();
  if (!whole) fs.cpSync(copy, machine.log.folder, { recursive: true });
  machine.keyring.entries.delete(entry);
  await expectBroken(machine);
});

test('a process that is killed before the log says so leaves a break all the same', async () => {
  const machine = workstation();
  await reveals(machine);
  machine.removeLog();
  machine.keyring.entries.delete(entry);
  // The key is made anew, and the disk takes nothing.
  fs.writeFileSync(machine.log.folder, '');
  expect((await machine.start()).state()).toBe('unwritable');
  fs.rmSync(machine.log.folder);
  await expectBroken(machine);
});

test('a first start is none', async () => {
  const machine = workstation();
  await reveals(machine);
  const audit = await machine.start();
  expect([audit.state(), (await audit.list(everything)).chain]).toEqual([
    'ready',
    { state: 'intact', checked: 10 },
  ]);
});

/** A log as an earlier version left it, its anchor in an entry of its own. */
async function earlierVersion(): Promise<Workstation> {
  const made = workstation();
  await reveals(made);
  const [key = '', anchor = ''] = made.keyring.entries.get(entry)?.split(/ (.*)/) ?? [];
  made.keyring.entries.set(entry, key);
  made.keyring.entries.set(earlierAnchor, anchor);
  made.names.push('audit:anchor');
  return made;
}

test('a log of an earlier version goes on, and its anchor moves to the key', async () => {
  const machine = await earlierVersion();
  const audit = await machine.start();
  expect(audit.state()).toBe('ready');
  expect(machine.keyring.entries.has(earlierAnchor)).toBe(false);
  expect(machine.keyring.entries.get(entry)).toContain(' {"checkpoint":1,');
});

test('its anchor says where it ended: a log that is gone is a break', async () => {
  const machine = await earlierVersion();
  machine.removeLog();
  await expectBroken(machine);
});

test('its key without the anchor that the index names is a break, whatever is on the disk', async () => {
  const machine = await earlierVersion();
  machine.keyring.entries.delete(earlierAnchor);
  await expectBroken(machine);
});

test('a version before the anchor had none', async () => {
  const machine = workstation({ [entry]: bareKey }, ['audit:key']);
  await reveals(machine);
  const audit = await machine.start();
  expect([audit.state(), machine.keyring.entries.get(entry)?.startsWith(bareKey)]).toEqual(['ready', true]);
});

test('an anchor of another key does not count', async () => {
  const other = signCheckpoint(new Uint8Array(32).fill(9), {
    segment: 7,
    size: 1,
    sequence: 1,
    head: '0'.repeat(64),
  });
  const machine = workstation({ [entry]: `${bareKey} ${other}` }, ['audit:key']);
  expect((await machine.start()).state()).toBe('ready');
});

test('a keyring that is locked answers nothing, which is no break', async () => {
  const machine = workstation();
  await reveals(machine);
  machine.keyring.mood = 'locked';
  expect((await machine.start()).state()).toBe('unwritable');
  machine.keyring.mood = 'open';
  expect((await machine.start()).state()).toBe('ready');
});
