/*
 * Values a second in batches of 1,000, by definition: the engine alone, and the whole service over HTTPS.
 * node test/bench/built-in-engine.ts
 */
import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import { createAccount } from '../../electron/built-in-service/account.ts';
import { detokenizeAll, tokenizeAll } from '../../electron/built-in-service/engine/format.ts';
import { luhnDigitBetween } from '../../electron/built-in-service/engine/card-number.ts';
import { seedSchema } from '../../electron/built-in-service/seed.ts';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { builtInServiceWorker } from '../support/workers.ts';

const seconds = 2;
const batchSize = 1000;

const card = (length: number) => (i: number) => {
  const before = `411111${String(i * 7919)
    .padStart(length - 11, '0')
    .slice(-(length - 11))}`;
  return `${before}${luhnDigitBetween(before, '1234')}1234`;
};
const cases: readonly (readonly [label: string, tokenName: string, value: (i: number) => string])[] = [
  ['card, 16 digits', 'card-number', card(16)],
  ['card, 15 digits', 'card-number', card(15)],
  ['card, 14 digits', 'card-number', card(14)],
  ['SSN', 'ssn', (i) => `123-45-${String((i % 9999) + 1).padStart(4, '0')}`],
  ['e-mail', 'email', (i) => `jane.doe${i}@example.com`],
  ['text, 40 characters', 'free-text', (i) => `Jane Example, 12 High Street, flat ${i}`],
  ['text, 400 characters', 'free-text', (i) => `${'long '.repeat(78)}${i}`],
];

const seed = seedSchema.parse(defaultSeed);
const secret = randomBytes(32);
const { definitions } = createAccount(seed, secret, 0);
const service = await startBuiltInService({
  secret,
  worker: builtInServiceWorker,
  limits: { requestsPerSecond: 100_000, transfersPerDay: 1e12 },
});
const pool = new Pool(service.baseUrl, { connect: { ca: service.caPem } });
const post = async (operation: string, body: object) => {
  const response = await pool.request({
    method: 'POST',
    path: `/api/services/evtservice/${operation}`,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  });
  return (await response.body.json()) as { sessionToken?: string; elements?: { Value?: string }[] };
};
const policy = service.policies.find(({ name }) => name === 'analyst');
const credentials = { apiKey: service.apiKey.value, policy: policy?.name, policyPassword: policy?.password };
const { sessionToken } = await post('createsession', credentials);

const format = (perSecond: number): string => Math.round(perSecond).toLocaleString('en').padStart(9);

/** By the processor's clock, so that other work on the machine doesn't count. */
function rateOfCore(work: () => void): string {
  const start = process.cpuUsage();
  const used = () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  };
  let batches = 0;
  for (; used() < seconds; batches++) work();
  return format((batches * batchSize) / used());
}

async function rate(work: () => Promise<void>): Promise<string> {
  const start = performance.now();
  let batches = 0;
  for (; performance.now() - start < seconds * 1000; batches++) await work();
  return format((batches * batchSize) / ((performance.now() - start) / 1000));
}

console.log('                        by processor time        by the clock');
console.log('values/s               tokenize  detokenize        over HTTPS');
for (const [label, tokenName, value] of cases) {
  const engine = definitions.get(tokenName)?.format;
  if (!engine) throw new Error(tokenName);
  const values = Array.from({ length: batchSize }, (_, i) => value(i));
  const tokens = values.map((one) => {
    const outcome = engine.tokenize(one);
    if (!outcome.ok) throw new Error(`${label}: ${outcome.code}`);
    return outcome.value;
  });
  const elements = tokens.map((value, i) => ({ RefId: String(i), Value: value }));
  const tokenize = rateOfCore(() => {
    tokenizeAll(engine, values);
  });
  const detokenize = rateOfCore(() => {
    detokenizeAll(engine, tokens);
  });
  const overHttps = await rate(async () => {
    const { elements: done } = await post('batchdetokenize', { sessionToken, tokenName, elements });
    if (done?.[0]?.Value !== values[0]) throw new Error(`${label}: wrong answer`);
  });
  console.log(`${label.padEnd(20)}  ${tokenize}   ${detokenize}         ${overHttps}`);
}
await pool.close();
await service.stop();
