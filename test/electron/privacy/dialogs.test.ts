import { expect, test } from 'vitest';
import { createGuardedDialogs } from '../../../electron/privacy/dialogs.ts';
import type { Lock } from '../../../electron/privacy/lock.ts';
import type { Dialogs } from '../../../electron/platform/platform.ts';

function openDialogs() {
  const state = { locked: false };
  const listeners = new Set<() => void>();
  const opened: string[] = [];
  const answers = new Map<string, (chosen: string | null) => void>();
  const open = (name: string) => () => {
    opened.push(name);
    return new Promise<string | null>((resolve) => answers.set(name, resolve));
  };
  const dialogs = createGuardedDialogs(
    {
      confirm: open('confirm'),
      chooseFile: open('chooseFile'),
      chooseFiles: open('chooseFiles'),
      chooseFolder: open('chooseFolder'),
      chooseTarget: open('chooseTarget'),
    } as Partial<Dialogs> as Dialogs,
    {
      lock: () => ({
        state: () => state as ReturnType<Lock['state']>,
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      }),
      isSource: (file) => Promise.resolve(file === '/source.csv'),
    },
  );
  const ask: Record<keyof Dialogs, () => Promise<unknown>> = {
    confirm: () => dialogs.confirm({} as Parameters<Dialogs['confirm']>[0]),
    chooseFile: () => dialogs.chooseFile({} as Parameters<Dialogs['chooseFile']>[0]),
    chooseFiles: () => dialogs.chooseFiles({} as Parameters<Dialogs['chooseFiles']>[0]),
    chooseFolder: () => dialogs.chooseFolder(null),
    chooseTarget: () => dialogs.chooseTarget({} as Parameters<Dialogs['chooseTarget']>[0]),
  };
  return {
    ask,
    opened,
    answers,
    listeners,
    lock(locked: boolean) {
      state.locked = locked;
      for (const listener of listeners) listener();
    },
  };
}

test.each(['confirm', 'chooseFile', 'chooseFiles', 'chooseFolder', 'chooseTarget'] as const)(
  '%s',
  async (name) => {
    const dialogs = openDialogs();
    dialogs.lock(true);
    expect(await dialogs.ask[name]()).toBeNull();
    expect(dialogs.opened).toEqual([]);

    dialogs.lock(false);
    const held = dialogs.ask[name]();
    dialogs.lock(true);
    dialogs.lock(false);
    dialogs.answers.get(name)?.('chosen');
    expect(await held).toBeNull();

    const asked = dialogs.ask[name]();
    dialogs.answers.get(name)?.('chosen');
    expect(await asked).toBe('chosen');
    expect(dialogs.listeners.size).toBe(0);
  },
);

test('a file that rows are read from is no target: another one is asked for, until the person gives up or the app locks', async () => {
  const dialogs = openDialogs();
  const asked = dialogs.ask.chooseTarget();
  dialogs.answers.get('chooseTarget')?.('/source.csv');
  await expect.poll(() => dialogs.opened).toEqual(['chooseTarget', 'confirm']);
  dialogs.answers.get('confirm')?.('yes');
  await expect.poll(() => dialogs.opened.length).toBe(3);
  dialogs.answers.get('chooseTarget')?.('/other.csv');
  expect(await asked).toBe('/other.csv');

  const given = dialogs.ask.chooseTarget();
  dialogs.answers.get('chooseTarget')?.('/source.csv');
  await expect.poll(() => dialogs.opened.length).toBe(5);
  dialogs.answers.get('confirm')?.(null);
  expect(await given).toBeNull();

  const held = dialogs.ask.chooseTarget();
  dialogs.lock(true);
  expect(await held).toBeNull();
  dialogs.lock(false);
  dialogs.answers.get('chooseTarget')?.('/source.csv');
  await new Promise(setImmediate);
  expect(dialogs.opened).toHaveLength(6);
});
