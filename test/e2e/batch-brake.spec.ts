import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { expect, test } from '../support/app-fixture.ts';
import {
  choose,
  chooseFile,
  connect,
  go,
  hasFocus,
  map,
  paste,
  readSum,
  run,
  startBuiltIn,
  storeSecret,
} from '../support/page-actions.ts';
import { builtInServiceWorker } from '../support/workers.ts';

/** Cards of six digits BIN, nine that count, and the check digit. */
function card(index: number): string {
  const digits = `400000${String(index).padStart(9, '0')}`;
  const sum = Array.from(digits).reduce((total, digit, place) => {
    const twice = Number(digit) * (place % 2 === 0 ? 2 : 1);
    return total + (twice > 9 ? twice - 9 : twice);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** With the check digit of another card. */
const wrongCard = (index: number): string => {
  const right = card(index);
  return `${right.slice(0, -1)}${(Number(right.at(-1)) + 1) % 10}`;
};

async function openFile(page: Page, home: string, lines: Iterable<string>): Promise<void> {
  const file = path.join(home, 'cards.csv');
  fs.writeFileSync(file, `case,card\n${[...lines].join('\n')}\n`);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
}

const greenTick = (page: Page) => page.locator('.run .state .icon.ok');
const pausedAlert = (page: Page) => page.getByRole('alert').filter({ hasText: 'Paused: ' });

test('a million rows with nine in ten refused pause by themselves, and nowhere show a green tick', async ({
  page,
  home,
}) => {
  test.setTimeout(240_000);
  const count = 1_000_000;
  await openFile(
    page,
    home,
    Array.from({ length: count }, (_, i) => `D-${i},${i % 10 === 0 ? card(i) : wrongCard(i)}`),
  );
  await map(page, 'card', 'Tokenize', 'Card number');
  await expect(page.getByText(/1,000,000 rows/).first()).toBeVisible({ timeout: 60_000 });
  // Seen by the page itself: a tick may come and go between two looks from outside.
  await page.evaluate(`
    globalThis.greenTicks = 0;
    new MutationObserver(() => {
      if (document.querySelector('.run .state .icon.ok') !== null) globalThis.greenTicks += 1;
    }).observe(document.body, { childList: true, subtree: true, attributes: true });
  `);
  await run(page);
  await expect(pausedAlert(page)).toContainText(
    /Paused: 1\d\d of the first 200 were refused\. Wrong column, definition or policy\?/,
  );
  await expect(page.getByRole('group', { name: 'Figures' })).toContainText('0 of 1,000,000');
  const first = page.getByRole('region', { name: 'First values', exact: true });
  await expect(first).toContainText(/First 200 values: \d+ succeeded, 1\d\d refused/);
  const table = page.getByRole('region', { name: 'First values, before and after' });
  await expect(table.getByRole('row').nth(1)).toContainText(
    'Not a valid Card number: the check digit is wrong',
  );
  // What came in is masked; what came out are tokens.
  const before = await table.locator('td:nth-child(3)').allInnerTexts();
  expect(before).toHaveLength(200);
  expect(before.filter((text) => /\d{7}/.test(text))).toEqual([]);

  await page.getByRole('button', { name: 'Go on' }).click();
  await expect(page.getByRole('group', { name: 'Figures' })).toContainText('rows/s', { timeout: 20_000 });
  // W11: neither leaves the keys with nothing.
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(page.getByRole('button', { name: /^Resume at row/ })).toBeVisible({ timeout: 20_000 });
  await expect.poll(() => hasFocus(page)).toBe(true);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText(/^Cancelled · [\d,]+ rows failed$/).first()).toBeVisible({ timeout: 20_000 });
  await expect.poll(() => hasFocus(page)).toBe(true);
  expect(await page.evaluate('globalThis.greenTicks')).toBe(0);
  await page.getByRole('button', { name: 'All batches' }).click();
  await expect(page.locator('table .state .icon.ok')).toHaveCount(0);
});

test('a file that turns bad later pauses too, and its ways on are a change or going on', async ({
  page,
  home,
}) => {
  test.setTimeout(120_000);
  await openFile(
    page,
    home,
    Array.from({ length: 60_000 }, (_, i) => `D-${i},${i < 30_000 || i % 10 === 0 ? card(i) : wrongCard(i)}`),
  );
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  await expect(pausedAlert(page)).toContainText(/Paused: \d{3} of the last 500 were refused\./, {
    timeout: 30_000,
  });
  const first = page.getByRole('region', { name: 'First values', exact: true });
  // Of the file's start, or of all of it where it was counted in time.
  await expect(first).toContainText(/First 200 values: \d+ succeeded/);
  await expect(greenTick(page)).toHaveCount(0);
  const why = page.getByRole('list', { name: 'Why values failed' });
  await expect(why).toContainText('Not a valid Card number: the check digit is wrong');
  await expect(why).toContainText('Fix the data first');

  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Change', exact: true });
  await expect(panel).toContainText('rows with a result stay as they are');
  await panel.getByRole('button', { name: 'Change definition or column' }).click();
  // The same file with the plan it had.
  await expect(page.getByRole('group', { name: 'card: Tokenize' })).toBeVisible();
  await page.getByRole('button', { name: 'Close the file' }).click();

  // It is in the list with its reason, and can't be gone on with unseen.
  const row = page.getByRole('row', { name: /cards\.csv/ });
  await expect(row).toContainText('Paused');
  await expect(row.getByRole('button', { name: /^Resume/ })).toHaveCount(0);
  await row.getByRole('button', { name: 'Open cards.csv' }).click();
  await page.getByRole('button', { name: 'Go on' }).click();
  expect(await readSum(page)).toMatchObject({ rows: 60_000, ok: 33_000, failed: 27_000 });
  await expect(page.getByText('Finished · 27,000 rows failed').first()).toBeVisible();
});

test('a policy that was refused is changed in place, and is known as refused afterwards', async ({
  page,
}) => {
  test.setTimeout(120_000);
  // A service of its own: what the policies of the built-in one may do is known beforehand.
  const service = await startBuiltInService({ secret: randomBytes(32), worker: builtInServiceWorker });
  const passwordOf = (policy: string): string =>
    service.policies.find(({ name }) => name === policy)?.password ?? '';
  await connect(page, {
    name: 'Acme test',
    baseUrl: service.baseUrl,
    caPem: service.caPem,
    policy: 'analyst',
    apiKey: service.apiKey.value,
    policyPassword: passwordOf('analyst'),
    definition: { name: 'card-number', label: 'Card number' },
  });
  await page.getByRole('button', { name: 'Access', exact: true }).click();
  await page.getByLabel('Policy name').fill('mask-only');
  await page.getByRole('button', { name: 'Add policy' }).click();
  await storeSecret(page, 'Password for mask-only', passwordOf('mask-only'));
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Paste lines' }).click();
  await paste(page, ['card', ...Array.from({ length: 1_000 }, (_, i) => card(i))].join('\n'));
  await map(page, 'card', 'Tokenize', 'Card number');
  const line = page.getByRole('group', { name: 'card: Tokenize' });
  await line.getByRole('combobox', { name: /^Policy/ }).click();
  await page.getByRole('option', { name: /^mask-only/ }).click();
  await run(page);
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('may not');
  await alert.getByRole('button', { name: 'Change', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Change', exact: true });
  await expect(panel.getByRole('button', { name: 'Run refused values again' })).toBeDisabled();
  await expect(panel).toContainText('Choose another policy');
  await panel.getByRole('combobox', { name: /^Policy/ }).click();
  await expect(page.getByRole('option', { name: /^mask-only/ })).toContainText(/refused \d/);
  await page.getByRole('option', { name: /^analyst/ }).click();
  await panel.getByRole('button', { name: 'Run refused values again' }).click();
  expect(await readSum(page)).toMatchObject({ rows: 1_000, ok: 1_000, failed: 0 });

  await page.getByRole('button', { name: 'Run again with changes' }).click();
  await expect(line.getByRole('combobox', { name: 'Policy: analyst' })).toBeVisible();
  await service.stop();
});
