import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, openApp, test } from '../support/app-fixture.ts';

test('damaged settings are reported until the notice is dismissed, and the file is kept', async ({
  home,
}) => {
  const folder = path.join(home, 'desk');
  await fs.mkdir(folder);
  await fs.writeFile(path.join(folder, 'desk.json'), '{"settings":');
  const app = await openApp(home);
  try {
    const notice = app.page.getByRole('status').filter({ hasText: 'The settings could not be read' });
    await expect(notice).toContainText(/saved as desk\.damaged-\d{8}T\d{9}Z\.json\./);
    const [keptAs = ''] = (await fs.readdir(folder)).filter((name) => name.startsWith('desk.damaged-'));
    await expect(notice).toContainText(keptAs);
    expect(await fs.readFile(path.join(folder, keptAs), 'utf8')).toBe('{"settings":');
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    await expect(notice).toHaveCount(0);
  } finally {
    await app.close();
  }
});
