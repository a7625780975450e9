import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { beginStart, endStart, untilStarted } from '../../../electron/util/turns.ts';
import { openWholeApp } from '../../support/whole-app.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import { fakeKeyring } from '../../support/fake-keyring.ts';

/* What stands while a window starts, and goes on in time. */

let home = '';
beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-start-'));
  beginStart();
});
afterEach(() => {
  endStart();
  fs.rmSync(home, { recursive: true, force: true });
});

async function hasStarted(): Promise<boolean> {
  let isOver = false as boolean;
  void untilStarted().then(() => (isOver = true));
  await nextTurn();
  return isOver;
}

test('a window is drawn once it asks for the jobs; the state it asks for before is answered meanwhile', async () => {
  const app = await openWholeApp({ home, keyring: fakeKeyring() });
  expect(await app.ask('app.state', {})).toMatchObject({ ok: true });
  expect(await app.ask('lookup.recent', {})).toMatchObject({ ok: true });
  // A first key comes before the rest of the window.
  expect(await app.ask('lock.active', {})).toMatchObject({ ok: true });
  expect(await hasStarted()).toBe(false);
  expect(await app.ask('batch.jobs', {})).toMatchObject({ ok: true });
  expect(await hasStarted()).toBe(true);
  await app.close();
});

test('a window that has to have a passphrase set first is drawn when it asks for anything else', async () => {
  const app = await openWholeApp({ home, keyring: fakeKeyring(), managed: { passphraseRequired: true } });
  expect(await app.ask('app.state', {})).toMatchObject({ ok: true });
  expect(await hasStarted()).toBe(false);
  expect(await app.ask('batch.jobs', {})).toMatchObject({ failure: { code: 'unlock.passphrase-required' } });
  expect(await hasStarted()).toBe(true);
  await app.close();
});

test('a lock is told to a window that is not drawn yet', async () => {
  const app = await openWholeApp({ home, keyring: fakeKeyring() });
  const next = obscuredOf('correct horse');
  expect(await app.ask('lock.setPassphrase', { current: obscuredOf(''), next })).toMatchObject({ ok: true });
  beginStart();
  app.away('screen-locked');
  expect(await hasStarted()).toBe(true);
  await app.close();
});

test('an app that is closed before its window is drawn waits for nothing', async () => {
  const app = await openWholeApp({ home, keyring: fakeKeyring() });
  await app.close();
  expect(await hasStarted()).toBe(true);
});
