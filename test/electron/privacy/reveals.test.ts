import { expect, test } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createReveals } from '../../../electron/privacy/reveals.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function setUp(seconds = 20) {
  const clock = fakeClock();
  const steps: string[] = [];
  let next = 0;
  const reveals = createReveals({
    clock,
    revealMs: () => seconds * 1_000,
    newId: () => `r${++next}`,
    emit({ revealId, cause }) {
      steps.push(`${revealId} ${cause}`);
      reveals.hidden(revealId);
    },
    protectContent: (on) => steps.push(on ? 'protect' : 'unprotect'),
    endRenderer: () => steps.push('end renderer'),
  });
  return { reveals, clock, steps };
}

test('a reveal ends by itself, and the window is protected until then', () => {
  const { reveals, clock, steps } = setUp();
  expect(reveals.open('one')).toEqual({ revealId: 'r1', hideAfterMs: 20_000 });
  clock.advance(19_999);
  expect(steps).toEqual(['protect']);
  clock.advance(1);
  expect(steps).toEqual(['protect', 'r1 time', 'unprotect']);
  clock.advance(60_000);
  expect(steps).toHaveLength(3);
});

test('hide ends the reveal with that ID only', () => {
  const { reveals, clock, steps } = setUp();
  reveals.open('one');
  reveals.hide('r9');
  expect(steps).toEqual(['protect']);
  reveals.hide('r1');
  reveals.hide('r1');
  expect(steps).toEqual(['protect', 'r1 hidden', 'unprotect']);
  expect(clock.pending()).toBe(0);
});

test('the next reveal replaces the one before, and the window stays protected', () => {
  const { reveals, clock, steps } = setUp();
  reveals.open('one');
  clock.advance(15_000);
  reveals.open('one');
  clock.advance(15_000);
  expect(steps).toEqual(['protect', 'r1 replaced', 'protect']);
  clock.advance(5_000);
  expect(steps.slice(3)).toEqual(['r2 time', 'unprotect']);
});

test('says which value is on the screen, until it ends', () => {
  const { reveals, clock } = setUp();
  expect(reveals.shown()).toBeNull();
  const { revealId } = reveals.open('one');
  expect(reveals.shown()).toBe('one');
  reveals.open('two');
  reveals.hide(revealId);
  expect(reveals.shown()).toBe('two');
  clock.advance(20_000);
  expect(reveals.shown()).toBeNull();
});

test.each(['blur', 'locked'] as const)('%s ends it', (reason) => {
  const { reveals, steps } = setUp();
  reveals.leave(reason);
  expect(steps).toEqual([]);
  reveals.allow();
  reveals.open('one');
  reveals.leave(reason);
  expect(steps).toEqual(['protect', `r1 ${reason}`, 'unprotect']);
});

test('cleartext that arrives after blur or lock is hidden at once', () => {
  const { reveals, clock, steps } = setUp();
  reveals.allow();
  reveals.leave('blur');
  expect(reveals.open('one').hideAfterMs).toBe(1);
  clock.advance(1);
  expect(steps).toEqual(['protect', 'r1 time', 'unprotect']);
  reveals.allow();
  expect(reveals.open('one').hideAfterMs).toBe(20_000);
});

test('ten in any sliding minute, then none until the oldest is a minute old', () => {
  const { reveals, clock } = setUp();
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

test('the wall clock does not change the limit', () => {
  const { reveals, clock } = setUp();
  for (let count = 0; count < 10; count++) reveals.allow();
  clock.setWall('2030-01-01T00:00:00.000Z');
  expect(reveals.allow().ok).toBe(false);
});

test('each locking is another epoch, and nothing else is', () => {
  const { reveals } = setUp();
  const before = reveals.epoch();
  reveals.leave('blur');
  reveals.open('one');
  reveals.gone();
  expect(reveals.epoch()).toBe(before);
  reveals.leave('locked');
  expect(reveals.epoch()).not.toBe(before);
});
