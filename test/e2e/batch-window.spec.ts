import fs from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { createAuthority } from '../faults/certificates.ts';
import { expect, openApp, test } from '../support/app-fixture.ts';
import { choose, chooseFile, connect, go, map, readSum, run, startBuiltIn } from '../support/page-actions.ts';

/** Tokens nobody made, one empty line, one field too many. */
function writeStrange(home: string): string {
  const file = path.join(home, 'strange.csv');
  fs.writeFileSync(file, 'case,card_token\nD-1,4000001234567890\nD-2,nonsense\nD-3,\nD-4,1,2\n');
  return file;
}

async function open(page: Page, home: string): Promise<string> {
  const file = writeStrange(home);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  return file;
}

test('a failed value says why in words, and a retry is offered only where it can help', async ({
  page,
  home,
}) => {
  // The column that fails is out of sight.
  const file = await open(page, home);
  const [head = '', ...rows] = fs.readFileSync(file, 'utf8').trimEnd().split('\n');
  const wide = (cell: string): string => `,${Array.from({ length: 16 }, (_, n) => `${cell}${n}`).join(',')},`;
  const widened = rows.map((row) => row.replace(',', wide('')));
  fs.writeFileSync(file, `${[head.replace(',', wide('note ')), ...widened].join('\n')}\n`);
  await chooseFile(page, file);
  await map(page, 'card_token', 'Detokenize', 'Card number');
  const runButton = page.getByRole('button', { name: /^Run on/ });
  await expect(runButton).toHaveClass(/\benv\b/);
  await page.getByRole('region', { name: /^First rows/ }).evaluate((table) => (table.scrollLeft = 0));
  await page.getByRole('button', { name: 'Test 20 rows' }).click();
  // W25: what failed is shown, and Run is no more what comes next.
  const failing = page.locator('td[data-failed]').first();
  await expect(failing).toBeInViewport();
  await expect(failing).toContainText('Not a token of Card number');
  await expect(runButton).not.toHaveClass(/\benv\b/);
  await run(page);
  const sum = await readSum(page);
  expect(sum).toMatchObject({ rows: 4, blank: 1 });
  await expect(page.getByRole('gridcell', { name: 'D-1' })).toBeVisible();
  const reasons = page.getByRole('list', { name: 'Why values failed' });
  const malformed = reasons.getByRole('listitem').filter({ hasText: 'More or fewer fields' });
  await expect(malformed).toContainText('Fix the data first');
  await expect(malformed.getByRole('button', { name: /^Retry/ })).toHaveCount(0);
  const refused = reasons.getByRole('listitem').filter({ hasText: 'Not a token of Card number' });
  await expect(refused).toContainText('Fix the data first');
  await expect(page.getByRole('button', { name: /^Retry/ })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Run again with changes' })).toBeVisible();
});

/** A service that gives no answer for values ending in 7, and does not say why, until it is told to. */
async function startUnwell(): Promise<{
  baseUrl: string;
  caPem: string;
  heal: () => void;
  stop: () => void;
}> {
  const authority = await createAuthority();
  const { cert, key } = await authority.sign();
  let isUnwell = true;
  const server = createServer({ cert, key }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { elements } = JSON.parse(Buffer.concat(parts).toString()) as {
        elements?: { RefId: string; Value: string }[];
      };
      const answers = elements?.map(({ RefId, Value }) =>
        isUnwell && Value.endsWith('7')
          ? { RefId, Error: 'ShardOffline' }
          : { RefId, Value: `5${Value.slice(1)}` },
      );
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answers === undefined ? { sessionToken: 's' } : { elements: answers }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caPem: authority.pem,
    heal: () => (isUnwell = false),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('values that the service gave no answer for are retried, and those alone', async ({ page, home }) => {
  const service = await startUnwell();
  try {
    await connect(page, {
      ...service,
      name: 'Acme test',
      policy: 'analyst',
      apiKey: 'key',
      policyPassword: 'password',
      definition: { name: 'card-number', label: 'Card number' },
    });
    const file = path.join(home, 'unwell.csv');
    const tokens = Array.from({ length: 30 }, (_, n) => `D-${n},40000012345678${String(n + 10)}`);
    fs.writeFileSync(file, `case,card_token\n${tokens.join('\n')}\n`);
    await go(page, 'Batch');
    await chooseFile(page, file);
    await map(page, 'card_token', 'Detokenize', 'Card number');
    await run(page);
    expect(await readSum(page)).toMatchObject({ rows: 30, ok: 27, failed: 3 });
    service.heal();
    const reasons = page.getByRole('list', { name: 'Why values failed' });
    await expect(reasons.getByRole('listitem')).toContainText('Can be retried');
    await reasons.getByRole('button', { name: /^Retry these 3/ }).click();
    await expect(page.getByRole('status', { name: 'Sum' })).toContainText('30 rows = 30 succeeded');
    await expect(reasons).toHaveCount(0);
    await expect(page.getByRole('button', { name: /^Retry/ })).toHaveCount(0);
  } finally {
    service.stop();
  }
});

test('a saved mapping is suggested by its header, removed without a question, and comes back', async ({
  page,
  home,
}) => {
  const file = await open(page, home);
  const note = page.getByRole('status', { name: 'Note' });
  const mapped = page.getByRole('group', { name: 'card_token: Detokenize' });
  const reopen = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Close the file' }).click();
    await chooseFile(page, file);
    await page.getByRole('region', { name: /^First rows/ }).waitFor();
  };
  await chooseFile(page, file);
  await map(page, 'card_token', 'Detokenize', 'Card number');
  await page.getByRole('button', { name: 'Save mapping' }).click();
  await page.getByLabel('Name of the mapping').fill('Strange weekly');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('combobox', { name: 'Mapping: Strange weekly' }).waitFor();

  await reopen();
  await expect(note).toHaveText(
    'The mapping “Strange weekly” was saved for these columns and is filled in. As strange.csv: 4 rows (as then), 1 not valid (as then), no new note. Ctrl Enter runs it.',
  );
  await expect(mapped).toBeVisible();
  await page.getByRole('button', { name: 'Don’t use it' }).click();
  await expect(mapped).toHaveCount(0);

  await reopen();
  await page.getByRole('button', { name: 'Remove the mapping Strange weekly' }).press('Enter');
  await expect(note).toHaveText('The mapping “Strange weekly” was removed.');
  await expect(page.getByRole('combobox', { name: /^Mapping/ })).toHaveCount(0);
  // By keyboard the way back is where the focus already is.
  await expect(page.getByRole('button', { name: 'Undo' })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Mapping: Strange weekly' }).waitFor();

  await page.getByRole('button', { name: 'Remove the mapping Strange weekly' }).click();
  await reopen();
  await expect(note).toHaveText('');
  await expect(mapped).toHaveCount(0);
});

test('a failed request is tried again with what is known of it', async ({ page, home }) => {
  test.setTimeout(180_000);
  const file = await open(page, home);
  // What a policy may do that was changed is not known, so it can be chosen and is refused.
  await go(page, 'Administration');
  await page.getByRole('button', { name: 'Sign in as administrator' }).click();
  await page.getByRole('tab', { name: 'Security policies' }).click();
  await page.getByRole('button', { name: 'Change intake' }).click();
  await page.getByRole('button', { name: 'Save policy' }).click();
  await expect(page.getByText('Policy intake changed.')).toBeVisible();
  await choose(page, 'Policy', 'intake');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await map(page, 'card_token', 'Detokenize', 'Card number');
  await run(page);
  await readSum(page);
  await go(page, 'Lookup');
  await page.getByRole('textbox', { name: 'Token' }).fill('4000001234567890');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await choose(page, 'Policy', 'analyst');

  await go(page, 'Reports');
  await page.getByRole('button', { name: 'Sign in to the built-in portal' }).click();
  const list = page.getByRole('listbox', { name: 'Failed requests' });
  await list.getByRole('option').filter({ hasText: 'GetMasked' }).click();
  await page.getByRole('button', { name: 'Try again in Lookup' }).click();
  await expect(page.getByText('Look up · Card number · policy intake')).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'Policy: intake' })).toBeVisible();

  await choose(page, 'Policy', 'dispute-desk');
  await go(page, 'Reports');
  await list.getByRole('option').filter({ hasText: 'BatchDetokenize' }).first().click();
  await page.getByRole('button', { name: 'Try again in Batch' }).click();
  const known = 'Detokenize · Card number · policy intake';
  await expect(page.getByRole('region', { name: 'From the failed request' })).toContainText(known);
  await page.getByRole('button', { name: 'Try the sample file' }).click();
  await expect(page.getByRole('status', { name: 'Note' })).toContainText(`${known}, in `);
  const line = page.getByRole('group', { name: /: Detokenize$/ });
  await expect(line.getByRole('combobox', { name: 'Policy: intake' })).toBeVisible();
  await expect(line.getByRole('combobox', { name: 'Definition: Card number' })).toBeVisible();
});

test('a batch that can’t be read is listed, and can be discarded', async ({ home }) => {
  const folder = path.join(home, 'desk', 'jobs', 'job-from-elsewhere');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'job.json'), '{"version":2}');
  const app = await openApp(home);
  try {
    const { page } = app;
    await startBuiltIn(page);
    await go(page, 'Batch');
    const row = page.getByRole('row', { name: /A batch that can’t be read/ });
    await expect(row).toContainText('Damaged');
    await row.getByRole('button', { name: 'Discard the batch that can’t be read' }).press('Enter');
    await expect(row.getByRole('button', { name: 'Keep' })).toBeFocused();
    await row.getByRole('button', { name: 'Discard it' }).click();
    await expect(row).toHaveCount(0);
    expect(fs.existsSync(folder)).toBe(false);
  } finally {
    await app.close();
  }
});
