import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import type * as Electron from 'electron';
import { describe, expect, test } from 'vitest';
import { createWindow, reloadCrashedWindow, surfaces } from '../../../electron/platform/window.ts';

/** A window, what it is made with, and what was done to it. */
function created({ maximized = false, isDark = false } = {}) {
  const made: Electron.BrowserWindowConstructorOptions[] = [];
  const steps: string[] = [];
  class BrowserWindow extends EventEmitter {
    constructor(options: Electron.BrowserWindowConstructorOptions) {
      super();
      made.push(options);
    }
    show = () => steps.push('show');
    maximize = () => steps.push('maximize');
  }
  const session = {} as unknown as Electron.Session;
  const place = { bounds: { x: 1, y: 2, width: 1000, height: 700 }, maximized, zoom: 0 };
  const electron = { BrowserWindow, nativeTheme: { shouldUseDarkColors: isDark } };
  const window = createWindow(electron as unknown as Pick<typeof Electron, 'BrowserWindow' | 'nativeTheme'>, {
    preload: '/preload.cjs',
    session,
    place,
  });
  return { made, steps, session, place, window: window as unknown as EventEmitter };
}

test('a window is made with these preferences and no others, and shown once there is something in it', () => {
  const { made, steps, session, place, window } = created();
  expect(made).toEqual([
    {
      title: 'Tokendesk',
      ...place.bounds,
      backgroundColor: '#fbfcfd',
      minWidth: 900,
      minHeight: 600,
      autoHideMenuBar: true,
      show: false,
      webPreferences: {
        preload: '/preload.cjs',
        session,
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webSecurity: true,
        allowRunningInsecureContent: false,
        experimentalFeatures: false,
        plugins: false,
        webviewTag: false,
        navigateOnDragDrop: false,
        safeDialogs: true,
        spellcheck: false,
        devTools: false,
      },
    },
  ]);
  expect(steps).toEqual([]);
  window.emit('ready-to-show');
  expect(steps).toEqual(['show']);
});

test('a window that was maximized is not shown before its page is there', () => {
  const { steps, window } = created({ maximized: true });
  expect(steps).toEqual([]);
  window.emit('ready-to-show');
  expect(steps).toEqual(['maximize', 'show']);
});

test('before its page is there the window has the page’s ground, in the theme that will be shown', () => {
  const tokens = fs.readFileSync(new URL('../../../src/styles/tokens.css', import.meta.url), 'utf8');
  // The two colours are these, computed.
  expect(tokens).toContain('--surface: light-dark(oklch(0.99 0.002 265), oklch(0.205 0.008 265));');
  expect(surfaces).toEqual({ light: '#fbfcfd', dark: '#15171b' });
  expect(created({ isDark: false }).made[0]?.backgroundColor).toBe(surfaces.light);
  expect(created({ isDark: true }).made[0]?.backgroundColor).toBe(surfaces.dark);
});

describe('a page whose process ended', () => {
  function crashing() {
    const seen = { steps: [] as string[], now: 0 };
    const webContents = new EventEmitter();
    reloadCrashedWindow({ webContents } as unknown as Electron.BrowserWindow, {
      load: () => Promise.resolve(void seen.steps.push('load')),
      onGone: () => void seen.steps.push('gone'),
      giveUp: () => void seen.steps.push('give up'),
      now: () => seen.now,
    });
    const crash = async (reason = 'oom', times = 1): Promise<void> => {
      for (let n = 0; n < times; n++) {
        webContents.emit('render-process-gone', {}, { reason, exitCode: 1 });
        await new Promise(setImmediate);
      }
    };
    return { seen, crash };
  }

  test('is loaded again, after what it showed is hidden', async () => {
    const { seen, crash } = crashing();
    await crash('crashed');
    expect(seen.steps).toEqual(['gone', 'load']);
  });

  test('is not loaded again where it ended as intended', async () => {
    const { seen, crash } = crashing();
    await crash('clean-exit');
    expect(seen.steps).toEqual([]);
  });

  test('is given up at the fourth time within a minute, and not where the times are far apart', async () => {
    const often = crashing();
    await often.crash('oom', 4);
    expect(often.seen.steps.slice(-3)).toEqual(['load', 'gone', 'give up']);
    const seldom = crashing();
    await seldom.crash('oom', 3);
    seldom.seen.now = 60_000;
    await seldom.crash('oom', 3);
    expect(seldom.seen.steps).not.toContain('give up');
  });
});
