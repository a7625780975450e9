import { describe, expect, vi } from 'vitest';
import { test, type ProbeApp } from '../support/probe-app.ts';

/*
 * What the product takes for granted of an Electron app's life: each claim names the file of Electron's repository that it
 * rests on. Run on what `electronBinary` answers.
 */

const patience = { timeout: 30_000 };

const imports = `
import { app, dialog } from 'electron';
import { note, caught, watch, registerScheme, openSession, createWindow, pageUrl } from './tools.mjs';
`;
const watched = `watch(app, 'before-quit', 'window-all-closed', 'will-quit', 'quit'); watch(process, 'exit');`;

describe.concurrent('before ready', () => {
  // docs/tutorial/esm.md, shell/browser/electron_browser_main_parts.cc (JoinAppCode)
  test('ready comes after the main module, its top-level awaits included', async ({ probe }) => {
    const app = probe({
      main: `${imports}
        app.whenReady().then(() => { note('whenReady'); setImmediate(() => app.exit(0)); });
        app.on('ready', () => note('ready'));
        await new Promise((resolve) => setTimeout(resolve, 50));
        note('end of main', app.isReady());`,
    });
    const order = await app.run();
    expect(order[0]).toBe('end of main');
    expect(order.slice(1).toSorted()).toEqual([0, 'ready', 'whenReady']);
    expect(app.notes()[0]?.[1]).toBe(false);
  });

  // shell/browser/browser.cc (ExitWithCode: "Message loop is not ready, quit directly")
  test('app.exit ends at once, without any event, and with its code', async ({ probe }) => {
    const app = probe({ main: `${imports} ${watched} app.exit(3); note('after');` });
    expect(await app.run()).toEqual([3]);
  });

  test('so it does where something is relaunched, which starts all the same', async ({ probe }) => {
    const app = probe({
      main: `${imports} ${watched} watch(app, 'ready');
        if (process.argv.includes('--again')) { note('again'); app.exit(0); }
        app.relaunch({ args: [...process.argv.slice(1), '--again'] });
        app.exit(3);
        note('after');`,
    });
    expect(await app.start().ended).toBe(3);
    await vi.waitUntil(() => app.notes().length > 0, patience);
    expect(app.notes()).toEqual([['again', null]]);
  });

  // lib/browser/init.ts (process.exit)
  test('process.exit is app.exit, and its code is process.exitCode where none is given', async ({
    probe,
  }) => {
    const app = probe({ main: `${imports} ${watched} process.exitCode = 4; process.exit(); note('after');` });
    expect(await app.run()).toEqual([4]);
  });

  // shell/browser/browser.cc (Quit, Shutdown), electron_browser_main_parts.cc (PreMainMessageLoopRun)
  test.skipIf(process.platform === 'darwin')(
    'app.quit emits its events at once, ready comes all the same, and then it ends',
    async ({ probe }) => {
      const app = probe({
        main: `${imports} ${watched} watch(app, 'ready'); app.quit(); note('end of main');`,
      });
      expect(await app.run()).toEqual([
        'before-quit',
        'will-quit',
        'exit',
        'quit',
        'end of main',
        'ready',
        0,
      ]);
    },
  );

  // lib/browser/init.ts (runEntryPointWithESMLoader: "process.emit('uncaughtException', …)")
  test('an error of the main module is an uncaught exception, and the app goes on to ready', async ({
    probe,
  }) => {
    const app = probe({
      main: `${imports}
        dialog.showErrorBox = (title, text) => note('box', [title, text.split('\\n').slice(0, 2)]);
        app.whenReady().then(() => setImmediate(() => { note('ready'); app.exit(0); }));
        throw new Error('of main');`,
    });
    expect(await app.run()).toEqual(['box', 'ready', 0]);
    expect(app.notes()[0]?.[1]).toEqual([
      'A JavaScript error occurred in the main process',
      ['Uncaught Exception:', 'Error: of main'],
    ]);
  });
});

