import type { Page } from '@playwright/test';
import type { Look } from './open-window.ts';

export interface Shot {
  name: string;
  scene: string;
  /** Other than the look of the others. */
  look?: Pick<Look, 'locale' | 'forcedColors'>;
  /** What a person does to get there. */
  steps?: (page: Page) => Promise<void>;
}

export const go = async (page: Page, place: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: place }).click();
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
};

export const choose = async (page: Page, head: string, act: string): Promise<void> => {
  await page.getByRole('combobox', { name: head }).click();
  await page.getByRole('option', { name: new RegExp(`^${act}\\b`) }).click();
};

export const tryAgain = async (page: Page, operation: string): Promise<void> => {
  await go(page, 'Reports');
  await page.getByRole('option').filter({ hasText: operation }).first().click();
  await page.getByRole('button', { name: /^Try again in/ }).click();
};

export const openJob = async (page: Page, name: string): Promise<void> => {
  await go(page, 'Batch');
  await page.getByRole('button', { name: `Open ${name}` }).click();
};

export const openFinished = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Open disputes-q3.csv' }).click();
  await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
};
