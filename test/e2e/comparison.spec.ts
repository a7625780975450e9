import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '../support/app-fixture.ts';
import {
  choose,
  chooseFile,
  exportRows,
  go,
  map,
  readSum,
  run,
  startBuiltIn,
  systemDialogs,
} from '../support/page-actions.ts';

const cards = ['4111111111111111', '5555555555554444', '4012888888881881'];

test('a finished batch and a file of tokens are compared by keys alone, and the rows saved without a value', async ({
  page,
  app,
  home,
}) => {
  const clear = path.join(home, 'march.csv');
  fs.writeFileSync(
    clear,
    `case,card\n${[...cards, cards[0], ''].map((card, at) => `D-${at},${card}`).join('\n')}\n`,
  );
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, clear);
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  expect((await readSum(page)).rows).toBe(5);
  const exported = await exportRows(page, { written: 'As the source' });
  const [, first] = fs.readFileSync(path.join(app.downloads, exported), 'utf8').split(/\r?\n/);
  const token = first?.split(',')[1] ?? '';
  expect(token).toMatch(/^\d{16}$/);
  const april = path.join(home, 'april.csv');
  fs.writeFileSync(april, `card\n${token}\nother\n`);

  // The finished batch is the first of them.
  await page.keyboard.press('ControlOrMeta+d');
  await expect(page.getByRole('heading', { name: 'Compare files' })).toBeFocused();
  await expect(page.getByRole('combobox', { name: 'Column of 1: card' })).toBeVisible();
  await systemDialogs.get(page)?.(april);
  await page.getByRole('button', { name: 'Add a file' }).press('Enter');
  await expect(page.getByRole('combobox', { name: 'Column of 2: card' })).toBeVisible();
  await page.getByRole('button', { name: 'Compare', exact: true }).press('Enter');
  await expect(page.getByRole('status', { name: 'What was found' })).toHaveText('1 value in both');
  const groups = page.getByRole('region', { name: 'Values by file' });
  await expect(groups.getByRole('row', { name: /^In both/ })).toContainText(/In both\s*1\s*2\s*1/);
  await expect(groups.getByRole('row', { name: /^Only in 1/ })).toContainText(/Only in 1\s*2\s*2\s*0/);
  await groups.getByRole('button', { name: 'Show rows: In both' }).press('Enter');
  const grid = page.getByRole('grid', { name: 'Compared rows' });
  await expect(page.getByRole('heading', { name: '3 rows: In both' })).toBeVisible();
  await expect(grid.getByRole('gridcell', { name: '1: march.csv' })).toHaveCount(2);
  await page.getByRole('checkbox', { name: 'Only values repeated in their file' }).press('Space');
  await expect(page.getByRole('heading', { name: '2 rows: In both' })).toBeVisible();

  await page.getByRole('button', { name: 'Save as CSV' }).press('Enter');
  await expect(page.getByRole('status', { name: 'Saved comparison' })).toHaveText('Saved compared.csv');
  const saved = fs.readFileSync(path.join(app.downloads, 'compared.csv'), 'utf8');
  expect(saved.trimEnd().split('\r\n')).toEqual([
    'file,name,source_row,in_files,repeated',
    '1,march.csv,1,1 2,yes',
    '1,march.csv,2,1,',
    '1,march.csv,3,1,',
    '1,march.csv,4,1 2,yes',
    '1,march.csv,5,,',
    '2,april.csv,1,1 2,',
    '2,april.csv,2,2,',
  ]);
  for (const card of cards) expect((await app.outward()).some((text) => text.includes(card))).toBe(false);
  await page.getByRole('button', { name: 'Remove april.csv' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Compare', exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'All batches' }).press('Enter');
  await expect(page.getByText('Batches on this computer')).toBeVisible();
});

test('a file in clear is tokenized on the way', async ({ page, app, home }) => {
  const [clear, others] = ['may.csv', 'june.csv'].map((name) => path.join(home, name));
  if (clear === undefined || others === undefined) throw new Error('two names');
  fs.writeFileSync(clear, `case,card\n${cards.map((card, at) => `D-${at},${card}`).join('\n')}\n`);
  fs.writeFileSync(others, `card\n${[cards[1], cards[2], '4222222222222'].join('\n')}\n`);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await page.keyboard.press('ControlOrMeta+d');
  for (const [at, file] of [clear, others].entries()) {
    await systemDialogs.get(page)?.(file);
    await page.getByRole('button', { name: 'Add a file' }).press('Enter');
    await choose(page, `Column of ${at + 1}`, 'card');
  }
  for (const at of [1, 2]) {
    await choose(page, `Tokenize column of ${at}`, 'Card number');
    await expect(
      page.getByRole('cell', { name: at === 1 ? 'may.csv · batch' : 'june.csv · batch' }),
    ).toBeVisible();
    await expect(page.getByRole('combobox', { name: `Tokenize column of ${at}` })).toBeHidden();
  }
  await page.getByRole('button', { name: 'Compare', exact: true }).press('Enter');
  await expect(page.getByRole('status', { name: 'What was found' })).toHaveText('2 values in both');
  for (const card of cards) expect((await app.outward()).some((text) => text.includes(card))).toBe(false);
  await page.getByRole('button', { name: 'All batches' }).press('Enter');
  for (const name of ['may.csv', 'june.csv']) await expect(page.getByText(name).first()).toBeVisible();
});
