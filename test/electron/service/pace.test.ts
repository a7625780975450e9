import { describe, expect, it } from 'vitest';
import { createClientSide } from '../../faults/client-side.ts';
import { FakeClock, seeded } from '../../faults/fake-clock.ts';
import { createFakeWire } from '../../faults/fake-wire.ts';
import { bucketLimiter, fixedLimiter, slidingLimiter, type Limiter } from '../../faults/limiters.ts';
import { ModelService } from '../../faults/model-service.ts';

const kinds: Record<string, (limit: number) => Limiter> = {
  'any second': slidingLimiter,
  'full seconds': fixedLimiter,
  'a bucket': bucketLimiter,
};

interface Job {
  readonly limiter?: Limiter;
  readonly headers?: boolean;
  readonly sessionMs?: number;
  readonly inFlight?: number;
  readonly seconds?: number;
  readonly seed?: number;
}

/** A job that keeps so many requests in flight for so long, in fake time. */
async function runJob({
  limiter,
  headers = true,
  sessionMs = 600_000,
  inFlight = 16,
  seconds = 60,
  seed = 7,
}: Job) {
  const clock = new FakeClock();
  const random = seeded(seed);
  const service = new ModelService({
    now: () => clock.monotonic(),
    date: () => clock.now(),
    rateHeaders: headers,
    sessionMs,
    ...(limiter && { limiter }),
  });
  const wire = createFakeWire(service, clock, random);
  const { client } = createClientSide({ transport: wire, clock, random });
  const end = clock.monotonic() + seconds * 1000;
  let calls = 0;
  const failures: string[] = [];
  const worker = async (): Promise<void> => {
    while (clock.monotonic() < end) {
      const n = calls++;
      const call = { operation: 'BatchTokenize', policy: 'p', definition: 'd' } as const;
      const outcome = await client.batch(call, [{ ref: 'r', value: String(n) }], {});
      if (!outcome.ok) failures.push(outcome.failure.code);
    }
  };
  await clock.until(Promise.all(Array.from({ length: inFlight }, worker)));
  await client.close();
  const rate = service.admitted.filter((at) => at < end).length / seconds;
  return { rate, failures, calls, arrived: wire.left.length, service };
}

describe('the achieved rate', () => {
  for (const [name, kind] of Object.entries(kinds)) {
    for (const headers of [true, false]) {
      // Twelve thousand requests are enough to lose a tenth of; the shorter, the more the first seconds count.
      it.each([
        [5, 60],
        [50, 60],
        [600, 20],
      ])(
        `is within a tenth of %i a second, counted by ${name}, ${headers ? 'with' : 'without'} headers`,
        async (allowed, seconds) => {
          const run = await runJob({ limiter: kind(allowed), headers, seconds });
          expect(run.failures).toEqual([]);
          expect(run.rate).toBeGreaterThan(allowed * 0.9);
          expect(run.rate).toBeLessThanOrEqual(allowed * 1.1);
          expect(run.arrived / run.calls).toBeLessThan(1.1);
        },
      );
    }
  }
});

describe('the first ten seconds at a service that does not tell its limit', () => {
  // Learning it costs a refusal and a wait, of which chance decides the length.
  const chances = Array.from({ length: 12 }, (_, seed) => seed + 1);

  it.each([20, 50, 100])('are within a tenth of %i a second, whatever chance does', async (allowed) => {
    for (const [name, kind] of Object.entries(kinds))
      for (const seed of chances) {
        const run = await runJob({ limiter: kind(allowed), headers: false, seconds: 10, seed });
        expect([name, seed, run.failures]).toEqual([name, seed, []]);
        expect([name, seed, run.rate > allowed * 0.9]).toEqual([name, seed, true]);
        expect([name, seed, run.arrived / run.calls < 1.1]).toEqual([name, seed, true]);
      }
  });
});

describe('sessions that live two seconds', () => {
  it('are renewed once each by two hundred requests in flight, and no request fails', async () => {
    const run = await runJob({ inFlight: 200, sessionMs: 2000, seconds: 30 });
    expect(run.failures).toEqual([]);
    const made = run.service.sessionsMadeAt;
    expect(run.service.asked.createsession).toBe(made.length);
    expect(made.length).toBeGreaterThan(12);
    for (const [index, at] of made.entries()) {
      // Not one before the last had ended, and not long after either.
      const since = at - (made[index - 1] ?? -Infinity);
      expect(since).toBeGreaterThanOrEqual(2000);
      if (index > 0) expect(since).toBeLessThan(2500);
    }
  });
});
