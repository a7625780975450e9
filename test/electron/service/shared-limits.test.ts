import { describe, expect, it } from 'vitest';
import { createClientSide } from '../../faults/client-side.ts';
import { FakeClock, seeded } from '../../faults/fake-clock.ts';
import { createFakeWire } from '../../faults/fake-wire.ts';
import { bucketLimiter, fixedLimiter, slidingLimiter, type Limiter } from '../../faults/limiters.ts';
import { ModelService } from '../../faults/model-service.ts';

/** Workstations of one account, whose limit counts all of them together (spec §8), in fake time. */
interface Shared {
  readonly limiter: (limit: number) => Limiter;
  readonly headers: boolean;
  /** Requests of each. */
  readonly requests: readonly number[];
  /** Between the start of one and of the next. */
  readonly everyMs?: number;
}

const perSecond = 600;
const call = { operation: 'BatchTokenize', policy: 'p', definition: 'd' } as const;

async function runShared({ limiter, headers, requests, everyMs = 0 }: Shared) {
  const clock = new FakeClock();
  const random = seeded(1);
  const service = new ModelService({
    now: () => clock.monotonic(),
    date: () => clock.now(),
    rateHeaders: headers,
    limiter: limiter(perSecond),
  });
  const began = clock.monotonic();
  const failures: string[] = [];
  const run = async (count: number, place: number) => {
    await clock.wait(place * everyMs);
    const wire = createFakeWire(service, clock, random);
    const { client } = createClientSide({ transport: wire, clock, random });
    const answered: number[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) {
        const outcome = await client.batch(call, [{ ref: 'r', value: `${place}-${next++}` }], {});
        if (!outcome.ok) failures.push(outcome.failure.code);
        answered.push(clock.monotonic() - began);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    await client.close();
    return { answered, sent: wire.left.length };
  };
  const clients = await clock.until(Promise.all(requests.map(run)));
  const all = requests.reduce((sum, count) => sum + count, 0);
  const gaps = clients.flatMap(({ answered }) => answered.slice(1).map((at, i) => at - (answered[i] ?? 0)));
  return {
    failures,
    /** Of the time that the limit leaves, at the least. */
    times: (Math.max(...clients.flatMap(({ answered }) => answered)) * perSecond) / (all * 1_000),
    longestGapMs: Math.max(...gaps),
    sent: clients.reduce((sum, { sent }) => sum + sent, 0) / all,
    clients,
  };
}

const same = (clients: number, requests: number): number[] => Array<number>(clients).fill(requests);

describe('ten workstations with one limit', () => {
  it.each([
    ['any second', slidingLimiter],
    ['full seconds', fixedLimiter],
    ['a bucket', bucketLimiter],
  ])('are done within 1.2 times the least time, counted by %s', async (_name, limiter) => {
    for (const headers of [true, false]) {
      const shared = await runShared({ limiter, headers, requests: same(10, 1_000) });
      expect(shared.failures).toEqual([]);
      expect(shared.times).toBeLessThan(1.2);
      // None stands still, and few are sent in vain.
      expect(shared.longestGapMs).toBeLessThan(3_000);
      expect(shared.sent).toBeLessThan(1.05);
    }
  });

  it('that begin one after the other share it too', async () => {
    for (const limiter of [slidingLimiter, bucketLimiter]) {
      const shared = await runShared({ limiter, headers: true, requests: same(10, 1_500), everyMs: 1_000 });
      expect(shared.failures).toEqual([]);
      expect(shared.times).toBeLessThan(1.8);
    }
  });
});

describe('a workstation that is alone again', () => {
  it.each([
    ['any second', slidingLimiter],
    ['a bucket', bucketLimiter],
  ])('takes what the others leave within ten seconds, counted by %s', async (_name, limiter) => {
    const { clients } = await runShared({ limiter, headers: true, requests: [...same(9, 600), 9_000] });
    const others = Math.max(...clients.slice(0, -1).flatMap(({ answered }) => answered));
    const last = clients.at(-1)?.answered ?? [];
    const within = last.filter((at) => at > others + 8_000 && at <= others + 10_000).length / 2;
    expect(within).toBeGreaterThan(perSecond * 0.9);
  });
});
