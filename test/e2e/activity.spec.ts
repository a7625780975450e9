import { expect, test } from '../support/app-fixture.ts';
import { choose, go, lookUp, reveal, startBuiltIn, tokenize } from '../support/page-actions.ts';

test('Activity answers who saw what in clear, and the filters find the rest', async ({ page }) => {
  test.setTimeout(120_000);
  await startBuiltIn(page);
  const token = await tokenize(page, '4111111111111111');
  await lookUp(page, token);
  await reveal(page, 'D-20931');
  await page.keyboard.press('Escape');
  await choose(page, 'Policy', 'intake');
  await expect(page.getByRole('combobox', { name: /^Policy: intake/i })).toBeVisible();
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();

  // First what was seen in clear, and nothing else.
  await go(page, 'Activity');
  const rows = page.getByRole('region', { name: 'Audit entries' }).locator('tbody').getByRole('row');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText(/Revealed\s*done\s*Card number\s*D-20931\s*Chargeback response/);
  await expect(page.getByText(/^Log verified, \d+ entries$/)).toBeVisible();

  // Then by kind, outcome and text, each cleared at once.
  await page.getByRole('radio', { name: 'Requests' }).check({ force: true });
  await expect(rows.filter({ hasText: 'Looked up' }).first()).toBeVisible();
  await choose(page, 'Outcome', 'Failed');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText(/Lookup\s*failed.*The policy does not grant this/);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('radio', { name: 'Everything' }).check({ force: true });
  await expect(rows.filter({ hasText: 'Built-in service started' })).toBeVisible();
  await page.getByRole('textbox', { name: 'Search the log' }).fill('d-20931');
  await expect(rows.filter({ hasText: 'Built-in service started' })).toHaveCount(0);
  await expect(rows.filter({ hasText: 'Revealed' })).toHaveCount(1);
  await page.getByRole('textbox', { name: 'Search the log' }).fill('nobody of that name');
  await expect(page.getByText('No entries match these filters')).toBeVisible();
});
