import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import {
  beforeOthers,
  beginStart,
  endStart,
  standForActs,
  untilStarted,
  yieldToOthers,
} from '../../../electron/util/turns.ts';
import { standsDuring } from '../../support/stands-during.ts';

afterEach(() => {
  endStart();
  vi.useRealTimers();
});

test('work that gives way stands until an act on one value has ended', async () => {
  expect(await standsDuring((goesOn) => beforeOthers(() => goesOn))).toBe(true);
});

test('work without such an act goes on', async () => {
  expect(await standsDuring((goesOn) => goesOn)).toBe(false);
});

test('work that need not give way stands for an act as well, and for nothing else', async () => {
  expect(await standsDuring((goesOn) => beforeOthers(() => goesOn), standForActs)).toBe(true);
  expect(await standsDuring((goesOn) => goesOn, standForActs)).toBe(false);
});

test('work goes on after an act that failed, whose failure is the act’s', async () => {
  await expect(beforeOthers(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  await yieldToOthers();
});

test('work stands no longer than a quarter of a second for one act', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { promise: answer, resolve } = Promise.withResolvers<undefined>();
  const act = beforeOthers(() => answer);
  const work = yieldToOthers();
  vi.advanceTimersByTime(250);
  await work;
  resolve(undefined);
  await act;
});

test('acts that begin while work stands do not keep it from going on', async () => {
  const first = Promise.withResolvers<undefined>();
  const second = Promise.withResolvers<undefined>();
  const acts = [beforeOthers(() => first.promise)];
  const work = yieldToOthers();
  await nextTurn();
  acts.push(beforeOthers(() => second.promise));
  first.resolve(undefined);
  await work;
  second.resolve(undefined);
  await Promise.all(acts);
});

test('work goes on half of the time, whoever asks for values without a pause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1_000_000);
  const { promise: answer, resolve } = Promise.withResolvers<undefined>();
  const acts: Promise<undefined>[] = [];
  let stood = 0;
  for (let turn = 0; turn < 40; turn++) {
    acts.push(beforeOthers(() => answer));
    const ended: number[] = [];
    const work = yieldToOthers().then(() => ended.push(turn));
    for (let wait = 0; wait < 3; wait++) await nextTurn();
    stood += 1 - ended.length;
    vi.advanceTimersByTime(250);
    await work;
  }
  expect(stood).toBeGreaterThan(15);
  expect(stood).toBeLessThan(26);
  resolve(undefined);
  await Promise.all(acts);
});

const isWaiting = async (work: Promise<void>): Promise<boolean> => {
  let isOver = false as boolean;
  void work.then(() => (isOver = true));
  await nextTurn();
  return !isOver;
};

test('what nobody waits for stands until the window is drawn, and without a window not at all', async () => {
  expect(await isWaiting(untilStarted())).toBe(false);
  beginStart();
  const work = untilStarted();
  expect(await isWaiting(work)).toBe(true);
  endStart();
  await work;
  expect(await isWaiting(untilStarted())).toBe(false);
});

test('an act on one value ends the start: it may wait for what stands', async () => {
  beginStart();
  expect(await beforeOthers(() => isWaiting(untilStarted()))).toBe(false);
});

test('a start ends after five seconds, whatever becomes of its window', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  beginStart();
  const work = untilStarted();
  vi.advanceTimersByTime(4_999);
  expect(await isWaiting(work)).toBe(true);
  vi.advanceTimersByTime(1);
  await work;
});
