import fs from 'node:fs';
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { App, AppOptions } from '../../electron/app.ts';
import { createLog, type Log } from '../../electron/log/log.ts';
import { watchProcess } from '../../electron/log/watch-process.ts';
import { limitCoreDumps } from '../../electron/platform/core-dumps.ts';
import type { ManagedOptions } from '../../electron/settings/managed-settings.ts';
import type { AwaySignal, Platform } from '../../electron/platform/platform.ts';
import { watchScreenLock } from '../../electron/platform/screen-lock.ts';

declare const APP_VERSION: string;

export interface StartOptions {
  /** Settings, audit and jobs; the person's own folder if absent. */
  readonly home?: string;
  /** True where there is no display, if absent. */
  readonly headless?: boolean;
  /** A file or a `tokendesk://` link to open. */
  readonly open?: readonly string[];
  /** Folder for results that belong to no file, and for all of them when given. */
  readonly downloads?: string;
  /** Where the administrator's settings are; the system's place if absent. */
  readonly managed?: Pick<ManagedOptions, 'folder' | 'uid'>;
  /** Where the display, proxies and the keyring are looked for; the process's own if absent. */
  readonly env?: NodeJS.ProcessEnv;
  /** Called with everything that is sent to the window, as JSON: for proving what is never in it. */
  readonly tap?: (message: string) => void;
}

export interface StartedApp {
  readonly page: Page;
  readonly platform: Platform;
  /** Emits a signal of the system that this platform can't receive: screen locked, suspend, resume. */
  readonly away: (signal: AwaySignal) => void;
  /** Settles when the window was closed, by a person or by `close`. */
  readonly closed: Promise<void>;
  /** Closes app and window; safe to call twice. */
  close(): Promise<void>;
}

/** The browser's process is started before the app's modules are loaded. */
const browserHeadStartMs = 40;
/** After an uncaught error, closing may take this long. */
const closingMs = 5_000;

const beside = (name: string): URL => new URL(name, import.meta.url);

// Before the larger modules are loaded: their compiled code is kept for the next start. It lies beside the code, where
// only whoever may change the code can write.
module.enableCompileCache(fileURLToPath(beside('./compiled')));

/** Opens the app in the system's Chromium. Loaded when built: `dist/chromium/main.js`. */
export function startApp(options: StartOptions = {}): Promise<StartedApp> {
  return start(options, openLog(options));
}

const homeOf = ({ home, env = process.env }: StartOptions): string =>
  home ?? path.join(env['XDG_CONFIG_HOME'] ?? path.join(os.homedir(), '.config'), 'Tokendesk');

function openLog(options: StartOptions): Log {
  return createLog({
    folder: path.join(homeOf(options), 'logs'),
    codeFolder: import.meta.dirname,
    version: APP_VERSION,
    now: () => new Date(),
  });
}

async function start(options: StartOptions, log: Log): Promise<StartedApp> {
  const env = options.env ?? process.env;
  const limiting = limitCoreDumps({ log, os: process.platform });
  const { chromiumOrigin, openChromium } = await import('./chromium-platform.ts');
  const opening = openChromium({
    renderer: fileURLToPath(beside('../renderer')),
    preload: fs.readFileSync(beside('./preload.js'), 'utf8'),
    resources: fileURLToPath(beside('../../resources')),
    version: APP_VERSION,
    home: homeOf(options),
    headless: options.headless ?? !hasDisplay(env),
    env,
    ...(options.downloads !== undefined && { downloads: options.downloads }),
    ...(options.open !== undefined && { open: options.open }),
    ...(options.tap !== undefined && { tap: options.tap }),
  });
  const loading = load(options);
  const onLocked = (): void => void opening.then(({ away }) => away('screen-locked'));
  const watching = loading.then(
    () =>
      process.platform === 'linux' ? watchScreenLock({ env, uid: os.userInfo().uid, log, onLocked }) : null,
    () => null,
  );
  const stopWatching = (): void => void watching.then((stop) => stop?.());
  // The window opens while the app is loaded: what it asks is answered once the app is open.
  const showing = opening.then((chromium) => ({ chromium, shown: chromium.platform.openWindow() }));
  const { chromium, app } = await Promise.all([showing, loading, limiting])
    .then(async ([{ chromium, shown }, { managed, open }]) => {
      if (!managed.ok) {
        await Promise.allSettled([shown, chromium.close()]);
        throw new Error(managed.sentence);
      }
      const app = await open(chromium.platform, {
        builtInServiceWorker: beside('./built-in-service-worker.js'),
        parserWorker: beside('./parser-worker.js'),
        licences: [beside('./licences.json'), beside('../renderer/licences.json')],
        origin: chromiumOrigin,
        log,
        managed: managed.managed,
        deployment: managed.deployment,
        profile: managed.profile,
      });
      await shown;
      return { chromium, app };
    })
    .catch((error: unknown) => {
      // Its programs would outlive this process.
      stopWatching();
      throw error;
    });

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    chromium.away('quit');
    stopWatching();
    await app.close();
    await chromium.close();
  };
  const closeOnce = (): Promise<void> => (closing ??= close());
  void chromium.closed.then(closeOnce);
  const { page, platform, away, closed } = chromium;
  return { page, platform, away, closed, close: closeOnce };
}

/** The app's modules, and what the administrator has fixed: read while the browser starts, which takes longer. */
async function load(options: StartOptions) {
  await pause(browserHeadStartMs);
  const [{ readManagedSettings, systemOptions }, { openApp }, { loadKeytar }, { default: Conf }] =
    await Promise.all([
      import('../../electron/settings/managed-settings.ts'),
      import('../../electron/app.ts'),
      import('../../electron/credentials/keytar.ts'),
      import('conf'),
    ]);
  return {
    managed: await readManagedSettings({ ...systemOptions(process.platform), ...options.managed }),
    open: (platform: Platform, rest: Omit<AppOptions, 'conf' | 'loadKeytar'>): Promise<App> =>
      openApp(platform, { ...rest, conf: (conf) => new Conf(conf), loadKeytar }),
  };
}

/** Whether this machine can show a window. */
export function hasDisplay(env: NodeJS.ProcessEnv): boolean {
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
}

/** Shows the app until its window is closed or the process is told to end. */
export async function showApp(options: StartOptions = {}): Promise<void> {
  const log = openLog(options);
  const starting = start(options, log);
  watchProcess(log, () => {
    console.error(
      'Tokendesk has to close: something unexpected happened. It was written to the log. Jobs are kept.',
    );
    const end = (): never => process.exit(1);
    setTimeout(end, closingMs);
    void starting.then((app) => app.close()).then(end, end);
  });
  // `on`, not `once`: the settings library has a handler that raises the signal again, which would then end the
  // process at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void starting.then((app) => app.close()));
  const app = await starting;
  await app.closed;
  await app.close();
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  await showApp();
