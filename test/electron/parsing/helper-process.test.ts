import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { closeHelper, createHelperMemory, helperProcess } from '../../../electron/parsing/helper-process.ts';

it('whoever ends the thread is told which process runs, and none is started from then on', async () => {
  const memory = createHelperMemory();
  const helper = helperProcess(memory);
  expect(helper.begin()).toBe(true);
  helper.began(4_711);
  expect(await closeHelper(memory)).toBe(4_711);
  expect(helper.begin()).toBe(false);
  helper.ended();
  expect(helper.begin()).toBe(false);
});

it('a thread without a process starts none from then on; one whose process ended, or could not be started, has none', async () => {
  for (const before of [
    () => undefined,
    (helper: ReturnType<typeof helperProcess>) => {
      helper.begin();
      helper.began(4_711);
      helper.ended();
    },
    (helper: ReturnType<typeof helperProcess>) => {
      helper.begin();
      helper.began(null);
    },
  ]) {
    const memory = createHelperMemory();
    const helper = helperProcess(memory);
    before(helper);
    expect(await closeHelper(memory)).toBe(null);
    expect(helper.begin()).toBe(false);
  }
});

it('while a process is being started, by another thread, its number is waited for', async () => {
  const memory = createHelperMemory();
  const helper = helperProcess(memory);
  helper.begin();
  let told: number | null | undefined;
  const closing = closeHelper(memory).then((pid) => (told = pid));
  await nextTurn();
  expect(told).toBe(undefined);
  const module = new URL('../../../electron/parsing/helper-process.ts', import.meta.url).href;
  const thread = new Worker(
    `const { workerData } = require('node:worker_threads');
     import(${JSON.stringify(module)}).then(({ helperProcess }) => helperProcess(workerData).began(4711));`,
    { eval: true, workerData: memory },
  );
  expect(await closing).toBe(4_711);
  await thread.terminate();
});
