import type { RelaunchOptions } from 'electron';
import type { ElectronModules } from './electron-modules.ts';

export interface QuitOptions {
  /** How many batches run. */
  readonly running: () => number;
  /** Pauses jobs and closes the app; never rejects. */
  readonly close: () => Promise<unknown>;
  /** Quitting waits this long for `close`. */
  readonly closingMs: number;
}

export interface Quitting {
  /** False where closing the window has to wait for the question: it is asked then. */
  mayClose(): boolean;
  /** Quits without a question: the system ends, or was told to end the process. */
  force(): void;
  /** Quits, and starts again with these options; not where the person keeps batches running instead. */
  restart(options: RelaunchOptions): void;
}

/** Closes the app before Electron quits. Asks first where a batch runs, since it would pause until the next start. */
export function closeBeforeQuitting(
  { app, dialog }: Pick<ElectronModules, 'app' | 'dialog'>,
  { running, close, closingMs }: QuitOptions,
): Quitting {
  let state: 'open' | 'asking' | 'closing' | 'closed' = 'open';
  let isForced = false;
  let restart: RelaunchOptions | null = null;

  function closeApp(): void {
    state = 'closing';
    const quit = (): void => {
      clearTimeout(limit);
      state = 'closed';
      app.quit();
    };
    const limit = setTimeout(quit, closingMs);
    void close().then(quit, quit);
  }

  async function ask(count: number): Promise<void> {
    const { response } = await dialog.showMessageBox({
      type: 'question',
      message: count === 1 ? 'A batch is running.' : `${count} batches are running.`,
      detail: 'If you quit, they are paused. What was done is kept, and you can resume them later.',
      buttons: ['Quit', 'Keep running'],
      defaultId: 1,
      cancelId: 1,
      noLink: true,
    });
    // It was forced meanwhile.
    if (state !== 'asking') return;
    if (response === 0) closeApp();
    else {
      state = 'open';
      restart = null;
    }
  }

  app.on('before-quit', (event) => {
    if (state === 'closed') return;
    event.preventDefault();
    if (state === 'closing' || (state === 'asking' && !isForced)) return;
    const count = running();
    if (count === 0 || isForced) {
      closeApp();
      return;
    }
    state = 'asking';
    // A question that can't be shown is none.
    ask(count).catch(() => {
      if (state === 'asking') closeApp();
    });
  });

  // Not earlier: what was registered once, Electron would start at any later end of the app.
  app.on('will-quit', () => {
    if (restart !== null) app.relaunch(restart);
  });

  return {
    mayClose() {
      if (isForced || state === 'closed' || running() === 0) return true;
      app.quit();
      return false;
    },
    force() {
      isForced = true;
      // Nobody is there to answer what it would ask after the end of the session.
      restart = null;
      app.quit();
    },
    restart(options) {
      if (!isForced) restart = options;
      app.quit();
    },
  };
}
