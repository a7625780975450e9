import type { Page } from '@playwright/test';

export interface Shot {
  name: string;
  scene: string;
  /** What a person does to get there. */
  steps?: (page: Page) => Promise<void>;
}

const go = async (page: Page, place: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: place }).click();
};

const lookUp = async (page: Page): Promise<void> => {
  await page.getByRole('textbox', { name: 'Case' }).fill('D-20931');
  await page.getByRole('textbox', { name: 'Token' }).fill('4111 1173-0921 1111');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Result' }).waitFor();
};

export const shots: Shot[] = [
  { name: 'first-run', scene: 'first-run' },
  {
    name: 'first-run-failed',
    scene: 'first-run-failed',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Start the built-in service' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'lookup-empty', scene: 'empty' },
  { name: 'lookup-masked', scene: 'busy', steps: lookUp },
  {
    name: 'lookup-reveal-strip',
    scene: 'busy',
    steps: async (page) => {
      await lookUp(page);
      await page.keyboard.press('r');
      await page.getByRole('region', { name: 'Reveal' }).waitFor();
    },
  },
  {
    name: 'lookup-exposed',
    scene: 'busy',
    steps: async (page) => {
      await lookUp(page);
      await page.keyboard.press('r');
      await page.getByRole('region', { name: 'Reveal' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('group', { name: 'In clear' }).waitFor();
    },
  },
  {
    name: 'lookup-translate',
    scene: 'busy',
    steps: async (page) => {
      await lookUp(page);
      await page.keyboard.press('x');
      await page.getByRole('region', { name: 'Translate' }).waitFor();
    },
  },
  {
    name: 'lookup-tokenize',
    scene: 'busy',
    steps: async (page) => {
      await page.getByText('Tokenize a value').click();
      await page.getByRole('textbox', { name: 'Value in clear' }).fill('4111117309211111');
    },
  },
  {
    name: 'lookup-failed',
    scene: 'refused',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('4111117309211111');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'lookup-down',
    scene: 'down',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('4111117309211111');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'help',
    scene: 'busy',
    steps: async (page) => {
      await page.keyboard.press('Control+/');
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'locked', scene: 'locked' },
  { name: 'locked-waiting', scene: 'locked-waiting' },
];

export { go };
