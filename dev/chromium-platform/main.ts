import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { chromiumOrigin, openChromium } from './chromium-platform.ts';
import type { AwaySignal, Platform } from '../../electron/platform/platform.ts';

declare const APP_VERSION: string;

export interface StartOptions {
  /** Settings, audit and jobs; the person's own folder if absent. */
  readonly home?: string;
  /** True where there is no display, if absent. */
  readonly headless?: boolean;
  /** Folder for results that belong to no file, and for all of them when given. */
  readonly downloads?: string;
  /** Where the display, proxies and the keyring are looked for; the process's own if absent. */
  readonly env?: NodeJS.ProcessEnv;
  /** Hears everything that crosses to the window, as JSON: for proving what is never in it. */
  readonly tap?: (message: string) => void;
}

export interface StartedApp {
  readonly page: Page;
  readonly platform: Platform;
  /** Plays a signal of the system this host can't hear: screen locked, suspend, resume. */
  readonly away: (signal: AwaySignal) => void;
  /** Settles when the window was closed, by a person or by `close`. */
  readonly closed: Promise<void>;
  /** Closes app and window; safe to call twice. */
  close(): Promise<void>;
}

const headStartMs = 40;

const beside = (name: string): URL => new URL(name, import.meta.url);

/** Opens the app in the system's Chromium. Loaded when built: `dist/chromium/main.js`. */
export async function startApp(options: StartOptions = {}): Promise<StartedApp> {
  const env = options.env ?? process.env;
  const opening = openChromium({
    renderer: fileURLToPath(beside('../renderer')),
    preload: fs.readFileSync(beside('./preload.js'), 'utf8'),
    resources: fileURLToPath(beside('../../resources')),
    version: APP_VERSION,
    home:
      options.home ?? path.join(env['XDG_CONFIG_HOME'] ?? path.join(os.homedir(), '.config'), 'Tokendesk'),
    headless: options.headless ?? !hasDisplay(env),
    env,
    ...(options.downloads !== undefined && { downloads: options.downloads }),
    ...(options.tap !== undefined && { tap: options.tap }),
  });
  // Loaded while the browser starts, which takes longer; its process goes first.
  const loading = pause(headStartMs).then(() =>
    Promise.all([
      import('../../electron/app.ts'),
      import('../../electron/credentials/keytar.ts'),
      import('conf'),
    ]),
  );
  const [host, [{ openApp }, { loadKeytar }, { default: Conf }]] = await Promise.all([opening, loading]);
  const showing = host.platform.openWindow();
  const app = await openApp(host.platform, {
    conf: (conf) => new Conf(conf),
    loadKeytar,
    builtInServiceWorker: beside('./built-in-service-worker.js'),
    licences: [beside('./licences.json'), beside('../renderer/licences.json')],
    origin: chromiumOrigin,
  });
  await showing;

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    host.away('quit');
    await app.close();
    await host.close();
  };
  const closeOnce = (): Promise<void> => (closing ??= close());
  void host.closed.then(closeOnce);
  return { page: host.page, platform: host.platform, away: host.away, closed: host.closed, close: closeOnce };
}

/** Whether this machine can show a window. */
export function hasDisplay(env: NodeJS.ProcessEnv): boolean {
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
}

/** Shows the app until its window is closed or the process is told to end. */
export async function showApp(options: StartOptions = {}): Promise<void> {
  const starting = startApp(options);
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
