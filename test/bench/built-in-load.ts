/*
 * 2,000 requests a second for ten seconds against the built-in service, whose limit is 600:
 * node test/bench/built-in-load.ts
 * Exits 1 unless no second had more than 600 successes and every header was right.
 */
import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { builtInServiceWorker } from '../support/workers.ts';

const rate = 2000;
const seconds = 10;
const limit = 600;
const tickMs = 5;

interface Seen {
  readonly sent: number;
  readonly done: number;
  readonly status: number;
  readonly headersRight: boolean;
}

const service = await startBuiltInService({
  secret: randomBytes(32),
  worker: builtInServiceWorker,
});
const pool = new Pool(service.baseUrl, { connect: { ca: service.caPem }, connections: 64 });
const post = (operation: string, body: object) =>
  pool.request({
    method: 'POST',
    path: `/api/services/evtservice/${operation}`,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  });

async function once(body: object): Promise<Seen> {
  const sent = performance.now();
  const response = await post('tokenize', body);
  const { title } = (await response.body.json()) as { title?: string };
  const done = performance.now();
  const { headers, statusCode: status } = response;
  const remaining = Number(headers['x-rate-limit-remaining']);
  const reset = Date.parse(String(headers['x-rate-limit-reset'])) - Date.now();
  const headersRight =
    headers['x-rate-limit-limit'] === String(limit) &&
    Number.isInteger(remaining) &&
    remaining >= 0 &&
    remaining < limit &&
    Math.abs(reset) <= 2000 &&
    typeof headers['x-requestid'] === 'string' &&
    (status === 200 || (status === 429 && remaining === 0 && title === 'Too Many Requests'));
  return { sent, done, status, headersRight };
}

/**
 * The most successes that surely were admitted within one second: sent after its start, answered before its end.
 * The moment of admission lies between the two, so a count above the limit would be a proof of too many.
 */
function busiestSecond(successes: readonly Seen[]): number {
  let most = 0;
  for (const { sent: start } of successes) {
    const within = successes.filter(({ sent, done }) => sent >= start && done < start + 1000).length;
    most = Math.max(most, within);
  }
  return most;
}

const policy = service.policies.find(({ name }) => name === 'intake');
const session = await post('createsession', {
  apiKey: service.apiKey.value,
  policy: policy?.name,
  policyPassword: policy?.password,
});
const { sessionToken } = (await session.body.json()) as { sessionToken: string };
const body = { sessionToken, tokenName: 'card-number', value: '4111111111111111' };

const pending: Promise<Seen>[] = [];
const start = performance.now();
await new Promise<void>((resolve) => {
  const timer = setInterval(() => {
    const elapsed = Math.min(performance.now() - start, seconds * 1000);
    while (pending.length < (elapsed / 1000) * rate) pending.push(once(body));
    if (elapsed < seconds * 1000) return;
    clearInterval(timer);
    resolve();
  }, tickMs);
});
const seen = await Promise.all(pending);
await pool.close();
await service.stop();

const successes = seen.filter(({ status }) => status === 200);
const refused = seen.filter(({ status }) => status === 429);
const busiest = busiestSecond(successes);
const wrongHeaders = seen.filter(({ headersRight }) => !headersRight).length;
const latencies = seen.map(({ sent, done }) => done - sent).sort((a, b) => a - b);
const percentile = (p: number) => (latencies[Math.floor(latencies.length * p)] ?? 0).toFixed(1);
const right = busiest <= limit && wrongHeaders === 0 && successes.length + refused.length === seen.length;

console.log(
  [
    `${seen.length} requests in ${((performance.now() - start) / 1000).toFixed(1)} s`,
    `${successes.length} × 200, ${refused.length} × 429`,
    `busiest second: ${busiest} successes (limit ${limit})`,
    `answers with wrong headers: ${wrongHeaders}`,
    `latency p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`,
    right ? 'as promised' : 'NOT as promised',
  ].join('\n'),
);
process.exitCode = right ? 0 : 1;
