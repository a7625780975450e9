import { expect, test } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createReveals } from '../../../electron/privacy/reveals.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function room(seconds = 20) {
  const clock = fakeClock();
  const steps: string[] = [];
  let next = 0;
  const reveals = createReveals({
    clock,
    revealMs: () => seconds * 1_000,
    newId: () => `r${++next}`,
    emit: ({ revealId, why }) => steps.push(`${revealId} ${why}`),
    protectContent: (on) => steps.push(on ? 'protect' : 'unprotect'),
  });
  return { reveals, clock, steps };
}

test('a reveal ends by itself, and the protection falls after it', () => {
  const { reveals, clock, steps } = room();
  expect(reveals.open()).toEqual({ revealId: 'r1', hideAfterMs: 20_000 });
  clock.advance(19_999);
  expect(reveals.isOpen('r1')).toBe(true);
  expect(steps).toEqual(['protect']);
  clock.advance(1);
  expect(reveals.isOpen('r1')).toBe(false);
  expect(steps).toEqual(['protect', 'r1 time', 'unprotect']);
  clock.advance(60_000);
  expect(steps).toHaveLength(3);
});

test('hide ends the one that is open, and no other', () => {
  const { reveals, clock, steps } = room();
  reveals.open();
  reveals.hide('r9');
  expect(reveals.isOpen('r1')).toBe(true);
  reveals.hide('r1');
  reveals.hide('r1');
  expect(steps).toEqual(['protect', 'r1 hidden', 'unprotect']);
  expect(clock.pending()).toBe(0);
});

test('the next reveal replaces the one before, without a moment unprotected', () => {
  const { reveals, clock, steps } = room();
  reveals.open();
  clock.advance(15_000);
  reveals.open();
  clock.advance(15_000);
  expect(reveals.isOpen('r2')).toBe(true);
  expect(steps).toEqual(['protect', 'r1 replaced', 'protect']);
});

test.each(['blur', 'locked'] as const)('%s ends it', (why) => {
  const { reveals, steps } = room();
  reveals.leave(why);
  expect(steps).toEqual([]);
  reveals.allow();
  reveals.open();
  reveals.leave(why);
  expect(steps).toEqual(['protect', `r1 ${why}`, 'unprotect']);
});

test('cleartext that arrives after the person left is gone at once', () => {
  const { reveals, clock, steps } = room();
  reveals.allow();
  reveals.leave('blur');
  expect(reveals.open().hideAfterMs).toBe(1);
  clock.advance(1);
  expect(steps).toEqual(['protect', 'r1 time', 'unprotect']);
  reveals.allow();
  expect(reveals.open().hideAfterMs).toBe(20_000);
});

test('ten in any sliding minute, then the router is shut until the oldest is a minute old', () => {
  const { reveals, clock } = room();
  for (let count = 0; count < 10; count++) {
    expect(reveals.allow()).toEqual(done(null));
    clock.advance(1_000);
  }
  expect(reveals.allow()).toEqual(failed('reveal.throttled', { retryAfterMs: 50_000 }));
  clock.advance(49_999);
  expect(reveals.allow()).toEqual(failed('reveal.throttled', { retryAfterMs: 1 }));
  clock.advance(1);
  expect(reveals.allow()).toEqual(done(null));
  expect(reveals.allow()).toEqual(failed('reveal.throttled', { retryAfterMs: 1_000 }));
});

test('the wall clock moves no limit', () => {
  const { reveals, clock } = room();
  for (let count = 0; count < 10; count++) reveals.allow();
  clock.setWall('2030-01-01T00:00:00.000Z');
  expect(reveals.allow().ok).toBe(false);
});
