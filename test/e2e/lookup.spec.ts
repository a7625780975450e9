import type { Page } from '@playwright/test';
import { expect, shareApp, test, type OpenApp } from '../support/app-fixture.ts';
import { choose, go, lookUp, reveal, startBuiltIn, tokenize } from '../support/page-actions.ts';

const pan = '4111111111111111';
const masked = '411111••••••1111';

test('first run, lookup masked, reveal with a reason, mask again', async ({ page, app }) => {
  await startBuiltIn(page);
  const token = await tokenize(page, pan);
  expect(token).toMatch(/^411111\d{6}1111$/);

  await lookUp(page, token.replaceAll(/(.{4})/g, '$1 '));
  const result = page.getByRole('region', { name: 'Result' });
  await expect(result).toContainText(masked);
  expect((await app.outward()).filter((message) => message.includes(pan))).toEqual([]);

  // The focus goes to the result: from here letters are keys.
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
  await reveal(page, 'D-20931');
  const clear = page.getByRole('group', { name: 'In clear' });
  await expect(clear).toContainText(pan);
  await page.keyboard.press('Escape');
  await expect(clear).toHaveCount(0);
  await expect(result).toContainText(masked);

  // Not even in the answer to the reveal: there it is obscured.
  expect((await app.outward()).filter((message) => message.includes(pan))).toEqual([]);

  // A letter is a command, until a person switches that off: then it is text as any other.
  const announced = page.getByRole('status', { name: 'Result announced' });
  await result.focus();
  await page.keyboard.press('c');
  await expect(announced).toHaveText('Masked value copied.');
  await go(page, 'Settings');
  await page.getByText('Single letters and digits are commands').click();
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible();
  await go(page, 'Lookup');
  await expect(page.getByRole('button', { name: 'Copy token' })).not.toHaveAttribute('aria-keyshortcuts');
  await result.focus();
  await page.keyboard.press('t');
  await expect(page.getByRole('textbox', { name: 'Token' })).toHaveValue('t');
  await expect(announced).toHaveText('Masked value copied.');
});

test.describe('a revealed value leaves the screen', () => {
  const shared = shareApp(startBuiltIn);
  for (const [when, signal] of [
    ['when the screen locks', 'screen-locked'],
    ['before the machine sleeps', 'suspend'],
    // Last: it alone leaves the result, masked.
    ['when the window loses the focus', 'blur'],
  ] as const)
    test(when, async () => {
      const { page, away } = shared();
      await tokenize(page, pan);
      await reveal(page, 'D-1');
      await away(signal);
      await expect(page.getByText(pan)).toHaveCount(0);
      if (signal !== 'blur') {
        // Nothing of the pages is left behind the lock.
        await expect(page.getByRole('region', { name: 'Result' })).toHaveCount(0);
        await page.getByRole('button', { name: 'Unlock' }).click();
        await expect(page.getByText('Look up a token')).toBeVisible();
      }
    });
});

test.describe('one field', () => {
  const token = (page: Page) => page.getByRole('textbox', { name: 'Token' });
  const sent = async (app: OpenApp, name: string): Promise<number> =>
    (await app.outward()).filter((message) => message.includes(name)).length;

  test('a card number is obscured at once and not looked up, and a press tokenizes it', async ({
    page,
    app,
  }) => {
    await startBuiltIn(page);
    await token(page).focus();
    await page.keyboard.insertText('4111 1111 1111 1111');
    expect(await token(page).inputValue()).toBe('•'.repeat(19));
    await expect(
      page.getByText('This looks like a card number, not a token. Nothing has been sent.'),
    ).toBeVisible();
    const before = await audited(page);
    await page.keyboard.press('Enter');
    const tokenizeIt = page.getByRole('button', { name: 'Tokenize it' });
    await expect(tokenizeIt).toBeFocused();
    await expect(page.getByRole('alert')).toHaveCount(0);
    expect(await audited(page)).toEqual(before);
    await tokenizeIt.press('Enter');
    await expect(page.getByText('New token, tokenized')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
    const made = await token(page).inputValue();
    expect(made).toMatch(/^411111\d{6}1111$/);
    expect(made).not.toBe(pan);
    expect(await sent(app, pan)).toBe(0);

    // Text around it hides nothing of it.
    await token(page).fill('card 4111-1111-1111-1111, expires soon');
    expect(await token(page).inputValue()).toMatch(/^•+$/);
  });

  test('tells the definition by the shape, and asks before it sends what can hardly be a token', async ({
    page,
  }) => {
    await startBuiltIn(page);
    await token(page).fill('41111173092111114111117309211111');
    await page.keyboard.press('Enter');
    await expect(
      page.getByText(
        'Card number tokens usually have 12 to 19 digits. This one has 32 digits. Nothing has been sent.',
      ),
    ).toBeVisible();
    await token(page).fill('4111 11•• •••• 1111');
    await page.keyboard.press('Enter');
    await expect(page.getByText('This is a masked value. Paste the token itself.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Look it up anyway' })).toHaveCount(0);

    await page.getByText('Tokenize a value').click();
    await choose(page, 'Definition', 'E-mail address');
    await page.getByLabel('Value in clear').fill('ada@example.org');
    await page.keyboard.press('Enter');
    await page.getByText('New token, tokenized').waitFor();
    const email = (await page.locator('.token').innerText()).trim();
    await page.getByText('Look up a token').click();
    // The new token is chosen as a whole: what is typed next takes its place.
    await expect
      .poll(() =>
        page.evaluate(
          '((one) => [one.selectionStart, one.selectionEnd - one.value.length])(document.activeElement)',
        ),
      )
      .toEqual([0, 0]);
    await token(page).fill('');
    await choose(page, 'Definition', 'Card number');
    await expect(page.getByRole('combobox', { name: 'Definition: Card number' })).toBeVisible();
    await token(page).fill(email);
    await expect(token(page)).toHaveValue(email);
    await expect(page.getByText('E-mail address, detected')).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('region', { name: 'Result' })).toContainText('@example.org');

    await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
    // An address could go to a definition of its kind or of any text, and never to one of cards.
    await page.keyboard.press('x');
    await page.getByRole('combobox', { name: /^To definition/ }).click();
    await expect(page.getByRole('option')).toHaveText(['Free text']);
  });

  test('a newcomer tries a sample token', async ({ page }) => {
    await startBuiltIn(page);
    await page.getByRole('button', { name: 'Try a sample token' }).click();
    await expect(page.getByRole('region', { name: 'Result' })).toContainText(masked);
    await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
  });
});

/** Lines of the audit log, as Activity would list them. */
const audited = (page: Page): Promise<number> =>
  page.evaluate<number>(
    'tokendesk["activity.list"]({ before: null, limit: 1, caseReference: null }).then(({ value }) => value.total)',
  );
