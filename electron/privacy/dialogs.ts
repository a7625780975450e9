import { basename } from 'node:path';
import { maskNumbers } from '../masking/masking.ts';
import type { Dialogs, Question } from '../platform/platform.ts';
import type { Lock } from './lock.ts';

interface Guards {
  readonly lock: () => Pick<Lock, 'state' | 'onChange'>;
  /** Whether rows are read from this file: now, or for a batch that is kept. */
  readonly isSource: (file: string) => Promise<boolean>;
}

/**
 * The dialogs that the modules get.
 *
 * One that was open when the app locked counts as cancelled, at that moment, whatever is chosen in it later and whether the
 * app was unlocked meanwhile. Whoever comes by a locked app can still press Enter in a dialog of the system, which no platform
 * lets the app close. While the app is locked none is opened.
 *
 * No file that rows are read from is given as one to be written: the person is told, and asked for another.
 *
 * The composition of the app lays them over the platform, so no module has a dialog that does without.
 */
export function createGuardedDialogs(dialogs: Dialogs, { lock, isSource }: Guards): Dialogs {
  /** `open` is told when it is over: then it opens no more. */
  async function untilLocked<T>(open: (isOver: () => boolean) => Promise<T | null>): Promise<T | null> {
    if (lock().state().locked) return null;
    let stop = () => {};
    let isOver = false;
    const locked = new Promise<null>((resolve) => {
      stop = lock().onChange(() => {
        if (!lock().state().locked) return;
        isOver = true;
        resolve(null);
      });
    });
    try {
      return await Promise.race([locked, open(() => isOver)]);
    } finally {
      stop();
    }
  }

  async function chooseTarget(
    suggestion: Parameters<Dialogs['chooseTarget']>[0],
    isOver: () => boolean,
  ): Promise<string | null> {
    for (;;) {
      const target = await dialogs.chooseTarget(suggestion);
      if (target === null) return null;
      if (!(await isSource(target))) return target;
      if (isOver() || (await dialogs.confirm(anotherName(target))) === null || isOver()) return null;
    }
  }

  return {
    confirm: (question) => untilLocked(() => dialogs.confirm(question)),
    chooseFile: (kind) => untilLocked(() => dialogs.chooseFile(kind)),
    chooseFiles: (kind) => untilLocked(() => dialogs.chooseFiles(kind)),
    chooseFolder: (near) => untilLocked(() => dialogs.chooseFolder(near)),
    chooseTarget: (suggestion) => untilLocked((isOver) => chooseTarget(suggestion, isOver)),
  };
}

const anotherName = (target: string): Question => ({
  message: `${maskNumbers(basename(target)).slice(0, 300)} is a file that rows are read from.`,
  detail: 'It is not written over: a batch or a comparison needs it as it is. Choose another name or folder.',
  action: 'Choose another…',
});
