import type { Page } from '@playwright/test';
import { expect, test, type OpenApp } from '../support/app-fixture.ts';
import { startBuiltIn } from '../support/page-actions.ts';

/*
 * The list of a select and the palette are code that comes after the window: what is pressed before then is not lost.
 */

const policy = (page: Page) => page.getByRole('combobox', { name: /^Policy: / });

/** The window's page anew: nothing but what it needs first is there. A page may not load itself. */
async function reopen({ application, page }: OpenApp): Promise<void> {
  await application.evaluate(async ({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows();
    await window?.loadURL(window.webContents.getURL());
  });
  await policy(page).waitFor();
}

test('a select opens by its first press, by a key, and by a click without a pointer', async ({
  app,
  page,
}) => {
  await startBuiltIn(page);
  const options = page.getByRole('option');

  await reopen(app);
  await policy(page).click();
  await expect(options.first()).toBeVisible();
  await page.getByRole('option', { name: 'intake' }).click();
  await expect(page.getByRole('combobox', { name: 'Policy: intake' })).toBeVisible();
  await expect(options).toHaveCount(0);

  for (const key of ['Enter', ' ', 'ArrowDown', 'ArrowUp']) {
    await reopen(app);
    await policy(page).evaluate((one: HTMLElement, pressed) => {
      one.focus();
      one.dispatchEvent(new KeyboardEvent('keydown', { key: pressed, bubbles: true, cancelable: true }));
    }, key);
    await expect(options.first()).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(options).toHaveCount(0);
    await expect(policy(page)).toBeFocused();
  }

  await reopen(app);
  await policy(page).evaluate((one: HTMLElement) => {
    one.click();
  });
  await expect(options.first()).toBeVisible();
});

test('a select that has the focus keeps it when its list comes', async ({ app, page }) => {
  await startBuiltIn(page);
  await reopen(app);
  await policy(page).evaluate((one: HTMLElement) => {
    one.dataset['first'] = '';
    one.focus();
  });
  await expect(page.locator('[data-first]')).toHaveCount(0);
  await expect(policy(page)).toBeFocused();
  await expect(page.getByRole('option')).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('option').first()).toBeVisible();
});

test('Ctrl+K opens in the first moment too', async ({ app, page }) => {
  await startBuiltIn(page);
  await reopen(app);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: 'Search or run' })).toBeFocused();
});
