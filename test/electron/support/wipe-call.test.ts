import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Outcome } from '../../../electron/contract/errors.ts';
import { valueOf } from '../../support/batch-app.ts';
import { startBatch } from '../../support/running-batch.ts';
import { openWholeApp, type WholeApp } from '../../support/whole-app.ts';

const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.code);

async function opened(restarts = true) {
  let restarted = 0;
  const platform = { restartToWipe: () => ((restarted += 1), restarts) };
  const app = await openWholeApp({ platform });
  onTestFinished(() => app.close());
  return { app, restarted: () => restarted };
}

const logOf = (app: WholeApp): string =>
  fs.readFileSync(path.join(app.home, 'audit', 'audit-000001.jsonl'), 'utf8');

test('the window only starts the removal: it is in the audit log, and nothing is gone yet', async () => {
  const { app, restarted } = await opened();
  const keys = [...app.keyring.entries.keys()];
  expect(codeOf(await app.ask('app.wipe', {}))).toBe('ok');
  expect(restarted()).toBe(1);
  expect(logOf(app)).toContain('RemoveEverything');
  expect([...app.keyring.entries.keys()]).toEqual(expect.arrayContaining(keys));
  // No word of the window's is taken for that of the person.
  expect(codeOf(await app.ask('app.wipe', { confirmed: true } as never))).toBe('call.invalid');
});

test('where the app can’t start itself again, that is said', async () => {
  const { app } = await opened(false);
  expect(codeOf(await app.ask('app.wipe', {}))).toBe('wipe.unavailable');
});

test('a locked app does not answer, and one with a batch that runs refuses', async () => {
  const { app, restarted } = await opened();
  await startBatch(app);
  expect(codeOf(await app.ask('app.wipe', {}))).toBe('wipe.batch-running');
  valueOf(await app.ask('lock.now', {}));
  expect(codeOf(await app.ask('app.wipe', {}))).toBe('app.locked');
  expect(restarted()).toBe(0);
});
