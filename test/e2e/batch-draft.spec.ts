import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, go, startBuiltIn } from '../support/page-actions.ts';

const cards = ['4111111111111111', '5555555555554444', '4012888888881881', '6011111111111117'];
const ssns = ['457-55-5462', '219-09-9999', '457-55-5463', '457-55-5464'];

async function open(page: Page, file: string): Promise<void> {
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await page.getByRole('region', { name: /^First rows/ }).waitFor();
}

test('what a file holds is recognised, hidden whatever it is called, and mapped with one click', async ({
  page,
  app,
  home,
}) => {
  const file = path.join(home, 'mixed.csv');
  const lines = cards.map((card, i) => `D-${i},${card},${ssns[i] ?? ''},${i}.50\n`);
  fs.writeFileSync(file, `case,card_token,reference,amount\n${lines.join('')}D-9,no card,1,2,3\n`);
  await open(page, file);

  // A column of cards that is called tokens, and SSNs under a neutral name.
  await expect(page.getByText('Masked here')).toHaveCount(2);
  const text = (await app.outward()).join('\n');
  for (const value of [...cards, ...ssns]) expect(text).not.toContain(value);
  await expect(
    page.getByRole('button', { name: 'Tokenize card_token, which looks like card numbers' }),
  ).toBeVisible();
  await page.getByRole('button', { name: 'Use 2 suggestions' }).click();
  await expect(page.getByRole('group', { name: 'card_token: Tokenize' })).toBeVisible();
  await expect(page.getByRole('group', { name: 'reference: Tokenize' })).toBeVisible();

  // A notice stands above the table and leads to its rows.
  const notices = page.getByRole('list', { name: 'Notices' });
  await expect(notices).toContainText('1 row has the wrong number of fields (row 5)');
  await notices.getByRole('button', { name: 'Show rows' }).click();
  const table = page.getByRole('region', { name: /^First rows/ });
  await expect(table.getByRole('row')).toHaveCount(2);
  await expect(table).toContainText('D-9');
  await page.getByRole('button', { name: 'Back to preview' }).click();
  await expect(table.getByRole('row')).toHaveCount(6);
  await expect(page.getByRole('status', { name: 'Preflight' })).toContainText('estimated');

  // A test shows what becomes of each value where it stands.
  await page.getByRole('button', { name: 'Test 20 rows' }).click();
  await expect(page.getByRole('status', { name: 'Rows shown' })).toContainText(
    '4 of 5 rows succeeded, 1 failed. Nothing was saved.',
  );
  await expect(table.getByRole('row').nth(1)).toContainText(/411111.*1111becomes\d/);
  const after = (await app.outward()).join('\n');
  for (const value of [...cards, ...ssns]) expect(after).not.toContain(value);
});

test('a single column comes mapped, and a mapping of another file is offered only', async ({
  page,
  home,
}) => {
  const pasted = path.join(home, 'tokens.csv');
  fs.writeFileSync(pasted, `card_token\n${cards.map((card) => card.replace(/.$/, '0')).join('\n')}\n`);
  await open(page, pasted);
  const note = page.getByRole('status', { name: 'Note' });
  await expect(note).toHaveText('card_token looks like card tokens. Detokenize is filled in.');
  await page.getByRole('button', { name: 'Save mapping' }).click();
  await page.getByLabel('Name of the mapping').fill('Tokens');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('combobox', { name: 'Mapping: Tokens' }).waitFor();

  const wider = path.join(home, 'wider.csv');
  fs.writeFileSync(wider, `case,card_token\n${cards.map((card, i) => `D-${i},${card}`).join('\n')}\n`);
  await page.getByRole('button', { name: 'Close the file' }).click();
  await chooseFile(page, wider);
  await expect(note).toHaveText(
    'The mapping “Tokens” was saved for other columns: it has 1 of these 2. It is not filled in by itself.',
  );
  const mapped = page.getByRole('group', { name: 'card_token: Detokenize' });
  await expect(mapped).toHaveCount(0);
  await page.getByRole('button', { name: 'Use it' }).click();
  await expect(mapped).toBeVisible();
});
