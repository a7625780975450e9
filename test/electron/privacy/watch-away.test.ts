import { expect, test } from 'vitest';
import { openLock } from '../../../electron/privacy/lock.ts';
import { watchAway } from '../../../electron/privacy/watch-away.ts';
import type { AwaySignal } from '../../../electron/platform/platform.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { noPassphrase } from '../../support/no-passphrase.ts';

async function app() {
  const steps: string[] = [];
  const clock = fakeClock();
  let signal: (signal: AwaySignal) => void = () => undefined;
  const lock = await openLock({
    clock,
    idleMs: () => 60_000,
    ...noPassphrase,
  });
  const stop = watchAway({
    platform: { onAway: (listener) => ((signal = listener), () => steps.push('stopped')) },
    lock,
    reveals: { leave: (reason) => steps.push(`hide ${reason}`), gone: () => steps.push('gone') },
    clipboard: {
      clear: () => (steps.push('clear'), Promise.resolve()),
      clearAtOnce: () => steps.push('clear at once'),
    },
  });
  return { steps, clock, lock, stop, signal: (which: AwaySignal) => signal(which) };
}

test('blur hides the revealed value, and neither locks nor clears', async () => {
  const { steps, lock, signal } = await app();
  signal('blur');
  expect(steps).toEqual(['hide blur']);
  expect(lock.state().locked).toBe(false);
});

test.each(['screen-locked', 'suspend', 'resume'] as const)('%s locks, hides and clears', async (which) => {
  const { steps, lock, signal } = await app();
  signal(which);
  expect(lock.state().locked).toBe(true);
  expect(steps).toEqual(['hide locked', 'clear']);
});

test('idle time and Ctrl+L hide and clear as well', async () => {
  const { steps, lock, clock } = await app();
  clock.advance(60_000);
  expect(steps).toEqual(['hide locked', 'clear']);
  await lock.unlock('');
  lock.now();
  expect(steps).toHaveLength(4);
});

test('the end of the person’s session hides and clears before it returns', async () => {
  const { steps, signal } = await app();
  signal('session-end');
  expect(steps).toEqual(['hide locked', 'clear at once']);
});

test('quitting hides and clears', async () => {
  const { steps, signal } = await app();
  signal('quit');
  expect(steps).toEqual(['hide locked', 'clear']);
});

test('nothing happens after it was stopped', async () => {
  const { steps, lock, stop } = await app();
  stop();
  lock.now();
  expect(steps).toEqual(['stopped']);
});
