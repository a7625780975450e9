import assert from 'node:assert/strict';
import { memoryQuota } from '../client-side.ts';
import { FakeClock } from '../fake-clock.ts';
import { assertAll, assertFailed, call, DEFINITION, POLICY, tokens, type Row } from '../row.ts';
import { reply, withFakeTime } from '../with-fake-time.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const elements = tokens(2);

/** How long a lone 429 with these headers holds the next request back, in fake time. */
async function pauseAfter(
  headers: (serverNow: number) => Record<string, string>,
  skewMs = 0,
): Promise<number> {
  let waited = 0;
  const clock = new FakeClock();
  clock.epoch += skewMs;
  let first = 0;
  await withFakeTime(
    async ({ client }) => {
      await clock.until(client.batch(call, elements, {}));
    },
    {
      clock,
      script(_operation, { nth }, model) {
        if (nth === 1) {
          first = clock.monotonic();
          return reply(429, headers(clock.now() - skewMs));
        }
        waited = clock.monotonic() - first;
        return model();
      },
    },
  );
  return waited;
}

export const limits: readonly Row[] = [
  {
    fault: '429, reset in the past',
    expected: 'jittered minimum backoff',
    async run() {
      const waited = await pauseAfter((now) => ({
        'x-rate-limit-reset': new Date(now - 60_000).toISOString(),
      }));
      assert.ok(waited >= 100 && waited < 1000, `waited ${waited} ms`);
    },
  },
  {
    fault: '429 with HTTP-date, ISO, epoch s, epoch ms, delta',
    expected: 'all understood, by the server’s Date; clamped to 24 h; garbage → backoff',
    async run() {
      const forms: ((at: number) => string)[] = [
        (at) => new Date(at).toUTCString(),
        (at) => new Date(at).toISOString(),
        (at) => String(Math.round(at / 1000)),
        (at) => String(at),
      ];
      for (const skewMs of [0, 3 * HOUR, -3 * HOUR]) {
        for (const form of forms) {
          const waited = await pauseAfter(
            (now) => ({ 'x-rate-limit-reset': form(now + 10_000), date: new Date(now).toUTCString() }),
            skewMs,
          );
          // Date and most forms are cut to the second; the wait may be off by as much.
          assert.ok(waited > 8_900 && waited < 12_100, `waited ${waited} ms at a skew of ${skewMs} ms`);
        }
      }
      const delta = await pauseAfter(() => ({ 'retry-after': '10' }));
      assert.ok(delta >= 10_000 && delta < 11_000, `waited ${delta} ms`);
      const garbage = await pauseAfter(() => ({ 'retry-after': 'soon', 'x-rate-limit-reset': '31/12' }));
      assert.ok(garbage < 1000, `waited ${garbage} ms`);
      await withFakeTime(
        async ({ client, clock }) => {
          const outcome = await clock.until(client.batch(call, elements, {}));
          assertFailed(outcome, 'service.quota');
          assert.equal(outcome.failure.retryAfterMs, 24 * HOUR);
        },
        { script: () => reply(429, { 'x-rate-limit-reset': '2099-01-01T00:00:00Z' }) },
      );
    },
  },
  {
    fault: '429 storm',
    expected: 'global pause, half rate, one probe; no call fails',
    run: () => {
      let storm = { from: Infinity, to: Infinity };
      return withFakeTime(
        async ({ client, clock, wire }) => {
          const start = clock.monotonic();
          storm = { from: start + 5 * SECOND, to: start + 15 * SECOND };
          const outcomes: boolean[] = [];
          let calls = 0;
          const worker = async (): Promise<void> => {
            while (clock.monotonic() < start + 30 * SECOND) {
              calls++;
              outcomes.push((await client.batch(call, elements, {})).ok);
            }
          };
          await clock.until(Promise.all(Array.from({ length: 16 }, worker)));
          assert.ok(outcomes.every((ok) => ok));
          const during = wire.left.filter((at) => at > storm.from + 20 && at < storm.to);
          // One probe after each pause, the pauses twice as long each time.
          assert.ok(during.length <= 12, `${during.length} requests during the storm`);
          const [before] = wire.left.filter((at) => at >= storm.from).slice(17);
          assert.ok(before !== undefined && before > storm.from + 100, 'there was no pause');
          assert.ok(wire.left.length / calls < 1.1, 'too many requests');
          const recovered = wire.left.filter(
            (at) => at > storm.to + 10 * SECOND && at <= storm.to + 11 * SECOND,
          );
          assert.ok(recovered.length > 500, `only ${recovered.length} a second after the storm`);
          const resumed = wire.left.find((at) => at >= storm.to) ?? 0;
          const half = wire.left.filter((at) => at > resumed + 20 && at <= resumed + 270).length;
          assert.ok(half < 0.25 * 600 * 0.62, `${half} in the first quarter of a second after the storm`);
        },
        {
          script: (_operation, { clock }, model) =>
            clock.monotonic() >= storm.from && clock.monotonic() < storm.to ? reply(429) : model(),
        },
      );
    },
  },
  {
    fault: 'day’s transfers spent',
    expected: 'pause until the reset; survives a restart',
    async run() {
      const quota = memoryQuota();
      const clock = new FakeClock();
      const app = { quota, connection: { transfersPerDay: 10 } };
      await withFakeTime(
        async ({ client, sent }) => {
          for (let n = 0; n < 5; n++) assert.ok((await clock.until(client.batch(call, elements, {}))).ok);
          const outcome = await clock.until(client.batch(call, elements, {}));
          assertFailed(outcome, 'service.quota');
          assert.ok((outcome.failure.retryAfterMs ?? 0) > 23 * HOUR);
          assert.equal(client.status(POLICY).transfersToday, 10);
          assert.equal(sent(), 5);
        },
        { clock, app },
      );
      await withFakeTime(
        async ({ client, sent }) => {
          assertFailed(await clock.until(client.batch(call, elements, {})), 'service.quota');
          assert.equal(sent(), 0);
          await clock.pass(25 * HOUR);
          assert.ok((await clock.until(client.batch(call, elements, {}))).ok);
        },
        { clock, app },
      );
    },
  },
  {
    fault: 'day’s transfers spent, as the service says',
    expected: 'pause until its reset; survives a restart',
    async run() {
      const quota = memoryQuota();
      const clock = new FakeClock();
      const app = { quota };
      await withFakeTime(
        async ({ client, sent }) => {
          assertFailed(await clock.until(client.batch(call, elements, {})), 'service.quota');
          assert.equal(client.status(POLICY).pauseReason, 'quota');
          assert.equal(sent(), 1);
        },
        { clock, app, script: () => reply(429, { 'retry-after': '18000' }) },
      );
      await withFakeTime(
        async ({ client, sent }) => {
          await clock.pass(SECOND);
          assertFailed(await clock.until(client.batch(call, elements, {})), 'service.quota');
          assert.equal(client.status(POLICY).pauseReason, 'quota');
          assert.equal(sent(), 0);
          await clock.pass(5 * HOUR);
          assert.ok((await clock.until(client.batch(call, elements, {}))).ok);
        },
        { clock, app },
      );
    },
  },
  {
    fault: '500/502/503',
    expected: 'retry, Retry-After honoured, breaker opens',
    async run() {
      for (const status of [500, 502, 503]) {
        const at: number[] = [];
        await withFakeTime(
          async ({ client, clock }) =>
            assertAll(await clock.until(client.batch(call, elements, {})), elements),
          {
            script(_operation, { clock, nth }, model) {
              at.push(clock.monotonic());
              return nth < 3 ? reply(status, nth === 2 ? { 'retry-after': '7' } : {}) : model();
            },
          },
        );
        assert.equal(at.length, 3);
        const [, second = 0, third = 0] = at;
        assert.ok(third - second >= 7000 && third - second < 9000, `waited ${third - second} ms`);
      }
      await withFakeTime(
        async ({ client, clock, sent }) => {
          const person = (n: number) => client.getMasked(POLICY, DEFINITION, `tok_${n}`, {});
          const job = () => client.batch(call, elements, {});
          const outcomes = await clock.until(
            Promise.all(Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? person(n) : job()))),
          );
          for (const outcome of outcomes) {
            assertFailed(outcome, 'service.failing');
            assert.ok((outcome.failure.retryAfterMs ?? 0) > 0, 'no word on when to try again');
          }
          // The first flight fails, the breaker opens, and from then on one probe goes at a time.
          assert.ok(sent() <= 110, `${sent()} requests for 100 calls`);
        },
        { script: () => reply(503) },
      );
    },
  },
  {
    fault: 'every fifth answer fails',
    expected: 'amplification at most 1.1',
    run: () => {
      let calls = 0;
      return withFakeTime(
        async ({ client, clock, sent }) => {
          const worker = async (): Promise<void> => {
            while (calls < 2000) {
              calls++;
              await client.batch(call, elements, {});
            }
          };
          await clock.until(Promise.all(Array.from({ length: 8 }, worker)));
          assert.ok(sent() / calls <= 1.1, `amplification ${sent() / calls}`);
          assert.ok(sent() / calls > 1.05, 'nothing was retried');
        },
        { script: (_operation, { nth }, model) => (nth % 5 === 0 ? reply(500) : model()) },
      );
    },
  },
  {
    fault: 'clock skew',
    expected: 'monotonic timers; a 401 says by how much, above 60 s',
    async run() {
      let skewMs = 0;
      let refused = false;
      await withFakeTime(
        async ({ client, clock }) => {
          assertAll(await clock.until(client.batch(call, elements, {})), elements);
          for (const stepMs of [30 * SECOND, 60 * SECOND]) {
            skewMs += stepMs;
            clock.epoch += stepMs;
            refused = false;
            assertAll(await clock.until(client.batch(call, elements, {})), elements);
            refused = true;
            const outcome = await clock.until(client.batch(call, elements, {}));
            assertFailed(outcome, 'service.credentials');
            const { clockSkewMs } = outcome.failure;
            if (skewMs < 60 * SECOND) assert.equal(clockSkewMs, undefined);
            else assert.ok(Math.abs((clockSkewMs ?? 0) - skewMs) < 2000, `${clockSkewMs ?? 'no'} ms`);
          }
        },
        {
          script(_operation, { clock }, model) {
            const answer = refused ? reply(401) : model();
            const date = new Date(clock.now() - skewMs).toUTCString();
            return { ...answer, headers: { ...answer.headers, date } };
          },
        },
      );
    },
  },
];
