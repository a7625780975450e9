import type { Dialogs } from '../platform/platform.ts';
import type { Lock } from './lock.ts';

/**
 * The dialogs that the modules get: one that was open when the app locked counts as cancelled, at that moment, whatever is
 * chosen in it later and whether the app was unlocked meanwhile. Whoever comes by a locked app can still press Enter in a
 * dialog of the system, which no platform lets the app close. While the app is locked none is opened.
 *
 * The composition of the app lays it over the platform, so no module has a dialog that does without.
 */
export function createLockedDialogs(dialogs: Dialogs, lock: () => Pick<Lock, 'state' | 'onChange'>): Dialogs {
  async function untilLocked<T>(open: () => Promise<T | null>): Promise<T | null> {
    if (lock().state().locked) return null;
    let stop = () => {};
    const locked = new Promise<null>((resolve) => {
      stop = lock().onChange(() => {
        if (lock().state().locked) resolve(null);
      });
    });
    try {
      return await Promise.race([locked, open()]);
    } finally {
      stop();
    }
  }

  return {
    confirm: (question) => untilLocked(() => dialogs.confirm(question)),
    chooseFile: (kind) => untilLocked(() => dialogs.chooseFile(kind)),
    chooseFiles: (kind) => untilLocked(() => dialogs.chooseFiles(kind)),
    chooseFolder: (near) => untilLocked(() => dialogs.chooseFolder(near)),
    chooseTarget: (suggestion) => untilLocked(() => dialogs.chooseTarget(suggestion)),
  };
}
