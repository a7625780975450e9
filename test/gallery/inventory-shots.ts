import type { Page } from '@playwright/test';
import { choose, go, type Shot } from './page-steps.ts';

const draft = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Choose a file' }).click();
  await page.getByRole('button', { name: 'What is in this file?' }).waitFor();
};

const panel = async (page: Page): Promise<void> => {
  await draft(page);
  await page.keyboard.press('Control+i');
  await page.getByRole('region', { name: 'What is in this file?' }).waitFor();
};

const files = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.keyboard.press('Control+i');
  await page.getByRole('heading', { name: 'What is in these files?' }).waitFor();
};

const folder = async (page: Page): Promise<void> => {
  await files(page);
  await page.getByRole('button', { name: 'Choose a folder' }).click();
};

export const inventoryShots: Shot[] = [
  {
    name: 'inventory-planned',
    scene: 'inventory',
    steps: async (page) => {
      await draft(page);
      await choose(page, 'card_token: Keep', 'Detokenize');
      await page.keyboard.press('Control+i');
      await page.getByRole('status', { name: 'What was found' }).waitFor();
    },
  },
  {
    name: 'inventory-old',
    scene: 'inventory',
    steps: async (page) => {
      await panel(page);
      await page.getByRole('status', { name: 'What was found' }).waitFor();
      await choose(page, 'card_token: Keep', 'Detokenize');
      await page.getByRole('button', { name: 'Count again' }).waitFor();
    },
  },
  {
    name: 'inventory-saved',
    scene: 'inventory',
    steps: async (page) => {
      await panel(page);
      await page.getByRole('button', { name: 'Save as CSV' }).click();
      await page.getByText('Saved inventory.csv').waitFor();
    },
  },
  { name: 'inventory-none', scene: 'inventory-none', steps: panel },
  { name: 'inventory-busy', scene: 'inventory-busy', steps: panel },
  {
    name: 'inventory-stopped',
    scene: 'inventory-busy',
    steps: async (page) => {
      await panel(page);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Count again' }).waitFor();
    },
  },
  { name: 'inventory-failed', scene: 'inventory-failed', steps: panel },
  { name: 'inventory-cut', scene: 'inventory-cut', steps: panel },
  { name: 'inventory-forty', scene: 'inventory-forty', steps: panel },
  {
    name: 'inventory-forty-all',
    scene: 'inventory-forty',
    steps: async (page) => {
      await panel(page);
      await page.getByText('All columns').click();
    },
  },
  { name: 'inventory-files-empty', scene: 'inventory-files', steps: files },
  {
    name: 'inventory-files',
    scene: 'inventory-files',
    steps: async (page) => {
      await folder(page);
      await page.getByText('All', { exact: true }).click();
      await page.getByRole('button', { name: 'archive-2026/cards/2026-01.csv' }).click();
    },
  },
  { name: 'inventory-files-busy', scene: 'inventory-files-busy', steps: folder },
  { name: 'inventory-files-failed', scene: 'inventory-files-failed', steps: folder },
];
