import type { Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { go, paste, startBuiltIn, tokenize } from '../support/page-actions.ts';

const pan = '4111111111111111';
const field = (page: Page) => page.getByRole('combobox', { name: 'Search or run' });

test('Ctrl+K takes a token, a card number, several lines and a case, on any page', async ({ page, app }) => {
  test.setTimeout(120_000);
  await startBuiltIn(page);
  const token = await tokenize(page, pan);

  await go(page, 'Settings');
  await page.keyboard.press('Control+k');
  await expect(field(page)).toBeFocused();
  await page.keyboard.insertText(token);
  await expect(page.getByRole('option').first()).toContainText('Card number, detected');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Result' })).toContainText('411111••••••1111');
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();

  await go(page, 'Activity');
  await page.keyboard.press('Control+k');
  await paste(page, '4111 1111 1111 1111');
  await expect(field(page)).toHaveValue('•'.repeat(19));
  await expect(page.getByText('This looks like a card number, not a token.').first()).toBeVisible();
  await expect(page.getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Result' })).toContainText('New token, tokenized');
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
  expect((await app.outward()).filter((message) => message.includes(pan))).toEqual([]);

  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('D-20931');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Case' })).toHaveValue('D-20931');

  await go(page, 'Reports');
  await page.keyboard.press('Control+k');
  await paste(page, `${token}\n${token}\n`);
  await expect(page.getByRole('option')).toHaveText(/Create a batch of 2 lines/);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Pasted rows').first()).toBeVisible();
  // The policy in use may mask and do nothing else.
  await expect(page.getByRole('group', { name: 'Column 1: Mask' })).toBeVisible();
});

test('Ctrl+K runs commands', async ({ page }) => {
  await startBuiltIn(page);
  const run = async (words: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await expect(field(page)).toBeFocused();
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
    await expect(field(page)).toHaveCount(0);
  };
  await run('activity');
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible();
  await run('policy analyst');
  await expect(page.getByRole('combobox', { name: 'Policy: analyst' })).toBeVisible();
  await run('D-20931');
  await expect(page.getByRole('textbox', { name: 'Case' })).toHaveValue('D-20931');
  await run('close case');
  await expect(page.getByText('Case D-20931 is closed.').first()).toBeVisible();

  // The marked entry can be another one, and Esc runs none.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('go to');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option', { selected: true })).toContainText('Go to Batch');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('option', { selected: true })).not.toContainText('Go to Lookup');
  await page.keyboard.press('Escape');
  await expect(field(page)).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Lookup' })).toBeAttached();

  await run('lock');
  await page.getByRole('button', { name: 'Unlock' }).click();
  await expect(field(page)).toHaveCount(0);
});
