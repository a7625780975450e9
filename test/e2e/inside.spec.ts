import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '../support/app-fixture.ts';
import { choose, chooseFile, exportRows, go, readSum, run, startBuiltIn } from '../support/page-actions.ts';

const card = '4111 1111 1111 1111';
const notes = [
  `called about ${card}, wants it back`,
  'nothing in this one',
  'asked for opening hours',
  'no answer',
  'write to jane.doe@bank.example. SSN 536-22-1234',
];
const content = `case,note\r\n${notes.map((note, row) => `D-${row + 1},"${note}"\r\n`).join('')}`;

test('values inside notes are tokenized where they stand, and come back byte for byte', async ({
  page,
  app,
  home,
}) => {
  const file = path.join(home, 'notes.csv');
  fs.writeFileSync(file, content);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await choose(page, 'note', 'Inside texts: tokenize');
  const line = page.getByRole('group', { name: 'note: Tokenize inside' });
  await expect(line.getByRole('combobox', { name: /^Cards: Card number/ })).toBeVisible();
  // The text stays readable: only what is found in it is masked.
  await expect(page.getByRole('cell', { name: /called about 4111 11•• •••• 1111, wants/ })).toBeVisible();

  const before = line.getByRole('textbox', { name: 'Mark before' });
  await before.fill('x1');
  await expect(line.getByText('A mark is one to eight signs')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Run on/ })).toBeDisabled();
  await before.fill('<<');
  await line.getByRole('textbox', { name: 'Mark behind' }).fill('>>');
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 5, ok: 5 });
  await expect(
    page.getByRole('gridcell', { name: /called about <<card 4 4 4 4 token:\d{16}>>, wants/ }),
  ).toBeVisible();

  const tokens = await exportRows(page, { content: 'Tokens', written: 'As the source' });
  const tokenFile = path.join(home, 'tokens.csv');
  const tokenText = fs.readFileSync(path.join(app.downloads, tokens), 'utf8');
  for (const value of ['1111 1111', 'jane', '536-22']) expect(tokenText).not.toContain(value);
  expect(tokenText).toContain('D-2,"nothing in this one"');
  fs.writeFileSync(tokenFile, tokenText);

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, tokenFile);
  await choose(page, 'note', 'Inside texts: detokenize');
  const back = page.getByRole('group', { name: 'note: Detokenize inside' });
  await back.getByRole('textbox', { name: 'Mark before' }).fill('<<');
  await back.getByRole('textbox', { name: 'Mark behind' }).fill('>>');
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 5, ok: 5 });
  const clear = await exportRows(page, {
    content: 'With cleartext',
    written: 'As the source',
    caseReference: 'D-1',
  });
  expect(fs.readFileSync(path.join(app.downloads, clear), 'utf8')).toBe(content);
  for (const value of [card, 'jane.doe@bank.example'])
    expect([value, (await app.outward()).some((text) => text.includes(value))]).toEqual([value, false]);

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, tokenFile);
  await choose(page, 'note', 'Inside texts: detokenize');
  await run(page);
  await expect(page.getByText('No values were found in these texts.')).toBeVisible();
});
