import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { chromiumOrigin, openChromium } from './shell/chromium-shell.ts';
import type { AwaySignal, Shell } from './shell/shell.ts';

declare const DESK_VERSION: string;

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

export interface StartedDesk {
  readonly page: Page;
  readonly shell: Shell;
  /** Plays a signal of the system this host can't hear: screen locked, suspend, resume. */
  readonly away: (signal: AwaySignal) => void;
  /** Settles when the window was closed, by a person or by `close`. */
  readonly closed: Promise<void>;
  /** Closes desk and window; safe to call twice. */
  close(): Promise<void>;
}

const headStartMs = 40;

const beside = (name: string): URL => new URL(name, import.meta.url);

/** Opens the desk in the system's Chromium. Loaded when built: `dist/main/main-chromium.js`. */
export async function startDesk(options: StartOptions = {}): Promise<StartedDesk> {
  const env = options.env ?? process.env;
  const opening = openChromium({
    renderer: fileURLToPath(beside('../renderer')),
    preload: fs.readFileSync(beside('./preload-chromium.js'), 'utf8'),
    resources: fileURLToPath(beside('../../resources')),
    version: DESK_VERSION,
    home:
      options.home ?? path.join(env['XDG_CONFIG_HOME'] ?? path.join(os.homedir(), '.config'), 'Tokendesk'),
    headless: options.headless ?? !hasDisplay(env),
    env,
    ...(options.downloads !== undefined && { downloads: options.downloads }),
    ...(options.tap !== undefined && { tap: options.tap }),
  });
  // Loaded while the browser starts, which takes longer; its process goes first.
  const loading = pause(headStartMs).then(() =>
    Promise.all([import('./desk.ts'), import('./credentials/load-keytar.ts'), import('conf')]),
  );
  const [host, [{ openDesk }, { loadKeytar }, { default: Conf }]] = await Promise.all([opening, loading]);
  const showing = host.shell.openWindow();
  const desk = await openDesk(host.shell, {
    conf: (conf) => new Conf(conf),
    loadKeytar,
    sandboxWorker: beside('./sandbox-worker.js'),
    licences: [beside('./licences.json'), beside('../renderer/licences.json')],
    origin: chromiumOrigin,
  });
  await showing;

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    host.away('quit');
    await desk.close();
    await host.close();
  };
  const closeOnce = (): Promise<void> => (closing ??= close());
  void host.closed.then(closeOnce);
  return { page: host.page, shell: host.shell, away: host.away, closed: host.closed, close: closeOnce };
}

/** Whether this machine can show a window. */
export function hasDisplay(env: NodeJS.ProcessEnv): boolean {
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
}

/** Shows the desk until its window is closed or the process is told to end. */
export async function showDesk(options: StartOptions = {}): Promise<void> {
  const starting = startDesk(options);
  // `on`, not `once`: the settings library has a handler that raises the signal again, which would then end the
  // process at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void starting.then((desk) => desk.close()));
  const desk = await starting;
  await desk.closed;
  await desk.close();
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  await showDesk();
