import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, go, map, readSum, run, startBuiltIn } from '../support/page-actions.ts';

const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');
const token = '4000001234560019';

/** What a person may drop, how many data rows it has, and how many of them can't be sent. */
const files: readonly { name: string; bytes: string | Buffer; rows: number; unsent: number }[] = [
  { name: 'utf-16.csv', bytes: utf16(`case;card\r\nD-1;${token}\r\nD-2;${token}\r\n`), rows: 2, unsent: 0 },
  { name: 'nul.csv', bytes: `case,card\nD-1,${token}\nD\0-2,${token}\n`, rows: 2, unsent: 1 },
  {
    name: 'unclosed.csv',
    bytes: `case,card\nD-1,${token}\nD-2,"${token}\nD-3,${token}\n`,
    rows: 3,
    unsent: 1,
  },
  {
    name: 'header-twice.csv',
    bytes: `case,card\nD-1,${token}\ncase,card\nD-2,${token}\n`,
    rows: 3,
    unsent: 1,
  },
  {
    name: 'huge-field.csv',
    bytes: `case,card\nD-1,${'9'.repeat(5_000_000)}\nD-2,${token}\n`,
    rows: 2,
    unsent: 1,
  },
];

test('bad files are said to be so, and lose nothing', async ({ page, home }) => {
  test.setTimeout(180_000);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');

  const empty = path.join(home, 'empty.csv');
  fs.writeFileSync(empty, '');
  await chooseFile(page, empty);
  await expect(page.getByRole('alert')).toContainText('empty');

  const headerOnly = path.join(home, 'header-only.csv');
  fs.writeFileSync(headerOnly, 'case,card\r\n');
  await chooseFile(page, headerOnly);
  await map(page, 'card', 'Detokenize', 'Card number');
  await expect(page.getByText('There are no rows under the header.')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Run on/ })).toBeDisabled();
  await page.getByRole('button', { name: 'Close the file' }).click();

  for (const { name, bytes, rows, unsent } of files)
    await test.step(name, async () => {
      const file = path.join(home, name);
      fs.writeFileSync(file, bytes);
      await chooseFile(page, file);
      await map(page, 'card', 'Detokenize', 'Card number');
      await run(page);
      const sum = await readSum(page);
      expect(sum.rows).toBe(rows);
      expect(sum.ok + sum.failed + sum.unmatched + sum.blank).toBe(rows);
      expect(sum.failed).toBeGreaterThanOrEqual(unsent);
      await page.getByRole('button', { name: 'All batches' }).click();
    });
});
