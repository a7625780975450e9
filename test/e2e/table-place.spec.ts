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

const rows = Array.from({ length: 30 }, (_, at) => `D-${at};4111111111111111;${at},50`);
const lines = ['Umsaetze;Oktober', 'Konto;12', '', 'case;card;amount', ...rows, 'Summe;;99,00', ''];

test('a table below a letterhead is found; a click on a row’s number says where it is instead', async ({
  page,
  app,
  home,
}) => {
  const file = path.join(home, 'statement.csv');
  fs.writeFileSync(file, lines.join('\r\n'));
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  const guesses = page.getByRole('status', { name: 'Guesses' });
  await expect(guesses).toContainText(
    'Row 4 is taken as the header and is not sent. 3 rows above the table and 1 row below it stay as they are and are not sent.',
  );
  const table = page.getByRole('region', { name: /^First rows/ });
  await expect(table).toContainText('Umsaetze');
  await expect(table).toContainText('Summe');

  // Another row: by its number, with the keyboard.
  await table.getByRole('button', { name: /^Row 2 of the file, above the table/ }).press('Enter');
  await page.getByRole('menuitem', { name: 'The header is here' }).press('Enter');
  await expect(page.getByRole('checkbox', { name: 'Row 2 is the header' })).toBeChecked();
  await expect(guesses).toBeHidden();
  await table.getByRole('button', { name: 'Row 2: where the table is' }).click();
  await page.getByRole('menuitem', { name: 'The header is here' }).click();
  await expect(page.getByRole('checkbox', { name: 'Row 4 is the header' })).toBeChecked();

  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 30, failed: 0 });
  const name = await exportRows(page, { content: 'Tokens', written: 'As the source' });
  const written = fs.readFileSync(path.join(app.downloads, name), 'utf8');
  const withoutCards = (text: string): string => text.replaceAll(/^(D-\d+);\d{16};/gm, '$1;;');
  expect(written).not.toContain('4111111111111111');
  expect(withoutCards(written)).toBe(withoutCards(lines.join('\r\n')));
});

test('a delimiter of any kind is found or typed, and none at all is said', async ({ page, home }) => {
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  const file = path.join(home, 'odd.csv');
  fs.writeFileSync(file, `case*card\n${'D-1*4000001234560019\n'.repeat(3)}`);
  await chooseFile(page, file);
  const guesses = page.getByRole('status', { name: 'Guesses' });
  await expect(guesses).toContainText('No delimiter was found: this is read as a list of one column.');
  await expect(guesses.getByRole('button', { name: 'Use *' })).toBeVisible();
  await choose(page, 'Delimiter', 'Another character');
  await page.getByLabel('Delimiter character').fill('*');
  await expect(page.getByRole('combobox', { name: /^card/ })).toBeVisible();
  await expect(guesses).not.toContainText('No delimiter');
});
