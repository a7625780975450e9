import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, go, map, readSum, run, startBuiltIn } from '../support/page-actions.ts';

const rows = 400;

/** Cards with their check digit. */
function card(index: number): string {
  const digits = `400000${String(index * 7_919)
    .padStart(9, '0')
    .slice(-9)}`;
  const sum = Array.from(digits).reduce((total, digit, place) => {
    const twice = Number(digit) * (place % 2 === 0 ? 2 : 1);
    return total + (twice > 9 ? twice - 9 : twice);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Every hundredth card is none, one row has a field too many, and there are columns beyond the window's edge. */
function writeFile(home: string, broken: (row: number) => boolean): string {
  const extra = Array.from({ length: 60 }, (_, n) => `attribute_with_a_long_name_${n}`);
  const lines = [['id', 'pan', 'amount', 'note', ...extra]];
  for (let row = 1; row <= rows; row++) {
    const value = broken(row) ? 'no card' : card(row);
    const note = row % 8 === 0 ? 'second chargeback' : '';
    lines.push([`D-${row}`, value, String((row * 37) % 500), note, ...extra.map((_, n) => `v${row}-${n}`)]);
  }
  lines[251]?.push('one too many');
  const file = path.join(home, 'grid.csv');
  fs.writeFileSync(file, lines.map((line) => `${line.join(',')}\n`).join(''));
  return file;
}

async function tokenizeFile(page: Page, file: string): Promise<void> {
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await map(page, 'pan', 'Tokenize', 'Card number');
  await run(page);
  await readSum(page);
  await page.getByRole('gridcell', { name: 'D-1', exact: true }).waitFor();
}

test('a batch of failures never looks like success', async ({ page, home }) => {
  await tokenizeFile(
    page,
    writeFile(home, () => true),
  );
  await expect(page.getByText('Finished · all failed')).toBeVisible();
  await expect(page.getByText('Finished', { exact: true })).toHaveCount(0);
  // Nor is it to be exported first of all.
  await expect(page.getByRole('button', { name: 'Run again with changes' })).toHaveClass(/primary/);
  await expect(page.getByRole('button', { name: 'Export', exact: true })).not.toHaveClass(/primary/);
  await page.getByRole('button', { name: 'All batches' }).click();
  await expect(page.getByRole('region', { name: 'Batches on this computer' })).toContainText('all failed');
});

test('results are filtered, sorted, searched, copied and looked at row by row, all by masks', async ({
  page,
  app,
  home,
}) => {
  test.setTimeout(180_000);
  const broken = (row: number): boolean => row % 100 === 0;
  await tokenizeFile(page, writeFile(home, broken));
  const grid = page.getByRole('grid');
  const said = page.getByRole('status', { name: 'Table' });
  const cell = (name: string) => grid.getByRole('gridcell', { name, exact: true });
  await expect(page.getByText('Finished · 5 rows failed')).toBeVisible();

  // Why, and where: the row's head and its cell.
  const reasons = page.getByRole('list', { name: 'Why values failed' });
  await reasons.getByRole('listitem').filter({ hasText: 'Does not fit' }).getByRole('button').click();
  await expect(said).toContainText('4 rows of 400 shown');
  await expect(grid.getByRole('rowheader', { name: 'Failed 100' })).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('radio', { name: /^All/ }).check({ force: true });
  await expect(cell('D-1')).toBeVisible();

  // A filter over two columns, then an order.
  await page.getByRole('textbox', { name: 'Filter note' }).fill('CHARGE');
  await expect(said).toContainText('50 rows of 400 shown');
  await page.getByRole('columnheader', { name: 'amount' }).click();
  await page.getByRole('columnheader', { name: 'amount' }).click();
  await expect(page.getByRole('columnheader', { name: 'amount' })).toHaveAttribute('aria-sort', 'descending');
  // The head says the order at once, the rows follow.
  await expect(async () => {
    const amounts = await grid.getByRole('gridcell', { name: /^\d{1,3}$/ }).allInnerTexts();
    expect(amounts.length).toBeGreaterThan(5);
    expect(amounts).toEqual([...amounts].sort((a, b) => Number(b) - Number(a)));
  }).toPass({ timeout: 15_000 });
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('columnheader', { name: 'amount' }).click();

  // A search goes to the cell, also beyond the edge, and the keyboard goes on from there.
  await page.keyboard.press('Control+f');
  await page.keyboard.type('v317-44');
  await page.keyboard.press('Enter');
  await expect(said).toContainText('1 of 1 row');
  await expect(cell('v317-44')).toHaveAttribute('aria-selected', 'true');
  // The arrows beside the field do what F3 and Shift F3 do.
  await page.getByRole('textbox', { name: 'Find' }).fill('v31');
  for (const [arrow, row] of [
    ['Next match', 31],
    ['Next match', 310],
    ['Previous match', 31],
  ] as const) {
    await page.getByRole('button', { name: arrow }).click();
    await expect(grid.locator('[aria-selected=true]').first()).toContainText(`v${row}-`);
  }
  await page.getByRole('textbox', { name: 'Find' }).fill('v317-44');
  await page.keyboard.press('Enter');
  await expect(cell('v317-44')).toHaveAttribute('aria-selected', 'true');
  await grid.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(cell('v317-43')).toHaveAttribute('aria-selected', 'true');
  // The result and the row's number stayed in view.
  await expect(grid.getByRole('rowheader', { name: '317' })).toBeVisible();
  await expect(grid.getByRole('columnheader', { name: 'pan', exact: true })).toBeInViewport();

  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Control+c');
  await expect(said).toContainText('Copied 2 rows, as shown');
  await page.keyboard.press('Space');
  const detail = page.getByRole('complementary', { name: 'Row detail' });
  await expect(detail).toContainText('Row 318');
  await expect(detail).toContainText('attribute_with_a_long_name_59');
  await detail.getByRole('button', { name: 'Next row' }).click();
  await expect(detail).toContainText('Row 319');
  await detail.getByRole('button', { name: 'Close the row detail' }).click();
  await expect(grid).toBeFocused();
  // A field beyond the columns is found where it is shown.
  await page.getByRole('textbox', { name: 'Find' }).fill('one too many');
  await page.keyboard.press('Enter');
  await expect(detail).toContainText('Row 251');
  await expect(detail).toContainText('one too many');
  await detail.getByRole('button', { name: 'Close the row detail' }).click();

  // What the column holds, by masks; a bar shows its rows. The row with a field too many is in none.
  await page.getByRole('columnheader', { name: 'pan', exact: true }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Profile' }).click();
  const profile = page.getByRole('complementary', { name: 'Profile' });
  await expect(profile).toContainText('Distinct');
  await profile.getByRole('button', { name: /^16 characters: 395 rows/ }).click();
  await expect(said).toContainText('395 rows of 400 shown');
  // Other rows begin at the top.
  await expect(grid.getByRole('rowheader', { name: '1', exact: true })).toBeInViewport();

  // Of 64 columns only those in view are in the document.
  expect(await grid.getByRole('columnheader').count()).toBeLessThan(20);

  // Nothing of all this told the window a card.
  const cards = new Set(Array.from({ length: rows }, (_, row) => card(row + 1)));
  const seen = (await app.outward()).flatMap((message) => message.match(/\d{16}/g) ?? []);
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter((number) => cards.has(number))).toEqual([]);
});

test('widths and hidden columns are remembered for the next file of the same columns', async ({
  page,
  home,
}) => {
  test.setTimeout(180_000);
  const file = writeFile(home, () => false);
  await tokenizeFile(page, file);
  const head = page.getByRole('columnheader', { name: 'note', exact: true });
  const widthOf = async (): Promise<number> => Math.round((await head.boundingBox())?.width ?? 0);
  const before = await widthOf();
  const box = await head.boundingBox();
  if (box === null) throw new Error('no head');
  await page.mouse.move(box.x + box.width - 1, box.y + 14);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width + 79, box.y + 14, { steps: 4 });
  await page.mouse.up();
  await expect.poll(widthOf).toBe(before + 80);
  await page.getByRole('columnheader', { name: 'amount' }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Hide column' }).click();
  await expect(page.getByRole('columnheader', { name: 'amount' })).toHaveCount(0);
  await page.getByText('1 column hidden').waitFor();

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, file);
  await map(page, 'pan', 'Tokenize', 'Card number');
  await run(page);
  await readSum(page);
  await expect.poll(widthOf).toBe(before + 80);
  await expect(page.getByRole('columnheader', { name: 'amount' })).toHaveCount(0);
  const edge = await head.boundingBox();
  await page.mouse.dblclick((edge?.x ?? 0) + (edge?.width ?? 0) - 1, (edge?.y ?? 0) + 14);
  await expect.poll(widthOf).toBeLessThan(before + 80);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('textbox', { name: 'Find a column' }).fill('amou');
  await page.getByRole('checkbox', { name: 'Show amount' }).check();
  await expect(page.getByRole('columnheader', { name: 'amount' })).toBeVisible();
});
