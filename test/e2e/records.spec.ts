import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
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

const cards = ['4111111111111111', '5555555555554444', '4012888888881881', '6011111111111117'];
const detail = (at: number): string =>
  `D${cards[at % 4] ?? ''}${`NAME ${at}`.padEnd(12)}${String(at * 100).padStart(9)}`;
const records = [
  'H20261126'.padEnd(38),
  ...Array.from({ length: 20 }, (_, at) => detail(at)),
  'T000020'.padEnd(38),
];

/** Until the control of that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const control = page.getByLabel(name, { exact: true });
  for (let times = 0; times < 80; times++) {
    if (await control.evaluate((element) => element.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`no way to ${name} by keys`);
}

test('a layout is drawn by keys, and each byte outside its column stays', async ({ page, app, home }) => {
  const file = path.join(home, 'settled.dat');
  fs.writeFileSync(file, records.join('\r\n'));
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await choose(page, 'Delimiter', 'Fixed width');
  const layout = page.getByRole('region', { name: 'Layout of a record' });
  await expect(layout).toBeVisible();
  for (const card of cards) await expect(layout).not.toContainText(card);

  await tabTo(page, 'Only records with one of these texts');
  await page.keyboard.type('D');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: /^First rows/ })).toContainText('A record of another type');
  // Among records of types there is no first and last row of a table.
  await expect(page.getByRole('button', { name: /where the table is$/ })).toHaveCount(0);
  // Columns as the file has them: the proposed ones go, and what is left is moved and named.
  const removes = layout.getByRole('button', { name: /^Remove / });
  for (let left = await removes.count(); left > 1; left = await removes.count()) {
    await removes.last().press('Enter');
    await expect.poll(() => removes.count()).toBeLessThan(left);
  }
  await tabTo(page, 'Name of column 1');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('Card');
  await page.keyboard.press('Enter');
  await tabTo(page, 'Bytes of Card');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('16');
  await page.keyboard.press('Enter');
  await tabTo(page, 'First byte of Card');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('2');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Masked here')).toHaveCount(1);
  // One that is no layout is said where it stands, and nothing changes.
  await tabTo(page, 'Bytes of a record');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  await expect(layout).toContainText('Too short for the columns');

  await map(page, 'Card', 'Tokenize', 'Card number');
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 22, failed: 0 });
  const name = await exportRows(page, { content: 'Tokens', written: 'As the source' });
  expect(name).toMatch(/\.dat$/);
  const written = fs.readFileSync(path.join(app.downloads, name), 'latin1').split('\r\n');
  const without = (line: string): string => (line.startsWith('D') ? `D${line.slice(17)}` : line);
  expect(written.map(without)).toEqual(records.map(without));
  for (const card of cards) expect(written.join('\n')).not.toContain(card);
  const outward = (await app.outward()).join('\n');
  for (const card of cards) expect(outward).not.toContain(card);
});

test('rows of JSON have no menu of where the table is', async ({ page, home }) => {
  const file = path.join(home, 'rows.jsonl');
  fs.writeFileSync(file, Array.from({ length: 5 }, (_, at) => `{"token":"tok${at}","n":${at}}\n`).join(''));
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await expect(page.getByRole('region', { name: /^First rows/ })).toContainText('tok4');
  await expect(page.getByRole('button', { name: /where the table is$/ })).toHaveCount(0);
  await expect(page.getByRole('checkbox', { name: /is the header$/ })).toHaveCount(0);
});
