import fs from 'node:fs/promises';
import path from 'node:path';
import type { ManagedSettings } from '../../electron/contract/models/app.ts';
import { chromiumOnly, expect, openApp, test as base, type OpenApp } from '../support/app-fixture.ts';
import { go } from '../support/page-actions.ts';

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
const onlyHere = chromiumOnly('Electron reads the place of the system, which a test leaves alone');

test(
  'what the administrator has fixed is shown, and its controls are disabled',
  onlyHere,
  async ({ managed }) => {
    const { page } = await managed({
      revealSeconds: 10,
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
    const seconds = page.getByLabel('A revealed value is hidden after');
    await expect(seconds).toBeDisabled();
    await expect(seconds).toHaveValue('10');
    await expect(seconds).toHaveAccessibleDescription('Managed by your administrator');
    await expect(page.getByLabel('Require a case for every reveal')).toBeDisabled();
    await expect(page.getByRole('button', { name: 'Remove Refund' })).toHaveCount(0);
    await expect(page.getByLabel('Lock when idle for')).toBeEnabled();
    const list = page.getByRole('region', { name: 'Managed by your administrator' });
    await expect(list).toContainText('Exports in clear');
    await expect(list).toContainText('tokens.example');
  },
);

test('nothing but a passphrase can be set where one is asked for', onlyHere, async ({ managed }) => {
  const { page } = await managed({ passphraseRequired: true });
  await expect(page.getByRole('heading', { name: 'Set a passphrase' })).toBeVisible();
  await page.keyboard.press('Control+2');
  await expect(page.getByRole('navigation')).toHaveCount(0);
  await page.getByLabel('New passphrase', { exact: true }).fill('correct horse');
  await page.getByLabel('Repeat new passphrase').fill('correct horse');
  await page.getByRole('button', { name: 'Set passphrase' }).click();
  await go(page, 'Settings');
  await expect(page.getByRole('button', { name: 'Change' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Remove', exact: true })).toHaveCount(0);
});
