import { expect, startBuiltIn, test } from './desk.ts';

const pan = '4111111111111111';
const masked = '411111••••••1111';

async function tokenize(page: import('@playwright/test').Page): Promise<string> {
  await page.getByText('Tokenize a value').click();
  await page.getByLabel('Value in clear').fill(pan);
  await page.getByRole('button', { name: 'Tokenize', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Result' })).toContainText('tokenized just now');
  const token = await page.locator('.token').innerText();
  return token.replaceAll(/\D/g, '');
}

test('first run, lookup masked, reveal with a reason, mask again', async ({ page, desk }) => {
  await startBuiltIn(page);
  const token = await tokenize(page);
  expect(token).toMatch(/^411111\d{6}1111$/);

  await page.getByText('Look up a token').click();
  await page.getByRole('textbox', { name: 'Token' }).fill(token.replaceAll(/(.{4})/g, '$1 '));
  await page.keyboard.press('Enter');
  const result = page.getByRole('region', { name: 'Result' });
  await expect(result).toContainText('masked by the service');

  // The focus goes to the result: from here letters are keys.
  await expect(page.getByRole('button', { name: 'Reveal' })).toBeFocused();
  await page.keyboard.press('r');
  await page.getByRole('region', { name: 'Reveal', exact: true }).getByLabel('Case').fill('D-20931');
  await page.keyboard.press('Enter');
  const clear = page.getByRole('group', { name: 'In clear' });
  await expect(clear).toContainText('4111111111111111');
  await page.keyboard.press('Escape');
  await expect(clear).toHaveCount(0);
  await expect(result).toContainText(masked);

  // Cleartext crossed in the answer to the reveal and nowhere else.
  expect(desk.outward.filter((message) => message.includes(pan))).toHaveLength(1);
});
