import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer, type PauseLimit, type Priority } from '../../../electron/service/limits/pacing.ts';
import { SlidingWindow } from '../../../electron/service/limits/rate-control.ts';
import { FakeClock } from '../../faults/fake-clock.ts';

const never = new AbortController().signal;
const endless = (): PauseLimit => ({ ms: Infinity, since: null });
const waiter = (signal = never) => ({ priority: 'batch' as const, pauseLimit: endless(), signal });

/** The most of the times that lie within any one second. */
function densest(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  let max = 0;
  for (let first = 0, last = 0; last < sorted.length; last++) {
    while ((sorted[last] ?? 0) - (sorted[first] ?? 0) >= 1000) first++;
    max = Math.max(max, last - first + 1);
  }
  return max;
}

describe('the window of the limit', () => {
  it('is a whole second, and not a millisecond less', () => {
    const sent = fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sent, fc.integer({ min: 1, max: 2_000 }), (offsets, later) => {
        const departures = new SlidingWindow(offsets.length);
        const times = [...offsets].sort((a, b) => a - b);
        for (const at of times) {
          departures.grant();
          departures.stamp(at);
        }
        // The next one fits when the oldest is more than a second ago.
        const [oldest = 0] = times;
        const now = (times.at(-1) ?? 0) + later;
        const wait = departures.waitMs(now, offsets.length);
        expect(now + wait - oldest).toBeGreaterThanOrEqual(1000);
        expect(wait).toBeLessThan(1100);
      }),
    );
  });
});

describe('the pace', () => {
  it('never exceeds the limit in any sliding second, whatever happens', async () => {
    const request = fc.record({
      after: fc.integer({ min: 0, max: 300 }),
      /** Between leave to go and going: the audit's disk. */
      auditMs: fc.integer({ min: 0, max: 400 }),
      answerMs: fc.integer({ min: 0, max: 900 }),
      how: fc.constantFrom('answered', 'answered', 'answered', 'busy', 'failed', 'unsent'),
      priority: fc.constantFrom('interactive', 'batch'),
      pauseMs: fc.option(fc.integer({ min: 0, max: 2000 }), { freq: 10 }),
    });
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.array(request, { minLength: 1, maxLength: 120, size: 'max' }),
      async (limit, requests) => {
        const clock = new FakeClock();
        const pacer = createPacer(limit, clock, () => undefined);
        const left: number[] = [];
        const one = async (plan: (typeof requests)[number]): Promise<void> => {
          const permit = await pacer.admit('Tokenize', {
            priority: plan.priority,
            pauseLimit: endless(),
            signal: never,
          });
          if (!permit.ok) throw new Error('refused');
          await clock.wait(plan.auditMs);
          if (plan.how === 'unsent') {
            permit.end('unsent');
            return;
          }
          permit.sent();
          left.push(clock.monotonic());
          await clock.wait(plan.answerMs);
          if (plan.how === 'busy') pacer.congested(left.at(-1) ?? 0);
          if (plan.pauseMs !== null) pacer.pause(plan.pauseMs, 'busy');
          permit.end(plan.how);
        };
        const all: Promise<void>[] = [];
        const start = async (): Promise<void> => {
          for (const plan of requests) {
            await clock.wait(plan.after % 7 === 0 ? plan.after : 0);
            all.push(one(plan));
          }
        };
        await clock.until(start());
        await clock.until(Promise.all(all));
        expect(left).toHaveLength(requests.filter(({ how }) => how !== 'unsent').length);
        expect(densest(left)).toBeLessThanOrEqual(limit);
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });

  it.each([
    ['offline', 0],
    ['failing', 0],
    ['busy', 60_000],
    ['quota', 60_000],
  ] as const)('a person who asks ends a pause of %s, or does not', (reason, left) => {
    const pacer = createPacer(1, new FakeClock(), () => undefined);
    pacer.pause(60_000, reason);
    pacer.hurry();
    expect(pacer.pausedFor).toBe(left);
  });

  it('lets a person go before a job', async () => {
    const clock = new FakeClock();
    const pacer = createPacer(1, clock, () => undefined);
    const order: string[] = [];
    const go = async (name: string, priority: Priority): Promise<void> => {
      const permit = await pacer.admit('x', { priority, pauseLimit: endless(), signal: never });
      if (!permit.ok) return;
      order.push(name);
      permit.sent();
      permit.end('answered');
    };
    const all = [go('first', 'batch'), go('job', 'batch'), go('job', 'batch'), go('person', 'interactive')];
    await clock.until(Promise.all(all));
    expect(order).toEqual(['first', 'person', 'job', 'job']);
  });

  it('sends one ahead after a pause, and the others only when it got an answer', async () => {
    const clock = new FakeClock();
    const pacer = createPacer(100, clock, () => undefined);
    const warm = await pacer.admit('x', waiter());
    if (!warm.ok) throw new Error('refused');
    warm.sent();
    warm.end('answered');
    pacer.pause(5000, 'failing');
    let granted = 0;
    const permits = Array.from({ length: 4 }, async () => {
      const permit = await pacer.admit('x', waiter());
      granted++;
      return permit;
    });
    await clock.pass(4999);
    expect(granted).toBe(0);
    await clock.pass(500);
    expect(granted).toBe(1);
    const [probe] = permits;
    const permit = await probe;
    if (!permit?.ok) throw new Error('refused');
    permit.sent();
    permit.end('failed');
    await clock.pass(100);
    expect(granted).toBe(2);
    const second = await permits[1];
    if (!second?.ok) throw new Error('refused');
    second.sent();
    second.end('answered');
    await clock.pass(1000);
    expect(granted).toBe(4);
  });

  it('refuses at once a caller that would have to wait too long, with the time left', async () => {
    const clock = new FakeClock();
    const pacer = createPacer(10, clock, () => undefined);
    const waiting = (ms: number) => pacer.admit('x', { ...waiter(), pauseLimit: { ms, since: null } });
    pacer.pause(60_000, 'busy');
    expect(await waiting(1000)).toEqual({ ok: false, reason: 'busy', retryAfterMs: 60_000 });
    const longWait = waiting(90_000);
    await clock.pass(30_000);
    pacer.pause(80_000, 'failing');
    expect(await longWait).toEqual({ ok: false, reason: 'failing', retryAfterMs: 80_000 });
  });

  it('drops a caller that cancels, and all when it closes', async () => {
    const clock = new FakeClock();
    const pacer = createPacer(10, clock, () => undefined);
    pacer.pause(1000, 'busy');
    const leave = new AbortController();
    const gone = pacer.admit('x', waiter(leave.signal));
    leave.abort();
    expect(await gone).toMatchObject({ ok: false, reason: 'cancelled' });
    const other = pacer.admit('x', waiter());
    pacer.close();
    expect(await other).toMatchObject({ ok: false, reason: 'cancelled' });
    expect(await pacer.admit('x', waiter())).toMatchObject({ reason: 'cancelled' });
  });
});
