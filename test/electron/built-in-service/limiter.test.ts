import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLimiter, type Party } from '../../../electron/built-in-service/limiter.ts';

const dayMs = 86_400_000;
const parties = fc.subarray<Party>(['ip:1', 'ip:2', 'client:a', 'client:b', 'account:x'], { minLength: 1 });

/** The largest count in any window of the given length, wherever it starts. */
function busiest(events: readonly { at: number; count: number }[], length: number): number {
  return Math.max(
    0,
    ...events.map(({ at }) =>
      events.reduce((sum, other) => sum + (other.at >= at && other.at < at + length ? other.count : 0), 0),
    ),
  );
}

function clockOf() {
  const time = { now: 0 };
  return { time, clock: { now: () => 1_700_000_000_000 + time.now, monotonic: () => time.now } };
}

describe('the limit of a second', () => {
  it('never admits more than the limit in any second, for any party, and never refuses without cause', () => {
    const requests = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), parties), { maxLength: 150 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), requests, (limit, script) => {
        const { time, clock } = clockOf();
        const limiter = createLimiter({ requestsPerSecond: limit, transfersPerDay: 1 }, clock);
        const admitted: { at: number; count: number; parties: readonly Party[] }[] = [];
        for (const [wait, who] of script) {
          time.now += wait;
          const before = limiter.report(who);
          const recent = (party: Party) =>
            admitted.filter((one) => one.parties.includes(party) && one.at > time.now - 1000).length;
          const fits = who.every((party) => recent(party) < limit);
          expect(limiter.admit(who)).toBe(fits);
          if (!fits) expect(before.remaining).toBe(0);
          if (fits) admitted.push({ at: time.now, count: 1, parties: who });
        }
        for (const party of ['ip:1', 'ip:2', 'client:a', 'client:b', 'account:x'] as const) {
          const events = admitted.filter((one) => one.parties.includes(party));
          expect(busiest(events, 1000)).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('8.6 reports the most restrictive rule, what is left of it, and when it is whole again', () => {
    const { time, clock } = clockOf();
    const limiter = createLimiter({ requestsPerSecond: 3, transfersPerDay: 1000 }, clock);
    time.now = 500;
    limiter.admit(['ip:1', 'client:a']);
    limiter.admit(['client:a']);
    expect(limiter.report(['ip:1', 'client:a'])).toEqual({
      limit: 3,
      remaining: 1,
      resetAt: 1_700_000_001_500,
    });
    time.now = 1500;
    expect(limiter.report(['ip:1', 'client:a'])).toMatchObject({ limit: 3, remaining: 3 });
  });

  it('takes a place with every party or with none', () => {
    const { clock } = clockOf();
    const limiter = createLimiter({ requestsPerSecond: 2, transfersPerDay: 1 }, clock);
    limiter.admit(['client:a']);
    limiter.admit(['client:a']);
    expect(limiter.admit(['ip:1', 'client:a'])).toBe(false);
    expect(limiter.admit(['ip:1'])).toBe(true);
    expect(limiter.admit(['ip:1'])).toBe(true);
    expect(limiter.admit(['ip:1'])).toBe(false);
  });
});

describe('8.2 the transfers of 24 hours', () => {
  it('holds a minute’s transfers until the last of them is 24 hours old', () => {
    const minute = 60_000;
    const clock = { now: 1_700_000_040_000 };
    expect(clock.now % minute).toBe(0);
    const limiter = createLimiter(
      { requestsPerSecond: 1, transfersPerDay: 10 },
      { now: () => clock.now, monotonic: () => 0 },
    );
    clock.now += minute - 1;
    expect(limiter.transfer(['client:a'], 10)).toBe(true);
    clock.now += dayMs - 1;
    expect(limiter.transfer(['client:a'], 1)).toBe(false);
    expect(limiter.report(['client:a'])).toMatchObject({ limit: 10, remaining: 0, resetAt: clock.now + 2 });
    clock.now += 2;
    expect(limiter.transfer(['client:a'], 10)).toBe(true);
  });

  it('never lets more than the limit through in any 24 hours, and gives back within a minute of them', () => {
    const script = fc.array(
      fc.tuple(fc.integer({ min: 0, max: dayMs / 3 }), fc.integer({ min: 1, max: 60 }), parties),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(script, (steps) => {
        const { time, clock } = clockOf();
        const limiter = createLimiter({ requestsPerSecond: 1, transfersPerDay: 100 }, clock);
        const spent: { at: number; count: number; parties: readonly Party[] }[] = [];
        for (const [wait, count, who] of steps) {
          time.now += wait;
          const sumSince = (party: Party, since: number) =>
            spent.reduce(
              (sum, one) => sum + (one.parties.includes(party) && one.at > since ? one.count : 0),
              0,
            );
          const may = limiter.transfer(who, count);
          if (may) spent.push({ at: time.now, count, parties: who });
          else
            expect(who.some((party) => sumSince(party, time.now - dayMs - 60_000) + count > 100)).toBe(true);
        }
        for (const party of ['ip:1', 'ip:2', 'client:a', 'client:b', 'account:x'] as const) {
          const events = spent.filter((one) => one.parties.includes(party));
          expect(busiest(events, dayMs)).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 200 },
    );
  });
});
