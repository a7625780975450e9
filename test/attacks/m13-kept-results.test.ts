import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { defaultSettings } from '../../electron/contract/models/app.ts';
import { failed } from '../../electron/contract/errors.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { value } from '../support/audit-folder.ts';
import { detokenize, planOf } from '../support/batch-app.ts';
import { fakeKeyring } from '../support/fake-keyring.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { openWholeApp, type WholeAppOptions } from '../support/whole-app.ts';

const day = 86_400_000;

/** A home with one batch that has ended, closed; each `open` is a start so many days later. */
async function withBatch() {
  const home = tempFolder();
  const keyring = fakeKeyring();
  const open = async (later: number, given: WholeAppOptions = {}) => {
    const now = vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + later * day);
    onTestFinished(() => {
      now.mockRestore();
    });
    const app = await openWholeApp({ home, keyring, ...given });
    onTestFinished(() => app.close());
    return app;
  };
  const app = await open(0);
  const { id } = value(await app.ask('connections.startBuiltIn', {}));
  value(await app.ask('connections.choose', { id, policy: 'analyst' }));
  const { sourceId } = value(await app.ask('batch.paste', { text: 'card\n4111118124045251\n' }));
  const plan = planOf([detokenize(0, { policy: 'analyst', definition: 'card-number' })]);
  const { jobId } = value(await app.ask('batch.start', { sourceId, plan, grounds: null }));
  const states = async (): Promise<unknown[]> =>
    value(await app.ask('batch.jobs', {})).map((job) => ('state' in job ? job.state : ''));
  await vi.waitFor(async () => expect(await states()).toEqual(['finished']), { timeout: 20_000 });
  await app.close();
  const lines = () =>
    fs
      .readdirSync(path.join(home, 'audit'))
      .map((name) => fs.readFileSync(path.join(home, 'audit', name), 'utf8'))
      .join('')
      .split('\n')
      .filter((line) => line.includes('"RemoveResults"') && line.includes('"begun"'));
  return { home, open, jobId, lines, folder: path.join(home, 'jobs', jobId) };
}

test('results are kept as long as the person says, and removed with one line', async () => {
  const { open, jobId, lines, folder } = await withBatch();
  const first = await open(1);
  value(await first.ask('settings.save', { ...defaultSettings, keepResultsDays: 30 }));
  await first.close();
  const before = await open(29);
  expect(value(await before.ask('batch.jobs', {}))).toHaveLength(1);
  await before.close();
  expect([fs.existsSync(folder), lines()]).toEqual([true, []]);
  const after = await open(31);
  await vi.waitFor(() => expect(fs.existsSync(folder)).toBe(false));
  await vi.waitFor(() => expect(after.events).toContainEqual({ name: 'batch.removed', payload: { jobId } }));
  expect(await after.ask('batch.pause', { jobId })).toEqual(failed('job.unknown'));
  await after.close();
  await (await open(32)).close();
  expect(lines()).toHaveLength(1);
  expect(lines()[0]).toContain('kept for 30 days');
});

test('by itself nothing is removed, and the administrator’s days go before the person’s', async () => {
  const { open, lines, folder } = await withBatch();
  await (await open(3_000)).close();
  expect([fs.existsSync(folder), lines()]).toEqual([true, []]);
  const app = await open(8, { managed: { keepResultsDays: 7 } });
  await vi.waitFor(() => expect(fs.existsSync(folder)).toBe(false));
  expect(await app.ask('settings.save', { ...defaultSettings, keepResultsDays: 0 })).toEqual(
    failed('settings.managed', { subject: 'keepResultsDays' }),
  );
});
