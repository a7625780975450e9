import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { newXorKey } from '../../electron/contract/obscured.ts';
import { loadKeytar } from '../../electron/storage/keytar.ts';
import { launchApp } from '../support/launch-app.ts';
import { connect, go, lookUp, startBuiltIn, tokenize } from '../support/page-actions.ts';
import { connect as connectPlain } from '../support/service-client.ts';
import { openDistantPort } from './distant-port.ts';
import { median } from './figures.ts';
import { builtInServiceWorker } from '../support/workers.ts';

/**
 * One app in its window. From a call of the window to the answer, in milliseconds, of the built-in service (0) or of one
 * so far away: each reveal comes after a mask. Figures as JSON on the last line.
 */
const [home = '', distance = '0'] = process.argv.slice(2);
const roundTripMs = Number(distance);
/** Ten reveals a minute are allowed; the first of them warms up. */
const turns = 10;
/** What the app writes after an answer is done by then. */
const restMs = 150;
const pan = '4111111111111111';

const app = await launchApp({ home, downloads: `${home}-downloads` });
const { page } = app;
const close = roundTripMs === 0 ? await useBuiltIn() : await useDistant();

async function useBuiltIn(): Promise<() => Promise<void>> {
  await startBuiltIn(page);
  await lookUp(page, await tokenize(page, pan));
  return () => Promise.resolve();
}

async function useDistant(): Promise<() => Promise<void>> {
  const service = await startBuiltInService({ secret: randomBytes(32), worker: builtInServiceWorker });
  const distant = await openDistantPort(Number(new URL(service.baseUrl).port), roundTripMs);
  const baseUrl = new URL(service.baseUrl);
  baseUrl.port = String(distant.port);
  const policy = 'dispute-desk';
  await connect(page, {
    name: 'Distant',
    baseUrl: baseUrl.href.replace(/\/$/, ''),
    caPem: service.caPem,
    policy,
    apiKey: service.apiKey.value,
    policyPassword: service.policies.find(({ name }) => name === policy)?.password ?? '',
    definition: { name: 'card-number', label: 'Card number' },
  });
  const client = connectPlain(service);
  const sessionToken = await client.signIn(policy);
  const made = await client.call('Tokenize', { sessionToken, tokenName: 'card-number', value: pan });
  await client.close();
  await go(page, 'Lookup');
  await lookUp(page, String(made.body.token));
  return async () => {
    distant.close();
    await service.stop();
  };
}

const keys = JSON.stringify(Array.from({ length: turns }, newXorKey));
const took = await page.evaluate<{ mask: number[]; reveal: number[] }>(`(async () => {
  const bridge = window.tokendesk;
  const value = (outcome) => { if (!outcome.ok) throw new Error(outcome.failure.code); return outcome.value; };
  const took = { mask: [], reveal: [] };
  const measure = async (name, input) => {
    await new Promise((resolve) => setTimeout(resolve, ${restMs}));
    const before = performance.now();
    const answer = value(await bridge['lookup.' + name](input));
    took[name].push(performance.now() - before);
    return answer;
  };
  const [{ policy, definition, token }] = value(await bridge['lookup.recent']({}));
  const about = { reason: 'dispute', caseReference: 'D-1' };
  for (const xorKey of ${keys}) {
    const { id } = await measure('mask', { policy, definition, token, caseReference: 'D-1' });
    const { revealId } = await measure('reveal', { lookupId: id, xorKey, ...about });
    await bridge['lookup.hide']({ revealId });
    await bridge['lookup.hidden']({ revealId });
  }
  return took;
})()`);
await app.close();
await close();

/** What the keyring takes to write an entry as long as the log's anchor, and to sync its file. */
async function writeToKeyring(): Promise<number[]> {
  const keyring = await loadKeytar();
  const writes: number[] = [];
  while (writes.length < turns) {
    await setTimeout(restMs);
    const before = performance.now();
    await keyring.setPassword('Tokendesk-bench', 'write', randomBytes(120).toString('base64'));
    writes.push(performance.now() - before);
  }
  return writes;
}

const [, ...writes] = await writeToKeyring();
const measured = {
  masks: took.mask.slice(1),
  reveals: took.reveal.slice(1),
  write: median(writes),
};
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