describe.concurrent('the end', () => {
  // lib/browser/init.ts (uncaughtException), electron_browser_main_parts.cc ("warn-with-error-code")
  test('errors end nothing: a listener hears an exception, and a rejection changes the code of process.exit', async ({
    probe,
  }) => {
    const app = probe({
      main: `${imports}
        process.on('uncaughtException', ({ message }) => note('exception', message));
        app.whenReady().then(() => {
          setTimeout(() => { throw new Error('later'); });
          Promise.reject(new Error('nobody catches this'));
          setTimeout(() => process.exit(), 100);
        });`,
    });
    expect(await app.run()).toEqual(['exception', 1]);
  });

  // docs/api/app.md (quit, Event: 'will-quit'), lib/browser/init.ts (exit)
  test('each step can be prevented: before-quit, close, will-quit; exit comes with quit, before its listeners', async ({
    probe,
  }) => {
    const app = probe({
      main: `${imports}
        registerScheme();
        let refused = 'before-quit';
        const step = (name) => (event) => {
          note(name);
          if (refused === name) event.preventDefault();
        };
        for (const name of ['before-quit', 'will-quit', 'quit']) app.on(name, step(name));
        process.on('exit', (code) => note('exit', code));
        app.whenReady().then(async () => {
          const window = createWindow(await openSession());
          window.on('close', step('close'));
          window.on('closed', () => note('closed'));
          await window.loadURL(pageUrl);
          const soon = () => new Promise((resolve) => setTimeout(resolve, 150));
          for (const next of ['before-quit', 'close', 'will-quit', '']) {
            refused = next;
            note('quit again');
            app.quit();
            await soon();
          }
        });`,
    });
    expect((await app.run()).join(' ')).toBe(
      [
        'quit again before-quit',
        'quit again before-quit close',
        'quit again before-quit close closed will-quit',
        'quit again before-quit will-quit exit quit 0',
      ].join(' '),
    );
  });

  // docs/api/app.md (app.exit: "before-quit and will-quit events will not be emitted"), base-window.md (destroy)
  test('app.exit closes windows without asking, and emits quit with its code', async ({ probe }) => {
    const app = probe({
      main: `${imports} ${watched}
        registerScheme();
        app.whenReady().then(async () => {
          const window = createWindow(await openSession());
          watch(window, 'close', 'closed');
          await window.loadURL(pageUrl);
          app.on('quit', (event, code) => note('code', code));
          app.exit(5);
        });`,
    });
    const order = await app.run();
    expect(order).toEqual(['closed', 'exit', 'quit', 'code', 5]);
    expect(app.notes().at(-1)).toEqual(['code', 5]);
  });

  // docs/api/app.md (Event: 'window-all-closed')
  test('without a listener of window-all-closed the last window ends the app, with one it goes on', async ({
    probe,
  }) => {
    const main = (listener: string, goesOnMs: number): string => `${imports}
      registerScheme();
      watch(app, 'before-quit', 'will-quit');
      ${listener}
      app.whenReady().then(async () => {
        const window = createWindow(await openSession());
        watch(window, 'closed');
        await window.loadURL(pageUrl);
        window.close();
        setTimeout(() => { note('went on'); app.exit(0); }, ${goesOnMs});
      });`;
    // The first has ended long before.
    const [ends, goesOn] = [
      probe({ main: main('', 30_000) }),
      probe({ main: main("watch(app, 'window-all-closed');", 500) }),
    ];
    const runs = await Promise.all([ends.run(), goesOn.run()]);
    expect(runs).toEqual([
      ['closed', 'before-quit', 'will-quit', 0],
      ['closed', 'window-all-closed', 'went on', 0],
    ]);
  });

  // docs/api/app.md (app.relaunch)
  test('relaunch starts the given arguments once the app has ended, not before', async ({ probe }) => {
    const app = probe({
      main: `${imports}
        if (process.argv.includes('--again')) { note('again'); app.exit(0); }
        else app.whenReady().then(() => setImmediate(() => {
          app.relaunch({ args: [...process.argv.slice(1), '--again'] });
          note('asked');
          setTimeout(() => { note('ends'); app.exit(0); }, 300);
        }));`,
    });
    expect(await app.run()).toContain('ends');
    await vi.waitUntil(() => app.notes().length === 3, patience);
    expect(app.notes().map(([name]) => name)).toEqual(['asked', 'ends', 'again']);
  });
});

