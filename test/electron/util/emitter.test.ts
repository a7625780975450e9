import { expect, test, vi } from 'vitest';
import { createEmitter } from '../../../electron/util/emitter.ts';

test('tells every listener until it unsubscribes', () => {
  const emitter = createEmitter<string>();
  const [first, second] = [vi.fn(), vi.fn()];
  const stop = emitter.on(first);
  emitter.on(second);
  emitter.emit('a');
  stop();
  stop();
  emitter.emit('b');
  expect(first.mock.calls).toEqual([['a']]);
  expect(second.mock.calls).toEqual([['a'], ['b']]);
  expect(emitter.size).toBe(1);
  emitter.clear();
  emitter.emit('c');
  expect(second).toHaveBeenCalledTimes(2);
});

test('a function subscribed twice is called twice, and each subscription ends by itself', () => {
  const emitter = createEmitter();
  const listener = vi.fn();
  const stop = emitter.on(listener);
  emitter.on(listener);
  emitter.emit();
  stop();
  emitter.emit();
  expect(listener).toHaveBeenCalledTimes(3);
});

test('a listener that throws does not keep the others from being told', () => {
  const emitter = createEmitter();
  const last = vi.fn();
  emitter.on(() => {
    throw new Error('first');
  });
  emitter.on(last);
  expect(() => emitter.emit()).toThrow('first');
  expect(last).toHaveBeenCalledOnce();
});

test('a listener that is removed meanwhile is not called, one that is added waits for the next', () => {
  const emitter = createEmitter();
  const [removed, added] = [vi.fn(), vi.fn()];
  let stop = (): void => undefined;
  emitter.on(() => {
    stop();
    emitter.on(added);
  });
  stop = emitter.on(removed);
  emitter.emit();
  expect(removed).not.toHaveBeenCalled();
  expect(added).not.toHaveBeenCalled();
});
