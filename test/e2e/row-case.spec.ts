import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, go, readSum, run, startBuiltIn } from '../support/page-actions.ts';

const rows = ['D-1,4111111111111111', '\u200b,5500005555555559', 'D-2,340000000000009', 'D-1,30000000000004'];

test('each row has its own case: chosen by keyboard, refused where it is blank, and listed by the case', async ({
  page,
  home,
}) => {
  const file = path.join(home, 'disputes.csv');
  fs.writeFileSync(file, `dispute,card\r\n${rows.join('\r\n')}\r\n`);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await choose(page, 'card', 'Tokenize');

  const cases = page
    .getByRole('button', { name: 'Case', exact: true })
    .or(page.getByRole('combobox', { name: /^Case\b/ }));
  await cases.first().focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByText('A row without a case is not sent.')).toBeVisible();
  await expect(page.getByText(/1 row has no case in dispute and will not be sent/)).toBeVisible();
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 4, ok: 3, failed: 1 });

  await go(page, 'Lookup');
  await page.getByRole('textbox', { name: 'Case' }).fill('D-1');
  await page.keyboard.press('Enter');
  const listed = page.getByRole('region', { name: 'Batches with rows of this case' });
  await expect(listed).toContainText('disputes.csv');
  await expect(listed).toContainText('2 rows · rows 1, 4');
});
