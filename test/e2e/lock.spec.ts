import fs from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, openApp, test, type OpenApp } from '../support/app-fixture.ts';
import { go, startBuiltIn } from '../support/page-actions.ts';

const right = 'correct horse';

async function type(page: Page, label: string, text: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true });
  await expect(field).toBeEnabled();
  await field.click();
  await page.keyboard.type(text);
}

async function setPassphrase(page: Page): Promise<void> {
  await go(page, 'Settings');
  await type(page, 'New passphrase', right);
  await type(page, 'Repeat new passphrase', right);
  await page.getByRole('button', { name: 'Set passphrase' }).click();
  await expect(page.getByText('Unlocking asks for the passphrase.')).toBeVisible();
}

async function unlock(page: Page, passphrase: string): Promise<void> {
  await type(page, 'Passphrase', passphrase);
  await page.keyboard.press('Enter');
}

/** What the system's dialog answers, which no page can press. */
const answering = (app: OpenApp, response: number): Promise<unknown> =>
  app.application.evaluate(({ dialog }, answer) => {
    dialog.showMessageBox = () => Promise.resolve({ response: answer, checkboxChecked: false });
  }, response);

test('a passphrase is set, asked for after a restart and at another place, and forgotten', async ({
  home,
}) => {
  let app = await openApp(home);
  try {
    await startBuiltIn(app.page);
    await setPassphrase(app.page);
    const settings = path.join(app.home, 'desk.json');
    const yesterday = await fs.readFile(settings);
    await app.close();

    // Moved, and with the settings of before put back: the passphrase is the keychain's, and nothing is an alarm.
    const moved = `${home}-moved`;
    await fs.rename(home, moved);
    try {
      await fs.writeFile(path.join(moved, 'desk', 'desk.json'), yesterday);
      app = await openApp(moved);
      const { page } = app;
      await page.getByLabel('Passphrase', { exact: true }).press('Enter');
      await expect(page.getByRole('alert')).toBeEmpty();
      await unlock(page, 'wrong horse');
      await expect(page.getByRole('alert')).toContainText('Try again');
      await unlock(page, right);
      await expect(page.getByRole('textbox', { name: 'Token' })).toBeVisible();
      await expect(page.getByRole('status').filter({ hasText: 'Changed outside' })).toHaveCount(0);

      await page.keyboard.press('Control+l');
      const forgot = page.getByRole('button', { name: 'Forgot the passphrase?' });
      await answering(app, 1);
      await forgot.click();
      await expect(page.getByRole('heading', { name: 'Locked' })).toBeVisible();
      await answering(app, 0);
      await forgot.click();
      const forgotten =
        'The passphrase and all stored secrets were forgotten. Look at each connection of your own, save it, and enter its API key and passwords again.';
      await expect(page.getByRole('status').filter({ hasText: forgotten })).toBeVisible();
      await expect(page.getByRole('heading', { name: 'Connections' })).toBeVisible();
    } finally {
      await app.close();
      await fs.rm(moved, { recursive: true, force: true });
    }
  } finally {
    await app.close();
  }
});
