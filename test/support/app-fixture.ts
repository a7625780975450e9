import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test as base, expect, type ElectronApplication, type Page } from '@playwright/test';
import { loadKeytar } from '../../electron/storage/keytar.ts';
import { machineAccount } from '../../electron/storage/keychain-accounts.ts';
import { missingTools, startKeyring } from './private-keyring.ts';
import type { Interruption } from './electron-tap.ts';
import { launchApp } from './launch-app.ts';

/**
 * A JSON Web Token of the portal, whatever it says. Its first letters alone, 'eyJ', also occur by chance in a certificate,
 * which the window may see.
 */
export const jsonWebToken = /eyJ[\w-]{8,}\.[\w-]+\./;

/** The app that ships, in Electron or the program that stands for it. */
export interface OpenApp {
  readonly page: Page;
  readonly application: ElectronApplication;
  readonly home: string;
  readonly downloads: string;
  /** Everything that crossed the bridge outward so far, as text. */
  readonly outward: () => Promise<readonly string[]>;
  /** Plays a signal of the system, as if the person had gone. */
  readonly away: (signal: Interruption) => Promise<void>;
  /** Safe to call twice. */
  readonly close: () => Promise<void>;
}

/** One app per test over the real bundle, in a home of its own that is gone afterwards. */
export const test = base.extend<{ app: OpenApp; page: Page; home: string }, { keyring: null }>({
  /** A keyring of each worker's own. */
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
    const home = await makeHome();
    await use(home);
    await removeHome(home);
  },
  app: async ({ home }, use) => {
    const app = await openApp(home);
    await use(app);
    await app.close();
  },
  page: async ({ app }, use) => use(app.page),
});

const makeHome = (): Promise<string> => fs.mkdtemp(path.join(os.tmpdir(), 'desk-'));
async function removeHome(home: string): Promise<void> {
  await fs.rm(home, { recursive: true, force: true });
  // What was seen in clear today is counted over all homes of a keyring: it would count for the next test.
  if (missingTools().length > 0) return;
  const keytar = await loadKeytar();
  await keytar.deletePassword('Tokendesk', machineAccount('disclosures'));
}

/**
 * One app for the tests of a group, which run one after the other, for those that find it the same whatever ran before.
 * After one that failed, the next has an app of its own again.
 */
export function shareApp(prepare: (page: Page) => Promise<void>): () => OpenApp {
  let home = '';
  let app: OpenApp | null = null;
  test.describe.configure({ mode: 'default' });
  test.beforeAll(async () => {
    home = await makeHome();
    app = await openApp(home);
    await prepare(app.page);
  });
  test.afterAll(async () => {
    await app?.close();
    await removeHome(home);
  });
  return () => {
    if (app === null) throw new Error('Not opened');
    return app;
  };
}

/**
 * Opens an app on a home that was prepared. Whoever opens it closes it. `open` is what the system asks it to open. A test may
 * leave settings of an administrator in the home's folder `administrator`.
 */
export async function openApp(home: string, open: readonly string[] = []): Promise<OpenApp> {
  const places = { home: path.join(home, 'desk'), downloads: path.join(home, 'downloads') };
  // Temporary files of its own, so that a test can look at them and they go with the home.
  const TMPDIR = path.join(home, 'tmp');
  await fs.mkdir(TMPDIR, { recursive: true });
  const launched = await launchApp({
    ...places,
    open,
    administrator: path.join(home, 'administrator'),
    env: { ...process.env, TMPDIR },
  });
  return { ...places, ...launched };
}

export { expect };
