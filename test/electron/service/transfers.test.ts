import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryBudget } from '../../../electron/service/limits/retries.ts';
import { createTransfers } from '../../../electron/service/limits/transfers.ts';
import { memoryQuota } from '../../faults/client-side.ts';
import { FakeClock } from '../../faults/fake-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("8.2 the day's transfers", () => {
  it('never exceed the limit in any 24 hours, restarts included', async () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 8 * HOUR }),
      count: fc.integer({ min: 1, max: 40 }),
      restart: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { size: 'max', maxLength: 60 }), async (steps) => {
        const clock = new FakeClock();
        const quota = memoryQuota();
        let transfers = createTransfers(100, quota, clock);
        const taken: { at: number; count: number }[] = [];
        for (const { waitMs, count, restart } of steps) {
          await clock.pass(waitMs);
          if (restart) {
            await transfers.flush();
            transfers = createTransfers(100, quota, clock);
          }
          await transfers.ready;
          if (transfers.take(count).ok) taken.push({ at: clock.now(), count });
        }
        for (const { at } of taken) {
          const within = taken.filter((other) => other.at > at - DAY && other.at <= at);
          expect(within.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('say when there will be room, and there is', async () => {
    const clock = new FakeClock();
    const transfers = createTransfers(10, memoryQuota(), clock);
    expect(transfers.take(6).ok).toBe(true);
    await clock.pass(3 * HOUR);
    expect(transfers.take(4).ok).toBe(true);
    const refused = transfers.take(5);
    if (refused.ok) throw new Error('there was no room');
    await clock.pass(refused.retryAfterMs - 1);
    expect(transfers.take(5).ok).toBe(false);
    await clock.pass(1);
    expect(transfers.take(5).ok).toBe(true);
    expect(transfers.today).toBe(9);
  });

  it('are counted in memory when they can be neither read nor kept', async () => {
    const broken = { load: () => Promise.reject(new Error('x')), save: () => Promise.reject(new Error('x')) };
    const transfers = createTransfers(3, broken, new FakeClock());
    await transfers.ready;
    expect(transfers.take(3).ok).toBe(true);
    await transfers.flush();
    expect(transfers.take(1).ok).toBe(false);
  });

  it('are not locked for years by a clock that was ahead', async () => {
    const clock = new FakeClock();
    const far = Math.floor(clock.now() / HOUR) + 100_000;
    const quota = memoryQuota({ hours: [{ hour: far, count: 10 }], pausedUntil: clock.now() + 400 * DAY });
    const transfers = createTransfers(10, quota, clock);
    await transfers.ready;
    expect(transfers.take(1).ok).toBe(false);
    await clock.pass(DAY + HOUR);
    expect(transfers.take(1).ok).toBe(true);
  });
});

describe('the retry budget', () => {
  it('keeps requests within 1.1 times those meant, however retries are asked for', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 50, maxLength: 2000, size: 'max' }),
        (asked) => {
          const budget = new RetryBudget(0);
          let retries = 0;
          for (const wish of asked) {
            budget.earn();
            for (let n = 0; n < wish; n++) if (budget.spend(0)) retries++;
          }
          expect((asked.length + retries) / asked.length).toBeLessThanOrEqual(1.1);
        },
      ),
    );
  });

  it('lets a lone request be repeated, and gives the loan back in minutes', () => {
    const budget = new RetryBudget(0);
    budget.earn();
    for (let n = 0; n < 5; n++) expect(budget.spend(0)).toBe(true);
    expect(budget.spend(0)).toBe(false);
    expect(budget.spend(60_000)).toBe(true);
    expect(budget.spend(60_000)).toBe(false);
  });
});
