import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';

/** Walks with Tab until the place has the focus; where Tab never leads, a person without a pointer never comes. */
async function tabTo(page: Page, place: Locator): Promise<void> {
  await place.waitFor();
  for (let step = 0; step < 80; step++) {
    if ((await place.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab never leads there.');
}

async function press(page: Page, place: Locator): Promise<void> {
  await tabTo(page, place);
  await page.keyboard.press('Enter');
}

test('the whole main job and the reports, by keyboard alone', async ({ page }) => {
  test.setTimeout(120_000);
  // The first page has its focus on its first action.
  await expect(page.getByRole('button', { name: 'Start the built-in service' })).toBeFocused();
  await page.keyboard.press('Enter');

  // Lookup: tokenize, reveal, hide.
  await tabTo(page, page.getByRole('radio', { name: 'Look up a token' }));
  await page.keyboard.press('ArrowRight');
  await tabTo(page, page.getByLabel('Value in clear'));
  await page.keyboard.type('4111111111111111');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Copy token' })).toBeFocused();
  await page.keyboard.press('r');
  await expect(page.getByRole('region', { name: 'Reveal', exact: true }).getByLabel('Case')).toBeFocused();
  await page.keyboard.type('D-20931');
  await page.keyboard.press('Enter');
  await page.getByRole('group', { name: 'In clear' }).waitFor();
  await expect(page.getByRole('button', { name: 'Hide' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('group', { name: 'In clear' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Reveal', exact: true })).toBeFocused();

  // Another policy, then the sample file.
  await tabTo(page, page.getByRole('combobox', { name: /^Policy/ }));
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'analyst' }).waitFor();
  await page.keyboard.type('analyst');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('combobox', { name: /^Policy: analyst/ })).toBeVisible();
  await page.keyboard.press('Control+2');
  await press(page, page.getByRole('button', { name: 'Try the sample file' }));
  await tabTo(page, page.getByRole('combobox', { name: /^card_token/ }));
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: /^Detokenize/ }).waitFor();
  await page.keyboard.type('Detok');
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('button', { name: /^Run on/ }));
  await expect(page.getByRole('status', { name: 'Sum' })).toContainText('200 rows =');

  // The table, and from there an export of what it shows.
  const grid = page.getByRole('grid');
  await tabTo(page, page.getByRole('button', { name: 'Filter', exact: true }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('textbox', { name: 'Filter card_token' }));
  await page.keyboard.type('4111');
  await expect(page.getByRole('status', { name: 'Table' })).toContainText('of 200 shown');
  await tabTo(page, grid);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await expect(page.getByRole('complementary', { name: 'Row detail' })).toBeVisible();
  await press(page, page.getByRole('button', { name: 'Export', exact: true }));
  const panel = page.getByRole('region', { name: 'Export', exact: true });
  await tabTo(page, panel.getByRole('button', { name: /^Export \d+ rows?$/ }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('status', { name: 'Exported' })).toContainText('_masked_filtered.csv');

  // Reports: sign in, another grouping, the list of what failed.
  await page.keyboard.press('Control+3');
  await press(page, page.getByRole('button', { name: 'Sign in to the built-in portal' }));
  await expect(page.getByText(/signed in as reporter/)).toBeVisible();
  await tabTo(page, page.getByRole('radio', { name: 'Day', exact: true }));
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('grid').getByRole('columnheader').first()).toHaveText('Definition');
  await tabTo(page, page.getByRole('tab', { name: 'Account' }));
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'This workstation' })).toHaveAttribute('aria-selected', 'true');

  await page.keyboard.press('Control+l');
  await press(page, page.getByRole('button', { name: 'Unlock' }));
  await expect(page.getByRole('navigation', { name: 'Places' })).toBeVisible();
});
