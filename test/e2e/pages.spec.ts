import type { Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { axeViolations } from '../support/axe.ts';
import { choose, go, map, readSum, reveal, run, startBuiltIn, tokenize } from '../support/page-actions.ts';

async function check(page: Page, place: string, except = ''): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const found = await axeViolations(page, { coloursOnly: colorScheme === 'dark', except });
    expect(found, `${place}, ${colorScheme}`).toEqual([]);
  }
}

test('axe finds nothing on any page, in light and dark', async ({ page }) => {
  test.setTimeout(180_000);
  await page.getByRole('button', { name: 'Start the built-in service' }).waitFor();
  await check(page, 'first run');
  await startBuiltIn(page);
  await check(page, 'lookup, empty');
  await tokenize(page, '4111111111111111');
  await check(page, 'lookup');
  await reveal(page, 'D-1');
  await check(page, 'lookup, revealed');

  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await check(page, 'batch, empty');
  await page.getByRole('button', { name: 'Try the sample file' }).click();
  await map(page, 'card_token', 'Detokenize', 'Card number');
  await check(page, 'batch, a file');
  // Six hundred texts, each of which takes time.
  const firstRows = '[aria-label^="First rows"]';
  await choose(page, 'card_token', 'Match pattern');
  await choose(page, 'Match by', 'Regular expression');
  await page.getByLabel('Expression (RE2)').fill('^4');
  await page.getByLabel('Test a value (invented)').fill('4000000000000000');
  await page.getByText(/Samples: \d of \d match/).waitFor();
  await check(page, 'batch, a pattern', firstRows);
  await page.getByLabel('Expression (RE2)').fill('(?=4)');
  await page.getByText(/^Lookaround/).waitFor();
  await check(page, 'batch, a pattern that is refused', firstRows);
  await choose(page, 'card_token', 'Detokenize');
  await run(page);
  await readSum(page);
  await check(page, 'batch, results');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await check(page, 'batch, export', '[role=grid]');

  for (const place of ['Reports', 'Activity', 'Connections', 'Settings']) {
    await go(page, place);
    await check(page, place);
  }
  await page.keyboard.press('Control+l');
  await page.getByRole('button', { name: 'Unlock' }).waitFor();
  await check(page, 'lock');
});
