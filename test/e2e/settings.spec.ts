import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, shareApp, test } from '../support/app-fixture.ts';
import { realElectron } from '../../scripts/electron-binary.ts';
import { go, startBuiltIn } from '../support/page-actions.ts';

test.describe('what changes nothing of the settings', () => {
  const shared = shareApp(startBuiltIn);

  test('the About section lists every package with its licence', async () => {
    const { page } = shared();
    await go(page, 'Settings');
    await page.getByText(/packages are part of it/).click();
    const rows = page.getByRole('region', { name: 'About' }).getByRole('row');
    for (const name of ['svelte', 'zod', 'undici', '@github/keytar', '@fontsource-variable/inter'])
      await expect(rows.filter({ has: page.getByRole('cell', { name, exact: true }) })).toHaveCount(1);
    // Packages whose own manifest names none, and whose licence text is in the bundle's list.
    expect(await page.getByRole('cell', { name: 'not stated' }).count()).toBeLessThan(2);
  });

  test('the folder of the log is shown where no file manager can be opened', async () => {
    const { page, home } = shared();
    test.skip(realElectron() !== null, 'a file manager opens');
    await go(page, 'Settings');
    await page.getByRole('button', { name: 'Open log folder' }).click();
    const about = page.getByRole('region', { name: 'About' });
    await expect(about).toContainText(path.join(home, 'logs'));
  });

  test('diagnostics are shown before they are saved, and saved as they were shown', async () => {
    const { page, home, downloads } = shared();
    await go(page, 'Settings');
    await expect(page.getByText('Showing them signs in to the service once.')).toBeVisible();
    await page.getByRole('button', { name: 'Show diagnostics' }).click();
    const shown = page.getByRole('region', { name: 'Diagnostics, as they would be saved' });
    await expect(shown).toContainText('audit log: ready');
    await expect(shown).toContainText('TLS: verified');
    await page.getByRole('button', { name: 'Save as a file' }).click();
    await expect(page.getByText(/^Saved as tokendesk-diagnostics-/)).toBeVisible();
    const [name = ''] = await fs.readdir(downloads);
    const saved = await fs.readFile(path.join(downloads, name), 'utf8');
    expect(saved.trim()).toBe((await shown.textContent())?.trim());
    expect(saved).not.toContain(home);
  });

  test('locking and unlocking are in the audit log', async () => {
    const { page } = shared();
    await page.keyboard.press('Control+l');
    await page.getByRole('button', { name: 'Unlock' }).click();
    await go(page, 'Activity');
    await page.getByText('Changes', { exact: true }).click();
    await expect(page.getByRole('table')).toContainText('Unlocked');
    await expect(page.getByRole('table').getByText('Locked', { exact: true }).first()).toBeVisible();
  });
});

test('a log that was changed is said on every page, and can not be dismissed', async ({ page, app }) => {
  await startBuiltIn(page);
  await go(page, 'Activity');
  await page.getByText('Everything', { exact: true }).click();
  await expect(page.getByRole('table')).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
  const [file = ''] = await fs.readdir(path.join(app.home, 'audit'));
  await fs.truncate(path.join(app.home, 'audit', file), 40);
  for (const name of ['Lookup', 'Activity', 'Batch', 'Reports', 'Connections', 'Settings'] as const) {
    await go(page, name);
    if (name === 'Lookup') continue;
    await expect(page.getByRole('alert')).toContainText('The audit log has been changed');
  }
  await go(page, 'Lookup');
  await expect(page.getByRole('alert')).toContainText('The audit log has been changed');
});
