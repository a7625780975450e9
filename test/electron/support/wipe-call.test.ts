import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Outcome } from '../../../electron/contract/errors.ts';
import { planOf, detokenize, valueOf } from '../../support/batch-app.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
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
  // Nobody answers there: the batch waits.
  const baseUrl = 'https://127.0.0.1:1';
  const { id } = valueOf(
    await app.ask('connections.save', {
      ...{ id: null, name: 'Away', environment: 'test', baseUrl, extraCa: null, proxyUser: '' },
      ...{ policies: ['analyst'], definitions: [{ name: 'card', label: 'Card', kind: 'card' }] },
      ...{ accountId: '', tenantId: '', apiKeyExpires: null },
      ...{ requestsPerSecond: 600, transfersPerDay: 1000 },
    }),
  );
  const value = obscuredOf('secret');
  valueOf(await app.ask('connections.storeSecret', { id, secret: { kind: 'apiKey' }, value }));
  const secret = { kind: 'policyPassword', policy: 'analyst' } as const;
  valueOf(await app.ask('connections.storeSecret', { id, secret, value }));
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
  const { sourceId } = valueOf(await app.ask('batch.paste', { text: 'card\n4111117309211111\n' }));
  const plan = planOf([detokenize(0, { policy: 'analyst', definition: 'card' })]);
  const { jobId } = valueOf(await app.ask('batch.start', { sourceId, plan, grounds: null }));
  await expect
    .poll(() => app.events.some(({ name, payload }) => name === 'batch.job' && isRunning(payload, jobId)))
    .toBe(true);
  expect(codeOf(await app.ask('app.wipe', {}))).toBe('wipe.batch-running');
  valueOf(await app.ask('lock.now', {}));
  expect(codeOf(await app.ask('app.wipe', {}))).toBe('app.locked');
  expect(restarted()).toBe(0);
});

const isRunning = (payload: unknown, id: string): boolean => {
  const { jobId, state } = payload as { jobId: string; state: string };
  return jobId === id && state === 'running';
};
