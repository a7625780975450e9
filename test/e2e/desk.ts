import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import type { StartedDesk } from '../../electron/main-chromium.ts';

const built = new URL('../../dist/main/main-chromium.js', import.meta.url);
const { startDesk } = (await import(built.href)) as typeof import('../../electron/main-chromium.ts');

export interface OpenDesk extends StartedDesk {
  readonly home: string;
  readonly downloads: string;
  /** Everything that crossed the bridge outward, as text. */
  readonly outward: string[];
}

/** One desk per test over the real bundle, in a home of its own that is gone afterwards. */
export const test = base.extend<{ desk: OpenDesk; page: Page; home: string }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from this pattern
  home: async ({}, use) => {
    const home = await fs.mkdtemp(path.join(os.tmpdir(), 'desk-'));
    await use(home);
    await fs.rm(home, { recursive: true, force: true });
  },
  desk: async ({ home }, use) => {
    const desk = await openDesk(home);
    await use(desk);
    await desk.close();
  },
  page: async ({ desk }, use) => use(desk.page),
});

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

/** First run, one click: the built-in service, under the policy named. */
export async function startBuiltIn(page: Page, policy?: string): Promise<void> {
  await page.getByRole('button', { name: 'Start the built-in service' }).click();
  await expect(page.getByRole('textbox', { name: 'Token' })).toBeVisible();
  if (policy !== undefined) await choose(page, 'Policy', policy);
}

/** Picks an entry of one of the desk's own selects. */
export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('button', { name: label, exact: false }).first().click();
  await page.getByRole('option', { name: option }).click();
}

export async function go(page: Page, place: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: place }).click();
}
