import { EventEmitter } from 'node:events';
import type { MessageBoxOptions, RelaunchOptions } from 'electron';
import { expect, test, vi } from 'vitest';
import type { ElectronModules } from '../../../electron/platform/electron-modules.ts';
import { closeBeforeQuitting } from '../../../electron/platform/quit.ts';

/** An app that ends unless its listeners prevent it, and a person who presses the button `answer`. */
function quitting(running: number) {
  const state = {
    ...{ running, closed: 0, hasEnded: false, answer: 0 },
    questions: [] as MessageBoxOptions[],
    relaunches: [] as RelaunchOptions[],
  };
  const app = Object.assign(new EventEmitter(), {
    quit() {
      const event = { isPrevented: false, preventDefault: () => (event.isPrevented = true) };
      app.emit('before-quit', event);
      if (event.isPrevented) return;
      app.emit('will-quit', {});
      state.hasEnded = true;
    },
    relaunch: (options: RelaunchOptions) => state.relaunches.push(options),
  });
  const dialog = {
    showMessageBox(question: MessageBoxOptions) {
      state.questions.push(question);
      return Promise.resolve({ response: state.answer, checkboxChecked: false });
    },
  };
  const quit = closeBeforeQuitting({ app, dialog } as unknown as Pick<ElectronModules, 'app' | 'dialog'>, {
    running: () => state.running,
    close: () => Promise.resolve((state.closed += 1)),
    closingMs: 10_000,
  });
  return { app, state, quit };
}

test('without a batch the app is closed first and nothing is asked', async () => {
  const { app, state, quit } = quitting(0);
  expect(quit.mayClose()).toBe(true);
  app.quit();
  expect(state.hasEnded).toBe(false);
  await vi.waitFor(() => expect(state.hasEnded).toBe(true));
  expect(state).toMatchObject({ closed: 1, questions: [] });
});

test('while a batch runs it asks; whoever keeps it running can quit later', async () => {
  const { app, state, quit } = quitting(2);
  state.answer = 1;
  expect(quit.mayClose()).toBe(false);
  // Asking again while the question is open shows no second one.
  app.quit();
  expect(state.questions).toMatchObject([
    { message: '2 batches are running.', buttons: ['Quit', 'Keep running'], defaultId: 1, cancelId: 1 },
  ]);
  await new Promise(setImmediate);
  expect(state).toMatchObject({ closed: 0, hasEnded: false });

  state.answer = 0;
  app.quit();
  await vi.waitFor(() => expect(state.hasEnded).toBe(true));
  expect(state.closed).toBe(1);
  expect(state.questions).toHaveLength(2);
  expect(quit.mayClose()).toBe(true);
});

test('an end that the system wants asks nothing', async () => {
  const { state, quit } = quitting(1);
  quit.force();
  await vi.waitFor(() => expect(state.hasEnded).toBe(true));
  expect(state).toMatchObject({ closed: 1, questions: [] });
});

test('to start again starts it once, when it ends', async () => {
  const { state, quit } = quitting(0);
  quit.restart({ args: ['--wipe=window'] });
  quit.restart({ args: ['--wipe=window'] });
  expect(state.relaunches).toEqual([]);
  await vi.waitFor(() => expect(state.hasEnded).toBe(true));
  expect(state.relaunches).toEqual([{ args: ['--wipe=window'] }]);
});

test('to start again is forgotten where the person keeps a batch running', async () => {
  const { app, state, quit } = quitting(1);
  state.answer = 1;
  quit.restart({ args: ['--wipe=window'] });
  await new Promise(setImmediate);
  expect(state).toMatchObject({ questions: [{}], relaunches: [], hasEnded: false });
  // Hours later.
  state.running = 0;
  app.quit();
  await vi.waitFor(() => expect(state.hasEnded).toBe(true));
  expect(state.relaunches).toEqual([]);

  // And the button works again.
  const again = quitting(1);
  again.state.answer = 1;
  again.quit.restart({ args: ['--wipe=window'] });
  await new Promise(setImmediate);
  again.state.answer = 0;
  again.quit.restart({ args: ['--wipe=window'] });
  await vi.waitFor(() => expect(again.state.hasEnded).toBe(true));
  expect(again.state.relaunches).toHaveLength(1);
});

test.each([0, 1])(
  'a question that is open when the system ends the app decides nothing: answer %i',
  async (answer) => {
    const { state, quit } = quitting(1);
    state.answer = answer;
    quit.restart({ args: ['--wipe=window'] });
    expect(state.questions).toHaveLength(1);
    quit.force();
    quit.restart({ args: ['--wipe=window'] });
    await vi.waitFor(() => expect(state.hasEnded).toBe(true));
    await new Promise(setImmediate);
    expect(state).toMatchObject({ closed: 1, relaunches: [] });
  },
);
