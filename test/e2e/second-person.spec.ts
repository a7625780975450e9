import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, openApp, test } from '../support/app-fixture.ts';
import {
  chooseFile,
  giveReason,
  go,
  lookUp,
  startBuiltIn,
  systemDialogs,
  tokenize,
} from '../support/page-actions.ts';

/* Two windows, each with a home of its own, of one user of this computer: nobody is a second person by that. */

test('a reveal takes a second person, who approves at this desk; a second home of one’s own approves nothing', async ({
  home,
}) => {
  await fs.mkdir(path.join(home, 'administrator'));
  await fs.writeFile(
    path.join(home, 'administrator', 'policy.json'),
    JSON.stringify({ secondPerson: ['reveal'], caseRequired: false }),
  );
  const app = await openApp(home);
  const second = path.join(home, 'second');
  await fs.mkdir(second);
  const other = await openApp(second);
  try {
    const { page } = app;
    await startBuiltIn(page);

    await go(page, 'Settings');
    const settings = page.getByRole('region', { name: 'A second person' });
    await settings.getByLabel('Name of the second person').fill('Dana Reyes');
    await settings.getByLabel('Passphrase of their own').pressSequentially('of dana alone');
    await settings.getByLabel('Repeat their passphrase').pressSequentially('of dana alone');
    await settings.getByRole('button', { name: 'Set up' }).click();
    const listed = settings.getByRole('listitem').filter({ hasText: 'Dana Reyes' });
    const fingerprint = ((await listed.textContent()) ?? '').replaceAll(/\s/g, '').slice(-64);
    await settings.getByLabel('Name', { exact: true }).fill('Dana Reyes');
    await settings.getByLabel('Fingerprint of their key').fill(fingerprint);
    await settings.getByLabel(/as they read them to you/).fill(fingerprint.slice(0, 16));
    await settings.getByRole('button', { name: 'Introduce' }).click();
    await expect(settings.getByRole('listitem').filter({ hasText: 'Dana Reyes' })).toHaveCount(2);

    await go(page, 'Lookup');
    await lookUp(page, await tokenize(page, '4111111111111111'));
    const panel = page.getByRole('region', { name: 'Reveal', exact: true });
    await page.getByRole('button', { name: 'Reveal', exact: true }).click();
    await giveReason(panel, 'D-1');
    const needed = page.getByRole('region', { name: 'A second person is needed' });
    await expect(needed).toContainText('Reveal one value');

    // The other window is another home of the same user.
    const request = path.join(app.downloads, 'approval-request-D-1.json');
    await systemDialogs.get(page)?.(request);
    await needed.getByRole('button', { name: 'Write the request…' }).click();
    await expect(page.getByText(/The request is in approval-request/)).toBeVisible();
    await go(other.page, 'Settings');
    await chooseFile(other.page, request, 'Open a request or an answer…');
    await expect(other.page.getByRole('alert')).toContainText(
      'Nobody can be the second person for themselves',
    );

    await needed.getByRole('button', { name: 'At this desk…' }).click();
    await needed.getByLabel('Their passphrase').pressSequentially('of dana alone');
    await needed.getByRole('button', { name: 'Approve' }).click();
    await expect(page.getByText(/approved: Reveal one value/)).toBeVisible();
    if (!(await panel.isVisible())) await page.getByRole('button', { name: 'Reveal', exact: true }).click();
    await giveReason(panel, 'D-1');
    await expect(page.getByRole('group', { name: 'In clear' })).toContainText('4111');
  } finally {
    await app.close();
    await other.close();
  }
});
