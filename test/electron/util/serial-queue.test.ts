import { expect, test } from 'vitest';
import { createSerialQueue } from '../../../electron/util/serial-queue.ts';

test('tasks run one at a time, in order, each with its own answer', async () => {
  const inTurn = createSerialQueue();
  const events: string[] = [];
  const gates = [0, 1, 2].map(() => Promise.withResolvers<null>());
  const answers = gates.map((gate, index) =>
    inTurn(async () => {
      events.push(`begin ${index}`);
      await gate.promise;
      events.push(`end ${index}`);
      return index;
    }),
  );
  for (const gate of gates.toReversed()) gate.resolve(null);
  expect(await Promise.all(answers)).toEqual([0, 1, 2]);
  expect(events).toEqual(['begin 0', 'end 0', 'begin 1', 'end 1', 'begin 2', 'end 2']);
});

test('a task that rejects or throws does not stop those behind it', async () => {
  const inTurn = createSerialQueue();
  const rejected = inTurn(() => Promise.reject(new Error('rejected')));
  const thrown = inTurn(() => {
    throw new Error('thrown');
  });
  const fine = inTurn(() => Promise.resolve('fine'));
  await expect(rejected).rejects.toThrow('rejected');
  await expect(thrown).rejects.toThrow('thrown');
  expect(await fine).toBe('fine');
});
