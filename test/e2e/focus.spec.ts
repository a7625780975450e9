import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { text, workbook } from '../support/make-workbook.ts';
import { choose, chooseFile, exportRows, go, startBuiltIn, systemDialogs } from '../support/page-actions.ts';

/** What has the focus, as a person would call it; '' for the page's body, which is nowhere. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(
    `document.activeElement === document.body ? '' : (document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim() || document.activeElement.localName)`,
  );

async function expectFocus(page: Page, where: RegExp): Promise<void> {
  await expect.poll(() => focused(page)).toMatch(where);
}

test('from the file to its export by the keys, the focus is never lost', async ({ page, home }) => {
  const file = path.join(home, 'cards.csv');
  fs.writeFileSync(file, `case,card\nD-1,4111111111111111\nD-2,5555555555554444\nD-3,x\n`);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Choose a file' }).focus();

  // The keys are printed on the buttons, and those for a file work on any page.
  await expect(page.getByRole('button', { name: 'Choose a file' })).toContainText('Ctrl O');
  await go(page, 'Activity');
  await page.getByRole('search').waitFor();
  await page.keyboard.press('Control+F');
  await expect(page.getByRole('search').locator(':focus')).toHaveCount(1);
  await systemDialogs.get(page)?.(file);
  await page.keyboard.press('Control+O');
  await page.getByRole('region', { name: /^First rows/ }).waitFor();
  await expectFocus(page, /^First rows|^Test 20 rows/);
  await choose(page, 'card', 'Tokenize');
  await page.getByRole('group', { name: 'card: Tokenize' }).waitFor();
  await expectFocus(page, /./);

  await page.getByRole('button', { name: 'Save mapping' }).click();
  await page.getByLabel('Name of the mapping').fill('Cards');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Mapping: Cards' }).waitFor();
  await expectFocus(page, /^Test 20 rows/);

  await expect(page.getByRole('button', { name: 'Test 20 rows' })).toContainText('Ctrl Shift Enter');
  await expect(page.getByRole('button', { name: /^Run on/ })).toContainText('Ctrl Enter');
  await page.keyboard.press('Control+Shift+Enter');
  await expect(page.getByRole('status', { name: 'Rows shown' })).toContainText('2 of 3 rows');
  await expectFocus(page, /./);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('status', { name: 'Sum' }).waitFor();
  await expectFocus(page, /^Finished/);

  await expect(page.getByRole('button', { name: 'Export', exact: true })).toContainText('Ctrl E');
  await page.keyboard.press('Control+E');
  await expect(page.getByRole('region', { name: 'Export', exact: true }).locator(':focus')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await exportRows(page, { content: 'Tokens', written: 'Exact values' });
  await expectFocus(page, /^Exported/);

  await page.getByRole('button', { name: 'All batches' }).click();
  await expectFocus(page, /^Open cards.csv/);

  // The same file again: its mapping is filled in, and one key runs it.
  await chooseFile(page, file);
  await page.getByRole('group', { name: 'card: Tokenize' }).waitFor();
  await expectFocus(page, /^Test 20 rows/);
  await page.getByRole('button', { name: 'Close the file' }).click();
  await expectFocus(page, /^Open cards.csv/);

  const sheet = (name: string) => ({
    name,
    rows: `<row r="1">${text('A1', name)}</row><row r="2">${text('A2', 'x')}</row>`,
  });
  const sheets = path.join(home, 'sheets.xlsx');
  fs.writeFileSync(sheets, await workbook({ sheets: [sheet('first'), sheet('second')] }));
  await chooseFile(page, sheets);
  await choose(page, 'Sheet', 'second');
  await expect(page.getByRole('columnheader', { name: /second/ })).toBeVisible();
  await expectFocus(page, /./);
});

test('the pages of an administrator keep the focus', async ({ page }) => {
  await startBuiltIn(page);
  await go(page, 'Connections');
  await page.getByRole('button', { name: 'Add a connection' }).first().click();
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.getByLabel('Name', { exact: true }).fill('Focus');
  await page.getByLabel('Base URL').fill('https://focus.example');
  await page.getByRole('button', { name: /^\d? ?Access/ }).click();
  await page.getByLabel('Policy name').fill('agent');
  await page.getByRole('button', { name: 'Add policy' }).click();
  await page.getByLabel('Password for agent').waitFor();
  await expect(page.getByLabel('Policy name')).toBeFocused();
  await page.getByRole('button', { name: 'Add definition' }).click();
  await page.getByLabel('Service name').fill('card');
  await page.getByLabel('Shown as').fill('Card');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible();
  await expectFocus(page, /./);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByText('Focus removed.')).toBeVisible();
  await expectFocus(page, /^Undo/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Focus' })).toBeVisible();
  await expectFocus(page, /./);
  await go(page, 'Settings');
  await page.getByLabel('New passphrase', { exact: true }).fill('correct horse');
  await page.getByLabel('Repeat new passphrase').fill('correct horse');
  await page.getByRole('button', { name: 'Set passphrase' }).click();
  await page.getByLabel('Current passphrase').waitFor();
  await expectFocus(page, /./);
  // W21: said where it was done, with what it costs to forget it.
  const said = page.getByRole('status', { name: 'Passphrase' });
  await expect(said).toHaveText('Passphrase set.');
  const from = await said.boundingBox();
  const button = await page.getByRole('button', { name: 'Change', exact: true }).boundingBox();
  expect(Math.abs((from?.y ?? 0) - (button?.y ?? 1_000))).toBeLessThan(120);
  await expect(
    page.getByText(/If you forget it, the lock’s Forgot the passphrase\?\s+forgets them all/),
  ).toBeInViewport();
  await page.keyboard.press('Control+L');
  const field = page.getByPlaceholder('Passphrase');
  await expect(field).toBeFocused();
  await page.keyboard.type('wrong one');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).not.toBeEmpty();
  await expect(field).toBeFocused();
  await page.keyboard.type('correct horse');
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Places' }).waitFor();
  await expectFocus(page, /./);
});

test('a button that goes by what it does leaves the focus on its page', async ({ page }) => {
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Reports');
  await page.getByRole('button', { name: 'Sign in to the built-in portal' }).click();
  await expect(page.getByText(/signed in as reporter/)).toBeVisible();
  await expectFocus(page, /./);
  await go(page, 'Administration');
  await page.getByRole('button', { name: 'Sign in as administrator' }).click();
  await expect(page.getByText(/signed in as admin/)).toBeVisible();
  await expectFocus(page, /./);
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Try the sample file' }).click();
  const suggestions = page.getByRole('button', { name: /^Use \d suggestions$/ });
  await suggestions.click();
  await expect(suggestions).toHaveCount(0);
  await expectFocus(page, /./);

  // W12: with four mapped columns, rows of the file and what runs them are in view in a small window.
  const mapped = page.getByRole('group', { name: /: (?:Tokenize|Detokenize|Mask)$/ });
  for (const column of ['card_token', 'ssn', 'email', 'note'])
    if ((await page.getByRole('group', { name: new RegExp(`^${column}: `) }).count()) === 0)
      await choose(page, column, 'Tokenize');
  await expect(mapped).toHaveCount(4);
  await page.setViewportSize({ width: 1_024, height: 700 });
  await expect(page.getByRole('button', { name: /^Run on/ })).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'Test 20 rows' })).toBeInViewport({ ratio: 1 });
  for (const name of ['D-10001', 'D-10002', 'D-10003', 'D-10004'])
    await expect(page.getByRole('row').filter({ hasText: name })).toBeInViewport();
  // Whatever stands above, what comes next is in view: half as high is a small window at twice the size.
  await page.setViewportSize({ width: 1_024, height: 400 });
  await expect(page.getByRole('button', { name: /^Run on/ })).toBeInViewport({ ratio: 1 });
});
