import fs from 'node:fs/promises';
import path from 'node:path';
import type { Deployment } from '../../electron/contract/models/deployment.ts';
import { expect, openApp, test } from '../support/app-fixture.ts';
import { chooseFile, go } from '../support/page-actions.ts';

const given: Deployment = {
  format: 'tokendesk-connections',
  version: 1,
  connections: [
    {
      name: 'Acme EU',
      environment: 'production',
      baseUrl: 'https://tokens.acme.example',
      extraCa: null,
      proxyUser: '',
      policies: ['disputes'],
      definitions: [{ name: 'pan', label: 'Card number', kind: 'card' }],
      accountId: 'a-1',
      tenantId: '',
      apiKeyExpires: null,
      requestsPerSecond: 60,
      transfersPerDay: 1000,
      profile: { name: 'acme.json', content: { version: 1, wrappers: ['envelope'] }, fitted: {} },
    },
  ],
  mappings: [{ name: 'Weekly disputes', columns: [] }],
  reasons: ['Refund'],
};

test('connections go from one workstation to another as a file, and only secrets are left to enter', async ({
  app,
  page,
  home,
}) => {
  // Two windows, one after the other.
  test.setTimeout(180_000);
  const file = path.join(home, 'given.json');
  await fs.writeFile(file, JSON.stringify(given));
  await go(page, 'Settings');
  await chooseFile(page, file, 'Import…');
  const plan = page.getByRole('region', { name: 'What given.json would change' });
  await expect(plan.getByRole('row', { name: 'Connection Acme EU New' })).toBeVisible();
  await expect(plan.getByRole('row', { name: 'Reasons Changes' })).toBeVisible();
  await page.getByRole('button', { name: 'Import 3' }).click();
  await expect(page.getByText('Imported: 3.')).toBeVisible();
  await page.getByRole('button', { name: 'Export…' }).click();
  await expect(page.getByText('Saved as tokendesk-connections.json.')).toBeVisible();
  const exported = path.join(app.downloads, 'tokendesk-connections.json');
  expect(JSON.parse(await fs.readFile(exported, 'utf8'))).toEqual(given);
  await app.close();

  const second = await openApp(path.join(home, 'second'));
  await go(second.page, 'Settings');
  await chooseFile(second.page, exported, 'Import…');
  await second.page.getByRole('button', { name: 'Import 3' }).click();
  await expect(second.page.getByText('Secrets are entered under Connections.')).toBeVisible();
  await go(second.page, 'Connections');
  // Its secrets are missing: they are on the second of its pages.
  await expect(second.page.getByLabel('API key', { exact: true })).toBeVisible();
  await second.page.getByRole('button', { name: 'Service', exact: true }).click();
  await expect(second.page.getByLabel('Base URL')).toHaveValue('https://tokens.acme.example');
  // What is removed is asked about by the system, not by the window.
  await go(second.page, 'Settings');
  await second.page.getByRole('button', { name: 'Remove everything…' }).click();
  const panel = second.page.getByRole('region', { name: 'Remove everything' });
  await expect(panel).toContainText('asks once more before anything is removed');
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await expect(panel).toHaveCount(0);
  await second.close();
});
