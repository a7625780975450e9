import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import { loadKeytar } from '../../electron/credentials/load-keytar.ts';
import { missingTools, startKeyring } from '../keyring/private-keyring.ts';
import type * as Built from '../../electron/main-chromium.ts';
import type { StartedDesk } from '../../electron/main-chromium.ts';

const built = new URL('../../dist/main/main-chromium.js', import.meta.url);
const { startDesk } = (await import(built.href)) as typeof Built;

export interface OpenDesk extends StartedDesk {
  readonly home: string;
  readonly downloads: string;
  /** Everything that crossed the bridge outward, as text. */
  readonly outward: string[];
}

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
    await forgetAudit();
  },
  desk: async ({ home }, use) => {
    const desk = await openDesk(home);
    await use(desk);
    await desk.close();
  },
  page: async ({ desk }, use) => use(desk.page),
});

/** The keyring of a worker outlives a home, and would rightly miss the log that went with it. */
async function forgetAudit(): Promise<void> {
  const keyring = await loadKeytar();
  for (const account of ['audit:key', 'audit:anchor'])
    await keyring.deletePassword('Tokendesk', account).catch(() => false);
}

export async function openDesk(home: string): Promise<OpenDesk> {
  const outward: string[] = [];
  const downloads = path.join(home, 'downloads');
  const desk = await startDesk({
    home: path.join(home, 'desk'),
    headless: true,
    downloads,
    tap: (message) => outward.push(message),
  });
  desk.page.setDefaultTimeout(15_000);
  return { ...desk, home: path.join(home, 'desk'), downloads, outward };
}

export { expect };
