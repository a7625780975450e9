import { expect, test } from 'vitest';
import { createLockedDialogs } from '../../../electron/privacy/dialogs.ts';
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
  const dialogs = createLockedDialogs(
    {
      confirm: open('confirm'),
      chooseFile: open('chooseFile'),
      chooseTarget: open('chooseTarget'),
    } as Partial<Dialogs> as Dialogs,
    () => ({
      state: () => state as ReturnType<Lock['state']>,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    }),
  );
  const ask: Record<keyof Dialogs, () => Promise<unknown>> = {
    confirm: () => dialogs.confirm({} as Parameters<Dialogs['confirm']>[0]),
    chooseFile: () => dialogs.chooseFile({} as Parameters<Dialogs['chooseFile']>[0]),
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

test.each(['confirm', 'chooseFile', 'chooseTarget'] as const)('%s', async (name) => {
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
});
