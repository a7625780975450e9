import type { Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { startBuiltIn } from '../support/page-actions.ts';

const inClear = (page: Page) => page.getByRole('group', { name: 'Typed, in clear' });
const shown = (page: Page): Promise<string | null> => inClear(page).locator('.value').textContent();

test('a field of dots is edited like any other', async ({ page }) => {
  await startBuiltIn(page);
  await page.getByText('Tokenize a value').click();
  const field = page.getByLabel('Value in clear');
  await field.click();
  await page.getByRole('button', { name: 'Show what is typed' }).click();
  await expect(inClear(page)).toHaveCount(0);
  await expect(field).toBeFocused();

  await page.keyboard.type('4111 1173-09');
  expect(await shown(page)).toBe('4111117309');
  expect(await field.inputValue()).toBe('••••••••••••');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText('55');
  expect(await shown(page)).toBe('5511117309');
  await page.keyboard.press('Shift+End');
  await page.keyboard.press('x');
  expect(await shown(page)).toBe('55x');
  await page.keyboard.press('Control+z');
  expect(await shown(page)).toBe('55x');

  // An input method, as names in many scripts need one.
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Input.imeSetComposition', { text: 'た', selectionStart: 1, selectionEnd: 1 });
  await protocol.send('Input.imeSetComposition', { text: 'たな', selectionStart: 2, selectionEnd: 2 });
  await protocol.send('Input.insertText', { text: '田中' });
  expect(await shown(page)).toBe('55x田中');
  expect(await field.inputValue()).toBe('•••••');
});

test('what is typed is shown only while it is asked for', async ({ page }) => {
  await startBuiltIn(page);
  await page.getByText('Tokenize a value').click();
  await page.getByLabel('Value in clear').click();
  await page.keyboard.type('4111111111111111');
  await expect(inClear(page)).toHaveCount(0);
  const show = page.getByRole('button', { name: 'Show what is typed' });

  await show.click();
  await inClear(page).waitFor();
  await page.keyboard.press('Escape');
  await expect(inClear(page)).toHaveCount(0);

  await show.click();
  await inClear(page).waitFor();
  await page.evaluate('window.dispatchEvent(new Event("blur"))');
  await expect(inClear(page)).toHaveCount(0);

  await page.clock.install();
  await show.click();
  await page.clock.runFor(19_000);
  await page.keyboard.press('End');
  await page.keyboard.press('1');
  await page.clock.runFor(19_000);
  await expect(inClear(page)).toHaveCount(1);
  await page.clock.runFor(1_000);
  await expect(inClear(page)).toHaveCount(0);

  await show.click();
  await inClear(page).waitFor();
  await page.keyboard.press('Control+l');
  await page.getByRole('button', { name: 'Unlock' }).click();
  await expect(page.getByLabel('Value in clear')).toHaveValue('');
  await expect(inClear(page)).toHaveCount(0);
});
