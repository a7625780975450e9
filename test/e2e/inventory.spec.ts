import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, go, map, startBuiltIn, systemDialogs } from '../support/page-actions.ts';

const card = '4111111111111111';
const rows = [
  `D-1,${card},call 4012 8888 8888 1881 back`,
  'D-2,,jane@bank.example',
  `D-3,${card},qty 2@5.00 each`,
  'D-4,5555555555554444,',
];

test('what is in a file is counted beside its plan, by keys alone, and saved without a value', async ({
  page,
  app,
  home,
}) => {
  const file = path.join(home, 'cards.csv');
  fs.writeFileSync(file, `case,card,note\n${rows.join('\n')}\n`);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await page.getByRole('button', { name: 'What is in this file?' }).waitFor();
  await page.keyboard.press('ControlOrMeta+i');
  const panel = page.getByRole('region', { name: 'What is in this file?' });
  await expect(panel.getByRole('heading')).toBeFocused();
  const found = panel.getByRole('status', { name: 'What was found' });
  await expect(found).toHaveText(/In clear: 4 cells with card numbers, 1 with e-mail addresses\s*4 rows/);
  const line = (name: string) => panel.getByRole('row').filter({ hasText: name });
  await expect(line('card').first()).toContainText(/2\s*card\s*1\s*0\s*–\s*Card numbers\s*3\s*0\s*1 · 3 · 4/);
  await expect(line('note').first()).toContainText(/Card numbers\s*0\s*1\s*1/);

  await map(page, 'card', 'Tokenize', 'Card number');
  await panel.getByRole('button', { name: 'Count again' }).press('Enter');
  await expect(found).toContainText('3 cells would leave as planned');
  await expect(found).toContainText('Nothing is planned for note');
  await panel.getByRole('button', { name: 'Save as CSV' }).press('Enter');
  await expect(panel.getByRole('status', { name: 'Saved counts' })).toHaveText('Saved inventory.csv');
  await panel.getByRole('button', { name: 'Save as page' }).press('Enter');
  await expect(panel.getByRole('status', { name: 'Saved counts' })).toHaveText('Saved inventory.html');
  await page.keyboard.press('Escape');
  await expect(panel).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'What is in this file?' })).toHaveAttribute(
    'aria-expanded',
    'false',
  );

  const saved = ['inventory.csv', 'inventory.html']
    .map((name) => fs.readFileSync(path.join(app.downloads, name), 'utf8'))
    .join('');
  expect(saved).toContain('cards.csv,,2,card,4,0,1,0,3,3,0,1 3 4');
  for (const value of [card, '4012 8888', 'jane@', '2@5.00'])
    expect([value, saved.includes(value)]).toEqual([value, false]);
  for (const value of [card, '4012 8888 8888 1881', 'jane@bank.example'])
    expect([value, (await app.outward()).some((text) => text.includes(value))]).toEqual([value, false]);
});

test('a folder is one inventory, with each file that can’t be read named', async ({ page, app, home }) => {
  const folder = path.join(home, 'archive');
  fs.mkdirSync(path.join(folder, '2025'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'a.csv'), `case,card,note\n${rows.join('\n')}\n`);
  fs.writeFileSync(path.join(folder, '2025', 'b.csv'), 'id,amount\n1,2\n');
  fs.writeFileSync(path.join(folder, 'scan.pdf'), '%PDF-1.7');
  await startBuiltIn(page);
  // From any page, by the palette.
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('what is in these');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'What is in these files?' })).toBeFocused();
  await systemDialogs.get(page)?.(folder);
  await page.getByRole('button', { name: 'Choose a folder' }).press('Enter');
  await expect(page.getByRole('status', { name: 'What was found' })).toHaveText(
    /In clear: 4 cells with card numbers, 1 with e-mail addresses\s*5 rows in 3 files and sheets\s*1 not read to the end/,
  );
  const files = page.getByRole('region', { name: 'Files', exact: true });
  await files.getByRole('button', { name: 'archive/a.csv' }).press('Enter');
  await expect(files.getByRole('region', { name: 'What each column holds' })).toContainText('Card numbers');
  await page.getByText('Not read', { exact: true }).click();
  await expect(files).toContainText('This is a PDF');
  await page.getByText('All', { exact: true }).click();
  await expect(files.getByRole('button')).toHaveCount(2);
  await page.getByRole('button', { name: 'Save as page' }).press('Enter');
  await expect(page.getByRole('status', { name: 'Saved counts' })).toHaveText('Saved inventory.html');
  expect(fs.readFileSync(path.join(app.downloads, 'inventory.html'), 'utf8')).toContain('archive/2025/b.csv');
  await page.getByRole('button', { name: 'All batches' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Choose a file' })).toBeVisible();
});
