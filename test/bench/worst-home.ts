import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { CallInput, CallName, CallOutput } from '../../electron/contract/calls.ts';
import type { Job } from '../../electron/contract/models/batch.ts';
import { fakeKeyring } from '../support/fake-keyring.ts';
import { openWholeApp, type WholeApp } from '../support/whole-app.ts';
import { fillHome } from './long-home.ts';
import { createSteps } from './steps.ts';
import { timed } from './timed.ts';

/**
 * The whole app without its window, in a home of many jobs and a long log, asked for all that reads them. Steps as JSON on
 * the last line. Beside them goes a mask, which takes the way of a reveal but for the keychain, and is not limited to ten a
 * minute.
 */
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const keyring = fakeKeyring();
let app: WholeApp = await openWholeApp({ home, keyring });

async function ask<N extends CallName>(call: N, input: CallInput<N>): Promise<CallOutput<N>> {
  const answer = await app.ask(call, input);
  if (!answer.ok) throw new Error(answer.failure.code);
  // What the bridge does besides. Each call of a window comes in a turn of its own.
  const copy = structuredClone(answer.value);
  await setImmediate();
  return copy;
}

await ask('connections.startBuiltIn', {});
const { definition, token } = await ask('lookup.sample', {});
const mask = () => ask('lookup.mask', { policy: 'dispute-desk', definition, token, caseReference: '' });
await mask();
await app.close();
await fillHome(home, () => Promise.resolve(keyring));

// Its files were verified line by line by a start before.
app = await openWholeApp({ home, keyring });
await app.close();

const opened = await timed(async () => {
  app = await openWholeApp({ home, keyring });
  // A value waits until the log is verified.
  await mask();
});
const { step, done } = await createSteps(async () => void (await mask()));
await step('jobs listed', async () => {
  let last: Job | undefined;
  do {
    const jobs = await ask(
      'batch.jobs',
      last === undefined ? {} : { after: { jobId: last.jobId, startedAt: last.startedAt } },
    );
    last = jobs.at(-1);
  } while (last !== undefined);
});
const page = { before: null, limit: 100, caseReference: null, foldBatches: true } as const;
await step('newest entries', () => ask('activity.list', page));
await step('a text that is nowhere', () => ask('activity.list', { ...page, text: 'no such text' }));
await step('entries of a case', () => ask('activity.list', { ...page, caseReference: 'CB-100' }));
await step('newest cases', () => ask('activity.cases', { limit: 20 }));
await step('access report of a month', () => ask('reports.access', { month: lastMonth() }));
await step('story of a token', async () => {
  const { id } = await mask();
  return ask('story.look', { of: { in: 'lookup', lookupId: id }, caseReference: '' });
});
await step('diagnostics', () => ask('app.diagnostics', {}));

function lastMonth(): string {
  const date = new Date();
  date.setUTCDate(0);
  return date.toISOString().slice(0, 7);
}

await app.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(
  `${JSON.stringify({ 'opened, and the first mask': { turn: opened.turn, ms: opened.ms, revealBehind: 0, revealBeyond: 0 }, ...done })}\n`,
);
