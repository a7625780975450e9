import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, go, map, readSum, run, startBuiltIn } from '../support/page-actions.ts';

const cards = ['4111111111111111', '5555555555554444', '4012888888881881', '6011111111111117'];

/** With semicolons, a formula, and one value that is no card. */
function writeCards(home: string): string {
  const file = path.join(home, 'cards.csv');
  const lines = cards.map((card, row) => `D-${row + 1};${card};${row % 2 === 0 ? '=1+1' : 'call back'}\r\n`);
  fs.writeFileSync(file, `case;card;note\r\n${lines.join('')}D-5;no card;last\r\n`);
  return file;
}

async function finish(page: Page, file: string, act: 'Tokenize' | 'Detokenize'): Promise<void> {
  await chooseFile(page, file);
  await map(page, 'card', act, 'Card number');
  await run(page);
  await readSum(page);
  await page
    .getByRole('gridcell', { name: /^D-\d$/ })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
}

test('an export offers what the job did, the rows shown and the form of the source', async ({
  page,
  app,
  home,
}) => {
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  const panel = page.getByRole('region', { name: 'Export', exact: true });
  const contents = panel.getByRole('radiogroup', { name: 'Content' }).locator('label');
  const saved = page.getByRole('status', { name: 'Exported' });
  const read = (name: string): string => fs.readFileSync(path.join(app.downloads, name), 'utf8');

  // Tokenized: there is nothing masked to ask for.
  await finish(page, writeCards(home), 'Tokenize');
  expect(await contents.allInnerTexts()).toEqual(['Tokens', 'With cleartext']);
  await expect(panel.getByRole('radiogroup', { name: 'Form' })).toHaveCount(0);
  await panel.getByRole('button', { name: 'Export 5 rows' }).click();
  await expect(saved).toContainText('Saved cards_tokens.csv (5 rows');
  const tokens = read('cards_tokens.csv').split('\r\n');
  expect(tokens[0]).toBe('case;card;note;error');
  expect(tokens[1]).toMatch(/^D-1;\d{16};=1\+1;$/);
  expect(tokens[5]).toMatch(/^D-5;[^;]*;last;value\.unfit$/);

  // Where it is, by main's word; this window has no file manager to show it in.
  await expect(page.getByText(`in ${app.downloads}`)).toBeVisible();
  await app.application.evaluate(({ shell }) => {
    shell.showItemInFolder = (file) => void Object.assign(globalThis, { shownInFolder: file });
  });
  await page.getByRole('button', { name: 'Show in folder' }).click();
  const shownInFolder = () =>
    app.application.evaluate(() => (globalThis as { shownInFolder?: string }).shownInFolder ?? '');
  await expect.poll(shownInFolder).toMatch(/^.+\.csv$/);
  expect(path.dirname(await shownInFolder())).toBe(app.downloads);

  // What the filter shows is what is written.
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('textbox', { name: 'Filter note' }).fill('call');
  await expect(page.getByRole('status', { name: 'Table' })).toContainText('2 rows of 5 shown');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(panel.getByRole('combobox', { name: 'Rows: Rows shown' })).toBeVisible();
  await panel.getByRole('button', { name: 'Export 2 rows' }).click();
  await expect(saved).toContainText('Saved cards_tokens_filtered.csv (2 rows');
  expect(read('cards_tokens_filtered.csv').match(/^D-\d/gm)).toEqual(['D-2', 'D-4']);

  // The tokens come back: masked first, and the tokens as they came in.
  await page.getByRole('button', { name: 'All batches' }).click();
  await finish(page, path.join(app.downloads, 'cards_tokens_filtered.csv'), 'Detokenize');
  expect(await contents.allInnerTexts()).toEqual(['Masked', 'Tokens', 'With cleartext']);

  // Another encoding, by the keyboard: its byte order mark is gone, and what it can't hold is said.
  const format = panel.getByRole('group', { name: 'Format' });
  await panel.getByRole('button', { name: 'Format…' }).click();
  await format.getByText('Exact values', { exact: true }).click();
  await expect(format.getByRole('checkbox', { name: 'Add BOM' })).toBeVisible();
  const encoding = format.getByRole('combobox', { name: /^Encoding/ });
  await encoding.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'ISO-8859-15 (with €)' }).click();
  await expect(format.getByRole('checkbox', { name: 'Add BOM' })).toHaveCount(0);
  await expect(format).toContainText(
    'A file in which ISO-8859-15 (with €) can’t hold a cell is not written unless you say so',
  );
  await panel.getByRole('button', { name: 'Export 2 rows' }).click();
  await expect(saved).toContainText('Saved cards_tokens_filtered_masked.csv (2 rows');
  const latin = fs.readFileSync(path.join(app.downloads, 'cards_tokens_filtered_masked.csv'));
  expect(latin.subarray(0, 4).toString('latin1')).toBe('case');
});

test('what stays in clear is said before a file is saved, and of the file', async ({ page, app, home }) => {
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  const file = path.join(home, 'notes.csv');
  const rows = cards.map(
    (card, row) => `${card};${row === 2 ? `old one: ${cards[0]}` : row === 3 ? 'Łódź' : 'none'}\r\n`,
  );
  fs.writeFileSync(file, `card;note\r\n${rows.join('')}`);
  await chooseFile(page, file);
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  await readSum(page);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Export', exact: true });
  const sentence = '1 card number remains in clear: note, row 3';
  await expect(panel.getByRole('status', { name: 'Remaining cleartext' })).toContainText(sentence);
  await panel.getByRole('button', { name: 'Export 4 rows' }).click();
  const saved = page.getByRole('status', { name: 'Exported' });
  await expect(saved).toContainText('Saved notes_tokens.csv (4 rows');
  await expect(page.getByRole('status', { name: 'Remaining cleartext' })).toContainText(sentence);
  await expect(saved.locator('.ok')).toHaveCount(0);
  expect(fs.readFileSync(path.join(app.downloads, 'notes_tokens.csv'), 'utf8')).toContain('old one: 4111');

  // D17: cells that the encoding can't hold: not written until a person says so, and then said of the file, in amber.
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await panel.getByRole('button', { name: 'Format…' }).click();
  const format = panel.getByRole('group', { name: 'Format' });
  await format.getByText('Exact values', { exact: true }).click();
  await format.getByRole('combobox', { name: /^Encoding/ }).click();
  await page.getByRole('option', { name: 'ISO-8859-15 (with €)' }).click();
  await panel.getByRole('button', { name: 'Export 4 rows' }).click();
  const lost = panel.getByRole('group', { name: 'Cells that can’t be written' });
  await lost.getByText('Leave these cells out').click();
  await panel.getByRole('button', { name: 'Export 4 rows' }).click();
  await expect(saved).toContainText('without 1 cell in 1 row that the encoding can’t hold');
  await expect(saved.locator('.warn')).toHaveCount(1);
  await expect(saved.locator('.ok')).toHaveCount(0);
});
