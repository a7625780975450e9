import type { Page } from '@playwright/test';
import { choose, go, type Shot } from './page-steps.ts';

const open = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Move files' }).click();
  await page.getByRole('button', { name: 'Choose a folder' }).waitFor();
};

const withFiles = async (page: Page): Promise<void> => {
  await open(page);
  await page.getByRole('button', { name: 'Choose files' }).click();
  await page.getByRole('heading', { name: 'What was found' }).waitFor();
};

const toOther = async (page: Page): Promise<void> => {
  await withFiles(page);
  await choose(page, 'To connection', 'Acme US');
  await page.getByRole('region', { name: 'What each connection is asked' }).waitFor();
};

const reason = async (page: Page): Promise<void> => {
  await toOther(page);
  await page.getByRole('button', { name: /^Move \d+ files? on/ }).click();
  await page.getByRole('region', { name: 'Reason for the move' }).waitFor();
};

export const moveShots: Shot[] = [
  { name: 'move-empty', scene: 'move', steps: open },
  { name: 'move-found', scene: 'move', steps: withFiles },
  { name: 'move-other', scene: 'move', steps: toOther },
  { name: 'move-reason', scene: 'move', steps: reason },
  { name: 'move-forty', scene: 'move-forty', steps: toOther },
];
