import { expect, test } from 'vitest';
import { watch } from '../../../electron/app/lifecycle.ts';
import { done } from '../../../electron/contract/errors.ts';
import type { AwaySignal } from '../../../electron/platform/platform.ts';
import { createEmitter } from '../../../electron/util/emitter.ts';

type Options = Parameters<typeof watch>[0];

/** What is told to whom, in order; the lock and the machine are the test's to move. */
function open() {
  const steps: string[] = [];
  const step = (name: string) => () => void steps.push(name);
  const changes = createEmitter();
  let away = (_: AwaySignal): void => undefined;
  let locked = false;
  const set = (next: boolean): void => {
    locked = next;
    changes.emit();
  };
  const never = () => () => undefined;
  const options = {
    platform: {
      onCommand: never,
      onAway: (react: typeof away) => ((away = react), () => undefined),
      send: step('send'),
    },
    foundation: {
      audit: {
        record: ({ action }: { action: string }) => (
          steps.push(`audit ${action}`),
          Promise.resolve(done(null))
        ),
        onState: never,
      },
      clipboard: { clear: step('clipboard'), clearAtOnce: step('clipboard') },
      keychain: { onState: never },
      lock: {
        state: () => ({ locked }),
        onChange: (react: () => void) => changes.on(react),
        now: () => set(true),
      },
      reveals: { leave: (why: string) => steps.push(`hide ${why}`), gone: step('gone') },
    },
    service: { clients: { dropSessions: step('sessions'), wake: step('wake') } },
    pages: {
      administration: { forget: step('administration') },
      assistant: { forgetAllExamples: step('examples') },
      approval: { forget: step('approval') },
      connectionPage: { forgetRemoved: step('removed') },
    },
    state: { changed: () => undefined },
    openings: { close: () => undefined },
  } as unknown as Options;
  const stops = watch(options);
  return {
    steps,
    set,
    away: (signal: AwaySignal) => away(signal),
    stop: () => stops.forEach((stop) => stop()),
  };
}

test('a lock ends sessions and administration, hides, clears, forgets and is recorded', () => {
  const { steps, set } = open();
  set(true);
  expect(steps.sort()).toEqual([
    ...['administration', 'approval', 'audit Lock', 'clipboard', 'examples', 'hide locked', 'removed'],
    'sessions',
  ]);
});

test('unlocking, and any other change of the lock, ends nothing', () => {
  const { steps, set } = open();
  set(true);
  steps.length = 0;
  set(false);
  set(false);
  expect(steps).toEqual([]);
});

test('nothing is done once it is stopped', () => {
  const { steps, set, stop } = open();
  stop();
  set(true);
  expect(steps).toEqual([]);
});
