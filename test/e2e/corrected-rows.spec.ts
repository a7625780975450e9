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
} from '../support/page-actions.ts';

test('a list of failed rows is corrected, taken in again, and its rows merge into the same batch', async ({
  page,
  app,
  home,
}) => {
  const file = path.join(home, 'cards.csv');
  fs.writeFileSync(file, 'case,card\nD-1,4111111111111111\nD-2,4111111111111112\nD-3,55\n');
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 3, ok: 1, failed: 2 });

  await page.getByRole('button', { name: 'Export failed rows' }).click();
  await expect(page.getByRole('status', { name: 'Exported' })).toContainText('cards_errors.csv');
  const list = path.join(app.downloads, 'cards_errors.csv');
  const listed = fs.readFileSync(list, 'utf8');
  expect(listed).not.toContain('4111111111111112');
  const corrected = path.join(home, 'corrected.csv');
  fs.writeFileSync(corrected, listed.replace(/D-2,.*/, 'D-2,5555555555554444').replace(/D-3,/, 'D-3 ,'));

  // Every changed cell is shown, masked, and what a spreadsheet may have done is not ticked.
  await chooseFile(page, corrected, 'Add corrected rows…');
  await expect(page.getByRole('status', { name: 'Differences' })).toContainText('2 cells in 2 rows differ');
  const cells = page.getByRole('region', { name: 'Changed cells' });
  await expect(cells.getByRole('row', { name: /card/ }).getByRole('cell')).toHaveText([
    /Take in row 2, card/,
    '2',
    'card',
    '411111••••••1112',
    '555555••••••4444',
    '',
  ]);
  await expect(cells.getByRole('checkbox', { name: 'Take in row 2, card' })).toBeChecked();
  await expect(cells.getByRole('checkbox', { name: 'Take in row 3, case' })).not.toBeChecked();
  await page.getByRole('button', { name: 'Take in 1 cell and send' }).click();
  await expect(page.getByRole('status', { name: 'Corrected rows' })).toContainText(
    '1 row corrected, 1 unchanged',
  );
  await expect(page.getByRole('status', { name: 'Sum' })).toContainText('1 failed');
  expect(await readSum(page)).toMatchObject({ rows: 3, ok: 2, failed: 1 });

  const name = await exportRows(page, { written: 'As the source', rows: 'All rows' });
  const rows = fs.readFileSync(path.join(app.downloads, name), 'utf8').split('\n');
  expect(rows[2]).toMatch(/^D-2,\d{16},$/);
  expect(rows[2]).not.toContain('5555555555554444');
  expect(rows[3]).toMatch(/^D-3,••,value.unfit$/);
  expect(fs.readFileSync(file, 'utf8')).toContain('D-2,4111111111111112');

  // Another file is refused in a sentence, and changes nothing.
  await chooseFile(page, file, 'Add corrected rows…');
  await expect(page.getByRole('alert')).toContainText('This is not the list of failed rows of this batch.');
});
