import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, go, map, readSum, run, startBuiltIn } from '../support/page-actions.ts';

test('the list of batches says what each did, finds one, runs it again, exports and discards it', async ({
  page,
  home,
}) => {
  test.setTimeout(120_000);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  const names = ['january', 'february', 'march', 'april'];
  for (const name of names) {
    const file = path.join(home, `${name}.csv`);
    const refused = name === 'march' ? 'D-3,4111111111111112\n' : '';
    fs.writeFileSync(file, `case,card\nD-1,4111111111111111\nD-2,5555555555554444\n${refused}`);
    await chooseFile(page, file);
    await map(page, 'card', 'Tokenize', 'Card number');
    await run(page);
    await readSum(page);
    await page.getByRole('button', { name: 'All batches' }).click();
  }
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`${name}\\.csv`) });
  await expect(row('january')).toContainText('Tokenize card · analyst');
  await expect(row('january')).toContainText('Finished');
  await expect(row('march')).toContainText('Finished · 1 row failed');
  // Rows and values are other counts, and say so.
  await expect(page.getByRole('columnheader', { name: 'Values failed' })).toBeVisible();
  // There is room for the connection, in a small window too.
  await page.setViewportSize({ width: 1_024, height: 700 });
  const connection = row('march').getByText('Built-in service');
  expect(await connection.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);

  const search = page.getByRole('textbox', { name: 'Find a batch' });
  await search.fill('march tokenize');
  await expect(row('march')).toBeVisible();
  await expect(row('january')).toHaveCount(0);
  await search.fill('');

  await row('february').getByRole('button', { name: 'Run february.csv again' }).click();
  await expect(page.getByRole('group', { name: 'card: Tokenize' })).toBeVisible();
  await page.getByRole('button', { name: 'Close the file' }).click();

  await row('april').getByRole('button', { name: 'Export april.csv' }).click();
  await expect(page.getByRole('region', { name: 'Export', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'All batches' }).click();

  await row('april').getByRole('button', { name: 'Discard april.csv' }).click();
  // The focus is on what changes nothing.
  await expect(row('april').getByRole('button', { name: 'Keep' })).toBeFocused();
  await row('april').getByRole('button', { name: 'Discard results' }).click();
  await expect(row('april')).toHaveCount(0);
  expect(fs.existsSync(path.join(home, 'april.csv'))).toBe(true);
});
