import fs from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, openApp, shareApp, test } from '../support/app-fixture.ts';
import { startBuiltIn } from '../support/page-actions.ts';

const shared = shareApp(startBuiltIn);

/** Of an app that has a service and has ended. */
async function preparedHome(): Promise<string> {
  const app = shared();
  await app.close();
  return path.dirname(app.home);
}

test('a file that the app is started with, as file managers name it, is opened under Batch', async () => {
  const home = await preparedHome();
  const file = path.join(home, 'disputes Q3.csv');
  await fs.writeFile(file, 'card\n4111111111111111\n');
  const app = await openApp(home, [pathToFileURL(file).href]);
  try {
    await expect(app.page.getByText('disputes Q3.csv').first()).toBeVisible();
    await expect(app.page.getByRole('combobox', { name: /^card:/ })).toBeVisible();
  } finally {
    await app.close();
  }
});

test('a link fills the field and sends nothing; another is refused with a sentence', async () => {
  const home = await preparedHome();
  const app = await openApp(home, ['tokendesk://token/4111117309211111']);
  try {
    await expect(app.page.getByRole('textbox', { name: 'Token' })).toHaveValue(/4111/);
    await expect(app.page.getByRole('region', { name: 'Result' })).toHaveCount(0);
    expect((await app.outward()).join('\n')).not.toContain('requestId');
  } finally {
    await app.close();
  }
  const refused = await openApp(home, ['tokendesk://reveal/4111117309211111']);
  try {
    await expect(refused.page.getByText('The link could not be used')).toBeVisible();
  } finally {
    await refused.close();
  }
});
