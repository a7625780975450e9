import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, type ElectronApplication, type Page } from 'playwright-core';
import { electronBinary, electronOnChromium, realElectron } from '../../scripts/electron-binary.ts';
import { tapMain, type Interruption, type Tap, type TapOptions } from './electron-tap.ts';
import type { Owner } from './private-keyring.ts';
import { systemDialogs } from './page-actions.ts';

/** The folder Electron is started with, as `npm start` does: its package.json names the built main bundle. */
const project = fileURLToPath(new URL('../..', import.meta.url));

type Tapped = typeof globalThis & { readonly appTap: Tap };

/** The app itself takes ten seconds at most. */
const closeMs = 20_000;

export interface LaunchOptions {
  /** Settings, audit and jobs; made if missing. */
  readonly home: string;
  /** Where results go. */
  readonly downloads: string;
  /** A file or a `tokendesk://` link on the command line. */
  readonly open?: readonly string[];
  /** Stands for the folder of the administrator's files, which belongs to the system. */
  readonly administrator?: string;
  /** Scripts that are loaded before the app, in the same process. */
  readonly modules?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Another user of this system, who owns the folders above and starts the app; this process is root then. */
  readonly owner?: Owner;
}

export interface LaunchedApp {
  readonly application: ElectronApplication;
  readonly page: Page;
  /** Everything that crossed the bridge outward so far, as text. */
  readonly outward: () => Promise<readonly string[]>;
  /** Plays a signal of the system, as if the person had gone. */
  readonly away: (signal: Interruption) => Promise<void>;
  /** Ends it as its menu does. Safe to call twice. */
  readonly close: () => Promise<void>;
}

/**
 * The built app in Electron, or in the program that stands for it, unpackaged. Playwright starts it with a debugging port for
 * main and one for the window, both on loopback: a packaged app refuses them, by fuse and by its own look at the switches.
 * Rejects where the app ends before it has a window, with what it said.
 */
export async function launchApp({
  home,
  downloads,
  open = [],
  administrator,
  modules = [],
  env = process.env,
  owner,
}: LaunchOptions): Promise<LaunchedApp> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-tap-'));
  const said = path.join(folder, 'said.txt');
  const options: TapOptions = { home, downloads, administrator: administrator ?? null, said };
  const tap = path.join(folder, 'tap.cjs');
  fs.writeFileSync(
    tap,
    `globalThis.appTap = (${tapMain.toString()})(require('electron'), ${JSON.stringify(options)});\n`,
  );
  const loaded = [tap, ...modules].flatMap((file) => ['-r', file]);
  if (owner !== undefined) for (const one of [folder, tap]) fs.chownSync(one, owner.uid, owner.gid);
  const start = (): Promise<ElectronApplication> =>
    launchElectron([...loaded, `--user-data-dir=${home}`, project, ...open], env);
  const application = await (owner === undefined ? start() : asOwner(owner, start));
  const child = application.process();
  const ended = new Promise<never>((_resolve, reject) => {
    application.once('close', () => {
      const words = fs.existsSync(said) ? fs.readFileSync(said, 'utf8') : 'without a word';
      fs.rmSync(folder, { recursive: true, force: true });
      reject(new Error(`The app ended: ${words}`));
    });
  });
  ended.catch(() => undefined);
  const page = await application
    .firstWindow()
    .then(async (window) => {
      await untilOwnPage(window);
      return window;
    })
    .catch(async () => {
      await close();
      return ended;
    });
  page.setDefaultTimeout(15_000);
  systemDialogs.set(page, (...files) =>
    application.evaluate((_module, chosen) => {
      (globalThis as Tapped).appTap.choose(chosen);
    }, files),
  );
  let closing: Promise<void> | undefined;
  return {
    application,
    page,
    away: (signal) =>
      application.evaluate((_module, played) => {
        (globalThis as Tapped).appTap.interrupt(played);
      }, signal),
    outward: () => application.evaluate(() => (globalThis as Tapped).appTap.outward),
    close: () => (closing ??= close()),
  };

  async function close(): Promise<void> {
    // A test that failed may have left a question that nobody answers.
    const limit = setTimeout(() => child.kill('SIGKILL'), closeMs);
    // Of an app that has ended by itself Playwright's own call may never return.
    await Promise.race([application.close(), ended]).catch(() => undefined);
    clearTimeout(limit);
  }
}

/** Electron's executable as this user while one is started: a program of its name that becomes them first. */
async function asOwner<T>({ uid, gid }: Owner, start: () => Promise<T>): Promise<T> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-as-'));
  fs.chmodSync(folder, 0o755);
  const becomes = `setpriv --reuid=${uid} --regid=${gid} --clear-groups`;
  const program = path.join(folder, 'electron');
  fs.writeFileSync(program, `#!/bin/sh\nexec ${becomes} -- '${electronBinary()}' "$@"\n`, { mode: 0o755 });
  const before = process.env['ELECTRON_OVERRIDE_DIST_PATH'];
  // Playwright asks Electron's package, which answers what it found first.
  const { cache, resolve } = createRequire(import.meta.url);
  const forget = (): boolean => Reflect.deleteProperty(cache, resolve('electron/index.js'));
  forget();
  process.env['ELECTRON_OVERRIDE_DIST_PATH'] = folder;
  try {
    return await start();
  } finally {
    forget();
    if (before === undefined) delete process.env['ELECTRON_OVERRIDE_DIST_PATH'];
    else process.env['ELECTRON_OVERRIDE_DIST_PATH'] = before;
  }
}

/**
 * Electron, or the program that stands for it, with Playwright at its main process and its window. Of the arguments one is the
 * folder of the app.
 */
export async function launchElectron(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ElectronApplication> {
  // Playwright asks Electron's package for the executable, and only then holds Electron back until it listens.
  if (realElectron() === null) process.env['ELECTRON_OVERRIDE_DIST_PATH'] = path.dirname(electronOnChromium);
  return _electron.launch({
    args: [...args],
    cwd: project,
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    // Chromium's own sandbox does not start as root.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}

/**
 * Until a window shows its app's page: before it there is an empty one, without a bridge. Only listens: a question to the page
 * would put scripts of Playwright's into both, while they are busy, and `waitForURL` rejects where the empty one is cut short.
 */
export async function untilOwnPage(page: Page): Promise<void> {
  while (!page.url().endsWith('/index.html')) await page.waitForEvent('framenavigated');
  await page.waitForLoadState('domcontentloaded');
}
