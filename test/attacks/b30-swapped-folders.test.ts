import fs from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { value } from '../support/audit-folder.ts';
import { acme, makeHome, type HomeApp } from '../support/edited-home.ts';

/** What stops a connection whose secrets are there: the address answers nobody. */
const reached = 'service.unreachable';
const logOf = async (app: HomeApp) => {
  const state = value(await app.ask('app.state', {}));
  return 'audit' in state ? state.audit : null;
};

test('a copy that is started in the place of its original goes on with the log: the original’s is too old then', async () => {
  const { id, open, place } = await makeHome();
  const aside = `${place.home}-aside`;
  onTestFinished(() => fs.rmSync(aside, { recursive: true, force: true }));
  fs.cpSync(place.home, aside, { recursive: true });
  const swap = () => {
    fs.renameSync(place.home, `${place.home}-between`);
    fs.renameSync(aside, place.home);
    fs.renameSync(`${place.home}-between`, aside);
  };
  // Nothing tells it from a backup that is put back: it is the folder.
  swap();
  const copy = await open();
  expect([await copy.use(), await logOf(copy)]).toEqual([reached, 'ready']);
  value(await copy.ask('connections.save', { ...acme, id, requestsPerSecond: 5 }));
  await copy.close();
  swap();
  const original = await open();
  await vi.waitFor(async () => expect(await logOf(original)).toBe('broken'), 5_000);
});
