import fs from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { verifyEvidence } from '../../scripts/verify-evidence.ts';
import { expect, jsonWebToken, test } from '../support/app-fixture.ts';
import { choose, go, lookUp, reveal, startBuiltIn, tokenize } from '../support/page-actions.ts';

const pan = '4111111111111111';

/** The table beside the chart: what each row is about, and its requests and failures. */
async function table(page: Page, group: string): Promise<Record<string, string>> {
  await page.getByRole('radio', { name: group, exact: true }).check({ force: true });
  const grid = page.getByRole('grid');
  await expect(grid.getByRole('columnheader').first()).toHaveText(
    group === 'By day and definition' ? 'Day' : group,
  );
  await expect(grid.getByRole('gridcell').first()).not.toHaveText('…');
  const rows = await grid.getByRole('row').all();
  const cells = await Promise.all(rows.slice(1).map((row) => row.getByRole('gridcell').allInnerTexts()));
  return Object.fromEntries(
    cells.map(([name = '', requests = '', failed = '']) => [name, `${requests}/${failed}`]),
  );
}

test('what was done is in the account’s numbers, in this workstation’s, and in the case’s evidence', async ({
  page,
  app,
}) => {
  await startBuiltIn(page);
  const token = await tokenize(page, pan);
  await lookUp(page, token);
  await reveal(page, 'D-20931');
  await page.keyboard.press('Escape');
  await choose(page, 'Policy', 'intake');
  await expect(page.getByRole('combobox', { name: /^Policy: intake/i })).toBeVisible();
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();

  await go(page, 'Reports');
  await expect(page).toHaveTitle('Reports – Built-in service – DEVELOPMENT – Tokendesk');
  await page.getByRole('button', { name: 'Sign in to the built-in portal' }).click();
  await expect(page.getByText(/signed in as reporter/)).toBeVisible();

  const account = await table(page, 'Operation');
  expect(account).toMatchObject({ Tokenize: '1/0', Detokenize: '1/0' });
  expect(Object.keys(account).sort()).toEqual(['CreateSession', 'Detokenize', 'GetMasked', 'Tokenize']);
  const byDefinition = await table(page, 'Definition');
  expect(Object.keys(byDefinition).sort()).toEqual(['Card number', 'No definition']);

  // From a bar of the chart to the failures it is made of.
  await page.getByRole('button', { name: /^Card number: .* show failures$/ }).click();
  await expect(page.getByText('Failures of Card number')).toBeVisible();
  await expect(page.getByRole('listbox', { name: 'Failed requests' }).getByRole('option')).toHaveCount(1);
  await page.getByRole('button', { name: 'Show all failures' }).click();
  const max = page.getByRole('textbox', { name: 'Most recent, 1 to 100' });
  await max.fill('101');
  await expect(page.getByText('Enter 1 to 100.')).toBeVisible();
  await max.fill('37');
  await max.press('Enter');
  await expect(page.getByText('Enter 1 to 100.')).toHaveCount(0);
  await expect(max).toHaveValue('37');
  const total = (rows: Record<string, string>) =>
    Object.values(rows).reduce((sum, counts) => sum + Number(counts.split('/')[0]), 0);
  expect(total(await table(page, 'Day'))).toBe(total(account));
  expect(total(byDefinition)).toBe(total(account));

  await page.getByRole('radio', { name: 'By day and definition' }).check({ force: true });
  await expect(page.getByRole('region', { name: 'Requests by definition and day' })).toContainText(
    'Card number',
  );

  const list = page.getByRole('listbox', { name: 'Failed requests' });
  await expect(list.getByRole('option').first()).toContainText('GetMasked');
  await expect(list.getByRole('option').first()).toContainText('403');
  await list.focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('complementary', { name: 'Failed request' })).toContainText(
    'OperationNotGranted',
  );
  await page.getByRole('button', { name: 'Copy for support' }).click();
  await expect(page.getByText('No value is in it')).toBeVisible();

  await page.getByRole('tab', { name: 'This workstation' }).click();
  expect(await table(page, 'Operation')).toEqual(account);
  await page.getByRole('button', { name: 'Evidence on D-20931' }).click();
  await expect(page.getByText('Send the fingerprint')).toBeVisible();
  const signer = await page.getByText(/^[0-9a-f]{64}$/).innerText();
  const name = (await fs.readdir(app.downloads)).find((file) => file.endsWith('.json')) ?? '';
  const file = path.join(app.downloads, name);
  const verdict = await verifyEvidence({ file, signer, log: path.join(app.home, 'audit') });
  expect(verdict.problems).toEqual([]);
  const text = await fs.readFile(file, 'utf8');
  expect(text).toContain('Reveal');
  expect(text).not.toContain(pan);

  await page.getByRole('button', { name: 'CSV' }).click();
  await expect(page.getByText(/Saved as workstation-requests-by-operation/)).toBeVisible();
  await page.getByRole('button', { name: 'PNG' }).click();
  await expect(page.getByText(/Saved as workstation-.*\.png/)).toBeVisible();

  // The auditor's page: who, what, why, under which case; never the value.
  await page.getByRole('tab', { name: 'Cleartext access' }).click();
  const access = page.getByRole('region', { name: /^Cleartext access in/ });
  await expect(access.getByRole('row', { name: /Revealed 1 Card number D-20931/ })).toBeVisible();
  await expect(page.getByText(/1 person saw cleartext 1 time/)).toBeVisible();
  await page.getByRole('button', { name: 'CSV' }).click();
  await expect(page.getByText(/Saved as cleartext-access-\d{4}-\d{2}\.csv/)).toBeVisible();
  const csv = (await fs.readdir(app.downloads)).find((one) => one.startsWith('cleartext-access')) ?? '';
  const listed = await fs.readFile(path.join(app.downloads, csv), 'utf8');
  expect(listed).toContain('D-20931');
  expect(listed).not.toContain(pan);

  expect((await app.outward()).filter((message) => jsonWebToken.test(message))).toEqual([]);
});

test('the tool server of the built-in service is off until somebody enables it', async ({ page }) => {
  await startBuiltIn(page);
  await go(page, 'Reports');
  await page.getByRole('tab', { name: 'Tool server' }).click();
  await expect(page.getByText('Not enabled for this environment')).toBeVisible();
  await expect(page.getByText('An assistant with Detokenize can read every value')).toBeVisible();
  await page.getByRole('button', { name: 'Copy configuration' }).click();
  await expect(page.getByText(/Put the JWT where/)).toBeVisible();
});
