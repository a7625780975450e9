import { randomBytes } from 'node:crypto';
import path from 'node:path';
import fs from 'node:fs';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { verifyEvidence } from '../../scripts/verify-evidence.ts';
import { expect, test } from '../support/app-fixture.ts';
import { connect, go, lookUp, reveal, startBuiltIn, tokenize } from '../support/page-actions.ts';
import { builtInServiceWorker } from '../support/workers.ts';

const pan = '378282246310005';

test('a case has its timeline, is closed with its evidence, and is opened again', async ({ page, app }) => {
  test.setTimeout(120_000);
  await startBuiltIn(page);
  const token = await tokenize(page, pan);
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
  const side = page.getByRole('complementary', { name: 'Case' });
  await expect(side.getByText('No case', { exact: true })).toBeVisible();

  // Looked up without a case, then filed under that of its reveal.
  await lookUp(page, token);
  const result = page.getByRole('region', { name: 'Result' });
  await expect(result.getByRole('definition').filter({ hasText: 'American Express' })).toBeVisible();
  await expect(result.getByRole('definition').filter({ hasText: /^378282$/ })).toBeVisible();
  // W22: with another token in the field it says whose it is, and steps back.
  const mask = result.locator('.masked');
  await expect(mask).toHaveCSS('opacity', '1');
  await page.getByRole('textbox', { name: 'Token' }).fill('4000001234567890');
  await expect(result).toContainText('Result of the token before:');
  await expect(result.locator('.label .mono')).toHaveText(token);
  await expect(mask).toHaveCSS('opacity', '0.55');
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await expect(mask).toHaveCSS('opacity', '1');
  await expect(result).not.toContainText('Result of the token before:');
  await reveal(page, 'D-20931');
  await expect(page.getByRole('button', { name: 'Hide' })).toBeFocused();
  await expect(page.getByText(/^Shown in clear for \d+ seconds/)).toBeAttached();
  const groups = page.locator('.revealed .value > span');
  await expect(groups).toHaveText(['3782', '822463', '10005']);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
  await expect(page.getByText('Hidden.', { exact: true })).toBeAttached();
  await expect(side.getByRole('textbox', { name: 'Case' })).toHaveValue('D-20931');
  const revealed = side.getByRole('button', { name: /Revealed.*Chargeback response/ });
  await expect(revealed).toContainText('378282');
  await expect(revealed).toHaveAttribute('aria-current', 'true');

  // A copy in clear says for how long it is true.
  await page.getByRole('button', { name: 'Copy cleartext' }).click();
  await page
    .getByRole('region', { name: 'Copy cleartext' })
    // The last reason stays chosen within its case.
    .getByRole('button', { name: 'Copy cleartext' })
    .click();
  await expect(page.getByText(/^Cleartext copied\. Clears in 0:\d\d\.$/)).toBeVisible();
  await expect(side.getByRole('button', { name: /Cleartext copied/ })).toBeVisible();
  await page.getByRole('button', { name: 'Clear now' }).click();
  await expect(page.getByText(/^Cleartext copied\. Clears/)).toHaveCount(0);

  await side.getByRole('button', { name: 'Close case' }).click();
  await expect(side.getByText('Case D-20931 is closed.')).toBeVisible();
  await expect(result).toHaveCount(0);
  await side.getByRole('button', { name: 'Save signed evidence' }).click();
  await side.getByText(/^Saved evidence-D-20931\.json and/).waitFor();
  const signer = await side.getByText(/^[0-9a-f]{64}$/).innerText();
  const file = path.join(app.downloads, 'evidence-D-20931.json');
  expect(fs.existsSync(file)).toBe(true);
  expect((await verifyEvidence({ file, signer, log: path.join(app.home, 'audit') })).problems).toEqual([]);

  // The lookup is off the list, and what was done is not forgotten.
  await side.getByRole('button', { name: 'Dismiss' }).click();
  await side.getByRole('button', { name: /^D-20931/ }).click();
  await expect(side.getByText('Evidence saved')).toBeVisible();
  await expect(side.getByText('Revealed', { exact: true })).toBeVisible();
  await expect(side.getByRole('button', { name: /Revealed/ })).toHaveCount(0);
  await go(page, 'Activity');
  await go(page, 'Lookup');
  await expect(side.getByRole('textbox', { name: 'Case' })).toHaveValue('D-20931');
});

test('a line of a case that another connection made says so, and keeps its mask', async ({ page }) => {
  const service = await startBuiltInService({ secret: randomBytes(32), worker: builtInServiceWorker });
  try {
    await startBuiltIn(page);
    const token = await tokenize(page, pan);
    await lookUp(page, token);
    await reveal(page, 'D-7');
    await page.keyboard.press('Escape');
    await connect(page, {
      name: 'Acme test',
      baseUrl: service.baseUrl,
      caPem: service.caPem,
      policy: 'dispute-desk',
      apiKey: service.apiKey.value,
      policyPassword: service.policies.find(({ name }) => name === 'dispute-desk')?.password ?? '',
      definition: { name: 'other-definition', label: 'Something else' },
    });
    await go(page, 'Lookup');
    const side = page.getByRole('complementary', { name: 'Case' });
    const revealed = side.getByRole('listitem').filter({ hasText: 'Reveal' });
    await expect(revealed.getByText('DEVELOPMENT')).toBeVisible();
    await expect(revealed).toContainText('3782');
    await expect(revealed).toContainText('Card number');
    await expect(revealed.getByRole('button')).toHaveCount(0);
    // Nor does its result stay, with which this connection could do nothing.
    await expect(page.getByRole('region', { name: 'Result' })).toHaveCount(0);
  } finally {
    await service.stop();
  }
});

test('a case is opened by its reference in the field for tokens', async ({ page }) => {
  await startBuiltIn(page);
  await page.getByRole('textbox', { name: 'Token' }).fill('D-20931');
  await expect(page.getByText('Case reference, detected. Press Enter to open the case.')).toBeVisible();
  await page.keyboard.press('Enter');
  const side = page.getByRole('complementary', { name: 'Case' });
  await expect(side.getByRole('textbox', { name: 'Case' })).toHaveValue('D-20931');
  await expect(side.getByText('Nothing in this case yet')).toBeVisible();
  // What is looked up now is a part of it.
  await tokenize(page, pan);
  await expect(side.getByRole('button', { name: /Tokenized/ })).toBeVisible();
});
