import fs from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { verifyEvidence } from '../../scripts/verify-evidence.ts';
import { expect, test } from '../support/app-fixture.ts';
import { connect, giveReason, go, systemDialogs } from '../support/page-actions.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';

/* Files go from one service to another through the window: two services, each a process of its own. */

let old: ServiceProcess;
let fresh: ServiceProcess;
test.beforeEach(async ({ home }) => {
  [old, fresh] = await Promise.all([
    startServiceProcess(path.join(home, 'old-service')),
    startServiceProcess(path.join(home, 'new-service')),
  ]);
});
test.afterEach(async () => {
  await Promise.all([old.close(), fresh.close()]);
});

const cards = ['4111111111111111', '5555555555554444', '4012888888881881', '378282246310005'];

/** Opens a list by a key and chooses by another. */
async function pick(step: Locator, page: Page, label: string, option: string): Promise<void> {
  await step.getByRole('combobox', { name: label }).press('Enter');
  const wanted = page.getByRole('option', { name: new RegExp(`^${option}`) });
  await wanted.waitFor();
  // Typed letters mark the entry that begins with them.
  await page.keyboard.type(option);
  await expect(wanted).toHaveAttribute('data-highlighted', '');
  await page.keyboard.press('Enter');
  await expect(step.getByRole('combobox', { name: label })).toContainText(option);
}

test('two files move by keys alone, with an estimate of both services, and one signed report', async ({
  app,
  page,
  home,
}) => {
  const tokens = await old.tokenize(cards);
  const files = ['a', 'b'].map((name) => path.join(home, `${name}.csv`));
  for (const file of files) {
    const lines = tokens.map((token, n) => `${n},${token},ok\n`).join('');
    // A card in clear, which is no token of the old service, and an old token in a column that is not moved.
    fs.writeFileSync(file, `id,token,note\n${lines}8,5105105105105100,ok\n9,,${tokens[0]}\n`);
  }
  const access = { policy: 'analyst', definition: { name: 'card-number', label: 'Card number' } };
  for (const [name, service] of [
    ['Old', old],
    ['New', fresh],
  ] as const) {
    const { baseUrl, ca: caPem, apiKey, password: policyPassword } = service;
    await connect(page, { ...access, ...{ name, baseUrl, caPem, apiKey, policyPassword } });
  }

  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Move files' }).press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  const step = (name: string): Locator => page.getByRole('region', { name });
  await pick(step('From'), page, 'Connection', 'Old');
  await systemDialogs.get(page)?.(...files);
  await step('Files').getByRole('button', { name: 'Choose files' }).press('Enter');
  const found = step('What was found');
  await expect(found.getByRole('checkbox', { name: /^token / })).toBeChecked();
  await expect(found.getByRole('row').filter({ hasText: 'b.csv' })).toContainText(
    /b\.csv\s*6\s*4\s*5\s*In clear/,
  );
  await pick(step('To'), page, 'To connection', 'New');
  const asked = step('Estimate and start').getByRole('row');
  await expect(asked.filter({ hasText: 'Detokenize' })).toContainText(/Old test\s*Detokenize\s*10\s*2/);
  await expect(asked.filter({ hasText: 'Tokenize' }).last()).toContainText(/New test\s*Tokenize\s*10\s*2/);
  await page.getByRole('button', { name: 'Move 2 files on TEST' }).press('Enter');
  const reason = step('Reason for the move');
  await giveReason(reason, 'M-1');
  await reason.getByRole('button', { name: 'Move 2 files' }).press('Enter');

  const sum = page.getByRole('status', { name: 'Sum' });
  await expect(sum).toContainText('12 rows');
  await expect(sum).toContainText('8 succeeded');
  await page.getByRole('button', { name: 'Save signed report' }).press('Enter');
  await expect(page.getByRole('status', { name: 'Saved report' })).toHaveText('Saved report.json');
  const file = path.join(app.downloads, 'report.json');
  const report = JSON.parse(fs.readFileSync(file, 'utf8')) as {
    files: { plan: string }[];
    sum: object;
  };
  for (const { plan } of report.files) expect(plan).toContain('at New (test), ');
  expect(report.sum).toMatchObject({ rows: 12, ok: 8, failed: 2, blank: 2, files: 2, finished: 2, left: 4 });
  expect(await verifyEvidence({ file })).toMatchObject({
    verdict: 'consistent, signer unknown',
    problems: [],
  });
  const edited = path.join(home, 'edited.json');
  fs.writeFileSync(edited, fs.readFileSync(file, 'utf8').replace('"left": 4', '"left": 0'));
  expect((await verifyEvidence({ file: edited })).verdict).toBe('not valid');

  const results = path.join(home, 'results');
  fs.mkdirSync(results);
  await systemDialogs.get(page)?.(results);
  await page.getByRole('button', { name: /^Export 2 files/ }).press('Enter');
  await page
    .getByRole('region', { name: 'Export', exact: true })
    .getByRole('button', { name: 'Export 2 files' })
    .click();
  await expect.poll(() => fs.readdirSync(results).filter((name) => name.endsWith('.csv')).length).toBe(2);
  for (const name of fs.readdirSync(results)) {
    const written = fs.readFileSync(path.join(results, name), 'utf8').split('\n').slice(1, 5);
    expect(await fresh.detokenize(written.map((line) => line.split(',')[1] ?? ''))).toEqual(cards);
  }

  // Both connections' lines have the reason and the case, and no value in clear left main.
  const lines = fs
    .readdirSync(path.join(app.home, 'audit'))
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) =>
      fs
        .readFileSync(path.join(app.home, 'audit', name), 'utf8')
        .trim()
        .split('\n'),
    )
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const [action, connection] of [
    ['BatchDetokenize', 'Old'],
    ['BatchTokenize', 'New'],
  ] as const) {
    const begun = lines.filter((line) => line.action === action && line.phase === 'begun');
    expect(begun).toHaveLength(2);
    for (const line of begun)
      expect(line).toMatchObject({ connection, reason: 'Chargeback response', caseReference: 'M-1' });
  }
  const outward = await app.outward();
  for (const card of cards) expect(outward.some((text) => text.includes(card))).toBe(false);
});