describe.concurrent('one instance', () => {
  // docs/api/app.md (requestSingleInstanceLock, Event: 'second-instance')
  test('the second is refused, the first hears its arguments and folder, and a released lock is free', async ({
    probe,
  }) => {
    const app = probe({
      main: `${imports}
        const isFirst = app.requestSingleInstanceLock();
        note('lock', [isFirst, app.hasSingleInstanceLock()]);
        if (!isFirst) app.quit();
        else {
          app.on('second-instance', (event, argv, folder) => {
            note('second-instance', [argv.includes('--marked'), argv.includes('a file.csv'), folder]);
            app.releaseSingleInstanceLock();
            note('released', app.hasSingleInstanceLock());
          });
          app.whenReady().then(() => note('ready'));
        }`,
    });
    const first = app.start();
    await vi.waitUntil(() => app.notes().length === 2, patience);
    expect(await app.start('--marked', 'a file.csv').ended).toBe(0);
    await vi.waitUntil(() => app.notes().some(([name]) => name === 'released'), patience);
    const third = app.start();
    await vi.waitUntil(() => app.notes().filter(([name]) => name === 'lock').length === 3, patience);
    for (const { child, ended } of [first, third]) {
      child.kill('SIGTERM');
      await ended;
    }
    const locks = app.notes().filter(([name]) => name === 'lock');
    expect(locks.map(([, value]) => value)).toEqual([
      [true, true],
      [false, false],
      [true, true],
    ]);
    const second = app.notes().find(([name]) => name === 'second-instance');
    expect(second?.[1]).toEqual([true, true, app.folder]);
    expect(app.notes().find(([name]) => name === 'released')?.[1]).toBe(false);
  });
});

// shell/browser/browser.cc (ExitWithCode)
test('a second instance that exits before ready ends at once, and the first hears of it', async ({
  probe,
}) => {
  const app = probe({
    main: `${imports}
      if (!app.requestSingleInstanceLock()) {
        watch(app, 'ready');
        app.exit(3);
        note('after');
      } else {
        app.on('second-instance', () => { note('second-instance'); app.exit(0); });
        app.whenReady().then(() => note('first is ready'));
      }`,
  });
  const first = app.start();
  await vi.waitUntil(() => app.notes().length === 1, patience);
  expect(await app.start().ended).toBe(3);
  expect(await first.ended).toBe(0);
  expect(app.notes().map(([name]) => name)).toEqual(['first is ready', 'second-instance']);
});

// shell/browser/electron_browser_main_parts_posix.cc (InstallShutdownSignalHandlers, GracefulShutdownHandler)
describe.skipIf(process.platform === 'win32')('signals', { concurrent: true }, () => {
  const signalled = async (app: ProbeApp, ...signals: readonly NodeJS.Signals[]) => {
    const { child, ended } = app.start();
    for (const [at, signal] of signals.entries()) {
      await vi.waitUntil(() => app.notes().filter(([name]) => name === 'next').length === at + 1, patience);
      child.kill(signal);
    }
    const code = await ended;
    return [...app.notes().map(([name]) => name), code];
  };
  const ready = `app.whenReady().then(() => setImmediate(() => note('next')));`;

  test('without a listener a signal before ready ends the process', async ({ probe }) => {
    const app = probe({
      main: `${imports} note('next'); await new Promise((resolve) => setTimeout(resolve, 60_000));`,
    });
    expect(await signalled(app, 'SIGTERM')).toEqual(['next', 'SIGTERM']);
  });

  test('a listener hears a signal while main still awaits', async ({ probe }) => {
    const app = probe({
      main: `${imports}
        process.on('SIGTERM', () => { note('heard'); app.exit(7); });
        note('next');
        await new Promise((resolve) => setTimeout(resolve, 60_000));`,
    });
    expect(await signalled(app, 'SIGTERM')).toEqual(['next', 'heard', 7]);
  });

  test('after ready Electron has them: it quits, and a listener of before hears nothing', async ({
    probe,
  }) => {
    const app = probe({
      main: `${imports} ${watched} ${ready}
        for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => note('heard'));`,
    });
    expect(await signalled(app, 'SIGINT')).toEqual(['next', 'before-quit', 'will-quit', 'exit', 'quit', 0]);
  });

  test('a listener that is removed and added after ready hears them, and nothing quits', async ({
    probe,
  }) => {
    const app = probe({
      main: `${imports} ${watched}
        const listener = () => { note('heard'); app.exit(8); };
        process.on('SIGTERM', listener);
        app.whenReady().then(() => setImmediate(() => {
          process.off('SIGTERM', listener);
          process.on('SIGTERM', listener);
          note('next');
        }));`,
    });
    expect(await signalled(app, 'SIGTERM')).toEqual(['next', 'heard', 'exit', 'quit', 8]);
  });

  test('Electron takes each signal once: the same again ends the process', async ({ probe }) => {
    const app = probe({
      main: `${imports} ${ready}
        app.on('before-quit', (event) => { event.preventDefault(); note('next'); });`,
    });
    expect(await signalled(app, 'SIGTERM', 'SIGTERM')).toEqual(['next', 'next', 'SIGTERM']);
  });
});
