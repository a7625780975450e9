import type { Page } from '@playwright/test';
import { expect, test, type OpenApp } from '../support/app-fixture.ts';
import { startBuiltIn } from '../support/page-actions.ts';

/*
 * What is pressed in the first moment is not lost, though the list of a select is code that comes after the window. What is
 * drawn in it stays.
 */

const policy = (page: Page) => page.getByRole('combobox', { name: /^Policy: / });

/** In one go, with it as `one`. */
const withPolicy = (page: Page, act: string): Promise<void> =>
  page.evaluate(`{ const one = document.querySelector('[aria-label^="Policy: "]'); ${act}; }`);

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
    // In one go: to focus it alone has the list loaded.
    await withPolicy(
      page,
      `one.focus(); one.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`,
    );
    await expect(options.first()).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(options).toHaveCount(0);
    await expect(policy(page)).toBeFocused();
  }

  await reopen(app);
  await policy(page).dispatchEvent('click');
  await expect(options.first()).toBeVisible();
});

test('a select stays closed where the press was taken back before its list came', async ({ app, page }) => {
  await startBuiltIn(page);
  const press = `one.focus(); one.dispatchEvent(new PointerEvent('pointerdown', { button: 0, pointerType: 'mouse', bubbles: true }))`;
  const takenBack = [
    press,
    `one.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))`,
    `document.getElementById(document.querySelector('main label[for]').htmlFor).focus()`,
  ];
  for (const act of takenBack) {
    await reopen(app);
    await withPolicy(page, `${press}; ${act}`);
    await expect(page.locator('[data-select-trigger][aria-label^="Policy: "]')).toBeVisible();
    await expect(page.getByRole('option')).toHaveCount(0);
  }
  await expect(page.locator('main input:focus')).toHaveCount(1);
});

test('a select that has the focus keeps it when its list comes', async ({ app, page }) => {
  await startBuiltIn(page);
  await reopen(app);
  await withPolicy(page, `one.dataset.first = ''; one.focus()`);
  await expect(policy(page)).toBeFocused();
  await expect(page.locator('[data-first]')).toHaveCount(0);
  await expect(policy(page)).toBeFocused();
  await expect(page.getByRole('option')).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('option').first()).toBeVisible();
});

test('Ctrl+K takes what is typed behind it at once', async ({ app, page }) => {
  await startBuiltIn(page);
  await reopen(app);
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('activity');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible();
});

test('the first picture has its theme and says of no case only what it knows', async ({ app, page }) => {
  await startBuiltIn(page);
  await page.context().addInitScript(`
    globalThis.changes = [];
    const classes = (nodes) => [...nodes].map((node) => node.classList?.[0] ?? '');
    new MutationObserver((records) => {
      for (const { type, attributeName, addedNodes, removedNodes } of records) {
        if (type === 'attributes') changes.push(attributeName);
        for (const name of classes(addedNodes)) changes.push('with ' + name);
        for (const name of classes(removedNodes)) changes.push('without ' + name);
      }
    }).observe(document, { subtree: true, childList: true, attributeFilter: ['data-theme'] });
  `);
  await reopen(app);
  await expect(page.getByRole('heading', { name: 'No case open' })).toBeVisible();
  const changes = await page.evaluate<string[]>('changes');
  expect(changes.indexOf('data-theme')).toBeGreaterThan(-1);
  expect(changes.indexOf('data-theme')).toBeLessThan(changes.indexOf('with window'));
  expect(changes.filter((change) => change === 'without empty')).toEqual([]);
});
