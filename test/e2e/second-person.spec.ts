import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { verifyEvidence } from '../../scripts/verify-evidence.ts';
import { expect, openApp, test } from '../support/app-fixture.ts';
import { launchApp } from '../support/launch-app.ts';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import {
  choose,
  chooseFile,
  giveReason,
  go,
  lookUp,
  map,
  run,
  startBuiltIn,
  systemDialogs,
  tokenize,
} from '../support/page-actions.ts';

/*
 * Two windows, each with a home of its own: of one user of this computer, who is no second person by that; and of two users,
 * each with a keyring of their own.
 */

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

/** Whom every Linux has besides. */
const nobody = 65_534;

test('a second user of this computer approves an export in a window of their own; the evidence of both holds', async ({
  home,
}) => {
  test.skip(process.getuid?.() !== 0, 'only root can start the app as another user');
  test.skip(missingTools().length > 0, 'a keyring of their own takes gnome-keyring and D-Bus');
  test.setTimeout(240_000);
  await fs.mkdir(path.join(home, 'administrator'));
  await fs.writeFile(
    path.join(home, 'administrator', 'policy.json'),
    JSON.stringify({ secondPerson: ['export'], caseRequired: true }),
  );
  const app = await openApp(home);
  const owner = { uid: nobody, gid: nobody };
  // Not below the first one's home, which is theirs alone.
  const second = await fs.mkdtemp(path.join(os.tmpdir(), 'desk-second-'));
  const places = { home: path.join(second, 'desk'), downloads: path.join(second, 'downloads') };
  const TMPDIR = path.join(second, 'tmp');
  for (const folder of [places.downloads, TMPDIR]) await fs.mkdir(folder);
  for (const folder of [second, places.downloads, TMPDIR]) await fs.chown(folder, nobody, nobody);
  const keyring = await startKeyring(owner);
  const env = { ...process.env, ...keyring.env, HOME: second, TMPDIR, XDG_CONFIG_HOME: second };
  let other: Awaited<ReturnType<typeof launchApp>> | null = null;
  try {
    other = await launchApp({ ...places, owner, env });
    const { page } = app;
    await startBuiltIn(page);
    await startBuiltIn(other.page);
    await choose(page, 'Policy', 'analyst');

    // Introduced by the characters that the other one reads out.
    await go(other.page, 'Settings');
    const theirs = other.page.getByRole('region', { name: 'A second person' });
    const shown = await theirs.getByText('The fingerprint of your key:').innerText();
    const fingerprint = shown.replaceAll(/\s/g, '').slice(-64);
    await go(page, 'Settings');
    const settings = page.getByRole('region', { name: 'A second person' });
    await settings.getByLabel('Name', { exact: true }).fill('Dana Reyes');
    await settings.getByLabel('Fingerprint of their key').fill(fingerprint);
    await settings.getByLabel(/as they read them to you/).fill(fingerprint.slice(0, 16));
    await settings.getByRole('button', { name: 'Introduce' }).click();
    await expect(settings.getByRole('listitem').filter({ hasText: 'Dana Reyes' })).toBeVisible();

    await go(page, 'Lookup');
    const token = await tokenize(page, '4111111111111111');
    const file = path.join(home, 'cards.csv');
    await fs.writeFile(file, `id,card\n1,${token}\n2,${token}\n`);
    await go(page, 'Batch');
    await chooseFile(page, file);
    await map(page, 'card', 'Detokenize', 'Card number');
    await run(page);
    await expect(page.getByRole('status', { name: 'Sum' })).toContainText('2 succeeded');
    const exportInClear = async (): Promise<void> => {
      const strip = page.getByRole('region', { name: 'Export', exact: true });
      if (!(await strip.isVisible())) await page.getByRole('button', { name: 'Export', exact: true }).click();
      await strip.getByText('With cleartext', { exact: true }).click();
      await giveReason(strip, 'D-7');
      await strip.getByRole('button', { name: /^Export [\d]/ }).click();
    };
    await exportInClear();
    const needed = page.getByRole('region', { name: 'A second person is needed' });
    await expect(needed).toContainText('2 rows');
    const request = path.join(app.downloads, 'approval-request-D-7.json');
    await needed.getByRole('button', { name: 'Write the request…' }).click();
    await expect(page.getByText(/The request is in approval-request/)).toBeVisible();

    // What one gives to the other.
    const received = path.join(second, 'request.json');
    await fs.copyFile(request, received);
    await fs.chown(received, nobody, nobody);
    await chooseFile(other.page, received, 'Open a request or an answer…');
    const asked = other.page.getByRole('region', { name: 'Request for approval' });
    await expect(asked).toContainText('root at');
    await expect(asked).toContainText('2 rows');
    const answer = path.join(places.downloads, 'approval-answer-D-7.json');
    await asked.getByRole('button', { name: 'Approve…' }).click();
    await expect(asked).toHaveCount(0);
    expect((await fs.stat(answer)).uid).toBe(nobody);

    await systemDialogs.get(page)?.(answer);
    await needed.getByRole('button', { name: 'Open the answer…' }).click();
    await expect(page.getByText(/approved: Export/)).toBeVisible();
    await exportInClear();
    await expect(page.getByRole('status', { name: 'Exported' })).toContainText('2 rows');
    const written = (await fs.readdir(app.downloads)).find((name) => name.endsWith('.csv')) ?? '';
    expect(await fs.readFile(path.join(app.downloads, written), 'utf8')).toContain('4111111111111111');

    for (const { of, downloads, log, has } of [
      { of: page, ...app, log: path.join(app.home, 'audit'), has: ['AskApproval', 'Export'] },
      { of: other.page, ...places, log: path.join(places.home, 'audit'), has: ['Approve'] },
    ]) {
      await go(of, 'Reports');
      await of.getByRole('tab', { name: 'This workstation' }).click();
      await of.getByLabel('Evidence for a case').fill('D-7');
      const evidence = path.join(downloads, 'evidence-D-7.json');
      await of.getByRole('button', { name: 'Save evidence' }).click();
      await of.getByText(/^Saved evidence-D-7\.json and/).waitFor();
      const signer = await of
        .getByText(/^[0-9a-f]{64}$/)
        .last()
        .innerText();
      const { verdict, problems } = await verifyEvidence({ file: evidence, signer, log });
      expect({ verdict, problems }).toEqual({ verdict: 'valid', problems: [] });
      const text = await fs.readFile(evidence, 'utf8');
      for (const action of has) expect(text).toContain(`\\"action\\":\\"${action}\\"`);
    }
  } finally {
    await app.close();
    await other?.close();
    await keyring.stop();
    await fs.rm(second, { recursive: true, force: true });
  }
});
