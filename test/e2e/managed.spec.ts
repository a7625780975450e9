import fs from 'node:fs/promises';
import path from 'node:path';
import type { ManagedSettings } from '../../electron/contract/models/app.ts';
import { expect, openApp, test as base, type OpenApp } from '../support/app-fixture.ts';
import { go, paste, startBuiltIn } from '../support/page-actions.ts';

/** Opens the app where an administrator has fixed some settings. */
const test = base.extend<{ managed: (settings: ManagedSettings) => Promise<OpenApp> }>({
  managed: async ({ home }, use) => {
    const apps: OpenApp[] = [];
    await use(async (settings) => {
      await fs.mkdir(path.join(home, 'administrator'));
      await fs.writeFile(path.join(home, 'administrator', 'policy.json'), JSON.stringify(settings));
      const app = await openApp(home);
      apps.push(app);
      return app;
    });
    for (const app of apps) await app.close();
  },
});

const provided = (name: string, baseUrl: string) => ({
  name,
  environment: 'test',
  baseUrl,
  extraCa: null,
  proxyUser: '',
  policies: ['analyst'],
  definitions: [{ name: 'card', label: 'Card', kind: 'card' }],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
});

test('what the administrator has fixed is shown, and its controls are disabled', async ({ managed }) => {
  const { page } = await managed({
    revealSeconds: 10,
    clipboardSeconds: 9,
    lockAfterMinutes: 3,
    bulkMatch: false,
    maxRevealsPerDay: 5,
    maxCopiesPerDay: 4,
    maxExportedRowsPerDay: 3000,
    maxMatchAnswersPerDay: 2,
    maxExpressionsPerDay: 1,
    caseRequired: true,
    reasons: ['Refund'],
    cleartextExport: 'forbidden',
    allowedHosts: ['tokens.example'],
    builtInService: false,
    updateNotice: 'Version 2 is in the Software Centre.',
  });
  await expect(page.getByRole('button', { name: 'Start the built-in service' })).toHaveCount(0);
  const notice = page.getByRole('status').filter({ hasText: 'Version 2 is in the Software Centre.' });
  await notice.getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice).toHaveCount(0);

  await go(page, 'Settings');
  for (const [label, value] of [
    ['A revealed value is hidden after', '10'],
    ['A copied value is cleared from the clipboard after', '9'],
    ['Lock when idle for', '3'],
  ] as const) {
    const field = page.getByLabel(label);
    await expect(field).toBeDisabled();
    await expect(field).toHaveValue(value);
    await expect(field).toHaveAccessibleDescription('Managed by your administrator');
  }
  await expect(page.getByLabel('Require a case for every reveal')).toBeDisabled();
  await expect(page.getByRole('button', { name: 'Remove Refund' })).toHaveCount(0);
  await expect(page.getByLabel('Another reason')).toHaveCount(0);
  await expect(page.getByRole('radio', { name: 'Dark' })).toBeEnabled();
  const list = page.getByRole('region', { name: 'Managed by your administrator' });
  await expect(list).toContainText('Exports in clear');
  await expect(list).toContainText('tokens.example');
  await expect(list).toContainText('Matching values in batches');
  const today = page.getByRole('region', { name: 'Seen in clear today' });
  for (const limit of ['0 of 5', '0 of 4', '0 of 3,000', '0 of 2', '0 of 1'])
    await expect(today).toContainText(limit);
});

test('nothing but a passphrase can be set where one is asked for', async ({ managed }) => {
  test.setTimeout(180_000);
  const { page } = await managed({ passphraseRequired: true, bulkMatch: false });
  await expect(page.getByRole('heading', { name: 'Set a passphrase' })).toBeVisible();
  await page.keyboard.press('Control+2');
  await expect(page.getByRole('navigation')).toHaveCount(0);
  await page.getByLabel('New passphrase', { exact: true }).fill('correct horse');
  await page.getByLabel('Repeat new passphrase').fill('correct horse');
  await page.getByRole('button', { name: 'Set passphrase' }).click();
  await go(page, 'Settings');
  await expect(page.getByRole('button', { name: 'Change' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Remove', exact: true })).toHaveCount(0);

  // What batches may not do is not offered.
  await go(page, 'Lookup');
  await startBuiltIn(page);
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Paste lines' }).click();
  await paste(page, 'card\n4111111111111111\n4012888888881881');
  await page.getByRole('combobox', { name: /^card(:|$)/ }).click();
  await expect(page.getByRole('option', { name: /^Translate/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /^Match pattern/ })).toHaveCount(0);
});

test('settings that can’t be read stop the start, and leave nothing behind', async ({ home }) => {
  const policy = path.join(home, 'administrator', 'policy.json');
  await fs.mkdir(path.dirname(policy));
  await fs.writeFile(policy, '{');
  await expect(openApp(home)).rejects.toThrow('policy.json');
  await fs.writeFile(policy, '{}');
  // Another app on the same home would be refused.
  const app = await openApp(home);
  await startBuiltIn(app.page);
  await app.close();
});

test('the first page leads to a connection that the administrator provides', async ({ home }) => {
  const administrator = path.join(home, 'administrator');
  await fs.mkdir(administrator);
  await fs.writeFile(
    path.join(administrator, 'connections.json'),
    JSON.stringify({
      format: 'tokendesk-connections',
      version: 1,
      connections: [provided('Acme', 'https://acme.example'), provided('Beta', 'https://user@beta.example')],
      mappings: [],
    }),
  );
  const app = await openApp(home);
  try {
    const { page } = app;
    await expect(page.getByText('Enter the API key and the password of analyst')).toBeVisible();
    await expect(page.getByRole('status').filter({ hasText: 'provides the connection Beta' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Enter the secrets of Acme' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'Acme' })).toBeVisible();
    await expect(page.getByLabel('API key', { exact: true })).toBeVisible();
  } finally {
    await app.close();
  }
});
