import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test as base, expect, type Page, type TestDetails } from '@playwright/test';
import { loadKeytar } from '../../electron/credentials/load-keytar.ts';
import { missingTools, startKeyring } from '../keyring/private-keyring.ts';
import type * as Built from '../../electron/main-chromium.ts';
import { chromiumOrigin } from '../../electron/shell/chromium-shell.ts';
import type { Interruption } from './electron-tap.ts';
import { openElectron } from './open-electron.ts';

const built = new URL('../../dist/main/main-chromium.js', import.meta.url);

/** A desk in whichever host the project is for. */
export interface OpenDesk {
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

const onlyInChromium = 'only in chromium-shell';

/** Details of a test that asks for something of the Chromium host's own: elsewhere it is skipped, and says why. */
export const chromiumOnly = (why: string): TestDetails => ({
  annotation: { type: onlyInChromium, description: why },
});

/** One desk per test over the real bundle, in a home of its own that is gone afterwards. */
export const test = base.extend<{ desk: OpenDesk; page: Page; home: string }, { keyring: null }>({
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
  desk: async ({ home }, use, testInfo) => {
    const only = testInfo.annotations.find(({ type }) => type === onlyInChromium);
    testInfo.skip(testInfo.project.name === 'electron' && only !== undefined, only?.description ?? '');
    const desk = await openDesk(home);
    await use(desk);
    await desk.close();
  },
  page: async ({ desk }, use) => use(desk.page),
});

/** The keyring of a worker outlives a home: it would miss the log that went with it, and lock the next desk. */
async function forgetHome(): Promise<void> {
  const keyring = await loadKeytar();
  for (const account of ['audit:key', 'audit:anchor', 'lock:verifier'])
    await keyring.deletePassword('Tokendesk', account).catch(() => false);
}

/** Opens a desk on a home that was prepared, in the host that this project is for. Whoever opens it closes it. */
export function openDesk(home: string): Promise<OpenDesk> {
  return base.info().project.name === 'electron' ? openElectron(home) : openChromium(home);
}

async function openChromium(home: string): Promise<OpenDesk> {
  const { startDesk } = (await import(built.href)) as typeof Built;
  const outward: string[] = [];
  const places = { home: path.join(home, 'desk'), downloads: path.join(home, 'downloads') };
  const desk = await startDesk({
    ...places,
    headless: true,
    tap: (message) => outward.push(message),
  });
  desk.page.setDefaultTimeout(15_000);
  return {
    ...places,
    page: desk.page,
    origin: chromiumOrigin,
    outward: () => Promise.resolve(outward),
    away(signal) {
      desk.away(signal);
      return Promise.resolve();
    },
    close: () => desk.close(),
  };
}

export { expect };
