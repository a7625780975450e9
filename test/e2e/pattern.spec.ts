import fs from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { expect, test } from '../support/app-fixture.ts';
import {
  choose,
  chooseFile,
  exportRows,
  giveMatchReason,
  go,
  map,
  readSum,
  run,
  startBuiltIn,
} from '../support/page-actions.ts';

const domains = ['example.com', 'example.org', 'shop.example.com', 'example.com.evil.example'];
const people = Array.from({ length: 400 }, (_, index) => [
  `C-${index + 1}`,
  `customer.${index}@${domains[index % domains.length] ?? ''}`,
]);
const read = (file: string): string[][] =>
  Papa.parse<string[]>(fs.readFileSync(file, 'utf8').replace('\uFEFF', ''), { skipEmptyLines: true }).data;

test('PatternMatch keeps exactly the rows that a check of the originals keeps', async ({
  page,
  app,
  home,
}) => {
  test.setTimeout(120_000);
  const source = path.join(home, 'customers.csv');
  fs.writeFileSync(source, Papa.unparse([['customer', 'mail'], ...people]));
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, source);
  await map(page, 'mail', 'Tokenize', 'E-mail address');
  await run(page);
  await readSum(page);
  const tokens = await exportRows(page, { content: 'Tokens', written: 'Exact values' });

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, path.join(app.downloads, tokens));
  await map(page, 'mail', 'Match pattern', 'E-mail address');
  await choose(page, 'Match by', 'Regular expression');
  const expression = page.getByLabel('Expression (RE2)');
  const tried = page.getByRole('group', { name: 'Test of the pattern for mail' });

  // What can't be sent is said beside the field, as it is typed.
  await expression.fill('@example(?=\\.com)');
  await expect(expression).toHaveAccessibleDescription(/Lookaround and back-references are not supported/);
  await expect(page.getByRole('button', { name: /^Run on/ })).toBeDisabled();
  await expression.fill('@example\\.com$');
  await expect(expression).not.toHaveAttribute('aria-invalid', 'true');

  // Made-up values, some of which match; and one of the person's own, which never comes back over the bridge.
  await expect(tried.getByText(/^Samples: 1 of 3 match$/)).toBeVisible();
  await expect(tried.getByRole('listitem').filter({ hasText: 'ada@example.com' })).toContainText(/\bmatch/);
  await expect(tried.getByRole('listitem').filter({ hasText: 'bo.sample@example.org' })).toContainText(
    'no match',
  );
  const own = tried.getByLabel('Test a value (invented)');
  const said = tried.getByRole('status', { name: 'Your own value' });
  await own.fill('somebody@example.com.invalid');
  await expect(said).toHaveText('no match');
  await own.fill('somebody@example.com');
  await expect(said).toHaveText('match');
  await expression.fill('@example\\.net$');
  await expect(said).toHaveText('no match');
  await expression.fill('@example\\.com$');
  await own.press('Escape');
  await expect(own).toHaveValue('');
  await expect(said).toHaveText('');
  expect((await app.outward()).filter((message) => message.includes('somebody@'))).toEqual([]);

  // It tells more than a mask: nothing is sent without a reason and a case, and Settings counts it.
  await run(page);
  await expect(page.getByText(/A match can disclose digits/)).toBeVisible();
  await giveMatchReason(page, 'D-17');
  const kept = people.filter(([, mail]) => /@example\.com$/.test(mail ?? ''));
  expect(await readSum(page)).toEqual({
    rows: people.length,
    ok: kept.length,
    failed: 0,
    unmatched: people.length - kept.length,
    blank: 0,
  });
  // How many match is there before anything is written.
  await expect(page.getByRole('status', { name: 'Sum' })).toContainText(
    `${people.length} rows = ${kept.length} match + `,
  );
  expect(fs.readdirSync(app.downloads)).toHaveLength(1);
  const matches = await exportRows(page, {
    content: 'Masked',
    written: 'Exact values',
    rows: 'Matches only',
  });
  const customers = read(path.join(app.downloads, matches))
    .slice(1)
    .map(([customer]) => customer);
  expect(customers).toEqual(kept.map(([customer]) => customer));

  await go(page, 'Settings');
  await expect(
    page.getByText('Values matched with an expression of your own').locator('../..'),
  ).toContainText('400');
  await expect(page.getByText('Different expressions of your own').locator('../..')).toContainText('1 of 3');

  // A domain that is filled in asks for what the mask shows, so it needs no reason.
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, path.join(app.downloads, tokens));
  await map(page, 'mail', 'Match pattern', 'E-mail address');
  await page.getByRole('textbox', { name: 'Mail domain' }).fill('example.com');
  await run(page);
  expect(await readSum(page)).toMatchObject({ ok: kept.length, unmatched: people.length - kept.length });
});
