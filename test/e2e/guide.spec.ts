import { expect, test } from '../support/app-fixture.ts';
import { go, startBuiltIn } from '../support/page-actions.ts';

test('F1 opens the guide at the page’s chapter, gives the focus back, and Ctrl+K finds a part of it', async ({
  page,
}) => {
  await startBuiltIn(page);
  await go(page, 'Reports');
  await page.keyboard.press('F1');
  const guide = page.getByRole('complementary', { name: 'Guide' });
  await expect(guide.getByRole('region', { name: 'Reports' }).first()).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(guide).toHaveCount(0);
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('encoding');
  await page.getByRole('option', { name: /^Guide: Send a spreadsheet/ }).click();
  await expect(guide.getByRole('heading', { name: 'Send a spreadsheet' })).toBeVisible();
  await page.getByRole('button', { name: 'Close the guide' }).click();

  // A word has its question mark, a failure leads to its paragraph.
  await go(page, 'Lookup');
  await page.getByRole('button', { name: 'What is this: Case' }).click();
  await expect(guide.getByRole('heading', { name: 'Case', exact: true })).toBeInViewport();
  await page.getByRole('button', { name: 'Close the guide' }).click();
  await page.getByRole('textbox', { name: 'Token' }).fill('qwz1n@example.org');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByRole('button', { name: 'Learn more' }).click();
  await expect(guide.getByRole('heading', { name: /recognise this as/ })).toBeInViewport();
});
