import fs from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { expect, test } from './desk.ts';
import { choose, chooseFile, exportRows, go, map, readSum, run, startBuiltIn } from './hands.ts';

const domains = ['example.com', 'example.org', 'shop.example.com', 'example.com.evil.example'];
const people = Array.from({ length: 400 }, (_, index) => [
  `C-${index + 1}`,
  `customer.${index}@${domains[index % domains.length] ?? ''}`,
]);
const read = (file: string): string[][] =>
  Papa.parse<string[]>(fs.readFileSync(file, 'utf8').replace('\uFEFF', ''), { skipEmptyLines: true }).data;

test('PatternMatch keeps exactly the rows that a check of the originals keeps', async ({
  page,
  desk,
  home,
}) => {
  const source = path.join(home, 'customers.csv');
  fs.writeFileSync(source, Papa.unparse([['customer', 'mail'], ...people]));
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, source);
  await map(page, 'mail', 'Tokenize', 'E-mail address');
  await run(page);
  await readSum(page);
  const tokens = await exportRows(page, { content: 'Masked', written: 'Exact' });

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, path.join(desk.downloads, tokens));
  await map(page, 'mail', 'Match pattern', 'E-mail address');
  await choose(page, 'Keep what', 'matches an expression');
  await page.getByLabel('Expression (RE2)').fill('@example\\.com$');
  await run(page);
  const kept = people.filter(([, mail]) => /@example\.com$/.test(mail ?? ''));
  expect(await readSum(page)).toEqual({
    rows: people.length,
    ok: kept.length,
    failed: 0,
    unmatched: people.length - kept.length,
    blank: 0,
  });
  const matches = await exportRows(page, { content: 'Masked', written: 'Exact', rows: 'Matches only' });
  const customers = read(path.join(desk.downloads, matches))
    .slice(1)
    .map(([customer]) => customer);
  expect(customers).toEqual(kept.map(([customer]) => customer));
});
