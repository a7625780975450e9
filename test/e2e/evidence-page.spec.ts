import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from '@playwright/test';
import { findChromium } from '../../dev/electron-on-chromium/browser.ts';
import { verifyEvidence } from '../../scripts/verify-evidence.ts';
import { expect, test } from '../support/app-fixture.ts';
import { lookUp, reveal, startBuiltIn, tokenize } from '../support/page-actions.ts';

const pan = '378282246310005';

/** What a reader's browser says of the file: its words, and whether it is on red. */
async function opened(reader: Page, file: string) {
  await reader.goto(pathToFileURL(file).href);
  const verdict = reader.locator('#verdict');
  // Where the page was damaged so far that it has no verdict, it says nothing good either.
  if ((await verdict.count()) === 0) return { kind: 'none', text: '' };
  await expect(verdict).not.toHaveClass('checking');
  return { kind: (await verdict.getAttribute('class')) ?? 'none', text: await verdict.innerText() };
}

test('a page of evidence checks itself in a browser without a network, and one other character turns it red', async ({
  page,
  app,
}) => {
  test.setTimeout(180_000);
  await startBuiltIn(page);
  await lookUp(page, await tokenize(page, pan));
  await reveal(page, 'D-20931');
  await page.keyboard.press('Escape');
  const side = page.getByRole('complementary', { name: 'Case' });
  await side.getByRole('button', { name: 'Close case' }).click();
  await side.getByRole('button', { name: 'Save signed evidence' }).click();
  await side.getByText(/^Saved evidence-D-20931\.json and/).waitFor();
  // The fingerprint as a person takes it from the window, and the folder as the system is asked to show it.
  await page.evaluate(
    `addEventListener('copy', () => void (globalThis.copied = String(getSelection())), true)`,
  );
  await side.getByRole('button', { name: 'Copy fingerprint' }).click();
  await side.getByRole('button', { name: 'Fingerprint copied' }).waitFor();
  const signer = await page.evaluate<string>('globalThis.copied');
  expect(signer).toMatch(/^[0-9a-f]{64}$/);
  await app.application.evaluate(({ shell }) => {
    shell.showItemInFolder = (shown) => void Object.assign(globalThis, { shownInFolder: shown });
  });
  await side.getByRole('button', { name: 'Show in folder' }).click();
  const shownInFolder = () =>
    app.application.evaluate(() => (globalThis as { shownInFolder?: string }).shownInFolder ?? '');
  await expect.poll(async () => path.dirname(await shownInFolder())).toBe(app.downloads);
  expect(path.basename(await shownInFolder())).toMatch(/^evidence-D-20931\./);
  const file = path.join(app.downloads, 'evidence-D-20931.html');
  const text = fs.readFileSync(file, 'utf8');
  expect(text).not.toContain(pan);
  expect((await verifyEvidence({ file, signer })).verdict).toBe('valid');
  await app.close();

  const browser: Browser = await chromium.launch({ executablePath: findChromium(process.env) ?? '' });
  try {
    const reader = await browser.newPage({ offline: true });
    const complaints: string[] = [];
    reader.on('request', (request) => {
      if (!request.url().startsWith('file:')) complaints.push(request.url());
    });
    reader.on('console', (message) => complaints.push(message.text()));
    const good = await opened(reader, file);
    // Never "valid": whose key it is, a page can't know.
    expect(good).toEqual({
      kind: 'consistent',
      text: 'Consistent, signer unknown. Compare the fingerprint with the one you were told.',
    });
    await expect(reader.locator('#signer')).toHaveText(signer);
    await expect(reader.getByText(/^✓ A chain of \d+ links/)).toBeVisible();
    await expect(reader.getByText(/^✗/)).toHaveCount(0);
    await expect(reader.getByRole('row')).toHaveCount(text.match(/<tr>/g)?.length ?? 0);
    expect(complaints).toEqual([]);

    // One character after another, through tags, policy, style, table, document and script; ends of tags that HTML itself
    // puts in where they are missing change nothing of the page.
    const copy = path.join(app.downloads, 'copy.html');
    const optional = [...text.matchAll(/<\/(?:head|body|html|thead|tbody|tr|th|td|dt|dd|p)>/g)].map(
      ({ index, 0: tag }) => [index, tag.length],
    );
    const step = Math.ceil(text.length / 60);
    for (let at = 7; at < text.length; at += step) {
      if (optional.some(([from = 0, length = 0]) => at >= from && at < from + length)) continue;
      fs.writeFileSync(copy, `${text.slice(0, at)}${text[at] === 'k' ? 'q' : 'k'}${text.slice(at + 1)}`);
      const found = await opened(reader, copy);
      expect.soft(found.kind, `at ${at}: ${text.slice(at - 10, at + 10)}`).toMatch(/^(bad|none)$/);
    }
    const tampered = async (change: (page: string) => string) => {
      fs.writeFileSync(copy, change(text));
      return opened(reader, copy);
    };
    const changed = 'Not valid: this page or the evidence in it was changed.';
    expect((await tampered((one) => one.replace('>Reveal<', '>Copy<'))).text).toBe(changed);
    expect(
      (await tampered((one) => one.replace('\\"action\\":\\"Reveal', '\\"action\\":\\"Copies'))).text,
    ).toBe(changed);
    // What stands around the text of the page, and does not show in it.
    for (const [what, change] of [
      ['hidden', (one: string) => one.replace('<html lang="en">', '<html lang="en" hidden>')],
      ['a style', (one: string) => one.replace('<html lang="en">', '<html lang="en" style="display:none">')],
      ['a direction', (one: string) => one.replace('<html lang="en">', '<html lang="en" dir="rtl">')],
      ['a comment before it', (one: string) => one.replace('<html', '<!-- x --><html')],
      ['a comment behind it', (one: string) => `${one}<!-- x -->`],
      ['a document type', (one: string) => one.replace('html>', 'html SYSTEM "about:legacy-compat">')],
    ] as const)
      expect.soft((await tampered(change)).kind, what).toBe('bad');
    // A shadow root is in no text of the page: what it shows goes, and what was signed is shown.
    const { length: rows } = text.match(/<tr>/g) ?? [];
    for (const mode of ['open', 'closed', 'closed" shadowrootserializable="', 'open" shadowrootclonable="'])
      for (const host of ['tabindex="0">', '<body>', '<dd>']) {
        const root = `<template shadowrootmode="${mode}"><p>FORGED</p></template>`;
        const found = await tampered((one) => one.replace(host, host + root));
        expect.soft(found.kind, `${mode} in ${host}`).toMatch(/^(consistent|bad)$/);
        await expect.soft(reader.locator('body')).not.toContainText('FORGED');
        const seen = await reader.locator('tr').evaluateAll((all) => all.map((row) => row.clientHeight > 0));
        expect.soft(seen, `${mode} in ${host}`).toEqual(Array.from({ length: rows }, () => true));
      }
    // A check that was changed does not run: the policy names the one that was made.
    const broken = await tampered((one) =>
      one.replace('if (problems.length > 0)', 'if (problems.length > 9)'),
    );
    expect(broken.text).toMatch(/^Not checked: the check in this page did not run/);
    expect(broken.kind).toBe('bad');

    // Without what a check needs it says so, and nothing about the evidence.
    await reader.addInitScript("Object.defineProperty(crypto, 'subtle', { value: undefined })");
    const old = await opened(reader, file);
    expect(old.kind).toBe('unknown');
    expect(old.text).toMatch(/^Not checked: this browser can’t check it/);
  } finally {
    await browser.close();
  }
});
