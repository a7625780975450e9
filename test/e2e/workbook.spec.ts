import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { Encrypter } from 'age-encryption';
import Papa from 'papaparse';
import { text, workbook } from '../support/make-workbook.ts';
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

const rows = 300;
/** Fifteen digits that count, and the check digit. */
function card(row: number): string {
  const digits = `4000001234${String(row).padStart(5, '0')}`;
  const sum = Array.from(digits).reduce((total, digit, place) => {
    const twice = Number(digit) * (place % 2 === 0 ? 2 : 1);
    return total + (twice > 9 ? twice - 9 : twice);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** As a spreadsheet program keeps it: texts once and shared, numbers and a date as numbers. */
async function disputes(): Promise<Buffer> {
  const strings = Array.from({ length: rows }, (_, i) => `<si><t>${card(i)}</t></si>`).join('');
  const head = ['case', 'card', 'amount', 'opened']
    .map((name, i) => text(`${'ABCD'[i] ?? ''}3`, name))
    .join('');
  const body = Array.from({ length: rows }, (_, i) => {
    const at = i + 4;
    const pan = i === 7 ? `<c r="B${at}"><v>4111111111111111</v></c>` : `<c r="B${at}" t="s"><v>${i}</v></c>`;
    return `<row r="${at}"><c r="A${at}"><v>${i}</v></c>${pan}<c r="C${at}"><v>12.5</v></c><c r="D${at}" s="1"><v>46000</v></c></row>`;
  });
  return workbook({
    sheets: [
      { name: 'About', rows: '' },
      { name: 'Disputes', rows: `<row r="3">${head}</row>${body.join('')}` },
      {
        name: 'Archive',
        rows: `<row r="1">${text('A1', 'card')}</row><row r="2">${text('A2', card(1))}</row>`,
      },
    ],
    strings,
    styles: '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>',
  });
}

test('an Excel workbook is read, run and written as one', async ({ page, app, home }) => {
  test.setTimeout(120_000);
  const file = path.join(home, 'disputes.xlsx');
  fs.writeFileSync(file, await disputes());
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');

  await chooseFile(page, file);
  await expect(page.getByRole('combobox', { name: 'Sheet' })).toContainText('Disputes');
  await expect(page.getByRole('combobox', { name: 'Delimiter' })).toHaveCount(0);
  await expect(page.getByText('rounded by a spreadsheet')).toContainText('row 8');
  await expect(page.getByText('2025-12-09').first()).toBeVisible();

  await choose(page, 'Sheet', 'Archive');
  await expect(page.getByRole('combobox', { name: 'Sheet' })).toContainText('Archive');
  await choose(page, 'Sheet', 'Disputes');
  await expect(page.getByRole('combobox', { name: 'Sheet' })).toContainText('Disputes');

  await map(page, 'card', 'Tokenize', 'Card number');
  // The rows are the app's own by now.
  fs.rmSync(file);
  await run(page);
  expect(await readSum(page)).toEqual({ rows, ok: rows - 1, failed: 1, unmatched: 0, blank: 0 });
  const tokens = await exportRows(page, { content: 'Tokens', written: 'Excel workbook' });
  expect(tokens).toMatch(/^disputes_tokens.*\.xlsx$/);

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, path.join(app.downloads, tokens));
  await map(page, 'card', 'Detokenize', 'Card number');
  await run(page);
  await readSum(page);
  const clear = await exportRows(page, {
    content: 'With cleartext',
    written: 'Exact values',
    caseReference: 'D-1',
  });
  const back = Papa.parse<string[]>(
    fs.readFileSync(path.join(app.downloads, clear), 'utf8').replace('\ufeff', ''),
    {
      skipEmptyLines: true,
    },
  ).data;
  expect(back).toHaveLength(rows + 1);
  const differing = back.slice(1).filter((row, i) => row[1] !== card(i) || row[3] !== '2025-12-09');
  expect(differing.map(([number]) => number)).toEqual(['7']);
});

test('a file that is no table is called what it is, and one under a passphrase asks for it', async ({
  page,
  home,
}) => {
  const file = path.join(home, 'disputes.xlsx');
  fs.writeFileSync(file, '%PDF-1.7\n');
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await expect(page.getByRole('alert')).toContainText('This is a PDF, which can’t be read here.');

  const encrypter = new Encrypter();
  encrypter.setPassphrase('correct horse');
  encrypter.setScryptWorkFactor(10);
  const encrypted = path.join(home, 'cards.csv.gz.age');
  fs.writeFileSync(
    encrypted,
    await encrypter.encrypt(zlib.gzipSync(`card,note\n${card(1)},a\n${card(2)},b\n`)),
  );
  await chooseFile(page, encrypted);
  const field = page.getByLabel('Passphrase', { exact: true });
  await expect(field).toBeFocused();
  await field.pressSequentially('wrong horse');
  await field.press('Enter');
  await expect(page.getByText('That is not the passphrase of cards.csv.gz.age.')).toBeVisible();
  await field.pressSequentially('correct horse');
  await field.press('Enter');
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  expect(await readSum(page)).toEqual({ rows: 2, ok: 2, failed: 0, unmatched: 0, blank: 0 });
  await page
    .getByRole('button', { name: /^Export/ })
    .first()
    .click();
  await expect(page.getByText('As the source in a gzip archive')).toBeVisible();
  await expect(page.getByLabel('Encrypt with a passphrase')).toBeChecked();
});
