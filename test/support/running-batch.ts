import { expect } from 'vitest';
import { planOf, detokenize, valueOf } from './batch-app.ts';
import { obscuredOf } from './obscured-text.ts';
import type { WholeApp } from './whole-app.ts';

/** A batch that runs for as long as a test likes: nobody answers at its connection. Answers its ID. */
export async function startBatch(app: WholeApp): Promise<string> {
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
  return jobId;
}

const isRunning = (payload: unknown, id: string): boolean => {
  const { jobId, state } = payload as { jobId: string; state: string };
  return jobId === id && state === 'running';
};
