import { expect, it } from 'vitest';
import { createRetention } from '../../../../electron/batch/running/retention.ts';

it('begins nothing in an app that was closed before its start ended', async () => {
  const timers = new Set<number>();
  const retention = createRetention({
    clock: {
      now: () => new Date(0),
      after(ms: number) {
        timers.add(ms);
        return () => timers.delete(ms);
      },
    },
    store: { read: () => ({ keepResultsDays: 0 }) },
  } as never);
  await retention.start();
  expect(timers.size).toBe(1);
  await retention.close();
  expect(timers.size).toBe(0);
  await retention.start();
  expect(timers.size).toBe(0);
});
