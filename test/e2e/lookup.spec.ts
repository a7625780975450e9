import { choose, expect, startBuiltIn, test } from './desk.ts';

const pan = '4111111111111111';
const masked = /4111 11•• •••• 1111/;

async function tokenize(page: import('@playwright/test').Page): Promise<string> {
  await page.getByRole('radio', { name: 'Tokenize a value' }).click();
  await page.getByLabel('Value in clear').fill(pan);
  await page.getByRole('button', { name: 'Tokenize', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Result' })).toContainText('tokenized just now');
  const token = await page.evaluate(() => document.querySelector('.token .digits, .token [class*=digits]')?.textContent);
  return (token ?? '').replaceAll(/\D/g, '');
}

test('first run, lookup masked, reveal with a reason, mask again', async ({ page, desk }) => {
  await startBuiltIn(page);
  const token = await tokenize(page);
  expect(token).toMatch(/^411111\d{6}1111$/);

  await page.getByRole('radio', { name: 'Look up a token' }).click();
  await page.getByRole('textbox', { name: 'Token' }).fill(token.replaceAll(/(.{4})/g, '$1 '));
  await page.keyboard.press('Enter');
  const result = page.getByRole('region', { name: 'Result' });
  await expect(result).toContainText('masked by the service');

  await page.keyboard.press('r');
  const strip = page.getByRole('form', { name: 'Reveal' }).or(page.getByRole('group', { name: 'Reveal' }));
  await strip.getByLabel('Case').fill('D-20931');
  await page.keyboard.press('Enter');
  const clear = page.getByRole('group', { name: 'In clear' });
  await expect(clear).toContainText('4111111111111111');
  await page.keyboard.press('Escape');
  await expect(clear).toHaveCount(0);
  await expect(result).toContainText(masked);

  // Cleartext crossed in the answer to the reveal and nowhere else.
  expect(desk.outward.filter((message) => message.includes(pan))).toHaveLength(1);
});
