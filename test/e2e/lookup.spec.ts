import { expect, test } from '../support/app-fixture.ts';
import { lookUp, reveal, startBuiltIn, tokenize } from '../support/page-actions.ts';

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
  await expect(page.getByRole('button', { name: 'Reveal' })).toBeFocused();
  await reveal(page, 'D-20931');
  const clear = page.getByRole('group', { name: 'In clear' });
  await expect(clear).toContainText(pan);
  await page.keyboard.press('Escape');
  await expect(clear).toHaveCount(0);
  await expect(result).toContainText(masked);

  // Not even in the answer to the reveal: there it is obscured.
  expect((await app.outward()).filter((message) => message.includes(pan))).toEqual([]);
});

test.describe('a revealed value leaves the screen', () => {
  for (const [when, signal] of [
    ['when the window loses the focus', 'blur'],
    ['when the screen locks', 'screen-locked'],
    ['before the machine sleeps', 'suspend'],
  ] as const)
    test(when, async ({ page, app }) => {
      await startBuiltIn(page);
      await tokenize(page, pan);
      await reveal(page, 'D-1');
      await app.away(signal);
      await expect(page.getByText(pan)).toHaveCount(0);
      if (signal !== 'blur') {
        // Nothing of the pages is left behind the lock.
        await expect(page.getByRole('region', { name: 'Result' })).toHaveCount(0);
        await page.getByRole('button', { name: 'Unlock' }).click();
        await expect(page.getByText('Look up a token')).toBeVisible();
      }
    });
});
