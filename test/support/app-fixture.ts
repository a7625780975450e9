import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test as base, expect, type Page, type TestDetails } from '@playwright/test';
import { loadKeytar } from '../../electron/credentials/keytar.ts';
import { missingTools, startKeyring } from './private-keyring.ts';
import type * as Built from '../../dev/chromium-platform/main.ts';
import { chromiumOrigin } from '../../dev/chromium-platform/chromium-platform.ts';
import type { Interruption } from './electron-tap.ts';
import { openElectron } from './open-electron.ts';

const built = new URL('../../dist/chromium/main.js', import.meta.url);

/**
 * A JSON Web Token of the portal, whatever it says. Its first letters alone, 'eyJ', also occur by chance in a certificate,
 * which the window may see.
 */
export const jsonWebToken = /eyJ[\w-]{8,}\.[\w-]+\./;

/** The app in whichever host the project is for. */
export interface OpenApp {
  readonly page: Page;
  /** The window's own. */
  readonly origin: string;
  readonly home: string;
  readonly downloads: string;
  /** Everything that crossed the bridge outward so far, as text. */
  readonly outward: () => Promise<readonly string[]>;
  /** Plays a signal of the system, as if the person had gone. */
  readonly away: (signal: Interruption) => Promise<void>;
  /** Safe to call twice. */
  readonly close: () => Promise<void>;
}

const onlyInChromium = 'only in chromium-platform';

/** Details of a test that asks for something of the Chromium host's own: elsewhere it is skipped, and says why. */
export const chromiumOnly = (why: string): TestDetails => ({
  annotation: { type: onlyInChromium, description: why },
});

/** One app per test over the real bundle, in a home of its own that is gone afterwards. */
export const test = base.extend<{ app: OpenApp; page: Page; home: string }, { keyring: null }>({
  /** A keyring of each worker's own: the native module looks for one once in a process. */
  keyring: [
    // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const keyring = missingTools().length === 0 ? await startKeyring() : null;
      if (keyring !== null) Object.assign(process.env, keyring.env);
      await use(null);
      await keyring?.stop();
    },
    { scope: 'worker', auto: true },
  ],
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from this pattern
  home: async ({}, use) => {
    const home = await fs.mkdtemp(path.join(os.tmpdir(), 'desk-'));
    await use(home);
    await fs.rm(home, { recursive: true, force: true });
    await forgetHome();
  },
  app: async ({ home }, use, testInfo) => {
    const only = testInfo.annotations.find(({ type }) => type === onlyInChromium);
    testInfo.skip(testInfo.project.name === 'electron' && only !== undefined, only?.description ?? '');
    const app = await openApp(home);
    await use(app);
    await app.close();
  },
  page: async ({ app }, use) => use(app.page),
});

/** The keyring of a worker outlives a home: it would miss the log that went with it, and lock the next app. */
export async function forgetHome(): Promise<void> {
  const keyring = await loadKeytar();
  for (const account of ['audit:key', 'audit:anchor', 'lock:verifier'])
    await keyring.deletePassword('Tokendesk', account).catch(() => false);
}

/**
 * Opens an app on a home that was prepared, in the host that this project is for. Whoever opens it closes it. `open`
 * is what the system asks it to open, in Chromium alone.
 */
export function openApp(home: string, open: readonly string[] = []): Promise<OpenApp> {
  return base.info().project.name === 'electron' ? openElectron(home) : openChromium(home, open);
}

async function openChromium(home: string, open: readonly string[]): Promise<OpenApp> {
  const { startApp } = (await import(built.href)) as typeof Built;
  const outward: string[] = [];
  const places = { home: path.join(home, 'desk'), downloads: path.join(home, 'downloads') };
  const app = await startApp({
    ...places,
    open,
    headless: true,
    // A test may leave settings of an administrator there.
    managed: { folder: path.join(home, 'administrator'), uid: process.getuid?.() ?? 0 },
    tap: (message) => outward.push(message),
  });
  app.page.setDefaultTimeout(15_000);
  return {
    ...places,
    page: app.page,
    origin: chromiumOrigin,
    outward: () => Promise.resolve(outward),
    away(signal) {
      app.away(signal);
      return Promise.resolve();
    },
    close: () => app.close(),
  };
}

export { expect };
