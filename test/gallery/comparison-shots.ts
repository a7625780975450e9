import type { Page } from '@playwright/test';
import { choose, go, type Shot } from './page-steps.ts';

const open = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.keyboard.press('Control+d');
  await page.getByRole('heading', { name: 'Compare files' }).waitFor();
};

const withTwo = async (page: Page): Promise<void> => {
  await open(page);
  await page.getByRole('button', { name: 'Add a file' }).click();
  await page.getByRole('combobox', { name: /^Column of 1/ }).waitFor();
  await choose(page, 'Add a finished batch', 'disputes-q4.csv');
};

const compare = async (page: Page): Promise<void> => {
  await withTwo(page);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
};

const eight = async (page: Page): Promise<void> => {
  await withTwo(page);
  for (let side = 3; side <= 8; side++) {
    await page.getByRole('button', { name: 'Add a file' }).click();
    await page.getByRole('combobox', { name: `Column of ${side}` }).waitFor();
  }
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByRole('region', { name: 'Values by file' }).waitFor();
};

export const comparisonShots: Shot[] = [
  { name: 'comparison-empty', scene: 'comparison-empty', steps: open },
  { name: 'comparison-two', scene: 'comparison', steps: withTwo },
  { name: 'comparison-found', scene: 'comparison', steps: compare },
  {
    name: 'comparison-group',
    scene: 'comparison',
    steps: async (page) => {
      await compare(page);
      await page.getByRole('button', { name: 'Show rows: Only in 2' }).click();
      await page.getByRole('button', { name: 'Save as CSV' }).click();
      await page.getByText('Saved compared.csv').waitFor();
    },
  },
  { name: 'comparison-eight', scene: 'comparison', steps: eight },
  { name: 'comparison-busy', scene: 'comparison-busy', steps: compare },
  { name: 'comparison-failed', scene: 'comparison-failed', steps: compare },
  { name: 'comparison-doubt', scene: 'comparison-doubt', steps: withTwo },
  {
    name: 'comparison-forty',
    scene: 'comparison-forty',
    steps: async (page) => {
      await withTwo(page);
      await page.getByRole('combobox', { name: /^Column of 1/ }).click();
      await page.getByRole('listbox').waitFor();
    },
  },
];
